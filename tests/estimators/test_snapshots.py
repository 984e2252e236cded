"""A model in use while its estimator is fitted again: each call, and each stream, has one model."""

import sys
import threading

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor

TINY = dict(n_generations=1, subpopulation_size=2, n_trials=1, random_state=0)
X = np.random.default_rng(0).normal(size=(30, 2))
WAVE = np.sin(np.arange(40.0))
LABELS = np.where(X[:, 0] > 0, "a", "b")


@pytest.mark.parametrize("estimator, y", [(EvokeRegressor, X[:, 0]), (EvokeClassifier, LABELS)])
def test_a_stream_keeps_its_model_when_the_estimator_is_fitted_again(estimator, y):
    model = estimator(n_cells=2, **TINY).fit(X, y)
    expected, stream = model.predict(X), model.stream()
    begin = stream.predict(X[:5])
    model.set_params(n_cells=9).fit(X[:, :1], y)
    np.testing.assert_array_equal(np.concatenate([begin, stream.predict(X[5:])]), expected)
    stream.reset()
    np.testing.assert_array_equal(stream.predict(X), expected)


def test_a_stream_of_a_series_keeps_its_model_when_the_estimator_is_fitted_again():
    model = EvokeForecaster(n_cells=2, **TINY).fit(WAVE)
    told = np.concatenate([[0], WAVE[:-1]])
    stream, again = model.stream(), model.stream()
    expected = [again.step(value)[0] for value in told]
    first = stream.step(told[0])[0]
    model.set_params(n_cells=9).fit(np.column_stack([WAVE, WAVE]))
    np.testing.assert_array_equal([first, *(stream.step(value)[0] for value in told[1:])], expected)
    stream.reset()
    np.testing.assert_array_equal([stream.step(value)[0] for value in told], expected)


def call_while_learning(model, other, call):
    """Results of `call` on a model that another thread turns into `other` and back."""
    fitted, results = [model.fitted_, other.fitted_], []
    stop = threading.Event()

    def learn():
        while not stop.is_set():
            for model.fitted_ in fitted:
                pass

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(400):
            results.append(call(model))
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    return results


@pytest.mark.parametrize("call", [
    lambda m: m.generate(3), lambda m: m.predict([1, 2]), lambda m: m.transform(WAVE), lambda m: m.score(WAVE),
    lambda m: m.predict_one_step(WAVE),
])  # fmt: skip
def test_a_call_during_a_fit_of_a_forecaster_has_one_model(call):
    a, b = EvokeForecaster(n_cells=2, **TINY).fit(WAVE), EvokeForecaster(n_cells=9, **TINY).fit(WAVE[:30])
    allowed = [call(a).tobytes() if hasattr(call(a), "tobytes") else call(a),
               call(b).tobytes() if hasattr(call(b), "tobytes") else call(b)]
    for result in call_while_learning(a, b, call):
        assert (result.tobytes() if hasattr(result, "tobytes") else result) in allowed


@pytest.mark.parametrize("call", [
    lambda m: m.predict(X), lambda m: m.decision_function(X), lambda m: m.transform(X), lambda m: m.score(X, LABELS),
])  # fmt: skip
def test_a_call_during_a_fit_of_a_classifier_has_one_model(call):
    a = EvokeClassifier(n_cells=2, **TINY).fit(X, LABELS)
    b = EvokeClassifier(n_cells=9, **TINY).fit(X[:20], LABELS[:20])
    allowed = [np.asarray(call(model)).tobytes() for model in (a, b)]
    for result in call_while_learning(a, b, call):
        assert np.asarray(result).tobytes() in allowed


@pytest.mark.parametrize("phi", [np.zeros((3, 1)), np.zeros(2), np.zeros((3, 2), dtype=complex)])
def test_a_readout_refuses_activations_of_another_kind(phi):
    readout = EvokeRegressor(n_cells=2, **TINY).fit(X, X[:, 0]).readout_
    with pytest.raises(ValueError, match="phi must be numbers of shape"):
        readout.decide(phi)
