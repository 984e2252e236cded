"""What the history says of a generation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke.engine import Engine
from evoke.evolution.evolved import Evolved

__all__ = ["of_several", "tell"]


def tell(esp: Engine, errors: NDArray[np.float64], evolved: Evolved | None = None) -> dict[str, Any]:
    """Give the fitness to the engine; the record of the generation, with what has evolved besides the weights."""
    fitness = errors[:, 0] + errors[:, 1]
    n_bursts = len(esp.bursts)
    evaluated = ~np.isnan(fitness)
    esp.tell(fitness, n_evaluated=int(evaluated.sum()))
    best = int(np.argmin(np.where(np.isnan(fitness), np.inf, fitness)))
    own = {} if evolved is None else evolved.record(esp.best)
    return {
        "generation": esp.generation,
        "n_evaluations": esp.n_evaluations,
        "best_fitness": esp.best_fitness,
        "generation_best": float(fitness[best]),
        "generation_median": float(np.median(fitness[evaluated])) if evaluated.any() else np.nan,
        "train_error": float(errors[best, 0]),
        "validation_error": float(errors[best, 1]),
        "wrong_train": number_of_wrong(errors[best, 2]),
        "wrong_validation": number_of_wrong(errors[best, 3]),
        "burst": len(esp.bursts) > n_bursts,
        **own,
    }


def number_of_wrong(error: float) -> int | float:
    """A number of decisions, whole unless they have weights; -1 where there is none."""
    if not np.isfinite(error):
        return -1
    return int(error) if error == int(error) else float(error)


def of_several(records: Sequence[dict[str, Any]], n_given_up: int = 0) -> dict[str, Any]:
    """The record of a generation of several engines, from one of each: that of the best, and what is said of all.

    `n_given_up` are networks of those of which there is no record any more.
    """
    best = min(records, key=lambda record: record["generation_best"])
    evolved = min(records, key=lambda record: record["best_fitness"])
    return {name: evolved[name] if name in ("C", "gamma") else value for name, value in best.items()} | {
        "n_evaluations": n_given_up + sum(record["n_evaluations"] for record in records),
        "best_fitness": evolved["best_fitness"],
        "generation_median": float(np.median([record["generation_median"] for record in records])),
        "burst": any(record["burst"] for record in records),
    }
