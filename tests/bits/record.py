"""The bits of fixed computations, as hashes: what the code gave before may not change by moving it.

    python tests/bits/record.py [--update | --models]

Prints the hashes of all cases as JSON, on the instruction set that EVOKE_SIMD names. `--update` writes them to
tests/bits/bits.json instead, where test_bits.py finds them, and says which have changed. `--models` writes the files in
tests/bits/models and is for a version whose bits are known to be right; `--update` has to follow.

Only public names are used, so that it runs on any version. The data are made of random numbers, sums and products
alone: the sines and powers of NumPy and of the C library differ in the last bit from machine to machine.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

import evoke
from evoke import CMAES, ESP, EvokeClassifier, EvokeForecaster, EvokeRegressor, reproduce, tasks
from evoke.callbacks import Checkpoint, EarlyStopping
from evoke.lstm import forward
from evoke.svm import LSSVC, LSSVR, SVC, SVR, solve

HERE = Path(__file__).parent
RECORD = HERE / "bits.json"
MODELS = HERE / "models"

Values = dict[str, Any]
CASES: dict[str, Callable[[], Values]] = {}


def case(function: Callable[[], Values]) -> Callable[[], Values]:
    """A case under the name of its function."""
    CASES[function.__name__.replace("_", " ")] = function
    return function


# ---------------------------------------------------------------- hashes


def digest(value: Any) -> str:
    """The first 16 digits of the SHA-256 of a value: of types, shapes and bytes of all that it holds."""
    state = hashlib.sha256()
    _feed(state, value)
    return state.hexdigest()[:16]


def _feed(state: Any, value: Any) -> None:
    if isinstance(value, dict):
        state.update(f"dict {len(value)};".encode())
        for key in sorted(value):
            _feed(state, key)
            _feed(state, value[key])
    elif isinstance(value, (list, tuple)):
        state.update(f"list {len(value)};".encode())
        for element in value:
            _feed(state, element)
    elif value is None or isinstance(value, str):
        state.update(f"{type(value).__name__} {value};".encode())
    else:
        array = np.ascontiguousarray(value)
        if array.dtype.kind not in "biufU":
            raise TypeError(f"{value!r} has no bits that could be compared")
        state.update(f"{array.dtype.str} {np.shape(value)};".encode() + array.tobytes())


def digests(name: str) -> dict[str, str]:
    """The hashes of a case, by what they are of."""
    return {part: digest(value) for part, value in CASES[name]().items()}


# ---------------------------------------------------------------- data


def uniform(seed: int, *shape: int) -> np.ndarray:
    """Numbers in [-1, 1)."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, shape)


def integers(seed: int, below: int, *shape: int) -> np.ndarray:
    """Numbers 0, 1, ..., below - 1."""
    return np.random.default_rng(seed).integers(below, size=shape)


def wave(n_steps: int, *factors: float) -> np.ndarray:
    """A sum of sine waves, which obey x(t) = 2 cos(w) x(t - 1) - x(t - 2); `factors` are their cosines."""
    total = np.zeros(n_steps)
    for factor in factors or (0.98, 0.95):
        values = [0.0, 0.25]
        while len(values) < n_steps:
            values.append(2.0 * factor * values[-1] - values[-2])
        total += values
    return total


def sines(n_waves: int, n_steps: int) -> np.ndarray:
    """The series of the paper, rounded: the last bit of a sine is not the same everywhere."""
    return np.round(tasks.superimposed_sines(n_waves, n_steps), 6)


def ragged(seed: int, lengths: tuple[int, ...], n_features: int) -> list[np.ndarray]:
    """Sequences of these lengths."""
    return [uniform(seed + k, length, n_features) for k, length in enumerate(lengths)]


def sums(X: list[np.ndarray]) -> list[np.ndarray]:
    """What has come in so far, of the first feature, fading: a target that asks for memory."""
    targets = []
    for x in X:
        values = [0.0]
        for value in x[:, 0].tolist():
            values.append(0.75 * values[-1] + value)
        targets.append(np.array(values[1:]))
    return targets


