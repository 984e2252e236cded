"""Engines on workers: each goes on alone until they meet, and nothing travels but their populations."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.engine import Engine
from evoke.evolution.evaluation import evaluate
from evoke.evolution.evolved import as_genomes
from evoke.evolution.problem import AnyProblem
from evoke.evolution.records import tell
from evoke.evolution.workers import evaluator, in_threads, n_workers, others

__all__ = ["archipelago"]

# Problems that a worker keeps by their digest, the last ones that it was sent: of fits that run side by side.
MOST_KEPT = 4
_kept: dict[str, AnyProblem] = {}


@contextmanager
def archipelago(
    n_jobs: int | None, problem: AnyProblem, engines: Sequence[Engine]
) -> Iterator[Callable[[Sequence[Engine], int], tuple[list[Any], list[list[dict[str, Any]]]]]]:
    """The function ``(engines, n_generations)`` -> engines after so many generations, and the records of each.

    It is for these engines, or fewer. Those that it is given stay as they are, so that an epoch whose worker died, or
    that was interrupted, is done again from where it began. A worker is sent the problem once, however many epochs it
    works on. Threads share the networks of all engines, so that none of them waits for another.

    Raises
    ------
    WorkerLostError
        By the function, when workers of the backend die again and again.
    """
    workers = n_workers(n_jobs, len(engines))
    if workers == 1 or in_threads(n_jobs):
        n_networks = sum(engine.n_networks for engine in engines)
        with evaluator(n_jobs if in_threads(n_jobs) else 1, n_networks) as evaluate_all:
            yield partial(evolve, evaluate_all, problem)
    else:
        with others(workers, in_time=True) as elsewhere:
            is_new = True

            def there(engines: Sequence[Engine], n_generations: int) -> Any:
                nonlocal is_new
                sent, left, done = (problem if is_new else None), list(range(len(engines))), {}
                while left:
                    call = partial(evolve_there, problem.digest, sent, n_generations)
                    for k, answer in elsewhere.results(call, [engines[k] for k in left]):
                        if answer is not None:
                            done[left[k]] = copy.deepcopy(answer)  # Ray's arrays cannot be written
                    left, sent, is_new = [k for k in left if k not in done], problem, False
                return [done[k][0] for k in range(len(engines))], [done[k][1] for k in range(len(engines))]

            yield there


def evolve_there(
    digest: str, problem: AnyProblem | None, n_generations: int, engine: Engine
) -> tuple[Engine, list[dict[str, Any]]] | None:
    """An engine after so many generations, and their records; None: the problem is not sent, and was not before."""
    if problem is None:
        problem = _kept.get(digest)
        if problem is None:
            return None
    else:
        _kept.pop(digest, None)
        for old in list(_kept)[: max(0, len(_kept) + 1 - MOST_KEPT)]:
            _kept.pop(old, None)  # another thread may have done so
        _kept[digest] = problem
    (evolved,), (records,) = evolve(evaluate, problem, [engine], n_generations)
    return evolved, records


def evolve(
    evaluate_all: Callable[[Any, FloatArray], FloatArray], problem: AnyProblem, engines: Sequence[Engine],
    n_generations: int,
) -> tuple[list[Engine], list[list[dict[str, Any]]]]:  # fmt: skip
    """Copies of engines after so many generations, each by itself, and the records of each."""
    evolved, records = copy.deepcopy(list(engines)), [[] for _ in engines]
    for _ in range(n_generations):
        genomes = [as_genomes(engine.ask()) for engine in evolved]
        errors = evaluate_all(problem, np.concatenate(genomes))
        for engine, own, its in zip(evolved, np.split(errors, len(evolved)), records, strict=True):
            its.append(tell(engine, own, problem.evolved))
    return evolved, records
