"""Decisions on sequences that were left out, and probabilities from them."""

import io

import numpy as np
import pytest
from scipy.special import softmax
from sklearn import inspection
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from evoke import EvokeClassifier, EvokeRegressor, load
from evoke.svm._calibration import fit_slope, probabilities


def sequences(n, n_classes, seed=0, noise=0.3):
    random = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    t = np.arange(20)[:, None]
    return [np.sin((1 + k) * 0.3 * t) + noise * random.normal(size=(20, 1)) for k in y], y


def small(**parameters):
    return EvokeClassifier(**{"subpopulation_size": 20, "n_networks": 5, "random_state": 0, **parameters})


def loss_of(slope, decisions, yes, weights, exclusive):
    """The log-loss, target by target; written as its definition."""
    total, loss = weights.sum(), 0.0
    n_outputs = decisions.shape[1]
    for row, target, weight in zip(decisions, yes, weights, strict=True):
        if exclusive and n_outputs > 1:
            wanted = (total * target + 1 / n_outputs) / (total + 1)
            loss -= weight * wanted @ np.log(softmax(slope * row))
            continue
        for value, said in zip(row, target, strict=True):
            wanted, p = (total * said + 0.5) / (total + 1), 1 / (1 + np.exp(-slope * value))
            loss -= weight * (wanted * np.log(p) + (1 - wanted) * np.log(1 - p))
    return loss


@pytest.mark.parametrize("n_outputs, exclusive", [(1, True), (1, False), (3, True), (3, False)])
@pytest.mark.parametrize("seed", range(3))
def test_the_slope_has_the_least_log_loss(n_outputs, exclusive, seed):
    random = np.random.default_rng(seed)
    yes = random.normal(size=(30, n_outputs)) > 0
    if n_outputs > 1 and exclusive:
        yes = np.eye(n_outputs, dtype=bool)[random.integers(n_outputs, size=30)]
    decisions, weights = np.where(yes, 1.0, -1.0) + random.normal(size=yes.shape), random.uniform(0.1, 3, 30)
    slope = fit_slope(decisions, yes, weights, exclusive=exclusive)
    best = loss_of(slope, decisions, yes, weights, exclusive)
    for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
        assert best < loss_of(factor * slope, decisions, yes, weights, exclusive)


def test_a_weight_of_two_is_two_sequences():
    random = np.random.default_rng(0)
    decisions = random.normal(size=(400, 1))
    yes = decisions + random.normal(size=(400, 1)) > 0
    twice = fit_slope(decisions, yes, np.full(400, 2.0), exclusive=True)
    doubled = fit_slope(np.tile(decisions, (2, 1)), np.tile(yes, (2, 1)), np.ones(800), exclusive=True)
    assert twice == pytest.approx(doubled, rel=1e-6)


@pytest.mark.parametrize("decisions", [[[2.0], [-2.0], [3.0]], [[-2.0], [2.0], [-3.0]], [[0.0], [0.0], [0.0]]])
def test_no_decision_wrong_or_all_of_them_give_finite_probabilities(decisions):
    yes = np.array([[True], [False], [True]])
    slope = fit_slope(np.array(decisions), yes, np.ones(3), exclusive=True)
    assert 0 < slope < np.inf
    found = probabilities(np.array([[-1e300], [0.0], [1e300]]), slope, exclusive=True)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(found[1], 0.5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_classes(n_classes):
    X, y = sequences(36, n_classes)
    X_test, y_test = sequences(90, n_classes, seed=1)
    names = np.array(["one", "three", "two"])[:n_classes]
    model = small().fit(X, names[y])
    found = model.predict_proba(X_test)
    assert found.shape == (90, n_classes)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X_test))
    assert log_loss(names[y_test], found, labels=model.classes_) < np.log(n_classes) / 2


def test_several_outputs_have_probabilities_of_their_own():
    X, y = sequences(30, 2)
    targets = [[[k, 1 - k, k]] for k in y]
    model = small().fit(X, targets)
    found = model.predict_proba(X)
    assert found.shape == model.decision_function(X).shape == (30, 3)
    np.testing.assert_array_equal(found > 0.5, model.predict(X).reshape(30, 3) == 1)


def test_decisions_of_sequences_left_out_are_those_of_a_model_without_them():
    X, y = sequences(14, 2)
    model = small(C=10.0, gamma=0.01, scale=None, n_networks=1, subpopulation_size=2).fit(X, y)
    assert model.loo_decision_function_.shape == (14,)
    pooling = model.fitted_.pooling
    features = pooling.features(model.fitted_.network, model.fitted_.inputs(model.fitted_.read(X)))
    for k in range(14):
        rest = np.arange(14) != k
        distances = ((features[:, None] - features[None]) ** 2).sum(axis=-1)
        gram = np.exp(-0.01 * distances)
        system = np.block([[gram[rest][:, rest] + np.eye(13) / 10.0, np.ones((13, 1))], [np.ones((1, 13)), 0.0]])
        solution = np.linalg.solve(system, [*np.where(y[rest] == 1, 1.0, -1.0), 0.0])
        assert model.loo_decision_function_[k] == pytest.approx(gram[k, rest] @ solution[:-1] + solution[-1], rel=1e-8)