def thirds(X: list[np.ndarray]) -> list[np.ndarray]:
    """Labels 0, 1 and 2 of the same."""
    return [np.where(y < -0.5, 0, np.where(y < 0.5, 1, 2)) for y in sums(X)]


# Long enough for the sequences to be halved, and for blocks of several and of odd sizes in the core.
LENGTHS = (9, 14, 5, 20, 11, 7, 13, 16)
SMALL = {"n_cells": 3, "subpopulation_size": 8, "n_trials": 2, "n_generations": 6, "random_state": 5}


# ---------------------------------------------------------------- what a model is asked


def learned(model: Any) -> Values:
    """All that evolution has found."""
    readout = model.readout_
    return {
        "genome": model.genome_,
        "history": model.history_,
        "fitness": [model.best_fitness_, model.n_evaluations_],
        "support vectors": readout.support_vectors,
        "coefficients": [readout.dual_coef, readout.intercept],
        "certificates": [readout.dual_gap, readout.converged],
    }


def machine(model: Any, X: Any) -> Values:
    """All that a support vector machine has found, and what it says of X."""
    names = ("support_", "n_support_", "n_iter_", "dual_gap_", "fit_status_", "residual_", "class_weight_", "classes_")
    values = {
        "support": [model.support_, model.support_vectors_],
        "coefficients": [model.dual_coef_, model.intercept_],
        "others": {name: getattr(model, name) for name in names if hasattr(model, name)},
        "predictions": model.predict(X),
    }
    if hasattr(model, "decision_function"):
        values["decisions"] = model.decision_function(X)
    return values


def classified(model: Any, X: Any, **more: Any) -> Values:
    return {
        "activations": model.transform(X, **more), "decisions": model.decision_function(X, **more),
        "predictions": model.predict(X, **more),
    }  # fmt: skip


def generated(model: Any, n_steps: int, **more: Any) -> Any:
    """Values of a free run, or where it leaves the finite numbers."""
    try:
        return model.generate(n_steps, **more)
    except FloatingPointError as error:
        return str(error)


# ---------------------------------------------------------------- the experiments of the paper, shortened


def strings(preset: str, readout: str, seed: int) -> Values:
    parameters = reproduce.anbncn_parameters(preset, readout) | {"n_generations": 12, "random_state": seed}
    model = EvokeClassifier(**parameters).fit(*tasks.anbncn(8))
    return learned(model) | classified(model, tasks.anbncn([1, 7, 12, 30])[0]) | {
        "margins": tasks.anbncn_margins(model, 25),
        "accepted": [tasks.anbncn_accepted(model, 25), tasks.anbncn_accepts(model, 9)],
    }  # fmt: skip


def waves(preset: str, readout: str, seed: int, n_waves: int = 2) -> Values:
    parameters = reproduce.sines_parameters(preset, readout, n_waves)
    parameters |= {"n_generations": 8, "random_state": seed, "washout": 40}
    y = sines(n_waves, 240)
    model = EvokeForecaster(**parameters).fit(y[:200])
    return learned(model) | {
        "generated": generated(model, 40), "of context": generated(model, 20, context=y[100:160]),
        "one step": model.predict_one_step(y),
    }  # fmt: skip


for _preset in sorted(reproduce.SINES_PRESETS):  # those of the paper's experiments
    for _readout in ("svm", "lssvm", "pinv"):
        for _seed in (0, 1):
            CASES[f"anbncn {_preset} {_readout} {_seed}"] = partial(strings, _preset, _readout, _seed)
for _preset, _readouts in sorted(reproduce.SINES_PRESETS.items()):
    for _readout in sorted(_readouts):
        for _seed in (0, 1):
            CASES[f"sines {_preset} {_readout} {_seed}"] = partial(waves, _preset, _readout, _seed)
        CASES[f"sines of 3 {_preset} {_readout}"] = partial(waves, _preset, _readout, 0, 3)


