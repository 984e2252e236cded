"""What notebooks show of estimators: their parameters, and what was learned."""

import re

import numpy as np
import pytest
import sklearn

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
from helpers.classifiers import ONES, RAGGED, TINY, tiny

CELL = re.compile(r"<td>(.*?)</td>", re.DOTALL)


def facts(shown):
    table = shown[shown.index("<th>networks</th>") :]
    return dict(zip(re.findall("<th>(.*?)</th>", table), CELL.findall(table), strict=True))


def test_what_was_learned_stands_below_the_parameters(tmp_path):
    model = tiny(n_generations=4).fit(RAGGED, ONES)
    shown = model._repr_html_()
    found = facts(shown)
    line = found.pop("over the generations")
    assert found == {
        "networks": str(len(model.fitted_.networks)), "cells": "3", "generations": "4",
        "support vectors": str(len(model.readout_.support_vectors)), "evaluations": str(model.n_evaluations_),
        "fitness": f"{model.best_fitness_:.4g}",
    }  # fmt: skip
    assert len(re.search('points="(.*?)"', line)[1].split()) == 4
    assert shown.index("EvokeClassifier") < shown.index("<th>networks</th>")
    assert facts(model._repr_mimebundle_()["text/html"])["fitness"] == found["fitness"]
    model.save(tmp_path / "model.evk")
    assert facts(load(tmp_path / "model.evk")._repr_html_()) == facts(shown)


@pytest.mark.parametrize("model", [EvokeClassifier(), EvokeRegressor(), EvokeForecaster()])
def test_one_that_is_not_fitted_has_its_parameters_only(model):
    assert "EvokeClassifier" in EvokeClassifier()._repr_html_()
    assert "<th>networks</th>" not in model._repr_html_()


def test_a_forecaster_of_networks_that_are_drawn():
    model = EvokeForecaster(n_networks=4, random_state=0).fit(np.sin(np.arange(60.0) / 3))
    assert facts(model._repr_html_()) == {"networks": str(len(model.fitted_.networks))}


def test_one_generation_has_no_line():
    model = EvokeForecaster(**TINY | {"n_generations": 1}).fit(np.sin(np.arange(60.0)))
    assert "over the generations" not in facts(model._repr_html_())


def test_text_where_texts_are_asked_for():
    model = tiny().fit(RAGGED, ONES)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}