def test_predictions_of_a_regressor_on_sequences_left_out():
    X, y = sequences(30, 5)
    model = EvokeRegressor(subpopulation_size=20, n_networks=5, random_state=0).fit(X, 1e6 + 1e3 * y)
    assert model.loo_prediction_.shape == (30,)
    assert np.corrcoef(model.loo_prediction_, y)[0, 1] > 0.5
    assert 1e6 - 2e3 < model.loo_prediction_.min() < model.loo_prediction_.max() < 1e6 + 6e3


def test_sequences_without_weight_have_no_decision_and_no_part():
    X, y = sequences(20, 2)
    weights = np.where(np.arange(20) < 16, 1.0, 0.0)
    model = small().fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(np.isnan(model.loo_decision_function_), weights == 0)
    without = small().fit(X[:16], y[:16])
    np.testing.assert_array_equal(model.predict_proba(X), without.predict_proba(X))


def test_weights_of_sequences_count_for_probabilities_and_those_of_classes_do_not():
    X, y = sequences(40, 2, noise=2.0)
    weights = 1.0 + np.arange(40) % 3
    model = small(class_weight={0: 1.0, 1: 50.0}).fit(X, y, sample_weight=weights)
    decisions = model.loo_decision_function_[:, None]
    expected = fit_slope(decisions, y[:, None] == 1, weights, exclusive=True)
    assert model.fitted_.slope == expected
    assert expected != fit_slope(decisions, y[:, None] == 1, weights * np.where(y == 1, 50.0, 1.0), exclusive=True)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-expected * model.decision_function(X))))


def test_files_hold_probabilities(tmp_path):
    X, y = sequences(18, 3)
    model = small().fit(X, y, sample_weight=np.arange(18) % 6 + 0.0)
    model.save(tmp_path / "model.evoke")
    loaded = load(tmp_path / "model.evoke")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.loo_decision_function_, model.loo_decision_function_)
    model.fitted_.left_out[0] = 1.0, np.nan, 1.0
    with pytest.raises(ValueError, match="_left_out"):
        model.save(io.BytesIO())


def test_without_decisions_on_what_was_left_out_there_are_no_probabilities():
    X, y = sequences(16, 2)
    assert hasattr(small(validation="loo"), "predict_proba")
    assert not hasattr(small(), "predict_proba")  # it depends on y
    assert hasattr(small().fit(X, y), "predict_proba")
    halves = small(validation="half", n_networks=1, pool="last", differences=False, scale=None, C=1.0, gamma=1.0)
    halves.fit(X, y)
    for name in ("predict_proba", "loo_decision_function_"):
        assert not hasattr(halves, name)
    with pytest.raises(AttributeError, match="predict_proba") as caught:
        halves.predict_proba(X)
    assert "needs decisions on sequences that were left out: validation='loo'" in str(caught.value.__cause__)
    steps = small(n_generations=1, n_networks=1).fit(X, [np.full(20, k) for k in y])
    assert not hasattr(steps, "predict_proba")


def test_cross_validation_asks_for_probabilities():
    X, y = sequences(24, 2)
    found = cross_val_predict(clone(small()), X, y, cv=3, method="predict_proba")
    assert found.shape == (24, 2)
    assert log_loss(y, found) < np.log(2)


def test_labels_of_steps_have_none_and_the_error_says_what_to_do():
    X = np.random.default_rng(0).normal(size=(8, 6, 2))
    steps, whole = (X[:, :, 0] > 0).astype(int), np.arange(8) % 2
    tiny = EvokeClassifier(n_cells=2, n_generations=1, subpopulation_size=4, n_networks=1, random_state=0)
    with pytest.raises(AttributeError) as refused:
        _ = tiny.fit(X, steps).predict_proba
    assert "calibrate decision_function on sequences held out" in str(refused.value.__cause__)
    # as docs/faq.md says of scikit-learn
    with pytest.raises(ValueError, match="y should be a 1d array"):
        CalibratedClassifierCV(tiny, cv=2).fit(X, steps)
    with pytest.raises(ValueError, match="Found array with dim 3"):
        inspection.permutation_importance(tiny, X, steps)
    assert CalibratedClassifierCV(tiny, cv=2).fit(X, whole).predict_proba(X).shape == (8, 2)
    assert cross_val_predict(tiny, X, steps, cv=2).shape == (8, 6)