@case
def presets() -> Values:
    """The parameters themselves."""
    readouts = ("svm", "lssvm", "pinv")
    return {
        f"{preset} {readout}": [reproduce.anbncn_parameters(preset, readout)]
        + [reproduce.sines_parameters(preset, readout, n_waves) for n_waves in range(1, 9)]
        for preset in ("paper", "tuned") for readout in readouts
    }  # fmt: skip


@case
def reproduction_of_anbncn() -> Values:
    result = reproduce.anbncn(n_max=6, runs=2, seed=3, preset="paper", n_generations=8, test_max=60, n_jobs=2)
    for run in result["runs"]:
        del run["seconds"]
    names = ("task", "n_max", "preset", "readout", "runs", "unfinished", "mean_accepted", "median_accepted",
             "quartiles_accepted", "n_at_cap", "published")  # fmt: skip
    return {"result": {name: result[name] for name in names}}


@case
def data_of_tasks() -> Values:
    return {
        "anbncn": tasks.anbncn([1, 2, 5]),
        "sines": [sines(n_waves, 50) for n_waves in range(1, 9)],
        "mackey glass": np.round(tasks.mackey_glass(60, n_discard=0, random_state=4), 6),
    }


# ---------------------------------------------------------------- estimators


@case
def classifier_of_steps() -> Values:
    X = ragged(100, LENGTHS, 2)
    model = EvokeClassifier(**SMALL, kernel="poly", gamma=0.5, C=10.0, washout=2, credit="mean", objective="squared")
    model.fit(X, thirds(X))
    new = ragged(150, (6, 17), 2)
    reader = model.stream()
    read = [reader.decision_function(new[1][:8]), reader.predict(new[1][8:12]), reader.step(new[1][12])]
    return learned(model) | classified(model, new) | {"stream": read}


@case
def classifier_of_sequences() -> Values:
    X = ragged(200, LENGTHS * 3, 2)
    names = np.array(["high", "low", "middle"])[[labels[-1] for labels in thirds(X)]]
    model = EvokeClassifier(**SMALL, readout="lssvm", class_weight="balanced", washout=3, refit=True, validation=0.25)
    model.fit(X, names)
    return learned(model) | classified(model, ragged(250, LENGTHS, 2)) | {"classes": model.classes_}


@case
def classifier_of_two_classes() -> Values:
    X = ragged(300, LENGTHS, 1)
    y = [np.where(target > 0.25, 1, -1) for target in sums(X)]
    weights = [1.0 + integers(320 + k, 4, len(x)) for k, x in enumerate(X)]
    model = EvokeClassifier(
        **SMALL, cell="evolino", kernel="linear", class_weight={1: 2.5}, objective="count", burst_patience=1,
        burst_scale=0.75, n_jobs=2,
    )  # fmt: skip
    model.fit(X, y, sample_weight=weights)
    return learned(model) | classified(model, X[:3])


@case
def classifier_of_laid_out_rows() -> Values:
    X, lengths = uniform(400, sum(LENGTHS), 2), list(LENGTHS)
    y = integers(401, 3, len(X))
    X_val = uniform(402, 40, 2)
    model = EvokeClassifier(**SMALL, readout="pinv", weight_range=1.0)
    model.fit(X, y, lengths=lengths, X_val=X_val, y_val=integers(403, 3, 40))
    return learned(model) | classified(model, X, lengths=lengths)


@case
def classifier_of_several_outputs() -> Values:
    X = uniform(500, 8, 12, 3)
    y = (X.cumsum(axis=1)[:, :, :2] > 0.0).astype(np.int64)
    model = EvokeClassifier(**SMALL | {"n_cells": 5, "random_state": np.random.default_rng(6)}).fit(X, y)
    return learned(model) | classified(model, uniform(501, 4, 9, 3))


