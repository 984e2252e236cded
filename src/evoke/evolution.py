"""The loop over generations: ESP x evaluation x callbacks x n_jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from evoke.esp import ESP
from evoke.evaluation import Problem, evaluate

__all__ = ["Callback", "evolve"]

# Called after every generation with its record and the engine; a true result ends the evolution.
Callback = Callable[[dict[str, Any], ESP], Any]

LANES = 8  # networks that the core evaluates side by side: slices are whole blocks


def evolve(
    problem: Problem,
    esp: ESP,
    n_generations: int,
    *,
    history: list[dict[str, Any]],
    n_jobs: int | None = None,
    callbacks: Iterable[Callback] = (),
) -> None:
    """Evolve for `n_generations` more generations, appending one record each to `history`.

    The state lives in `esp` and `history` alone: whatever ends the loop, an interrupt included, both describe the
    generations that were completed. The fitness of a network is its training error plus its validation error.

    Parameters
    ----------
    problem : Problem
    esp : ESP
    n_generations : int
    history : list of dict
    n_jobs : int, optional
        Slices of the population evaluated at a time, through joblib; the result does not depend on it.
    callbacks : iterable of callables
    """
    workers = min(effective_n_jobs(n_jobs), -(-esp.n_networks // LANES))  # no more than there are slices
    stop = np.zeros(1, dtype=np.int64)
    with Parallel(n_jobs=workers, prefer="threads") as pool:
        for _ in range(n_generations):
            genomes = esp.ask()
            try:
                if workers == 1:
                    errors = evaluate(problem, genomes, stop)
                else:
                    parts = pool(delayed(evaluate)(problem, part, stop) for part in slices(genomes, workers))
                    errors = np.concatenate(parts)
            except BaseException:
                stop[0] = 1
                raise
            before, n_records = esp.state_dict(), len(history)
            try:
                record = tell(esp, errors)
                history.append(record)
            except BaseException:  # an interrupt in the midst of it: as if the generation had not been
                esp.load_state_dict(before)
                del history[n_records:]
                raise
            if any([callback(record, esp) for callback in callbacks]):
                break


def tell(esp: ESP, errors: NDArray[np.float64]) -> dict[str, Any]:
    """Give the fitness to the engine; the record of the generation."""
    fitness = errors[:, 0] + errors[:, 1]
    n_bursts = len(esp.bursts)
    esp.tell(fitness)
    best = int(np.argmin(np.where(np.isnan(fitness), np.inf, fitness)))
    return {
        "generation": esp.generation,
        "n_evaluations": esp.n_evaluations,
        "best_fitness": esp.best_fitness,
        "generation_best": float(fitness[best]),
        "generation_median": float(np.median(fitness)),
        "train_error": float(errors[best, 0]),
        "validation_error": float(errors[best, 1]),
        "wrong_train": int(errors[best, 2]) if np.isfinite(errors[best, 2]) else -1,
        "wrong_validation": int(errors[best, 3]) if np.isfinite(errors[best, 3]) else -1,
        "burst": len(esp.bursts) > n_bursts,
    }


def slices(genomes: NDArray[np.float64], n: int) -> list[NDArray[np.float64]]:
    """The population in up to n parts of whole blocks, as even as they can be."""
    n_blocks = -(-len(genomes) // LANES)
    cuts = sorted({round(k * n_blocks / n) * LANES for k in range(n)} - {0, n_blocks * LANES})
    return np.split(genomes, cuts)
