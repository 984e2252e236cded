"""Japanese Vowels: 270 utterances of nine speakers to learn from, and 370 whose speaker is to be recognised.

How settings are chosen: every method has a short list of candidates. Each is judged by stratified cross-validation
with three folds on the training utterances alone. The best mean accuracy wins, and among equals the one named first.
The winner is trained on all 270 utterances and reads the 370 of the test once per seed. Inputs are standardised by the
training frames. The candidates for evoke come from a random search by cross-validation on the same 270 utterances.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from evoke import EvokeClassifier
from evoke.sequences import from_panel
from harness import peer

FIRST_CV_SEED = 1000  # the test uses 0, 1, ...
CRITERION, BEST = "accuracy", max  # what settings are chosen by
Utterances = list[np.ndarray]
# (X, y, X_test, seed, **settings) -> predictions, and the number of parameters that make them
Method = Callable[..., tuple[np.ndarray, int]]


@functools.cache
def load(split: str) -> tuple[Utterances, np.ndarray]:
    """Utterances (T_i, 12) and speakers, in an order in which the speakers take turns.

    In the file all utterances of one speaker stand together, which matters where the last part is held out.
    """
    from aeon.datasets import load_japanese_vowels

    X, y = load_japanese_vowels(split=split)
    turn = np.zeros(len(y), dtype=int)
    for speaker in np.unique(y):
        turn[y == speaker] = np.arange((y == speaker).sum())
    order = np.argsort(turn, kind="stable")
    X = from_panel(X)
    return [X[i] for i in order], y[order].astype(int)


def standardise(X: Utterances, other: Utterances) -> tuple[Utterances, Utterances]:
    frames = np.concatenate(X)
    mean, scale = frames.mean(axis=0), frames.std(axis=0)
    return [(x - mean) / scale for x in X], [(x - mean) / scale for x in other]


# ---------------------------------------------------------------- methods


def majority(X, y, X_test, seed):
    return np.full(len(X_test), np.bincount(y).argmax()), 1


def window_svm(X, y, X_test, seed, *, frames: str, k: int, C: float):
    """An SVM on k frames: the first, the last, or k at equal distances, interpolated."""

    def rows(X):
        if frames == "resampled":
            at = [np.linspace(0, len(x) - 1, k) for x in X]
            cut = [
                np.column_stack([np.interp(a, np.arange(len(x)), c) for c in x.T]) for a, x in zip(at, X, strict=True)
            ]
        else:
            cut = [x[:k] if frames == "first" else x[-k:] for x in X]
        return np.array([x.ravel() for x in cut])

    machine = SVC(C=C).fit(rows(X), y)
    return machine.predict(rows(X_test)), peer.size_of_machine(machine)


def voting_svm(X, y, X_test, seed, *, C: float):
    """An SVM on single frames; the decision values of all frames of an utterance are added."""
    machine = SVC(C=C).fit(np.concatenate(X), np.repeat(y, [len(x) for x in X]))
    votes = machine.decision_function(np.concatenate(X_test))
    begin = np.cumsum([0, *(len(x) for x in X_test[:-1])])
    return machine.classes_[np.add.reduceat(votes, begin).argmax(axis=1)], peer.size_of_machine(machine)


def alignment_svm(X, y, X_test, seed, *, C: float, gamma: Any):
    from tslearn.svm import TimeSeriesSVC
    from tslearn.utils import to_time_series_dataset

    machine = TimeSeriesSVC(C=C, gamma=gamma, random_state=seed).fit(to_time_series_dataset(X), y)
    predicted = machine.predict(to_time_series_dataset(X_test))
    inner = machine.svm_estimator_  # with a precomputed kernel, so that its support vectors are indices of utterances
    frames = sum(X[i].size for i in inner.support_)
    return predicted, frames + inner.dual_coef_.size + inner.intercept_.size


def echo_state(X, y, X_test, seed, *, lr: float, input_scaling: float, ridge: float):
    """The last state of a reservoir of 500 units, read by ridge regression."""
    from reservoirpy.nodes import Reservoir, Ridge

    reservoir = Reservoir(500, sr=0.9, lr=lr, input_scaling=input_scaling, seed=seed)

    def states(X):
        last = []
        for x in X:
            if reservoir.initialized:
                reservoir.reset()
            last.append(reservoir.run(x)[-1])
        return np.array(last)

    classes = np.unique(y)
    readout = Ridge(ridge=ridge)
    readout.fit(states(X), (y[:, None] == classes).astype(float))
    predicted = classes[readout.run(states(X_test)).argmax(axis=1)]
    return predicted, peer.size_of_reservoir(reservoir, readout)


def evoke(X, y, X_test, seed, **settings):
    model = EvokeClassifier(**EVOKE | settings, random_state=seed).fit(X, y)
    return model.predict(X_test), peer.size_of(model)


EVOKE: dict[str, Any] = {
    "n_cells": 200, "cell": "evolino", "gate_bias": (0.0, 2.0, 0.0), "weight_range": 0.1, "subpopulation_size": 8,
    "n_trials": 2, "objective": "squared", "readout": "lssvm", "gamma": 0.01, "C": 100.0, "validation": 0.25,
    "refit": True,
}  # fmt: skip

CANDIDATES: dict[str, tuple[Method, list[dict[str, Any]]]] = {
    "most frequent speaker": (majority, [{}]),
    **{
        f"SVM, {frames} frames": (
            window_svm, [{"frames": frames, "k": k, "C": C} for k in ks for C in (1.0, 10.0, 100.0)],
        )
        for frames, ks in (("first", (1, 3, 5, 7)), ("last", (1, 3, 5, 7)), ("resampled", (3, 5, 7, 10)))
    },
    "SVM, frames vote": (voting_svm, [{"C": C} for C in (1.0, 10.0, 100.0)]),
    "tslearn TimeSeriesSVC": (alignment_svm, [{"C": C, "gamma": "auto"} for C in (1.0, 10.0)]),
    "reservoirpy, as in its tutorial": (echo_state, [{"lr": 0.1, "input_scaling": 1.0, "ridge": 1e-6}]),
    "reservoirpy, chosen": (
        echo_state,
        [
            {"lr": lr, "input_scaling": scale, "ridge": ridge}
            for lr in (0.1, 0.3, 0.5) for scale in (0.03, 0.1) for ridge in (0.01, 0.1)
        ],
    ),
    **{
        f"evoke, best of 16 random networks{name}": (
            evoke,
            [
                {"n_generations": 1, **refit, **settings}
                for settings in (
                    {}, {"gate_bias": (0.0, 1.0, 0.0)}, {"weight_range": 0.05, "gamma": 0.003, "C": 1e4},
                    {"n_cells": 100},
                )
            ],
        )
        for name, refit in ((", without refit", {"refit": False}), ("", {}))
    },
    "evoke, evolved": (
        evoke,
        [
            {"n_generations": 10, "mutation_scale": 1e-6},
            {"n_generations": 10, "mutation_scale": 1e-5},
            {"n_generations": 30, "mutation_scale": 1e-5, "n_cells": 100},
        ],
    ),
}  # fmt: skip


def result(run: dict[str, Any]) -> float:
    """The number by which a benchmark judges a run of `test`."""
    return run["accuracy"]


def summary(runs: list[dict[str, Any]]) -> str:
    scores = [run["accuracy"] for run in runs]
    return f"median {np.median(scores):.4f}, {min(scores):.4f} to {max(scores):.4f}"


# ---------------------------------------------------------------- choice and test


def validate(name: str, settings: dict[str, Any]) -> float:
    """Mean accuracy of a method over the folds of the training utterances."""
    X, y = load("train")
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    scores = []
    for k, (train, held_out) in enumerate(folds):
        seen, unseen = standardise([X[i] for i in train], [X[i] for i in held_out])
        predicted, _ = CANDIDATES[name][0](seen, y[train], unseen, FIRST_CV_SEED + k, **settings)
        scores.append(np.mean(predicted == y[held_out]))
    return float(np.mean(scores))


def test(name: str, settings: dict[str, Any], seeds: list[int], quick: bool) -> list[dict[str, Any]]:
    """Runs of a method with these settings, trained on the utterances to learn from and judged by those of the test."""
    (X, y), (X_test, y_test) = ((X[:27], y[:27]) if quick else (X, y) for X, y in map(load, ("train", "test")))
    X, X_test = standardise(X, X_test)
    if quick and name.startswith("evoke"):
        settings = settings | {"n_cells": 5, "n_generations": 1}
    runs = []
    for seed in seeds:
        wall, cpu = time.perf_counter(), time.process_time()
        predicted, size = CANDIDATES[name][0](X, y, X_test, seed, **settings)
        runs.append({
            "seed": seed, "accuracy": float(np.mean(predicted == y_test)), "seconds": time.perf_counter() - wall,
            "processor": time.process_time() - cpu, "parameters": size,
        })  # fmt: skip
    return runs
