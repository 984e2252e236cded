"""What a fit will take: networks, memory and time, before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from evoke._core.dispatch import LANES
from evoke._core.pooled import n_pooled
from evoke.estimators.fit import Fit, JoinedNetworks, LeftOutNetwork, OneNetwork
from evoke.estimators.joined_sequences import ManySequences
from evoke.estimators.joined_steps import JoinedSteps
from evoke.estimators.landmark_fit import memory_to_fit
from evoke.evolution.evaluation import evaluate
from evoke.evolution.evolved import as_genomes
from evoke.evolution.problem import PooledProblem, Problem, SplitProblem, StepsProblem
from evoke.evolution.restarts import networks_to
from evoke.evolution.sampling import DOUBLINGS, SampledProblem

__all__ = ["Cost", "check_available", "cost_of", "threads_within"]

_DOUBLE = 8  # bytes

# Kernel matrices at a time: of quadratic programmes the matrix and the factor of its face, of leave-one-out distances,
# kernel values and a matrix beside its inverse.
_MATRICES = {"svm": 2, "lssvm": 1, "pinv": 0}
_LEFT_OUT = 4


@dataclass(frozen=True)
class Cost:
    """What a fit is expected to take.

    Attributes
    ----------
    n_networks : int
        Networks that will be evaluated, if nothing ends the run before.
    memory : int
        Bytes beyond the data, about.
    seconds : float
        For the evolution, from the time that a few networks took; NaN where these were not tried as the memory will not
        do, and where none evolves. The readout at the end comes on top.
    """

    n_networks: int
    memory: int
    seconds: float

    def __str__(self) -> str:
        seconds = "" if np.isnan(self.seconds) else f", about {self.seconds:.3g} s"
        return f"{self.n_networks} networks, {in_bytes(self.memory)}{seconds}"


def cost_of(fit: Fit, n_threads: int, *, timed: bool = True) -> Cost:
    """The cost of a fit; if not `timed`, without the seconds, for which a few networks are evaluated."""
    run = fit.run
    problem = run.problem.at(DOUBLINGS) if isinstance(run.problem, SampledProblem) else run.problem
    memory = n_threads * memory_to_evaluate(problem, fit.n_cells) + memory_at_the_end(
        fit.train, run.esp.n_best, fit.n_cells, n_threads
    )
    n_networks = networks_to(run.esp, run.n_generations)
    seconds = np.nan
    if timed and memory < available():
        genomes = as_genomes(run.esp.ask())[:LANES]
        begin = perf_counter()
        evaluate(problem, genomes)
        seconds = (perf_counter() - begin) / len(genomes) * n_networks / n_threads
    return Cost(n_networks, int(memory), float(seconds))


@singledispatch
def memory_to_evaluate(problem: Any, n_cells: int) -> int:
    """Bytes that one thread takes to evaluate networks."""
    raise TypeError(f"a problem of kind {type(problem).__name__}")


@memory_to_evaluate.register
def _(problem: Problem, n_cells: int) -> int:
    n, n_held = len(problem.train.rows), len(problem.validation.rows)
    n_outputs = len(problem.train.targets)
    columns = LANES * n_cells * (len(problem.segments.rows) + n) + n_cells * n_held
    decisions = LANES * n_outputs * n_held + n_outputs * n
    return _DOUBLE * (columns + decisions + _MATRICES.get(problem.readout.name, 0) * n * n)


@memory_to_evaluate.register
def _(problem: SplitProblem, n_cells: int) -> int:
    return max(memory_to_evaluate(part, n_cells) for part in problem.parts)


@memory_to_evaluate.register
def _(problem: PooledProblem, n_cells: int) -> int:
    n = len(problem.points.rows)
    return _DOUBLE * (LANES * n * n_cells * n_pooled(problem.pool) + _LEFT_OUT * n * n)


@memory_to_evaluate.register
def _(problem: StepsProblem, n_cells: int) -> int:
    n = len(problem.points.rows)
    return _DOUBLE * (LANES * n_cells * (len(problem.segments.rows) + n) + _LEFT_OUT * n * n)


@singledispatch
def memory_at_the_end(train: Any, n_best: int, n_cells: int, n_threads: int) -> int:
    """Bytes that the readout of the best networks takes."""
    raise TypeError(f"a readout of kind {type(train).__name__}")


@memory_at_the_end.register
def _(train: OneNetwork, n_best: int, n_cells: int, n_threads: int) -> int:
    return _DOUBLE * _MATRICES.get(train.problem.readout.name, 0) * len(train.final.rows) ** 2


@memory_at_the_end.register
def _(train: JoinedNetworks, n_best: int, n_cells: int, n_threads: int) -> int:
    n, n_features = len(train.problem.points.rows), n_best * n_pooled(train.problem.pool)
    return _DOUBLE * (_LEFT_OUT * n * n + 3 * n * n_features * n_cells)


@memory_at_the_end.register
def _(train: LeftOutNetwork, n_best: int, n_cells: int, n_threads: int) -> int:
    return _DOUBLE * _LEFT_OUT * len(train.problem.points.rows) ** 2


@memory_at_the_end.register
def _(train: JoinedSteps, n_best: int, n_cells: int, n_threads: int) -> int:
    n, objective = len(train.problem.weights), train.problem.objective
    return memory_to_fit(n, n_best * n_cells, train.readout, objective, n_threads, train.most_kept)


@memory_at_the_end.register
def _(train: ManySequences, n_best: int, n_cells: int, n_threads: int) -> int:
    n, objective = len(train.problem.points.weights), train.problem.objective
    n_features = n_best * n_cells * n_pooled(train.problem.pool)
    return memory_to_fit(n, n_features, train.readout, objective, n_threads, train.most_kept)


def threads_within(max_memory: int | None, fit: Fit, n_threads: int, remedies: str) -> int:
    """So many threads, or as many of them as there is memory for.

    Raises
    ------
    MemoryError
        There is not enough for one.
    """
    most, least = _within(max_memory)
    for n in range(n_threads, 0, -1):
        memory = cost_of(fit, n, timed=False).memory
        if memory <= most:
            return n
    raise _too_much(memory, n_steps(fit.run.problem), least, remedies)


def check_available(max_memory: int | None, memory: int, n_steps: int, remedies: str) -> None:
    """That there is the memory that a fit to so many steps will take.

    Raises
    ------
    MemoryError
        There is not.
    """
    most, least = _within(max_memory)
    if memory > most:
        raise _too_much(memory, n_steps, least, remedies)


def _within(max_memory: int | None) -> tuple[float, str]:
    """Bytes that a fit may take, and in words why no more."""
    there = available()
    if max_memory is not None and max_memory <= there:
        return float(max_memory), f"max_memory is {in_bytes(max_memory)}"
    return there, f"{in_bytes(int(min(there, 2.0**62)))} are available"


def _too_much(memory: int, n_steps: int, least: str, remedies: str) -> MemoryError:
    return MemoryError(
        f"this fit to {n_steps:,} steps will take about {in_bytes(memory)} of memory, and {least}; {remedies}"
    )


@singledispatch
def n_steps(problem: Any) -> int:
    """Steps of all sequences of a problem."""
    return len(problem.segments.rows)


@n_steps.register
def _(problem: SplitProblem) -> int:
    return n_steps(problem.parts[0])


@n_steps.register
def _(problem: SampledProblem) -> int:
    return len(problem.weights)


@n_steps.register
def _(problem: PooledProblem) -> int:
    return len(problem.inputs.rows)


def available() -> float:
    """Bytes of memory that are free or can be freed, as far as the system says; otherwise infinity."""
    found = np.inf
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = next(1024.0 * float(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            found = min(found, float(limit) - float((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, StopIteration, ValueError):  # another system, or none of our business
        pass
    return found


def in_bytes(n: int) -> str:
    """A number of bytes for people."""
    power = 0
    value = float(n)
    while value >= 1024.0 and power < 4:
        value, power = value / 1024.0, power + 1
    return f"{value:.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"
