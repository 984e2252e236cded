"""Small fits with callbacks, cut where one wants."""

import csv
import json

import numpy as np
import pytest
from sklearn.base import clone

from evoke import EvokeClassifier

TINY = dict(n_cells=2, n_generations=6, subpopulation_size=4, n_trials=2, random_state=0)
RNG = np.random.default_rng(0)
X = [RNG.normal(size=(length, 2)) for length in (5, 6, 4, 5)]
CLASSES = [(x[:, 0] > 0).astype(int) for x in X]
VALUES = [np.cumsum(x[:, 0]) for x in X]


def tiny(*watching, estimator=EvokeClassifier, **parameters):
    return estimator(**{**TINY, **parameters}, callbacks=list(watching))


def assert_same_model(a, b):
    """Two models with the same bits."""
    np.testing.assert_array_equal(a.genome_, b.genome_)
    assert a.history_ == b.history_
    assert (a.best_fitness_, a.n_evaluations_) == (b.best_fitness_, b.n_evaluations_)
    for name in ("support_vectors", "dual_coef", "intercept"):
        np.testing.assert_array_equal(getattr(a.readout_, name), getattr(b.readout_, name))
    ours, theirs = a.fitted_.run.esp.state_dict(), b.fitted_.run.esp.state_dict()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


class Stop(Exception):
    pass


def stop_at(generation, kind=Stop):
    def stop(record, _esp):
        if record["generation"] == generation:
            raise kind

    return stop


def cut(model, generation, kind=Stop):
    """The model whose fit is ended by an exception behind this generation."""
    model = clone(model).set_params(callbacks=[*(model.callbacks or []), stop_at(generation, kind)])
    with pytest.raises(kind):
        model.fit(X, CLASSES)
    return model


def read_log(path):
    """Records with their types."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = {"True": True, "False": False}
    return [{name: kinds[text] if text in kinds else json.loads(text) for name, text in row.items()} for row in rows]