@case
def regressor_of_steps() -> Values:
    X = ragged(600, LENGTHS, 2)
    y = sums(X)
    weights = [1.0 + integers(620 + k, 3, len(x)) for k, x in enumerate(X)]
    model = EvokeRegressor(**SMALL, C=10.0, washout=1, epsilon=0.01, objective="hinge")
    model.fit(X, y, sample_weight=weights)
    new = ragged(650, (6, 17), 2)
    reader = model.stream()
    read = [reader.transform(new[0][:3]), reader.predict(new[0][3:]), reader.step(new[1][0])]
    return learned(model) | {"predictions": model.predict(new), "activations": model.transform(new), "stream": read}


@case
def regressor_of_sequences() -> Values:
    X = ragged(700, LENGTHS * 2, 2)
    y = np.array([target[-1] for target in sums(X)])
    weights = integers(701, 3, len(X)) + 0.5
    model = EvokeRegressor(**SMALL, readout="lssvm", C=50.0, cell="lstm", refit=True, validation="half")
    model.fit(X, y, sample_weight=weights)
    return learned(model) | {"predictions": model.predict(ragged(750, LENGTHS, 2))}


@case
def regressor_by_pseudoinverse() -> Values:
    X = uniform(800, 120, 2)
    y = np.stack([X[:, 0] * 0.5, *sums([X])], axis=1)
    model = EvokeRegressor(**SMALL | {"n_cells": 4}, readout="pinv", washout=10, validation=0.3).fit(X, y)
    return learned(model) | {"predictions": model.predict(uniform(801, 30, 2))}


def _driven(n_steps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A series of two values and the external inputs that drive the second."""
    X = uniform(seed, n_steps, 2)
    return np.stack([wave(n_steps), *sums([X])], axis=1), X


@case
def forecaster_told_the_truth() -> Values:
    y, X = _driven(130, 900)
    weights = 1.0 + integers(901, 2, 100)
    model = EvokeForecaster(**SMALL, washout=10, C=1e3, refit=True).fit(y[:100], X[:100], sample_weight=weights)
    reader = model.stream()
    return learned(model) | {
        "generated": generated(model, 30, X=X[100:]),
        "of context": generated(model, 10, context=y[:50], X=X[:60]),
        "predictions": model.predict([3, 1, 8], X=X[100:108]),
        "one step": model.predict_one_step(y, X),
        "stream": [reader.step(before, now) for before, now in zip(y[:12], X[1:13], strict=True)],
    }


@case
def forecaster_left_alone() -> Values:
    series = [wave(length, 0.98, 0.95 - 0.01 * k) for k, length in enumerate((60, 45, 52, 70))]
    model = EvokeForecaster(
        **SMALL, readout="svm", C=100.0, washout=8, validation_mode="free", burst_patience=2, n_jobs=2
    ).fit(series)
    reader = model.stream()
    return learned(model) | {
        "generated": generated(model, 25), "predictions": model.predict(4), "one step": model.predict_one_step(series),
        "stream": [reader.step(value) for value in series[0][:10]],
    }  # fmt: skip


@case
def forecaster_left_alone_with_inputs() -> Values:
    y, X = _driven(120, 910)
    y_val, X_val = _driven(50, 911)
    model = EvokeForecaster(**SMALL, readout="pinv", washout=5, validation_mode="free", feedback_scale=0.01)
    model.fit(y[:90], X[:90], y_val=y_val, X_val=X_val)
    return learned(model) | {"generated": generated(model, 30, X=X[90:])}


@case
def warm_starts() -> Values:
    X = ragged(1000, LENGTHS, 2)
    y = thirds(X)
    model = EvokeClassifier(**SMALL | {"n_generations": 3}, warm_start=True, callbacks=[EarlyStopping(patience=50)])
    values = {f"first {part}": value for part, value in learned(model.fit(X, y)).items()}
    values |= {f"same {part}": value for part, value in learned(model.fit(X, y)).items()}
    return values | {f"other {part}": value for part, value in learned(model.fit(X[::-1], y[::-1])).items()}


@case
def commands() -> Values:
    """The command line, in this process: a model from a table, what it predicts, and a reproduction."""
    table = pd.DataFrame(np.round(uniform(1100, 60, 2), 3), columns=["one", "two"])
    table["class"] = np.where(table["one"] > 0.0, "up", "down")
    with tempfile.TemporaryDirectory() as folder:
        data, model, result = (str(Path(folder) / name) for name in ("table.csv", "model.evk", "result.json"))
        table.to_csv(data, index=False)
        small = [f"{name}={value}" for name, value in SMALL.items() if name != "random_state"]
        _command("fit", data, "--target", "class", "--out", model, *(word for p in small for word in ("-p", p)))
        predicted = _command("predict", model, data, "--decisions")
        values = learned(evoke.load(model)) | {"table": predicted.splitlines()}
        _command("reproduce", "anbncn", "--n-max", "4", "--runs", "1", "--seed", "7", "--generations", "4",
                 "--test-max", "20", "--readout", "lssvm", "--json", result)  # fmt: skip
        run, = json.loads(Path(result).read_text(encoding="utf-8"))["runs"]
    del run["seconds"]
    return values | {"reproduced": run}


def _command(*words: str) -> str:
    """What a command writes to stdout."""
    written, told = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["evoke", *words]),
        contextlib.redirect_stdout(written),
        contextlib.redirect_stderr(told),
    ):
        try:
            runpy.run_module("evoke", run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"evoke {' '.join(words)} ended with {end.code}: {told.getvalue()}") from None
    return written.getvalue()


# ---------------------------------------------------------------- machines


def _rings(seed: int, n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and classes by their squared distance from the middle, one in ten of them wrong."""
    X = uniform(seed, n_rows, n_features)
    squares = np.zeros(n_rows)
    for column in X.T:
        squares += column * column
    y = np.minimum((squares * 3.0 / n_features * n_classes / 2.0).astype(np.int64), n_classes - 1)
    return X, np.where(integers(seed + 1, 10, n_rows) == 0, integers(seed + 2, n_classes, n_rows), y)


KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.7}, "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 3},
}  # fmt: skip


