"""The loop over generations: ESP x evaluation x callbacks x n_jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
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
        Slices of the population evaluated at a time, by threads or by the joblib backend in force; the result does not
        depend on it.
    callbacks : iterable of callables
    """
    workers = min(effective_n_jobs(n_jobs), -(-esp.n_networks // LANES))  # no more than there are slices
    with evaluator(problem, workers) as evaluate_all:
        for _ in range(n_generations):
            errors = evaluate_all(esp.ask())
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


@contextmanager
def evaluator(problem: Problem, workers: int) -> Iterator[Callable[[NDArray[np.float64]], NDArray[np.float64]]]:
    """The function genomes -> errors, with `workers` slices at a time.

    Threads unless the user chose another backend of joblib. They are our own: joblib's take 10 ms, a whole generation
    or two, to notice that a slice is done. The calling thread takes its share, as it is the one that hears Ctrl-C.
    """
    stop = np.zeros(1, dtype=np.int64)
    if workers == 1:
        yield lambda genomes: evaluate(problem, genomes, stop)
    elif isinstance(get_active_backend(prefer="threads")[0], ThreadingBackend):
        with ThreadPoolExecutor(workers - 1) as threads:

            def in_threads(genomes: NDArray[np.float64]) -> NDArray[np.float64]:
                *others, own = slices(genomes, workers)
                try:
                    waiting = [threads.submit(evaluate, problem, part, stop) for part in others]
                    errors = evaluate(problem, own, stop)
                    return np.concatenate([*(part.result() for part in waiting), errors])
                except BaseException:
                    stop[0] = 1  # the threads end within a network or two
                    raise

            yield in_threads
    else:
        with Parallel(n_jobs=workers) as pool:
            yield lambda genomes: np.concatenate(
                pool(delayed(evaluate)(problem, part) for part in slices(genomes, workers))
            )


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
