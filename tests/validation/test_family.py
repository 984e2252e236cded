"""One family of checks: each parameter of each public name is given what it cannot be.

What refuses it must be a ParameterError that begins with the parameter's name, says what it must be and what it got;
and the same mistake must be met with the same words by everyone who has a parameter of that name.
"""

import inspect
import re
import warnings
from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from evoke import (
    callbacks,
    certification,
    certify,
    estimators,
    export,
    inspection,
    lstm,
    readouts,
    reproduce,
    svm,
    tasks,
)
from evoke._core.kernel import Kernel
from evoke._core.lstm import Network
from evoke.cmaes import CMAES
from evoke.esp import ESP
from evoke.exceptions import ParameterError

STRINGS, LABELS = tasks.anbncn(range(1, 3))
SERIES = tasks.superimposed_sines(2, 40)
ROWS = np.random.default_rng(0).standard_normal((12, 2))
SIGNS = np.where(ROWS[:, 0] > 0, 1, -1)
TINY = {"n_cells": 2, "n_generations": 1, "subpopulation_size": 4, "n_trials": 1, "random_state": 0}
MODEL = estimators.EvokeClassifier(**TINY)


def fitted(estimator, *data):
    """A call that fits the estimator with these parameters."""
    return lambda **parameters: estimator(**parameters).fit(*data)


def solve(**parameters):
    settings = {"kernel": "rbf", "gamma": 1.0, "coef0": 0.0, "degree": 3, "epsilon": 0.0, "tol": 1e-3, "max_iter": 100,
                "solver": "native"}  # fmt: skip
    return svm.solve(ROWS, SIGNS * 1.0, -np.ones(12), np.ones(12), **(settings | parameters))


def signature(function, without=()):
    return [name for name in inspect.signature(function).parameters if name not in without]


@cache
def strings_model():
    X, y = tasks.language("anbn").encode_counts(2)
    return estimators.EvokeClassifier(**TINY).fit(X, y)


def tiny(estimator, *data):
    return lambda **parameters: estimator(**(TINY | parameters)).fit(*data)