def two_classes(estimator: type, kernel: str) -> Values:
    X, y = _rings(2000, 150, 3, 2)
    return machine(estimator(C=5.0, **KERNELS[kernel]).fit(X, y), uniform(2003, 40, 3))


def several_classes(estimator: type, kernel: str) -> Values:
    X, y = _rings(2010, 160, 5, 4)
    model = estimator(C=2.0, class_weight={"a": 2.0, "d": 0.5}, **KERNELS[kernel])
    weights = integers(2014, 4, len(X)) * 0.5
    return machine(model.fit(X, np.array(["a", "b", "c", "d"])[y], sample_weight=weights), uniform(2015, 40, 5))


def several_values(estimator: type, kernel: str) -> Values:
    X = uniform(2020, 140, 4)
    y = np.stack([X[:, 0] * X[:, 1], X[:, 2] + 0.25 * uniform(2021, 140), X[:, 3] * X[:, 3]], axis=1)
    weights = integers(2022, 4, len(X)) * 0.5
    more = {"epsilon": 0.05, "tol": 1e-4} if estimator is SVR else {}
    model = estimator(C=8.0, **KERNELS[kernel], **more)
    values = machine(model.fit(X, y, sample_weight=weights), uniform(2023, 40, 4))
    single = machine(model.fit(X, y[:, 0]), uniform(2023, 40, 4))
    return values | {f"single {part}": value for part, value in single.items()}


for _kernel in KERNELS:
    for _estimator in (SVC, LSSVC):
        CASES[f"{_estimator.__name__} {_kernel}"] = partial(two_classes, _estimator, _kernel)
        CASES[f"{_estimator.__name__} {_kernel} of 4 classes"] = partial(several_classes, _estimator, _kernel)
    for _estimator in (SVR, LSSVR):
        CASES[f"{_estimator.__name__} {_kernel}"] = partial(several_values, _estimator, _kernel)


