"""The loop over generations: engine x evaluation x callbacks x n_jobs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import takes_record
from evoke.engine import Engine
from evoke.evolution.archipelago import archipelago
from evoke.evolution.evolved import as_genomes
from evoke.evolution.problem import PooledProblem
from evoke.evolution.records import of_several, tell
from evoke.evolution.sampling import PosedProblem, SampledProblem
from evoke.evolution.several import Several
from evoke.evolution.workers import evaluator

__all__ = ["Callback", "Run", "RunState", "evolve"]

# Called after every generation with its record and the engine; a true result ends the evolution. What else a callback
# may be is said at Run.
Callback = Callable[[dict[str, Any], Engine], Any]


@dataclass(frozen=True, eq=False)
class RunState:
    """Where a run has got to: all that is needed to continue it.

    Attributes
    ----------
    esp : Engine
        The engine with its populations.
    history : list of dict
        One record per generation.
    first : int
        Records before this one are of other data, from which a warm start continued.
    digest : str
        That of the problem, `Problem.digest`.
    """

    esp: Engine
    history: list[dict[str, Any]]
    first: int
    digest: str


@dataclass
class Run:
    """A run of the evolution, as its callbacks see it.

    A callback is a function ``(record, esp)`` that is called after every generation, and whose true result ends the
    run; or an object with a method ``watch(run)`` that returns a context manager around all generations. It yields such
    a function: the code before the ``yield`` runs at the start, the code after it, in a ``finally``, at the end,
    whatever ends the run. The object itself keeps nothing, so it can serve several runs, be copied and be pickled.

    An object may also have a method ``restore(run)``. It is called before anything is watched and may bring `esp` and
    `history` to a later generation of the same run.

    Attributes
    ----------
    problem : Problem, PooledProblem, SampledProblem, SplitProblem or StepsProblem
    esp : Engine
    n_generations : int
        The generation with which the run ends, counted like ``esp.generation``.
    history : list of dict
        The records of all generations so far, those before a warm start included.
    first : int
        Records before this one are of other data, from which a warm start continued.
    model : callable
        Without arguments: a copy of the estimator, fitted with the best network so far.
    stopped : bool
        Set to true, by a `watch` for instance, it ends the run before the next generation.
    listeners : list of callables
        Each is called with the share of the generation under way that is evaluated, whenever a few networks more are.
        They are called by the thread of `fit`, and not at all where other processes evaluate the networks.
    """

    problem: PosedProblem
    esp: Engine
    n_generations: int
    history: list[dict[str, Any]] = field(default_factory=list)
    first: int = 0
    model: Callable[[], Any] | None = None
    stopped: bool = False
    listeners: list[Callable[[float], None]] = field(default_factory=list)

    def state(self) -> RunState:
        """Where the run is now; what follows does not change it."""
        return RunState(copy.deepcopy(self.esp), list(self.history), self.first, self.problem.digest)


def evolve(
    run: Run, *, n_jobs: int | None = None, callbacks: Iterable[Any] = (), max_seconds: float | None = None
) -> None:
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
    max_seconds : float, optional
        When these are over the run ends before the next generation, islands at their next migration and restarts at
        their next report. The first one of whole sequences, whose networks are many, ends with those that are evaluated
        by then; the others rank last.

    Raises
    ------
    ParameterError
        A callback does not do what `Run` says.
    """
    esp = run.esp
    end = np.inf if max_seconds is None else monotonic() + max_seconds
    callbacks = list(callbacks)
    for callback in callbacks:
        if hasattr(callback, "restore"):
            with whole_or_not_at_all(run):
                callback.restore(run)
    way = epochs(run, n_jobs) if isinstance(esp, Several) else generations(run, n_jobs, end)
    with ExitStack() as stack, way as advance:
        watching = [begin(stack, run, k, callback) for k, callback in enumerate(callbacks)]
        while esp.generation < run.n_generations and not run.stopped:
            for record in advance():
                if any([is_end(k, callback(record, esp)) for k, callback in enumerate(watching)]):
                    run.stopped = True
            run.stopped |= monotonic() >= end


# Evolves for a while; the records of the generations, which are in the history by then.
Advance = Callable[[], list[dict[str, Any]]]


@contextmanager
def generations(run: Run, n_jobs: int | None, end: float) -> Iterator[Advance]:
    """A function that takes a run through a generation, whose networks workers share."""
    esp = run.esp
    with evaluator(n_jobs, esp.n_networks, run.listeners) as evaluate_all:

        def advance() -> list[dict[str, Any]]:
            is_cut = end < np.inf and esp.generation == 0 and isinstance(run.problem, PooledProblem)
            problem, genomes = run.problem, as_genomes(esp.ask())
            n, n_kept = len(genomes), 0
            if isinstance(problem, SampledProblem):
                # the best so far are judged by this sample too: another may have been easier
                problem, n_kept = problem.at(esp.generation), len(esp.hall)
                genomes = np.concatenate([genomes, *(as_genomes(best)[None] for best in esp.hall)])
            errors = evaluate_all(problem, genomes, seconds=end - monotonic() if is_cut else None)
            with whole_or_not_at_all(run):
                if n_kept:
                    judge_anew(esp, errors[n:])
                run.history.append(tell(esp, errors[:n], run.problem.evolved))
            return run.history[-1:]

        yield advance


@contextmanager
def epochs(run: Run, n_jobs: int | None) -> Iterator[Advance]:
    """A function that takes a run of several engines to where they meet, or to its end, each on a worker of its own."""
    esp, problem = run.esp, run.problem
    if isinstance(problem, SampledProblem) or not isinstance(esp, Several):
        raise ValueError("islands and restarts are for one network, judged on the same data in all generations")
    with archipelago(n_jobs, problem, esp.engines) as evolve_all:

        def advance() -> list[dict[str, Any]]:
            n = min(esp.left_alone, run.n_generations - esp.generation)
            engines, records = evolve_all(esp.engines, n)
            with whole_or_not_at_all(run):
                run.history.extend(of_several(those, esp.n_given_up) for those in zip(*records, strict=True))
                esp.replace(engines)
            return run.history[-n:]

        yield advance


def judge_anew(esp: Engine, errors: FloatArray) -> None:
    """Give the best networks so far the fitness that these errors make."""
    fitness = errors[:, :2].sum(axis=1)
    esp.judge_best_anew(float(fitness[0]) if esp.n_best == 1 else fitness)


def begin(stack: ExitStack, run: Run, k: int, callback: Any) -> Callback:
    """The function of callback number k; where that is an object, its context is entered."""
    if not hasattr(callback, "watch"):
        return callback
    manager = callback.watch(run)
    if not (hasattr(type(manager), "__enter__") and hasattr(type(manager), "__exit__")):
        raise refusal(f"callbacks[{k}].watch", "return a context manager", manager)
    function = stack.enter_context(manager)
    if not takes_record(function):
        raise refusal(f"callbacks[{k}].watch", "yield a function (record, esp)", function)
    return function


def is_end(k: int, answer: Any) -> bool:
    """Whether the answer of callback number k ends the run."""
    try:
        return bool(answer)
    except Exception:  # an array of several has no truth, a class of somebody else may do anything
        raise refusal(f"callbacks[{k}]", "return what is true or false", answer) from None


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
