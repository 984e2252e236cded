"""Methods that learn one label per sequence: nothing is set for a set, some search on the training data.

Every method of another package runs with its defaults. The SVM, the echo state network and the nearest neighbours have
no defaults for sequences: the first two choose their settings by cross-validation on the training sequences, and that
search counts as part of `fit`. Everything uses one thread.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from evoke import EvokeClassifier
from harness import class_sets, echo, memory_sets
from harness.class_sets import Sequences, Split
from harness.results import LeftOut, Part

RESERVOIRS = 20  # candidates
RIDGES = np.logspace(-4, 4, 9)
LONGEST_FOR_GRADIENT = 150  # steps
Predict = Callable[[Sequences], np.ndarray]


@dataclass(frozen=True)
class Method:
    """How to fit (X, y, seed) -> predictions of other sequences, and what it asks of the data."""

    fit: Callable[[Sequences, np.ndarray, int], Predict]
    package: str | None = None
    seeded: bool = True
    equal: bool = False  # whether all sequences must have the same length
    shortest: int = 1
    longest: float = np.inf


def evoke(X: Sequences, y: np.ndarray, seed: int) -> Predict:
    return EvokeClassifier(random_state=seed).fit(X, y).predict


# ---------------------------------------------------------------- of aeon


def of_aeon(make: Callable[[int], Any], X: Sequences, y: np.ndarray, seed: int) -> Predict:
    """A classifier of aeon, which wants channels before steps."""

    def turned(X):
        X = [x.T for x in X]
        return np.array(X) if len({x.shape for x in X}) == 1 else X

    model = make(seed).fit(turned(X), y)
    return lambda X: model.predict(turned(X))


def mini_rocket(seed: int) -> Any:
    from aeon.classification.convolution_based import MiniRocketClassifier

    return MiniRocketClassifier(random_state=seed)


def hydra(seed: int) -> Any:
    from aeon.classification.convolution_based import HydraClassifier

    return HydraClassifier(random_state=seed)


def quant(seed: int) -> Any:
    from aeon.classification.interval_based import QUANTClassifier

    return QUANTClassifier(random_state=seed)


def nearest(seed: int) -> Any:
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    return KNeighborsTimeSeriesClassifier(distance="dtw", n_neighbors=1)


# ---------------------------------------------------------------- with settings from cross-validation


def folds(y: np.ndarray) -> StratifiedKFold:
    _, counts = np.unique(y, return_counts=True)
    return StratifiedKFold(int(np.clip(counts.min(), 2, 5)), shuffle=True, random_state=0)


def resampled(X: Sequences, k: int) -> np.ndarray:
    """k rows at equal distances from each sequence, interpolated, side by side."""
    return np.array([
        np.concatenate([np.interp(np.linspace(0, len(x) - 1, k), np.arange(len(x)), c) for c in x.T]) for x in X
    ])  # fmt: skip


def window_svm(X: Sequences, y: np.ndarray, seed: int) -> Predict:
    machine = make_pipeline(FunctionTransformer(resampled), StandardScaler(), SVC())
    longest = max(map(len, X))
    grid = {
        "functiontransformer__kw_args": [{"k": k} for k in sorted({min(k, longest) for k in (10, 30, 100, 300)})],
        "svc__C": [0.1, 1.0, 10.0, 100.0],
    }
    return GridSearchCV(machine, grid, cv=folds(y)).fit(X, y).predict


def standardiser(X: Sequences) -> Callable[[Sequences], Sequences]:
    scaler = StandardScaler().fit(np.concatenate(X))
    return lambda X: [scaler.transform(x) for x in X]


def echo_state(X: Sequences, y: np.ndarray, seed: int) -> Predict:
    """A reservoir and ridge regression on its last or its mean states, whichever does better."""
    standardised = standardiser(X)
    rows, best = standardised(X), (-1.0,)
    for settings in echo.candidates(RESERVOIRS):
        reservoir = echo.Reservoir(rows[0].shape[1], settings, seed)
        for which, states in enumerate(reservoir.last_and_mean(rows)):
            score = cross_val_score(readout(), states, y, cv=folds(y)).mean()
            if score > best[0]:
                best = score, reservoir, which, readout().fit(states, y)
    _, reservoir, which, model = best
    return lambda X: model.predict(reservoir.last_and_mean(standardised(X))[which])


def readout() -> Any:
    return make_pipeline(StandardScaler(), RidgeClassifierCV(RIDGES))


def gradient(X: Sequences, y: np.ndarray, seed: int) -> Predict:
    from harness import gradient_lstm

    standardised = standardiser(X)
    decide = gradient_lstm.classifier(standardised(X), y, seed)
    return lambda X: decide(standardised(X))


METHODS = {
    "evoke": Method(evoke),
    "MiniRocket": Method(functools.partial(of_aeon, mini_rocket), "aeon", equal=True, shortest=9),
    "Hydra": Method(functools.partial(of_aeon, hydra), "torch", equal=True, shortest=9),
    "QUANT": Method(functools.partial(of_aeon, quant), "torch", equal=True),
    "1-NN DTW": Method(functools.partial(of_aeon, nearest), "aeon", seeded=False),
    "resampled SVM": Method(window_svm, seeded=False),
    "echo state network": Method(echo_state),
    "gradient LSTM": Method(gradient, "torch", longest=LONGEST_FOR_GRADIENT),
}


# ---------------------------------------------------------------- measuring


def classified(method: Method, split: Split, seed: int) -> dict[str, Any]:
    """Accuracy on the test, and the seconds of learning and of reading the test."""
    shortest, longest = split.lengths
    if method.equal and shortest != longest:
        raise LeftOut("needs equal lengths")
    if shortest < method.shortest:
        raise LeftOut(f"needs {method.shortest} steps")
    if longest > method.longest:
        raise LeftOut(f"more than {method.longest} steps take too long")
    warm_up(method, split)
    begin = time.perf_counter()
    predict = method.fit(split.X, split.y, seed)
    fitted = time.perf_counter()
    right = predict(split.X_test) == split.y_test
    return {
        "accuracy": float(np.mean(right)), "fit": fitted - begin, "predict": time.perf_counter() - fitted,
        "n_test": len(right),
    }  # fmt: skip


def warm_up(method: Method, split: Split) -> None:
    """numba compiles at the first call for each type of data."""
    if method.package == "aeon":
        first = [int(np.flatnonzero(split.y == label)[0]) for label in np.unique(split.y)[:2]]
        method.fit([split.X[i] for i in first], split.y[first], 0)(split.X_test[:2])


def on_real_sets(name: str, method: str, seed: int) -> dict[str, Any]:
    chosen = METHODS[method]
    made = classified(chosen, class_sets.load(name, chosen.equal), seed)
    return made | {"padded": chosen.equal and name in class_sets.PADDED}


def on_new_splits(name: str, method: str, seed: int) -> dict[str, Any]:
    """On other training and test parts for each seed."""
    chosen = METHODS[method]
    made = classified(chosen, class_sets.resplit(class_sets.load(name, chosen.equal), seed), seed)
    return made | {"padded": chosen.equal and name in class_sets.PADDED}


def on_memory_sets(name: str, method: str, seed: int) -> dict[str, Any]:
    """On data that are others for each seed."""
    return classified(METHODS[method], memory_sets.load(name, seed), seed)


REAL_SETS = Part(class_sets.SETS, METHODS, on_real_sets)
NEW_SPLITS = Part(
    class_sets.ARCHIVE, {name: METHODS[name] for name in ("evoke", "MiniRocket", "Hydra", "QUANT")}, on_new_splits,
    n_seeds=10,
)  # fmt: skip
MEMORY_SETS = Part(
    tuple(memory_sets.SETS), {name: METHODS[name] for name in ("evoke", "echo state network", "gradient LSTM")},
    on_memory_sets,
)  # fmt: skip