@case
def SVC_ovo() -> Values:
    X, y = _rings(2040, 90, 2, 3)
    return machine(SVC(gamma=1.0, decision_function_shape="ovo").fit(X, y), uniform(2043, 30, 2))


@case
def SVC_on_working_sets() -> Values:
    """Rows enough for the machine to solve them set by set."""
    X, y = _rings(2050, 1600, 3, 2)
    return machine(SVC(C=10.0, gamma=1.0).fit(X, y), uniform(2053, 50, 3))


@case
def SVR_on_working_sets() -> Values:
    X = uniform(2060, 1600, 2)
    y = X[:, 0] * X[:, 1] + 0.125 * uniform(2061, 1600)
    return machine(SVR(C=1.0, gamma=1.0, epsilon=0.1).fit(X, y), uniform(2062, 50, 2))


@case
def SVC_with_little_memory() -> Values:
    """Rows of the kernel matrix that are forgotten and computed again."""
    X, y = _rings(2070, 400, 3, 2)
    return machine(SVC(C=100.0, gamma=2.0, cache_size=0.25).fit(X, y), uniform(2073, 50, 3))


@case
def LSSVR_of_many_rows() -> Values:
    """Several blocks of the factorisation, the last one not full."""
    X = uniform(2080, 307, 6)
    y = X[:, 0] * X[:, 1] - X[:, 2]
    return machine(LSSVR(C=100.0, gamma=0.3).fit(X, y), uniform(2081, 50, 6))


@case
def several_targets_of_solve() -> Values:
    X = uniform(2090, 101, 3)
    targets = np.stack([X[:, 0] * X[:, 0], X[:, 1] - X[:, 2]])
    found = solve(X, targets, -2.0 * np.ones(101), np.ones(101), kernel="rbf", gamma=0.5, coef0=0.0, degree=3,
                  epsilon=0.0, tol=1e-6, max_iter=-1, solver="native")  # fmt: skip
    return {"beta": found.beta, "bias": found.bias, "gap": found.gap, "converged": found.converged}


# ---------------------------------------------------------------- the network and its evolution


def passes(cell: str, dtype: type) -> Values:
    """Networks of sizes on both sides of the width of a vector."""
    values = {}
    for n_cells in (1, 4, 5, 10, 17):
        n_inputs = 1 + n_cells % 3
        population = 2.0 * uniform(3000 + n_cells, 7, n_cells, 4 * (n_inputs + n_cells))
        X = ragged(3100 + n_cells, (1, 6, 13, 4), n_inputs)
        X[3] = X[2][:4].copy()  # a beginning that two sequences share
        one = partial(forward, population[0], cell=cell, dtype=dtype)
        phi, state = one(X, return_state=True)
        values[f"{n_cells} cells"] = {
            "population": forward(population, X, cell=cell, dtype=dtype), "one": phi, "state": state,
            "on": one(X[::-1], state=state, gate_bias=(0.5, -0.25, 1.0)),
            "on alone": one(X[1], state=state[1], return_state=True),
        }  # fmt: skip
    return values


for _cell in ("lstm", "evolino"):
    for _dtype in (np.float64, np.float32):
        CASES[f"forward {_cell} {_dtype.__name__}"] = partial(passes, _cell, _dtype)


def _distances(genomes: Any) -> np.ndarray:
    """Squared distances from 1/2, summed in order."""
    total: Any = 0.0
    for columns in genomes:
        for column in columns.T:
            total = total + (column - 0.5) * (column - 0.5)
    return total


