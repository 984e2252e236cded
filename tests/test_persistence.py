"""Models in files: they come back as they were, or ModelFileError says what is wrong."""

import numpy as np
import pytest

import evoke
from evoke import EvokeClassifier

RAGGED = [np.random.default_rng(7).normal(size=(length, 2)) for length in (3, 7, 1, 4, 6, 2, 5, 8)]


def test_round_trip(tmp_path):
    model = EvokeClassifier(n_cells=2, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
    model.fit(RAGGED, ["a", "b"] * 4).save(tmp_path / "m.evk")
    loaded = evoke.load(tmp_path / "m.evk")
    np.testing.assert_array_equal(loaded.predict(RAGGED), model.predict(RAGGED))
    assert loaded.history_ == model.history_
    (tmp_path / "m.evk").write_bytes(b"nothing")
    with pytest.raises(evoke.ModelFileError, match=r"m\.evk"):
        evoke.load(tmp_path / "m.evk")