# who: (the call, the parameters that it is given wrong)
TAKERS = {
    "EvokeClassifier": (tiny(estimators.EvokeClassifier, STRINGS, LABELS), signature(estimators.EvokeClassifier)),
    "EvokeRegressor": (tiny(estimators.EvokeRegressor, ROWS, ROWS), signature(estimators.EvokeRegressor)),
    "EvokeForecaster": (tiny(estimators.EvokeForecaster, SERIES), signature(estimators.EvokeForecaster)),
    **{
        machine.__name__: (fitted(machine, ROWS, SIGNS), signature(machine))
        for machine in (svm.SVC, svm.SVR, svm.LSSVC, svm.LSSVR, svm.LandmarkLSSVC, svm.LandmarkLSSVR, svm.LandmarkSVC)
    },
    "solve": (solve, signature(svm.solve, {"X", "target", "lower", "upper"})),
    "ESP": (lambda **parameters: ESP(**({"lengths": [2, 2]} | parameters)), signature(ESP, {"lengths"})),
    "CMAES": (lambda **parameters: CMAES(**({"lengths": [2, 2]} | parameters)), signature(CMAES, {"lengths"})),
    "forward": (
        lambda **parameters: lstm.forward(np.zeros((1, 12)), [ROWS], **parameters),
        ["cell", "gate_bias", "return_state"],
    ),
    "Kernel": (lambda kernel="rbf", **parameters: Kernel(kernel, **parameters), ["kernel", "gamma", "coef0", "degree"]),
    "Network": (lambda **parameters: Network(np.zeros((1, 12)), **parameters), ["cell", "gate_bias"]),
    "SVMReadout": (readouts.SVMReadout, signature(readouts.SVMReadout)),
    "LSSVMReadout": (readouts.LSSVMReadout, signature(readouts.LSSVMReadout)),
    "PinvReadout": (readouts.PinvReadout, signature(readouts.PinvReadout)),
    "Checkpoint": (
        lambda **parameters: callbacks.Checkpoint(**({"path": "run.evk"} | parameters)),
        signature(callbacks.Checkpoint),
    ),
    "EarlyStopping": (
        lambda **parameters: callbacks.EarlyStopping(**({"patience": 3, "target": 0.0} | parameters)),
        signature(callbacks.EarlyStopping),
    ),
    "HistoryLog": (callbacks.HistoryLog, signature(callbacks.HistoryLog)),
    "permutation_importance": (
        lambda model=None, **parameters: inspection.permutation_importance(
            MODEL.fit(STRINGS, LABELS) if model is None else model, STRINGS, LABELS, **parameters
        ),
        ["model", "n_repeats", "random_state", "n_jobs", "block_length"],
    ),
    "superimposed_sines": (tasks.superimposed_sines, signature(tasks.superimposed_sines)),
    "mackey_glass": (
        lambda **parameters: tasks.mackey_glass(**({"n_steps": 3, "n_discard": 1} | parameters)),
        signature(tasks.mackey_glass),
    ),
    "linear_window": (
        lambda **parameters: tasks.linear_window(SERIES, **({"n_train": 30, "n_test": 5, "order": 3} | parameters)),
        signature(tasks.linear_window, {"series"}),
    ),
    "anbncn_accepts": (lambda n: tasks.anbncn_accepts(None, n), ["n"]),
    "anbncn_accepted": (lambda test_max: tasks.anbncn_accepted(None, test_max), ["test_max"]),
    "anbncn_margins": (lambda test_max: tasks.anbncn_margins(None, test_max), ["test_max"]),
    "run_anbncn": (
        lambda **parameters: reproduce.run_anbncn(**({"seed": 0, "n_max": 2, "n_generations": 1} | parameters)),
        signature(reproduce.run_anbncn),
    ),
    "run_sines": (
        lambda **parameters: reproduce.run_sines(**({"seed": 0, "n_generations": 1} | parameters)),
        signature(reproduce.run_sines),
    ),
    "run_language": (
        lambda **parameters: reproduce.run_language(
            **({"seed": 0, "language": "anbn", "n_max": 2, "n_generations": 1} | parameters)
        ),
        signature(reproduce.run_language),
    ),
    "languages": (
        lambda **parameters: reproduce.languages(
            **({"names": "anbn", "n_max": 2, "runs": 1, "n_generations": 1} | parameters)
        ),
        signature(reproduce.languages, {"n_jobs", "progress"}),
    ),
    "certify": (
        lambda **parameters: certify(**({"model": strings_model(), "language": "anbn", "up_to": 2} | parameters)),
        signature(certify),
    ),
    "simplify": (
        lambda **parameters: certification.simplify(
            **({"model": strings_model(), "language": "anbn", "up_to": 2, "n_max": 2, "max_seconds": 0.01} | parameters)
        ),
        signature(certification.simplify),
    ),
    "CertifiedStop": (
        lambda **parameters: certification.CertifiedStop(**({"language": "anbn"} | parameters)),
        signature(certification.CertifiedStop),
    ),
    "c_source": (
        lambda **parameters: export.c_source(**({"model": strings_model()} | parameters)),
        signature(export.c_source, {"X"}),
    ),
    "html_page": (
        lambda **parameters: export.html_page(**({"model": strings_model()} | parameters)),
        signature(export.html_page, {"X"}),
    ),
    "Language": (tasks.language, ["name"]),
    "Language.sample": (
        lambda **parameters: tasks.language("anbn").sample(**({"n": 2} | parameters)), ["n", "random_state", "p"]
    ),
    "Language.encode": (
        lambda **parameters: tasks.language("anbn").encode(**({"strings": ["ab"]} | parameters)),
        ["strings", "targets"],
    ),
}  # fmt: skip


