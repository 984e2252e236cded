"""Estimators for sequences in the manner of scikit-learn."""

from evoke.classifier import EvokeClassifier
from evoke.forecaster import EvokeForecaster
from evoke.regressor import EvokeRegressor

__all__ = ["EvokeClassifier", "EvokeForecaster", "EvokeRegressor"]
