"""Islands on workers: each evolves alone until the next migration, and nothing travels but its populations."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke.engine import Engine
from evoke.evolution.evaluation import WorkQueue, evaluate
from evoke.evolution.evolved import as_genomes
from evoke.evolution.problem import AnyProblem
from evoke.evolution.records import tell
from evoke.evolution.workers import in_threads, n_workers, others

__all__ = ["archipelago"]

# An island after some generations, and their records.
Outcome = tuple[Any, list[dict[str, Any]]]

# Problems that a worker keeps by their digest, the last ones that it was sent: of fits that run side by side.
MOST_KEPT = 4
_kept: dict[str, AnyProblem] = {}


@contextmanager
def archipelago(
    n_jobs: int | None, problem: AnyProblem, n_islands: int
) -> Iterator[Callable[[Sequence[Engine], int], tuple[list[Any], list[list[dict[str, Any]]]]]]:
    """The function ``(islands, n_generations)`` -> islands after so many generations, and the records of each.

    The islands that it is given stay as they are, so that an epoch whose worker died, or that was interrupted, is done
    again from where it began. A worker is sent the problem once, however many epochs it works on.

    Raises
    ------
    WorkerLostError
        By the function, when workers of the backend die again and again.
    """
    workers = n_workers(n_jobs, n_islands)
    if workers == 1 or in_threads(n_jobs):
        with ThreadPoolExecutor(workers) as pool:

            def here(islands: Sequence[Engine], n_generations: int) -> Any:
                stop = np.zeros(1, dtype=np.int64)
                call = partial(evolve, problem, n_generations, stop=stop)
                try:
                    return pairs([*pool.map(call, islands)])
                except BaseException:
                    stop[0] = 1  # the threads end within a network or two
                    raise

            yield here
    else:
        with others(workers) as elsewhere:
            is_new = True

            def there(islands: Sequence[Engine], n_generations: int) -> Any:
                nonlocal is_new
                sent, left, done = (problem if is_new else None), list(range(len(islands))), {}
                while left:
                    call = partial(evolve_there, problem.digest, sent, n_generations)
                    for k, answer in elsewhere.results(call, [islands[k] for k in left]):
                        if answer is not None:
                            done[left[k]] = copy.deepcopy(answer)  # Ray's arrays cannot be written
                    left, sent, is_new = [k for k in left if k not in done], problem, False
                return pairs([done[k] for k in range(len(islands))])

            yield there


def pairs(outcomes: Sequence[Outcome]) -> tuple[list[Any], list[list[dict[str, Any]]]]:
    """The islands, and the records of each."""
    return [island for island, _ in outcomes], [records for _, records in outcomes]


def evolve_there(digest: str, problem: AnyProblem | None, n_generations: int, island: Engine) -> Outcome | None:
    """What `evolve` gives, of a problem that is sent or was sent before; None: it was not."""
    if problem is None:
        problem = _kept.get(digest)
        if problem is None:
            return None
    else:
        _kept.pop(digest, None)
        for old in list(_kept)[: max(0, len(_kept) + 1 - MOST_KEPT)]:
            _kept.pop(old, None)  # another thread may have done so
        _kept[digest] = problem
    return evolve(problem, n_generations, island)


def evolve(
    problem: AnyProblem, n_generations: int, island: Engine, stop: NDArray[np.int64] | None = None
) -> Outcome:
    """A copy of an island after so many generations by itself, and their records; non-zero, `stop` ends it before."""
    island, records = copy.deepcopy(island), []
    for _ in range(n_generations):
        genomes, queue = as_genomes(island.ask()), None
        if stop is not None:
            queue = WorkQueue(len(genomes), 1)
            queue.stop = stop
        errors = evaluate(problem, genomes, queue)
        if stop is not None and stop[0]:
            break
        records.append(tell(island, errors, problem.evolved))
    return island, records