@case
def evolution_of_unequal_lengths() -> Values:
    esp = ESP([3, 5, 2], subpopulation_size=9, n_trials=3, burst_patience=2, burst_scale=0.3, mutation_scale=0.05,
              weight_range=[1.0, 5.0, 0.1], random_state=11)  # fmt: skip
    asked, fitness = [], []
    for generation in range(25):
        asked.append(esp.ask())
        told = _distances(asked[-1])
        told[generation % len(told)] = (np.nan, np.inf)[generation % 2]
        fitness.append(told)
        if generation == 9:  # another object goes on, from between `ask` and `tell`
            state, esp = esp.state_dict(), ESP(esp.lengths, subpopulation_size=9, n_trials=3, burst_patience=2,
                                               burst_scale=0.3, mutation_scale=0.05, weight_range=esp.weight_range)
            esp.load_state_dict(state)
        esp.tell(told)
    state = esp.state_dict() | {"entropy": str(esp.state_dict()["entropy"])}
    assert esp.bursts, "the case is meant to have bursts"
    return {"asked": asked, "fitness": fitness, "state": state, "best": esp.best, "bursts": esp.bursts}


@case
def evolution_of_equal_lengths() -> Values:
    values = {}
    seeds = {
        "integer": 0, "sequence": np.random.SeedSequence(5), "generator": np.random.default_rng(8),
        "legacy": np.random.RandomState(8),
    }  # fmt: skip
    for name, seed in seeds.items():
        esp = ESP([4, 4], subpopulation_size=8, n_trials=2, credit="mean", burst_patience=3, random_state=seed)
        for _ in range(12):
            genomes = esp.ask()
            esp.tell(_distances(genomes.transpose(1, 0, 2)))
        values[name] = [genomes, esp.subpopulations, esp.best, esp.best_fitness, esp.bursts]
    return values


@case
def adapted_distributions() -> Values:
    values = {}
    for covariance in ("full", "diagonal"):
        search = CMAES([3, 5, 2], covariance=covariance, restart_patience=2, random_state=11)
        for generation in range(150):
            fitness = _distances(genomes := search.ask())
            fitness[generation % len(fitness)] = np.nan
            search.tell(fitness)
        assert len(search.bursts) > 1, "the case is meant to have populations of several generations"
        state = search.state_dict() | {"entropy": str(search.state_dict()["entropy"])}
        values[covariance] = {"asked": genomes, "state": state, "best": search.best}
    return values


# ---------------------------------------------------------------- models in files


TINY = SMALL | {"n_cells": 2, "subpopulation_size": 4}


def _frames(seed: int, lengths: tuple[int, ...]) -> list[pd.DataFrame]:
    return [pd.DataFrame(x, columns=["left", "right"]) for x in ragged(seed, lengths, 2)]


def _new_classifier() -> EvokeClassifier:
    X = ragged(4000, LENGTHS[:6], 2)
    return EvokeClassifier(**TINY, C=10.0).fit(X, thirds(X))


def _new_classes() -> EvokeClassifier:
    X = _frames(4100, LENGTHS * 2)
    names = np.array(["high", "low", "middle"])[[labels[-1] for labels in thirds([x.to_numpy() for x in X])]]
    return EvokeClassifier(**TINY, readout="lssvm", washout=2).fit(X, names)


def _new_regressor() -> EvokeRegressor:
    X = ragged(4200, LENGTHS[:4], 1)
    return EvokeRegressor(**TINY, epsilon=0.1).fit(X, sums(X))


def _new_forecaster() -> EvokeForecaster:
    y, X = _driven(60, 4300)
    return EvokeForecaster(**TINY, washout=5, C=1e3).fit(y, X)


def _forecasts(model: EvokeForecaster) -> Values:
    y, X = _driven(40, 4310)
    reader = model.stream()
    return {
        "generated": model.generate(40, X=X), "of context": model.generate(10, context=y[:30], X=X),
        "predictions": model.predict([1, 7], X=X[:7]), "one step": model.predict_one_step(y, X),
        "stream": [reader.step(before, now) for before, now in zip(y[:5], X[1:6], strict=True)],
    }  # fmt: skip


def _rows(estimator: type, **parameters: Any) -> Any:
    X, y = _rings(4400, 40, 2, 3)
    target = X[:, 0] * X[:, 1] if estimator in (SVR, LSSVR) else np.array(["a", "b", "c"])[y]
    return estimator(C=5.0, gamma=0.8, **parameters).fit(X, target)


