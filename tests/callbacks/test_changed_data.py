"""A callback that changes X or y does not alter the fit without a word; Ctrl-C at its very beginning."""

import signal

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from helpers.watched import assert_same_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 8, 2))
LABELS, VALUES = (X[:, :, 0].cumsum(axis=1) > 0).astype(int), X[:, :, 0].cumsum(axis=1)
LONG = RNG.normal(size=(1200, 2))
TINY = dict(n_cells=2, n_generations=3, subpopulation_size=4, random_state=0)


def spoiling(*arrays):
    def spoil(record, esp):
        for array in arrays:
            array[...] = array[::-1].copy()

    return [spoil]


@pytest.mark.parametrize("model, data", [
    (EvokeClassifier(**TINY), (X, LABELS)),
    (EvokeClassifier(**TINY, refit=True), (X.reshape(-1, 2), LABELS.ravel())),
    (EvokeClassifier(**TINY, n_networks=3), (X, np.arange(12) % 2)),
    (EvokeRegressor(**TINY, scale=None), (X.reshape(-1, 2), VALUES.ravel())),
    (EvokeForecaster(**TINY, validation="half"), (VALUES[0],)),
])  # fmt: skip
def test_what_is_read_once_may_be_changed(model, data):
    plain = type(model)(**model.get_params()).fit(*(array.copy() for array in data))
    given = [array.copy() for array in data]
    assert_same_model(model.set_params(callbacks=spoiling(*given)).fit(*given), plain)


@pytest.mark.parametrize("kind, y", [
    (EvokeRegressor, LONG[:, 0].cumsum()), (EvokeClassifier, (LONG[:, 0] > 0).astype(int)),
])  # fmt: skip
def test_many_steps_are_not_copied_and_must_stay(kind, y, tmp_path):
    model = kind(**TINY, n_networks=2, n_landmarks=20)
    plain = kind(**model.get_params()).fit(LONG, y)
    given = LONG.copy()
    with pytest.raises(ValueError, match="X or y was changed during the fit, by a callback for instance"):
        model.set_params(callbacks=spoiling(given)).fit(given, y)
    assert not hasattr(model, "fitted_")
    assert_same_model(model.set_params(callbacks=[lambda record, esp: None]).fit(LONG, y), plain)
    np.save(tmp_path / "X.npy", LONG)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")  # cannot be changed, and is not read once more
    assert_same_model(model.fit(mapped, y), plain)


def interrupted_after(seconds, model):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    model.fit(X, LABELS)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timers of signals")
@pytest.mark.parametrize("seconds", [1e-4, 0.003, 0.01, 0.03, 0.06, 0.1])
def test_ctrl_c_within_the_first_tenth_of_a_second(seconds):
    """Wherever it is, the model is whole or there is none, and another fit is as if nothing had been."""
    model = EvokeClassifier(**{**TINY, "n_generations": 10**6})
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted_after(seconds, model)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    if hasattr(model, "fitted_"):
        so_far = EvokeClassifier(**{**TINY, "n_generations": len(model.history_)}).fit(X, LABELS)
        assert model.history_ == so_far.history_
        np.testing.assert_array_equal(model.genome_, so_far.genome_)
    assert_same_model(model.set_params(n_generations=2).fit(X, LABELS),
                      EvokeClassifier(**{**TINY, "n_generations": 2}).fit(X, LABELS))  # fmt: skip
