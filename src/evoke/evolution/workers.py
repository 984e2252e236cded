"""Work on several workers at a time: threads, or the joblib backend in force; and what happens when a worker dies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import LokyBackend, MultiprocessingBackend, get_active_backend

from evoke._core.dispatch import LANES
from evoke._validation.arrays import FloatArray
from evoke.evolution.evaluation import WorkQueue, evaluate
from evoke.evolution.problem import AnyProblem
from evoke.exceptions import WorkerLostError

__all__ = ["evaluator", "in_threads", "n_threads", "n_workers", "others", "slices", "spread"]


# How often work is tried whose workers die. It is a pure function: to do it again is safe.
TRIES = 3

# Names of the errors by which loky and Ray, which need not be installed, say that a worker died.
LOST = {"BrokenExecutor", "RayActorError", "WorkerCrashedError"}

PATIENCE = 10  # seconds after which it is asked whether a Dask cluster has any workers left

# Times that half of the work took after which the rest is done a second time, where it is to be in time.
LONGER = 2.0


def in_threads(n_jobs: int | None) -> bool:
    """Whether this process does the work: always, unless the user chose a backend of joblib that has others."""
    backend, n_jobs = _in_force(n_jobs)
    return n_jobs == 1 or getattr(backend, "supports_sharedmem", False)


def _in_force(n_jobs: int | None) -> tuple[Any, int]:
    """The backend, and the jobs that are meant."""
    backend, in_force = get_active_backend(prefer="threads")
    # none is in force within a worker, or where a backend was chosen without a number
    meant = next((jobs for jobs in (n_jobs, in_force, backend.default_n_jobs) if jobs is not None), 1)
    return backend, meant


def n_workers(n_jobs: int | None, most: int) -> int:
    """Workers that are meant, at most `most`."""
    backend, n_jobs = _in_force(n_jobs)
    if n_jobs > 0:  # Dask's backend has all cores of the cluster whatever it is asked for
        most = min(most, n_jobs)
    return min(backend.effective_n_jobs(n_jobs), most)


def n_threads(n_jobs: int | None) -> int:
    """Threads of this process that are meant: one where others do the work."""
    return n_workers(n_jobs, os.cpu_count() or 1) if in_threads(n_jobs) else 1


# ---------------------------------------------------------------- a generation


@contextmanager
def evaluator(
    n_jobs: int | None,
    n_networks: int,
    listeners: Sequence[Callable[[float], None]] = (),
) -> Iterator[Callable[..., FloatArray]]:
    """The function ``(problem, genomes)`` -> errors for generations of `n_networks`, several slices at a time.

    It may be given `seconds` too, after which it leaves out the networks that are left; their errors are NaN. At least
    one network of each slice is evaluated. Where this process evaluates them all, the listeners are told of the share
    that is evaluated.

    Raises
    ------
    WorkerLostError
        By the function, when workers of the backend die again and again.
    """
    workers = n_workers(n_jobs, -(-n_networks // LANES))  # no more than there are slices
    # joblib keeps the work of a single worker in this process too, whatever the backend
    if workers == 1 or in_threads(n_jobs):
        with _Threads(workers, listeners) as threads:
            yield threads.evaluate
    else:
        with others(workers) as elsewhere:

            def evaluate_all(
                problem: AnyProblem, genomes: FloatArray, seconds: float | None = None
            ) -> FloatArray:
                # every slice takes the problem with it: docs/parallel.md says what that costs
                call = partial(evaluate, problem) if seconds is None else partial(_in_time, problem, seconds)
                errors = dict(elsewhere.results(call, slices(genomes, workers)))
                return np.concatenate([errors[k] for k in range(len(errors))])

            yield evaluate_all


def _in_time(problem: AnyProblem, seconds: float, genomes: FloatArray) -> FloatArray:
    """The errors of a slice, on a machine whose clock is its own."""
    return evaluate(problem, genomes, WorkQueue(len(genomes), 1, seconds))


class _Threads(ThreadPoolExecutor):
    """Threads of our own: joblib's take 10 ms, a whole generation or two, to notice that a slice is done.

    The calling thread takes its share, as Ctrl-C reaches it alone.
    """

    def __init__(self, workers: int, listeners: Sequence[Callable[[float], None]]):
        self.workers, self.listeners = workers, listeners
        super().__init__(max(1, workers - 1))  # it starts them when they are needed

    def evaluate(
        self, problem: AnyProblem, genomes: FloatArray, seconds: float | None = None
    ) -> FloatArray:
        alone = self.workers == 1 and seconds is None and not self.listeners
        queue = None if alone else WorkQueue(len(genomes), self.workers, seconds, self.listeners)
        waiting = [self.submit(evaluate, problem, genomes, queue) for _ in range(self.workers - 1)]
        try:
            errors = evaluate(problem, genomes, queue)
            for thread in waiting:
                thread.result()
            return errors
        except BaseException:
            if queue is not None:
                queue.stop[0] = 1  # the threads end within a network or two
            raise


def slices(genomes: FloatArray, n: int) -> list[FloatArray]:
    """The population in up to n parts, as even as whole half blocks can be.

    Half a block costs the forward pass as much as a whole one, but most of the work is in the readouts of the networks.
    """
    half = LANES // 2
    n_halves = -(-len(genomes) // half)
    cuts = sorted({round(k * n_halves / n) * half for k in range(n)} - {0, n_halves * half})
    return np.split(genomes, cuts)


class _Joblib:
    """A backend of joblib, opened once for many calls, and anew when a worker died."""

    def __init__(self, backend: Any, workers: int, as_they_come: bool):
        self.name = type(backend).__name__
        options: dict[str, Any] = {"batch_size": 1}
        if type(backend) is MultiprocessingBackend:  # its pool waits for ever for a process that died
            backend, options["backend"] = LokyBackend(), "loky"
        if as_they_come and backend.supports_return_generator:
            options["return_as"] = "generator_unordered"
        self.open = partial(Parallel, n_jobs=workers, **options)

    def __enter__(self) -> _Joblib:
        self.parallel = self.open().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.parallel.__exit__(*error)

    def results(self, call: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """``call(item)`` with the number of the item, in any order.

        The items are bound to the calls: arguments would be kept by Ray's pool as long as it lives.
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
                if not any(cls.__name__ in LOST for cls in type(error).__mro__):
                    raise
                tries += 1
                if tries == TRIES:
                    raise _lost(self.name, error) from error
                self.__exit__(None, None, None)
                self.__enter__()


