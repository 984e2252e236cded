"""Learned attributes: they are read from the fitted model, which is the one truth."""

import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor

TINY = dict(n_cells=2, n_generations=1, subpopulation_size=4, n_trials=1, random_state=0)
X = np.random.default_rng(0).normal(size=(30, 2))
WAVE = np.sin(np.arange(40.0))
FITS = {EvokeClassifier: (X, X[:, 0] > 0), EvokeRegressor: (X, X[:, 0]), EvokeForecaster: (WAVE,)}

of_all = pytest.mark.parametrize("estimator", FITS)


def fitted(estimator):
    return estimator(**TINY).fit(*FITS[estimator])


@of_all
def test_learned_attributes_are_read_only(estimator):
    model = fitted(estimator)
    for name in ("genome_", "readout_", "history_", "best_fitness_", "n_evaluations_"):
        before, message = getattr(model, name), f"^{name} is part of fitted_, which is only replaced as a whole$"
        with pytest.raises(AttributeError, match=message):
            setattr(model, name, before)
        with pytest.raises(AttributeError, match=message):
            delattr(model, name)
        np.testing.assert_equal(getattr(model, name), before)


@of_all
def test_without_a_fitted_model_nothing_is_fitted(estimator, tmp_path):
    model = fitted(estimator)
    model.fitted_ = None
    calls = [
        lambda: model.predict(1 if estimator is EvokeForecaster else X), lambda: model.transform(FITS[estimator][0]),
        lambda: model.score(*FITS[estimator]), lambda: model.stream(), lambda: model.get_feature_names_out(),
        lambda: model.save(tmp_path / "a.evk"), lambda: check_is_fitted(model),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(NotFittedError, match=f"This {estimator.__name__} instance is not fitted yet"):
            call()
    assert not hasattr(model, "genome_")
    model.set_params(warm_start=True).fit(*FITS[estimator])
    np.testing.assert_array_equal(model.genome_, fitted(estimator).genome_)


class Validating(EvokeRegressor):
    """As users write estimators of scikit-learn."""

    def fit(self, X, y):
        X = validate_data(self, X)
        assert self.n_features_in_ == X.shape[1] or hasattr(self, "fitted_")
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(validate_data(self, X, reset=False))


def test_a_subclass_may_validate_its_data():
    model = Validating(**TINY)
    assert not hasattr(model, "n_features_in_")
    expected = EvokeRegressor(**TINY).fit(X, X[:, 0]).predict(X)
    np.testing.assert_array_equal(model.fit(X, X[:, 0]).predict(X), expected)
    assert model.n_features_in_ == 2
    assert "n_features_in_" not in vars(model)
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.predict(X[:, :1])
    assert model.fit(X[:, :1], X[:, 0]).n_features_in_ == 1
    model.n_features_in_ = 7
    assert model.n_features_in_ == model.fitted_.features.n == 1


def test_a_subclass_may_validate_data_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["p", "q"])
    model = Validating(**TINY).fit(frame, X[:, 0])
    assert not hasattr(model, "feature_names_in_")  # they did not reach the model
    model.fitted_ = EvokeRegressor(**TINY).fit(frame, X[:, 0]).fitted_
    assert model.feature_names_in_.tolist() == ["p", "q"]
    assert not hasattr(model.fit(X, X[:, 0]), "feature_names_in_")


def test_what_a_fit_that_fails_has_noted_is_no_model():
    model = Validating(**TINY)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(X, np.full(30, np.nan))
    assert model.n_features_in_ == 2
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_a_warm_start_from_records_that_were_changed():
    model = fitted(EvokeRegressor)
    model.history_[0]["generation"] = 9
    message = "warm_start cannot continue the last fit: history_[0]['generation'] must be 1, got 9"
    with pytest.raises(ValueError, match=re.escape(message)):
        model.set_params(warm_start=True).fit(X, X[:, 0])
