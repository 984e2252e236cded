"""Estimators for sequences in the manner of scikit-learn."""

from __future__ import annotations

from evoke.estimators.classifier import EvokeClassifier
from evoke.estimators.forecaster import EvokeForecaster
from evoke.estimators.regressor import EvokeRegressor
from evoke.persistence.model import load

__all__ = ["EvokeClassifier", "EvokeForecaster", "EvokeRegressor", "load"]