class _Dask(AbstractContextManager["_Dask"]):
    """The cluster of joblib's Dask backend, without joblib, which waits for ever for a task whose workers died.

    Dask tries again by itself, as often as its setting ``distributed.scheduler.allowed-failures`` says. If it is to be
    `in_time`, what takes far longer than the rest is done a second time by workers that have nothing to do, and the
    first answer counts.
    """

    def __init__(self, backend: Any, in_time: bool = False):
        self.backend, self.in_time = backend, in_time

    def __exit__(self, *error: Any) -> None:
        pass

    def results(self, call: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """``call(item)`` with the number of the item, in any order."""
        import distributed

        client, items = self.backend.client, list(items)
        submit = partial(client.submit, call, pure=False, **self.backend.submit_kwargs)
        left = {submit(item): k for k, item in enumerate(items)}
        begin, latest, may_repeat = monotonic(), 0.0, self.in_time
        try:
            # within a task of the cluster this gives its place there to others while it waits
            with self.backend.retrieval_context():
                while left:
                    try:
                        done = distributed.wait(list(left), PATIENCE, return_when="FIRST_COMPLETED").done
                        latest = monotonic() - begin
                    except distributed.TimeoutError:  # the work is long, or nobody does it
                        client.wait_for_workers(1, self.backend.wait_for_workers_timeout or None)
                        done = set()
                    for future in done:
                        if (k := left.pop(future, None)) is None:  # another has done the same
                            continue
                        for other in [other for other, its in left.items() if its == k]:
                            del left[other]
                            client.cancel(other)
                        yield k, future.result()
                    waited = monotonic() - begin
                    few = 2 * len(left) <= len(items)
                    if may_repeat and few and waited > max(PATIENCE, LONGER * latest):
                        left |= {submit(items[k]): k for k in [*left.values()]}
                        may_repeat = False
        except (distributed.KilledWorker, distributed.CancelledError, distributed.TimeoutError) as error:
            raise _lost(type(self.backend).__name__, error) from error
        finally:
            client.cancel(list(left))


def others(workers: int, as_they_come: bool = False, in_time: bool = False) -> _Joblib | _Dask:
    """The backend in force, which has its work done in other processes; on Dask `in_time` where that is asked for."""
    backend = get_active_backend()[0]
    dask = type(backend).__name__ == "DaskDistributedBackend"  # to import the class would be to import Dask
    return _Dask(backend, in_time) if dask else _Joblib(backend, workers, as_they_come)


def _lost(name: str, error: Exception) -> WorkerLostError:
    return WorkerLostError(
        f"joblib's {name} lost workers again and again over the same work ({type(error).__name__}); what was finished "
        "before is kept. Workers die when memory runs out or when something kills them: a smaller n_jobs may help"
    )


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
    with others(n_workers(n_jobs, len(items)), as_they_come=True) as elsewhere:
        yield from elsewhere.results(call, items)
