"""Steps without end: arrays in files, and streams, are read in memory that does not grow with them."""

import tracemalloc

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeRegressor

SMALL = {
    "readout": "landmarks", "n_landmarks": 10, "n_generations": 1, "subpopulation_size": 8, "n_cells": 2,
    "n_networks": 2, "differences": (1, 3), "random_state": 0,
}  # fmt: skip


@pytest.fixture
def map_of(tmp_path):
    def made(array, name="X"):
        np.save(tmp_path / f"{name}.npy", array)
        return np.load(tmp_path / f"{name}.npy", mmap_mode="r")

    return made


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape, lengths", [((9000, 2), None), ((9000, 2), [5000, 1, 3000, 999]), ((900, 10, 2), None)])
def test_maps_are_read_as_arrays_are(map_of, dtype, shape, lengths):
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    y = X[..., 0].cumsum(axis=-1) > 0
    settings = {} if lengths is None else {"lengths": lengths}
    on_disk = map_of(X)
    plain = EvokeClassifier(**SMALL).fit(X.astype(np.float64), y, **settings)
    mapped = EvokeClassifier(**SMALL).fit(on_disk, map_of(y, "y"), **settings)
    assert mapped.genome_.tobytes() == plain.genome_.tobytes()
    for method in ("predict", "decision_function", "transform"):
        found, expected = (
            getattr(model, method)(values, **settings)
            for model, values in ((mapped, on_disk), (plain, X.astype(np.float64)))
        )
        assert found.tobytes() == expected.tobytes() and found.shape == expected.shape
    assert mapped.score(on_disk, y, **settings) == plain.score(X, y, **settings)
    if len(shape) == 2 and lengths is None:  # blocks are what a stream reads
        assert plain.stream().transform(X).tobytes() == plain.transform(X).tobytes()


def test_predictions_and_scores_copy_no_rows(map_of):
    X = np.random.default_rng(0).normal(size=(200_000, 30)).astype(np.float32)
    y = X[:, 0].astype(np.float64)
    model = EvokeRegressor(**SMALL).fit(X[:2000], y[:2000])
    on_disk = map_of(X)
    for ask in (lambda: model.predict(on_disk), lambda: model.score(on_disk, y)):
        ask()
        tracemalloc.start()
        ask()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < on_disk.nbytes


def test_what_is_not_finite_in_a_map(map_of):
    X = np.zeros((70_000, 2), dtype=np.float32)
    model = EvokeRegressor(**SMALL).fit(np.random.default_rng(0).normal(size=(2000, 2)), np.arange(2000.0))
    X[69_000, 1] = np.nan
    with pytest.raises(ValueError, match="X contains NaN or infinity: nan at step 69000, column 1"):
        model.predict(map_of(X))


def test_a_stream_needs_the_memory_of_a_piece():
    rng = np.random.default_rng(0)
    model = EvokeRegressor(**SMALL).fit(rng.normal(size=(2000, 2)), np.arange(2000.0))
    piece, peaks = rng.normal(size=(1000, 2)), []
    reader = model.stream()
    reader.predict(piece)
    for n_pieces in (2, 100):
        tracemalloc.start()
        for _ in range(n_pieces):
            reader.predict(piece)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
