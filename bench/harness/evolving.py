"""Does evolution pay where sequences have one label? Networks that are drawn beside as many that evolved.

Every seed splits the sequences of a set anew, at random and by class, into parts of the usual sizes; the tasks of
memory draw other sequences. Both ways judge equally many networks, which takes the same time, on the same data.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evoke import EvokeClassifier
from harness import class_sets, memory_sets
from harness.class_sets import Split
from harness.results import Part

TASKS = ("flag, 100", "latch, 100", "marked signs, 100", "temporal order, 100")
SETS = (*class_sets.ARCHIVE, "digits by rows", *TASKS)
GENERATIONS = 4


@dataclass(frozen=True)
class Search:
    """Parameters that say how networks are found, and how many of the best are joined."""

    parameters: Mapping[str, Any]
    package: str | None = None
    seeded: bool = True


def search(n_evaluations: int, n_networks: int, evolved: bool) -> Search:
    n_generations = GENERATIONS if evolved else 1
    size = n_evaluations // n_generations
    return Search({"n_generations": n_generations, "subpopulation_size": size, "n_networks": n_networks})


# Networks judged, and how many of them are joined; nothing is chosen in the last. Evolved in the first is the default.
BUDGETS = {"best 100 of 800": (800, 100), "best of 800": (800, 1)}
DRAWN, EVOLVED = "drawn", "evolved"
UNCHOSEN = "100 of 100, drawn"
METHODS = {
    f"{of}, {way}": search(*budget, way == EVOLVED) for of, budget in BUDGETS.items() for way in (DRAWN, EVOLVED)
} | {UNCHOSEN: search(100, 100, False)}


def load(name: str, seed: int) -> Split:
    return memory_sets.load(name, seed) if name in TASKS else class_sets.resplit(class_sets.load(name), seed)


def measure(name: str, method: str, seed: int) -> dict[str, Any]:
    split = load(name, seed)
    begin = time.perf_counter()
    model = EvokeClassifier(random_state=seed, **METHODS[method].parameters).fit(split.X, split.y)
    fit = time.perf_counter() - begin
    decisions = model.fitted_.left_out
    largest = decisions.argmax(axis=1) if decisions.shape[1] > 1 else (decisions[:, 0] > 0.0).astype(int)
    return {
        "accuracy": float((model.predict(split.X_test) == split.y_test).mean()), "fit": fit,
        "loo": float((model.classes_[largest] == split.y).mean()),  # accuracy by leave-one-out
    }  # fmt: skip


EVOLUTION = Part(SETS, METHODS, measure)
