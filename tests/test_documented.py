"""The docstrings of the estimators are complete: every parameter and learned attribute, with its default."""

import ast
import inspect
import re

import numpy as np
import pandas as pd
import pytest

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.svm import LSSVC, LSSVR, SVC, SVR

ESTIMATORS = [EvokeClassifier, EvokeRegressor, EvokeForecaster]
TINY = dict(n_cells=2, n_generations=1, subpopulation_size=4, n_trials=1, random_state=0)


def entries(thing, section):
    """Names in a section of a docstring, in order, with what stands behind the colon."""
    body = re.search(rf"{section}\n-+\n(.*?)(?=\n\n|\Z)", inspect.getdoc(thing), re.DOTALL)[1]
    found = {}
    for names, what in re.findall(r"^(\w[\w, ]*) : (.*)$", body, re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), what)
    return found


@pytest.mark.parametrize("estimator", [*ESTIMATORS, SVC, SVR, LSSVC, LSSVR])
def test_every_parameter_is_documented_with_its_default(estimator):
    found, signature = entries(estimator, "Parameters"), inspect.signature(estimator).parameters
    assert list(found) == list(signature)
    for name, what in found.items():
        assert ast.literal_eval(what.split("default=")[1]) == signature[name].default, name
    assert not re.search(r"^ *\{[\w ]+\}$", estimator.__doc__ + estimator.fit.__doc__, re.MULTILINE)
    assert set(entries(estimator.fit, "Parameters")) == set(inspect.signature(estimator.fit).parameters) - {"self"}


@pytest.mark.parametrize("machine", [SVC(), SVR(), LSSVC(), LSSVR()])
def test_every_learned_attribute_of_a_machine_is_documented(machine):
    x = pd.DataFrame({"a": np.arange(20.0)})
    learned = {name for name in vars(machine.fit(x, x["a"] // 10)) if name.endswith("_") and not name.startswith("_")}
    assert "feature_names_in_" in learned and learned <= set(entries(type(machine), "Attributes"))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_learned_attribute_is_documented(estimator):
    x = pd.DataFrame({"a": np.random.default_rng(0).normal(size=20)})
    y = x["a"] if estimator is EvokeForecaster else x["a"] > 0
    model = estimator(**TINY).fit(y, x) if estimator is EvokeForecaster else estimator(**TINY).fit(x, y)
    learned = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert "feature_names_in_" in learned and learned <= set(entries(estimator, "Attributes"))
