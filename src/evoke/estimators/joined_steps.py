"""One readout of the steps that several networks read: a machine on landmarks, trained in one pass over all steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from evoke.estimators.blocks import BLOCK, activation_blocks, in_order
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

# Rows that landmarks are chosen from, in multiples of their number, and rows that judge widths and capacities.
CANDIDATES, MOST_JUDGED = 4, 20_000

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
        return {"network": networks, "preparation": self.preparation, **found}


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
    """One pass over the steps: sums for every width, of those that are trained on and those that are held out."""

    def __init__(self, joined: JoinedSteps, networks: Network, map_: Callable[..., Any]):
        self.problem, self.grid, self.units = joined.problem, joined.readout, joined.units
        self.map_ = map_
        self.networks = [self.problem.networks(genome) for genome in networks.genome]
        self.n_outputs = self.problem.targets.shape[1]
        sample = self._sample()
        self.scaling = Scaling.of(sample, scaled=self.grid.scaled)
        sample = np.ascontiguousarray(self.scaling.apply(sample))
        self.kernels, self.places = self._landmarks(sample)
        self.grams = [gram(places, kernel) for places, kernel in zip(self.places, self.kernels, strict=True)]
        self.sums = [
            [landmarks.Sums(kernel, places, self.n_outputs) for _ in ("trained on", "held out")]
            for kernel, places in zip(self.kernels, self.places, strict=True)
        ]

    def machine(self) -> dict[str, Any]:
        """The fields `readout` and `scaling`."""
        judged, targets, weights = self._add_all()
        best: tuple[float, int, float] | None = None
        for k, (train, _) in enumerate(self.sums):
            for C in self.grid.capacities:
                solved = landmarks.solve(train.total, self.grams[k], C, self.n_outputs)
                if solved is None:
                    continue
                decisions = decide(judged, self.places[k], solved.dual_coef, solved.intercept, self.kernels[k])
                error = float(weights @ ((decisions - targets) ** 2).sum(axis=1))
                if np.isfinite(error) and (best is None or error < best[0]):
                    best = error, k, C
        if best is None:
            raise ValueError("no machine on landmarks could be trained: the activations are not finite")
        _, k, C = best
        solved = landmarks.solve(self.sums[k][0].total + self.sums[k][1].total, self.grams[k], C, self.n_outputs)
        if solved is None:
            raise ValueError("no machine on landmarks could be trained on all steps")
        units = self.units
        with np.errstate(over="ignore"):
            coef, intercept = solved.dual_coef * units.deviation, solved.intercept * units.deviation + units.mean
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("y is too large: the coefficients of the readout are not finite; scale it")
        readout = FittedReadout(
            self.places[k], coef, intercept, np.zeros(self.n_outputs), np.ones(self.n_outputs, dtype=bool),
            self.kernels[k],
        )  # fmt: skip
        return {"readout": readout, "scaling": self.scaling}

    def _sample(self) -> FloatArray:
        """Activations at a few steps, from all parts of the data."""
        # on the way through all steps: cells with a long memory are elsewhere after a few of them
        counted = self.problem.counted
        n = min(len(counted), max(BLOCK, CANDIDATES * self.grid.n_landmarks))
        edges = np.arange(n + 1) * len(counted) // n
        key = SeedSequence(self.problem.entropy, spawn_key=(_ROWS, 0))
        taken = counted[Generator(PCG64(key)).integers(edges[:-1], edges[1:])]
        found = activation_blocks(self.networks, self.problem.inputs, self.map_)
        return np.concatenate([phi[_within(taken, rows)] for rows, phi in found])

    def _landmarks(self, sample: FloatArray) -> tuple[list[Kernel], list[FloatArray]]:
        """The kernel of each width, and its landmarks."""
        grid, n, d = self.grid, *sample.shape
        if grid.kernel == "linear":
            return [Kernel("linear")], [np.eye(d)]
        # of scaled columns the mean squared distance of two rows is twice their variances
        mean = 2.0 * sample.var(axis=0).sum() * n / max(1, n - 1) if grid.relative else 1.0
        kernels = [Kernel("rbf", width / mean if mean > 0.0 else width) for width in grid.widths]
        key = SeedSequence(self.problem.entropy, spawn_key=(_ROWS, 1))
        some = Generator(PCG64(key)).permutation(n)[: CANDIDATES * grid.n_landmarks]
        candidates = np.ascontiguousarray(sample[np.sort(some)])
        rows = [landmarks.pivots(candidates, kernel, grid.n_landmarks, TOLERANCE) for kernel in kernels]
        return kernels, [np.ascontiguousarray(candidates[np.sort(chosen)]) for chosen in rows]

    def _add_all(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Add all steps; activations, targets and weights of some that are held out."""
        problem = self.problem
        held, judged = self._held_out()
        n = len(judged)
        phi_judged = np.empty((n, len(self.networks) * self.networks[0].n_cells))
        done = 0
        for rows, phi in activation_blocks(self.networks, problem.inputs, self.map_):
            phi = self.scaling.apply(phi)
            targets, weights = problem.targets[rows], problem.weights[rows]
            here = _within(judged, rows)
            phi_judged[done : done + len(here)] = phi[here]
            done += len(here)
            parts = []
            for part in (~held[rows] & (weights > 0), held[rows] & (weights > 0)):
                root = None if (weights[part] == 1.0).all() else np.sqrt(weights[part])
                parts.append((np.ascontiguousarray(phi[part]), np.ascontiguousarray(targets[part]), root))
            work = [(sums, values) for pair in self.sums for sums, values in zip(pair, parts, strict=True)]
            list(self.map_(lambda item: item[0].add(*item[1]), work))
        return phi_judged, problem.targets[judged], problem.weights[judged]

    def _held_out(self) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which rows are held out, whole sequences where there are many, and those of them that judge."""
        problem, offsets = self.problem, self.problem.inputs.offsets
        n_rows, n_sequences = len(problem.weights), len(offsets) - 1
        if n_sequences >= HELD_OUT:
            held = np.repeat(np.arange(n_sequences) % HELD_OUT == HELD_OUT - 1, np.diff(offsets))
        else:
            # the last ones: cells with a long memory would know steps that lie between those trained on
            held = np.arange(n_rows) >= n_rows - n_rows // HELD_OUT
        rows = np.flatnonzero(held & (problem.weights > 0))
        if len(rows) == 0 or len(rows) == len(problem.counted):  # few rows: every second one
            held = np.zeros(n_rows, dtype=np.bool_)
            held[problem.counted[1::2]] = True
            rows = np.flatnonzero(held)
        return held, rows[np.arange(min(len(rows), MOST_JUDGED)) * len(rows) // min(len(rows), MOST_JUDGED)]


def _within(rows: NDArray[np.int64], block: slice) -> NDArray[np.int64]:
    """Those of some rows, which rise, that are in a block, counted from its first."""
    first, end = np.searchsorted(rows, [block.start, block.stop])
    return rows[first:end] - block.start