# For each file: how the model was fitted, and what it is asked.
FIXTURES: dict[str, tuple[Callable[[], Any], Callable[[Any], Values]]] = {
    "classifier": (_new_classifier, lambda model: classified(model, ragged(4010, (8, 15), 2))),
    "classes": (_new_classes, lambda model: classified(model, _frames(4110, LENGTHS))),
    "regressor": (_new_regressor, lambda model: {"predictions": model.predict(ragged(4210, (8, 15), 1))}),
    "forecaster": (_new_forecaster, _forecasts),
}
for _estimator in (SVC, SVR, LSSVC, LSSVR):
    FIXTURES[_estimator.__name__.lower()] = (
        partial(_rows, _estimator), lambda model: machine(model, uniform(4410, 25, 2))
    )  # fmt: skip


def file_of(name: str) -> Path:
    """Where a model is kept."""
    return MODELS / f"{name}.evk"


def asked(name: str, model: Any) -> Values:
    """What a model of a file is and says; activations as arrays, whatever they come as."""
    values = FIXTURES[name][1](model)
    if "activations" in values:
        values["activations"] = [np.asarray(phi) for phi in values["activations"]]
    return values | (learned(model) if hasattr(model, "genome_") else {})


for _name in FIXTURES:
    CASES[f"file {_name}"] = lambda name=_name: asked(name, evoke.load(file_of(name)))


# A run of 12 generations whose checkpoint is that of a break after 7.
CHECKPOINT, CUT_AT = file_of("checkpoint"), 7


def run_with(*callbacks: Any) -> EvokeClassifier:
    """The run that the checkpoint is of."""
    X = ragged(4500, LENGTHS[:4], 1)
    parameters = TINY | {"n_generations": 12, "burst_patience": 2, "C": 10.0}
    return EvokeClassifier(**parameters, callbacks=list(callbacks)).fit(X, thirds(X))


def finished(model: EvokeClassifier) -> Values:
    """What the run ends with."""
    return learned(model) | classified(model, ragged(4510, (8, 15), 1))


@case
def run_without_a_break() -> Values:
    return finished(run_with())


@case
def run_resumed() -> Values:
    """From a copy: a checkpoint is replaced by those that follow it."""
    with tempfile.TemporaryDirectory() as folder:
        return finished(run_with(Checkpoint(shutil.copy(CHECKPOINT, folder), every=2)))


def write_models() -> None:
    """Fit the models and write their files, and the checkpoint."""
    MODELS.mkdir(exist_ok=True)
    for name, (fitted, _) in FIXTURES.items():
        fitted().save(file_of(name))
    CHECKPOINT.unlink(missing_ok=True)
    run_with(Checkpoint(CHECKPOINT, every=3), lambda record, _esp: record["generation"] == CUT_AT)


# ---------------------------------------------------------------- the record


def differences(found: dict[str, dict[str, str]], kept: dict[str, dict[str, str]]) -> list[str]:
    """Names of the cases that differ, each with the parts that do."""
    lines = []
    for name in sorted({*found, *kept}):
        ours, theirs = found.get(name, {}), kept.get(name, {})
        if odd := [part for part in sorted({*ours, *theirs}) if ours.get(part) != theirs.get(part)]:
            lines.append(f"{name}: {', '.join(odd)}")
    return lines


def kept() -> dict[str, dict[str, str]]:
    """The hashes of the record."""
    return json.loads(RECORD.read_text(encoding="utf-8"))["cases"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--update", action="store_true", help="write the record")
    either.add_argument("--models", action="store_true", help="write the model files")
    options = parser.parse_args()
    if options.models:
        write_models()
        return
    found = {name: digests(name) for name in CASES}
    if not options.update:
        print(json.dumps(found, indent=1))
        return
    for line in differences(found, kept() if RECORD.exists() else {}):
        print(f"changed: {line}")
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, check=True, capture_output=True, text=True)
    record = {"evoke": evoke.__version__, "commit": git.stdout.strip(), "cases": found}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
