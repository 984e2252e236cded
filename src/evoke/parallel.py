"""Work on several workers at a time: threads, or the joblib backend in force; and what happens when a worker dies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import LokyBackend, MultiprocessingBackend, get_active_backend
from numpy.typing import NDArray

from evoke.evaluation import Problem, evaluate
from evoke.exceptions import WorkerLostError

__all__ = ["LANES", "evaluator", "in_threads", "slices", "spread"]

FloatArray = NDArray[np.float64]

LANES = 8  # networks that the core evaluates side by side: slices are whole blocks

# How often work is tried whose workers die. It is a pure function: to do it again is safe.
TRIES = 3

# Names of the errors by which a backend says that a worker died, so that none of them has to be installed: of loky's
# processes, of Ray, and of Dask, which has then tried by itself as often as its `allowed-failures` says.
LOST = {"BrokenExecutor", "RayActorError", "WorkerCrashedError", "KilledWorker"}


def in_threads(n_jobs: int | None) -> bool:
    """Whether this process does the work: always, unless the user chose a backend of joblib that has others."""
    backend, n_jobs = _in_force(n_jobs)
    return n_jobs == 1 or getattr(backend, "supports_sharedmem", False)


def _in_force(n_jobs: int | None) -> tuple[Any, int]:
    """The backend, and the jobs that are meant."""
    backend, in_force = get_active_backend(prefer="threads")
    meant = in_force if n_jobs is None else n_jobs
    return backend, 1 if meant is None else meant  # None in force: within a worker of joblib


def n_workers(n_jobs: int | None, most: int) -> int:
    """Workers that are meant, at most `most`."""
    backend, n_jobs = _in_force(n_jobs)
    if n_jobs > 0:  # Dask's backend has all cores of the cluster whatever it is asked for
        most = min(most, n_jobs)
    return min(backend.effective_n_jobs(n_jobs), most)


# ---------------------------------------------------------------- a generation


@contextmanager
def evaluator(problem: Problem, n_jobs: int | None, n_networks: int) -> Iterator[Callable[[FloatArray], FloatArray]]:
    """The function genomes -> errors for generations of `n_networks`, several slices at a time.

    Raises
    ------
    WorkerLostError
        By the function, when workers of the backend die again and again.
    """
    workers = n_workers(n_jobs, -(-n_networks // LANES))  # no more than there are slices
    with (_Threads if in_threads(n_jobs) else _Pool)(workers) as pool:
        yield lambda genomes: np.concatenate(pool.evaluate(problem, slices(genomes, workers)))


class _Threads(ThreadPoolExecutor):
    """Threads of our own: joblib's take 10 ms, a whole generation or two, to notice that a slice is done.

    The calling thread takes its share, as it is the one that hears Ctrl-C.
    """

    def __init__(self, workers: int):
        super().__init__(max(1, workers - 1))  # it starts them when they are needed
        self.stop = np.zeros(1, dtype=np.int64)

    def evaluate(self, problem: Problem, parts: list[FloatArray]) -> list[FloatArray]:
        *others, own = parts
        try:
            waiting = [self.submit(evaluate, problem, part, self.stop) for part in others]
            errors = evaluate(problem, own, self.stop)
            return [*(part.result() for part in waiting), errors]
        except BaseException:
            self.stop[0] = 1  # the threads end within a network or two
            raise


def slices(genomes: FloatArray, n: int) -> list[FloatArray]:
    """The population in up to n parts of whole blocks, as even as they can be."""
    n_blocks = -(-len(genomes) // LANES)
    cuts = sorted({round(k * n_blocks / n) * LANES for k in range(n)} - {0, n_blocks * LANES})
    return np.split(genomes, cuts)


class _Pool:
    """The backend in force, opened once for many calls, and anew when a worker died."""

    def __init__(self, workers: int, as_they_come: bool = False):
        backend = get_active_backend()[0]
        self.name, options = type(backend).__name__, {}
        if type(backend) is MultiprocessingBackend:  # its pool waits for ever for a process that died
            backend, options["backend"] = LokyBackend(), "loky"
        if as_they_come and backend.supports_return_generator:
            options["return_as"] = "generator_unordered"
        self.open = partial(Parallel, n_jobs=workers, **options)

    def __enter__(self) -> _Pool:
        self.parallel = self.open().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.parallel.__exit__(*error)

    def results(self, call: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """``call(item)`` with the number of the item, in any order.

        The items are bound to the calls: arguments Ray's pool would keep as long as it lives, and Dask send beforehand.
        """
        left, tries = dict(enumerate(items)), 0
        while left:
            try:
                calls = [delayed(partial(_numbered, k, call, item))() for k, item in left.items()]
                for k, result in self.parallel(calls):
                    tries = 0
                    del left[k]
                    yield k, result
            except Exception as error:
                tries += 1
                self._reopen(error, tries)

    def _reopen(self, error: Exception, tries: int) -> None:
        """After `error`, which is raised again if no worker died, or another after so many tries."""
        if not any(cls.__name__ in LOST for cls in type(error).__mro__):
            raise error
        if tries == TRIES:
            raise WorkerLostError(
                f"workers of joblib's {self.name} died {tries} times over the same work ({type(error).__name__}); what "
                "was finished before is kept. They die when memory runs out or when something kills them: a smaller "
                "n_jobs may help"
            ) from error
        self.__exit__(None, None, None)
        self.__enter__()

    def evaluate(self, problem: Problem, parts: list[FloatArray]) -> list[FloatArray]:
        """Every slice takes the problem with it: docs/parallel.md says what that costs."""
        errors = dict(self.results(partial(evaluate, problem), parts))
        return [errors[k] for k in range(len(parts))]


def _numbered(k: int, call: Callable[[Any], Any], item: Any) -> tuple[int, Any]:
    return k, call(item)


# ---------------------------------------------------------------- independent work


def spread(call: Callable[[Any], Any], items: Sequence[Any], n_jobs: int) -> Iterator[tuple[int, Any]]:
    """``call(item)`` with the number of the item, as the backend in force has them done, or Ray all of them.

    Raises
    ------
    WorkerLostError
        Workers die again and again; what was finished has been given before.
    """
    with _Pool(n_workers(n_jobs, len(items)), as_they_come=True) as pool:
        yield from pool.results(call, items)
