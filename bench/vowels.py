"""Japanese Vowels: 270 utterances of nine speakers to learn from, 370 to be told apart. Used by `real_data.py`.

How settings are chosen: every method has a short list of candidates. Each is judged by stratified cross-validation
with three folds on the training utterances alone; the best mean accuracy wins, of equals the one named first. The
winner is trained on all 270 and reads the 370 of the test once a seed. Inputs are standardised by the training frames.
The candidates of evoke stem from a random search by cross-validation on the same 270 utterances.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from aeon.datasets import load_japanese_vowels
from reservoirpy.nodes import Reservoir, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from tslearn.svm import TimeSeriesSVC
from tslearn.utils import to_time_series_dataset

from evoke import EvokeClassifier
from evoke.sequences import from_panel
from evoke.svm import LSSVC

FIRST_CV_SEED = 1000  # the test uses 0, 1, ...
Utterances = list[np.ndarray]
# (X, y, X_test, seed, **settings) -> predictions by the name of the variant
Method = Callable[..., dict[str, np.ndarray]]


def load(split: str) -> tuple[Utterances, np.ndarray]:
    """Utterances (T_i, 12) and speakers; one utterance of every speaker after the other, not sorted by speaker.

    The order matters where the last part is held out: in the file all utterances of one speaker stand together.
    """
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
    return {"": np.full(len(X_test), np.bincount(y).argmax())}


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

    return {"": SVC(C=C).fit(rows(X), y).predict(rows(X_test))}


def voting_svm(X, y, X_test, seed, *, C: float):
    """An SVM on single frames; the decision values of an utterance are added up."""
    machine = SVC(C=C).fit(np.concatenate(X), np.repeat(y, [len(x) for x in X]))
    votes = machine.decision_function(np.concatenate(X_test))
    begin = np.cumsum([0, *(len(x) for x in X_test[:-1])])
    return {"": machine.classes_[np.add.reduceat(votes, begin).argmax(axis=1)]}


def alignment_svm(X, y, X_test, seed, *, C: float, gamma: Any):
    machine = TimeSeriesSVC(C=C, gamma=gamma, random_state=seed).fit(to_time_series_dataset(X), y)
    return {"": machine.predict(to_time_series_dataset(X_test))}


def echo_state(X, y, X_test, seed, *, lr: float, input_scaling: float, ridge: float):
    """The last state of a reservoir of 500 units, read by ridge regression."""
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
    return {"": classes[readout.run(states(X_test)).argmax(axis=1)]}


def evoke(X, y, X_test, seed, **settings):
    """As fitted, and with a readout of the same kind trained anew on all utterances, the held-out ones too."""
    model = EvokeClassifier(**EVOKE | settings, random_state=seed, n_jobs=2).fit(X, y)

    def last(X):
        return np.array([phi[-1] for phi in model.transform(X)])

    readout = LSSVC(C=model.C, gamma=model.gamma).fit(last(X), y)
    return {"as fitted": model.predict(X_test), "refitted": readout.predict(last(X_test))}


EVOKE: dict[str, Any] = {
    "n_cells": 200, "cell": "evolino", "gate_bias": (0.0, 2.0, 0.0), "weight_range": 0.1, "subpopulation_size": 8,
    "n_trials": 2, "objective": "squared", "readout": "lssvm", "gamma": 0.01, "C": 100.0, "validation": 0.25,
}  # fmt: skip

METHODS: dict[str, tuple[Method, list[dict[str, Any]]]] = {
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
    "evoke, best of 16 random networks": (
        evoke,
        [
            {"n_generations": 1, **settings}
            for settings in (
                {}, {"gate_bias": (0.0, 1.0, 0.0)}, {"weight_range": 0.05, "gamma": 0.003, "C": 1e4}, {"n_cells": 100},
            )
        ],
    ),
    "evoke, evolved": (
        evoke,
        [
            {"n_generations": 10, "mutation_scale": 1e-6},
            {"n_generations": 10, "mutation_scale": 1e-5},
            {"n_generations": 30, "mutation_scale": 1e-5, "n_cells": 100},
        ],
    ),
}  # fmt: skip
# Methods whose result depends on the seed, and the variant by which candidates are judged
SEEDED = {
    "reservoirpy, as in its tutorial": "", "reservoirpy, chosen": "", "evoke, best of 16 random networks": "refitted",
    "evoke, evolved": "refitted",
}  # fmt: skip


# ---------------------------------------------------------------- choice and test


def accuracy(true: np.ndarray, predicted: dict[str, np.ndarray]) -> dict[str, float]:
    return {variant: float(np.mean(labels == true)) for variant, labels in predicted.items()}


def cross_validate(method: Method, settings: dict[str, Any], X: Utterances, y: np.ndarray) -> dict[str, float]:
    """Mean accuracy of the variants over the folds."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    scores = []
    for k, (train, held_out) in enumerate(folds):
        seen, unseen = standardise([X[i] for i in train], [X[i] for i in held_out])
        scores.append(accuracy(y[held_out], method(seen, y[train], unseen, FIRST_CV_SEED + k, **settings)))
    return {variant: float(np.mean([score[variant] for score in scores])) for variant in scores[0]}


def run(n_seeds: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """One record a method: its candidates with their validation, the choice, and the test seed by seed."""
    (X, y), (X_test, y_test) = load("train"), load("test")
    seen, unseen = standardise(X, X_test)
    records = []
    for name, (method, candidates) in METHODS.items():
        if quick:
            candidates = [{**candidates[0], **({"n_cells": 5} if method is evoke else {})}]
        judged = [
            {"settings": settings, "accuracy": cross_validate(method, settings, X, y)} for settings in candidates
        ] if len(candidates) > 1 else []  # fmt: skip
        judge = SEEDED.get(name, "")
        best = max(judged, key=lambda c, judge=judge: c["accuracy"][judge])["settings"] if judged else candidates[0]
        runs = []
        for seed in range(n_seeds if name in SEEDED else 1):
            wall, cpu = time.perf_counter(), time.process_time()
            predicted = method(seen, y, unseen, seed, **best)
            runs.append({
                "seed": seed, "accuracy": accuracy(y_test, predicted), "seconds": time.perf_counter() - wall,
                "processor": time.process_time() - cpu,
            })  # fmt: skip
        records.append({"method": name, "candidates": judged, "settings": best, "runs": runs})
        for variant in runs[0]["accuracy"]:
            scores = [run["accuracy"][variant] for run in runs]
            say(f"{name} {variant}: median {np.median(scores):.4f}, {min(scores):.4f} to {max(scores):.4f}; {best}")
    return records
