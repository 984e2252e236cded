"""One readout of the steps that several networks read: a machine on landmarks, trained in one pass over all steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from evoke._core import landmarks
from evoke._core.kernel import Kernel, decide, gram
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.parameters import check_gate_bias, check_lags, is_text
from evoke.esp import ESP, entropy_of
from evoke.estimators.blocks import activation_blocks, in_order
from evoke.evolution.problem import Objective
from evoke.evolution.sampling import SampledProblem
from evoke.evolution.workers import n_workers
from evoke.readouts import FittedReadout, LandmarkReadout
from evoke.sequences.containers import Sequences
from evoke.sequences.preparation import Preparation, Scaling, Units

__all__ = ["JoinedSteps", "pose"]

# Kernel widths and capacities that are tried for each network, and at the end for the activations of all joined ones.
NETWORK_GRID = LandmarkReadout(widths=(0.1, 0.3, 1.0), capacities=(1.0, 100.0, 10000.0), n_landmarks=64)
JOINED_GRID = LandmarkReadout(widths=(0.1, 0.3, 1.0), capacities=(0.01, 1.0, 100.0, 1e4, 1e6))

# Rows that landmarks are chosen from, in multiples of their number; rows on which machines are trained to choose
# networks, width and capacity, and rows by which they are judged.
CANDIDATES, MOST_TRAINED, MOST_JUDGED = 4, 50_000, 20_000

# All networks are tried, and these parts of them.
PARTS = (1, 4, 16)

# One part in so many is held out to choose width and capacity.
HELD_OUT = 10

# A row of which the landmarks so far leave less than this of a row's kernel with itself tells nothing new.
TOLERANCE = 1e-10

# First word of the spawn key of the random rows.
_ROWS = 8


@dataclass(frozen=True)
class JoinedSteps:
    """The networks of the hall of fame, whose activations at every step are read by one machine on landmarks.

    Attributes
    ----------
    problem : SampledProblem
        Its inputs, targets and weights are those of all steps.
    readout : LandmarkReadout
        The grid of widths and capacities.
    preparation : Preparation
    units : Units
        Of the targets.
    n_threads : int
    """

    problem: SampledProblem
    readout: LandmarkReadout
    preparation: Preparation
    units: Units
    n_threads: int = 1

    def __call__(self, esp: ESP) -> dict[str, Any]:
        """The fields `network`, a population, `readout`, `preparation` and `scaling`."""
        problem = self.problem
        genomes = np.stack(esp.hall)
        networks = problem.networks(genomes)
        with in_order(self.n_threads) as map_:
            found = _Fit(self, networks, map_).machine()
        return {"preparation": self.preparation, **found}


def pose(
    estimator: Any, X: Sequences, targets: FloatArray, weights: FloatArray, objective: Objective
) -> tuple[SampledProblem, JoinedSteps]:
    """What networks are judged by, and how the best are joined, by the parameters of an estimator of sequences.

    Parameters
    ----------
    estimator : SequenceEstimator
        One whose parameters are settled.
    X : Sequences
    targets : ndarray of shape (n_rows, n_outputs)
    weights : ndarray of shape (n_rows,)
        0 for a step that does not count.
    objective : Objective
    """
    scaled = estimator.scale is not None
    counted = weights > 0
    units = Units.of(targets[counted]) if objective.regression and scaled else Units.none(targets)
    preparation = Preparation.of(X, lags=check_lags("differences", estimator.differences), scaled=scaled)
    own: dict[str, Any] = {"kernel": "linear" if estimator.readout == "ridge" else "rbf", "scaled": scaled}
    if not is_text(estimator.C, "auto"):
        own["capacities"] = (float(estimator.C),)
    if not is_text(estimator.gamma, "auto"):
        own |= {"widths": (float(estimator.gamma),), "relative": False}
    most = int(estimator.n_landmarks)
    n_samples = len(weights) if estimator.fit_samples is None else int(estimator.fit_samples)
    problem = SampledProblem(
        preparation.apply(X), units.to(targets), weights, str(estimator.cell), check_gate_bias(estimator.gate_bias),
        replace(NETWORK_GRID, n_landmarks=min(most, NETWORK_GRID.n_landmarks), **own), objective, n_samples,
        entropy_of(estimator.random_state),
    )  # fmt: skip
    joined = JoinedSteps(
        problem, replace(JOINED_GRID, n_landmarks=most, **own), preparation, units, n_workers(estimator.n_jobs, -1)
    )
    return problem, joined


class _Fit:
    """Two passes over the steps: one chooses networks, width and capacity on a part of them, one trains on all.

    The best networks are the first ones. Where one of them does by itself what is asked, the others are in its way, so
    fewer are tried too.
    """

    def __init__(self, joined: JoinedSteps, networks: Network, map_: Callable[..., Any]):
        self.problem, self.grid, self.units, self.map_ = joined.problem, joined.readout, joined.units, map_
        self.networks = [self.problem.networks(genome) for genome in networks.genome]
        self.n_outputs = self.problem.targets.shape[1]

    def machine(self) -> dict[str, Any]:
        """The fields `network`, `readout` and `scaling`."""
        train, judged = self._chosen_rows()
        phi, phi_judged = self._activations([train, judged])
        scaling = Scaling.of(phi, scaled=self.grid.scaled)
        phi, phi_judged = scaling.apply(phi), scaling.apply(phi_judged)
        candidates = [
            (len(machine.places.T) // self.networks[0].n_cells, machine)
            for n in sorted({-(-len(self.networks) // part) for part in PARTS})
            for machine in self._machines(phi[:, : n * self.networks[0].n_cells])
        ]
        errors = list(self.map_(lambda item: self._judge(item[1], phi, train, phi_judged, judged), candidates))
        best = min(range(len(errors)), key=lambda k: errors[k][0])
        n, machine = candidates[best]
        error, C = errors[best]
        if not np.isfinite(error):
            raise ValueError("no machine on landmarks could be trained: the activations are not finite")
        scaling = Scaling(scaling.mean[: machine.n_columns], scaling.inverse[: machine.n_columns], scaling.limit)
        coef, intercept = self._train(n, machine, scaling, C)
        readout = FittedReadout(
            machine.places, coef, intercept, np.zeros(self.n_outputs), np.ones(self.n_outputs, dtype=bool),
            machine.kernel,
        )  # fmt: skip
        genomes = np.stack([network.genome for network in self.networks[:n]])
        return {"network": self.problem.networks(genomes), "readout": readout, "scaling": scaling}

    def _chosen_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows to train on and rows to judge by, for the choice."""
        problem, offsets = self.problem, self.problem.inputs.offsets
        n_rows, n_sequences = len(problem.weights), len(offsets) - 1
        if n_sequences >= HELD_OUT:
            held = np.repeat(np.arange(n_sequences) % HELD_OUT == HELD_OUT - 1, np.diff(offsets))
        else:
            # the last ones: cells with a long memory would know steps that lie between those trained on
            held = np.arange(n_rows) >= n_rows - n_rows // HELD_OUT
        train, judged = problem.counted[~held[problem.counted]], problem.counted[held[problem.counted]]
        if len(train) == 0 or len(judged) == 0:  # few rows
            train, judged = problem.counted[::2], problem.counted[1::2]
        key = SeedSequence(problem.entropy, spawn_key=(_ROWS, 0))
        generator = Generator(PCG64(key))
        return _some(train, MOST_TRAINED, generator), _some(judged, MOST_JUDGED, generator)

    def _activations(self, chosen: list[NDArray[np.int64]]) -> list[FloatArray]:
        """Activations of all networks at chosen rows, on the way through all steps."""
        width = len(self.networks) * self.networks[0].n_cells
        found, done = [np.empty((len(rows), width)) for rows in chosen], [0] * len(chosen)
        for block, phi in activation_blocks(self.networks, self.problem.inputs, self.map_):
            for k, rows in enumerate(chosen):
                here = _within(rows, block)
                found[k][done[k] : done[k] + len(here)] = phi[here]
                done[k] += len(here)
        return found

    def _machines(self, phi: FloatArray) -> list[_Machine]:
        """A kernel of each width, and its landmarks among activations."""
        grid, n, d = self.grid, *phi.shape
        if grid.kernel == "linear":
            return [_Machine(Kernel("linear"), np.eye(d))]
        # the mean squared distance of two rows is twice their variances
        mean = 2.0 * phi.var(axis=0).sum() * n / max(1, n - 1) if grid.relative else 1.0
        kernels = [Kernel("rbf", width / mean if mean > 0.0 else width) for width in grid.widths]
        most = min(n, CANDIDATES * grid.n_landmarks)
        candidates = np.ascontiguousarray(phi[np.arange(most) * n // most])
        rows = self.map_(lambda kernel: landmarks.pivots(candidates, kernel, grid.n_landmarks, TOLERANCE), kernels)
        return [
            _Machine(kernel, np.ascontiguousarray(candidates[np.sort(chosen)]))
            for kernel, chosen in zip(kernels, rows, strict=True)
        ]

    def _judge(
        self, machine: _Machine, phi: FloatArray, train: NDArray[np.int64], phi_judged: FloatArray,
        judged: NDArray[np.int64],
    ) -> tuple[float, float]:  # fmt: skip
        """The least error on rows that judge, and its capacity."""
        problem, sums, best = self.problem, machine.sums(self.n_outputs), (np.inf, 0.0)
        self._add(sums, phi[:, : machine.n_columns], train)
        phi_judged = np.ascontiguousarray(phi_judged[:, : machine.n_columns])
        for C in self.grid.capacities:
            solved = landmarks.solve(sums.total, machine.gram, C, self.n_outputs)
            if solved is None:
                continue
            decisions = decide(phi_judged, machine.places, solved.dual_coef, solved.intercept, machine.kernel)
            error = float(problem.weights[judged] @ ((decisions - problem.targets[judged]) ** 2).sum(axis=1))
            if error < best[0]:
                best = error, C
        return best

    def _train(self, n: int, machine: _Machine, scaling: Scaling, C: float) -> tuple[FloatArray, FloatArray]:
        """Coefficients and constants of a machine on all steps of the first n networks, in units of the targets.

        Blocks are added to two sums in turn, so that two threads can do it; the bits are those of one.
        """
        problem, units = self.problem, self.units
        sums = [machine.sums(self.n_outputs) for _ in range(2)]
        waiting: list[tuple[landmarks.Sums, FloatArray, NDArray[np.int64]]] = []
        for block, phi in activation_blocks(self.networks[:n], problem.inputs, self.map_):
            here = np.flatnonzero(problem.weights[block] > 0)
            waiting.append((sums[len(waiting)], scaling.apply(phi[here]), here + block.start))
            if len(waiting) == len(sums):
                list(self.map_(lambda item: self._add(*item), waiting))
                waiting.clear()
        list(self.map_(lambda item: self._add(*item), waiting))
        solved = landmarks.solve(sums[0].total + sums[1].total, machine.gram, C, self.n_outputs)
        if solved is None:
            raise ValueError("no machine on landmarks could be trained on all steps: lower C")
        with np.errstate(over="ignore"):
            coef, intercept = solved.dual_coef * units.deviation, solved.intercept * units.deviation + units.mean
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("y is too large: the coefficients of the readout are not finite; scale it")
        return coef, intercept

    def _add(self, sums: landmarks.Sums, phi: FloatArray, rows: NDArray[np.int64]) -> None:
        weights = self.problem.weights[rows]
        roots = None if (weights == 1.0).all() else np.sqrt(weights)
        sums.add(np.ascontiguousarray(phi), np.ascontiguousarray(self.problem.targets[rows]), roots)


@dataclass(frozen=True, eq=False)
class _Machine:
    """A kernel and landmarks (m, n_columns)."""

    kernel: Kernel
    places: FloatArray

    @cached_property
    def gram(self) -> FloatArray:
        return gram(self.places, self.kernel)

    @property
    def n_columns(self) -> int:
        return self.places.shape[1]

    def sums(self, n_outputs: int) -> landmarks.Sums:
        return landmarks.Sums(self.kernel, self.places, n_outputs)


def _some(rows: NDArray[np.int64], most: int, generator: Generator) -> NDArray[np.int64]:
    """At most so many of the rows: one at random from each of as many equal parts."""
    n = min(len(rows), most)
    edges = np.arange(n + 1) * len(rows) // n
    return rows[generator.integers(edges[:-1], edges[1:])]


def _within(rows: NDArray[np.int64], block: slice) -> NDArray[np.int64]:
    """Those of some rows, which rise, that are in a block, counted from its first."""
    first, end = np.searchsorted(rows, [block.start, block.stop])
    return rows[first:end] - block.start