class Unshowable:
    def __repr__(self):
        raise RuntimeError


NONSENSE = {
    "text": "nonsense", "no text": "", "bytes": b"rbf", "nan": float("nan"), "infinite": float("inf"), "below": -7.5,
    "beyond": 10**400, "none": None, "list": [], "dict": {"a": 1}, "array": np.zeros((2, 2)), "object": object(),
    "unshowable": Unshowable(), "type": int, "complex": 1 + 2j,
}  # fmt: skip

# Whether these can be depends on the data, which the message names as well.
OF_DATA = {("class_weight", "dict"), ("washout", "beyond"), ("initial", "array")}

# Parameters that may be more, or something else, than those of the same name elsewhere.
OF_ANOTHER_KIND = {
    **dict.fromkeys([("SVC", "gamma"), ("SVR", "gamma"), ("LSSVC", "gamma"), ("LSSVR", "gamma")], "number or rule"),
    **dict.fromkeys([(who, "kernel") for who in ("SVC", "SVR", "LSSVC", "LSSVR", "solve")], "matrix or function too"),
    **dict.fromkeys([("SVMReadout", "kernel"), ("LSSVMReadout", "kernel")], "object"),
    **dict.fromkeys([("ESP", name) for name in ("weight_range", "mutation_scale", "burst_scale")], "number or list"),
    ("CMAES", "weight_range"): "number or list",
    ("c_source", "dtype"): "mixed too",
    **{
        (who, name): "auto too"
        for who in ("EvokeClassifier", "EvokeRegressor")
        for name in ("readout", "gamma", "C")
    },
    **{(who, name): "or auto" for who in ("LandmarkLSSVC", "LandmarkLSSVR", "LandmarkSVC") for name in ("gamma", "C")},
    **dict.fromkeys([("EvokeForecaster", "gamma"), ("EvokeForecaster", "C")], "auto and evolve too"),
    **dict.fromkeys([("EvokeForecaster", "n_networks"), ("EvokeForecaster", "n_landmarks")], "of rolling origins"),
    ("EvokeForecaster", "validation"): "of series, whose steps are not shuffled",
}

CASES = [(who, name, what) for who, (_, names) in TAKERS.items() for name in names for what in NONSENSE]


def refused(who, name, what, tmp_path, monkeypatch):
    """The error that one wrong parameter meets; None where it is taken."""
    call, _ = TAKERS[who]
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(**{name: NONSENSE[what]})
        except Exception as error:
            return error
    return None


@pytest.mark.parametrize("who", TAKERS)
def test_a_refusal_names_the_parameter_and_the_value(who, tmp_path, monkeypatch):
    refusals = 0
    for name in TAKERS[who][1]:
        for what in NONSENSE:
            error = refused(who, name, what, tmp_path, monkeypatch)
            if error is None:
                continue
            refusals += 1
            if (name, what) in OF_DATA:
                assert isinstance(error, ValueError)
                assert str(error).startswith(name)
            else:
                assert type(error) is ParameterError, (name, what, repr(error))
                assert re.match(rf"{name}\b.* must .+, got .+", str(error)), (name, what, str(error))
            assert "\n" not in str(error)
            assert len(str(error)) < 300
    assert refusals >= 5 * len(TAKERS[who][1])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_same_mistake_has_the_same_words(tmp_path, monkeypatch):
    words = defaultdict(lambda: defaultdict(list))
    for who, name, what in CASES:
        error = refused(who, name, what, tmp_path, monkeypatch)
        if error is not None and (name, what) not in OF_DATA:
            # the most that makes sense differs: a string is made of steps, which are kept, but is accepted one by one
            said = re.sub(r"0x[0-9a-f]+|at most \d+", "", str(error))
            words[name, OF_ANOTHER_KIND.get((who, name)), what][said].append(who)
    different = {mistake: dict(said) for mistake, said in words.items() if len(said) > 1}
    assert not different
