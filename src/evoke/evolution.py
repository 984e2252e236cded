"""The loop over generations: ESP x evaluation x callbacks x n_jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from numpy.typing import NDArray

from evoke.esp import ESP
from evoke.evaluation import Problem, evaluate

__all__ = ["Callback", "Run", "evolve"]

# Called after every generation with its record and the engine; a true result ends the evolution. What else a callback
# may be is said at Run.
Callback = Callable[[dict[str, Any], ESP], Any]

LANES = 8  # networks that the core evaluates side by side: slices are whole blocks


@dataclass
class Run:
    """A run of the evolution, as its callbacks see it.

    A callback is a function ``(record, esp)`` that is called after every generation, and whose true result ends the
    run; or an object with a method ``watch(run)`` that returns a context manager around all generations. It yields such
    a function: what comes before is done at the start, what comes behind, in a ``finally``, at the end, however that
    comes about. Nothing has to be kept in the object, so that it can serve several runs, be copied and be pickled.

    An object may also have a method ``restore(run)``. It is called before anything is watched and may bring `esp` and
    `history` to a later generation of the same run.

    Attributes
    ----------
    problem : Problem
    esp : ESP
    n_generations : int
        The generation with which the run ends, counted like ``esp.generation``.
    history : list of dict
        The records of all generations so far, those before a warm start included.
    first : int
        Records before this one are of other data, on which a warm start began.
    model : callable
        Without arguments: a copy of the estimator, fitted with the best network so far.
    stopped : bool
        Set to true, by a `watch` for instance, it ends the run before the next generation.
    """

    problem: Problem
    esp: ESP
    n_generations: int
    history: list[dict[str, Any]] = field(default_factory=list)
    first: int = 0
    model: Callable[[], Any] | None = None
    stopped: bool = False


def evolve(run: Run, *, n_jobs: int | None = None, callbacks: Iterable[Any] = ()) -> None:
    """Evolve up to generation ``run.n_generations``, appending one record each to ``run.history``.

    The state lives in ``run.esp`` and ``run.history`` alone: whatever ends the loop, an interrupt included, both
    describe the generations that were completed. The fitness of a network is its training error plus its validation
    error.

    Parameters
    ----------
    run : Run
    n_jobs : int, optional
        Slices of the population evaluated at a time, by threads or by the joblib backend in force; the result does not
        depend on it.
    callbacks : iterable of callbacks
        See `Run`.
    """
    esp, history = run.esp, run.history
    callbacks = list(callbacks)
    for callback in callbacks:
        if hasattr(callback, "restore"):
            with whole_or_not_at_all(run):
                callback.restore(run)
    workers = min(effective_n_jobs(n_jobs), -(-esp.n_networks // LANES))  # no more than there are slices
    with ExitStack() as stack, evaluator(run.problem, workers) as evaluate_all:
        watching = [
            stack.enter_context(callback.watch(run)) if hasattr(callback, "watch") else callback
            for callback in callbacks
        ]
        while esp.generation < run.n_generations and not run.stopped:
            errors = evaluate_all(esp.ask())
            with whole_or_not_at_all(run):
                record = tell(esp, errors)
                history.append(record)
            if any([callback(record, esp) for callback in watching]):
                run.stopped = True


@contextmanager
def whole_or_not_at_all(run: Run) -> Iterator[None]:
    """Whatever ends the work within, an interrupt included, leaves engine and history as they were before it."""
    before, n_records = run.esp.state_dict(), len(run.history)
    try:
        yield
    except BaseException:
        run.esp.load_state_dict(before)
        del run.history[n_records:]
        raise


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
