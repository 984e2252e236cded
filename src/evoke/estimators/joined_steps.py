"""One readout of the steps that several networks read: a machine on landmarks, trained in one pass over all steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.parameters import check_gate_bias, check_lags, is_text
from evoke.engine import Engine, entropy_of
from evoke.estimators.blocks import activation_blocks, in_order
from evoke.estimators.fitted import Judged
from evoke.estimators.landmark_fit import HELD_OUT, MOST_KEPT, fit_on_landmarks, kept_within
from evoke.evolution.problem import Objective
from evoke.evolution.sampling import SampledProblem
from evoke.evolution.workers import n_threads
from evoke.readouts import LandmarkReadout
from evoke.sequences.containers import Sequences
from evoke.sequences.preparation import Preparation, Units

__all__ = ["JoinedSteps", "pose"]

# Kernel widths and capacities that are tried for each network, and at the end for the features of all joined ones.
NETWORK_GRID = LandmarkReadout(widths=(0.1, 0.3, 1.0), capacities=(1.0, 100.0, 10000.0), n_landmarks=64)
JOINED_GRID = LandmarkReadout(widths=(0.1, 0.3, 1.0), capacities=(0.01, 1.0, 100.0, 1e4, 1e6))


# Parts of the longest sequence that are read from their beginnings, at most and at least, their fewest and most steps,
# and the last ones, at which activations may differ by so many deviations.
MOST_PARTS, FEWEST_PARTS, SHORTEST, LONGEST, COMPARED, FARTHEST = 64, 4, 256, 2048, 16, 1.0


@dataclass(frozen=True)
class JoinedSteps:
    """The networks of the hall of fame, whose activations at every step are read by one machine on landmarks.

    Attributes
    ----------
    problem : SampledProblem
        Its X, targets and weights are those of all steps.
    readout : LandmarkReadout
        The grid of widths and capacities.
    units : Units
        Of the targets.
    n_threads : int
    most_kept : int
        As in `fit_on_landmarks`.
    """

    problem: SampledProblem
    readout: LandmarkReadout
    units: Units
    n_threads: int = 1
    most_kept: int = MOST_KEPT

    def __call__(self, esp: Engine) -> dict[str, Any]:
        """The fields `network`, a population, `readout`, `preparation`, `scaling` and `judged`."""
        networks = [self.problem.networks(genome) for genome in esp.hall]
        with in_order(self.n_threads) as map_:
            rows = _Steps(self.problem, networks, settled_features(self.problem, networks, map_))
            found = fit_on_landmarks(rows, self.readout, self.units, self.problem.objective, map_, self.most_kept)
        return {
            "network": self.problem.networks(np.stack(esp.hall[: found.n_networks])), "readout": found.readout,
            "preparation": self.problem.preparation, "scaling": found.scaling,
            "judged": Judged(found.judged, found.decisions),
        }  # fmt: skip


class _Steps:
    """The steps of sequences, as machines read them."""

    def __init__(self, problem: SampledProblem, networks: list[Network], settled: NDArray[np.bool_] | None):
        self.targets, self.weights, self.entropy = problem.targets, problem.weights, problem.entropy
        offsets = problem.X.offsets
        many = len(offsets) > HELD_OUT
        self.part = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) if many else None
        self.settled = settled
        self.n_networks, self.n_columns = len(networks), networks[0].n_cells
        self._problem, self._networks = problem, networks

    def blocks(self, n_networks: int, map_: Callable[..., Any]) -> Iterator[tuple[slice, FloatArray]]:
        """Activations of one block of steps after the other."""
        problem = self._problem
        return activation_blocks(self._networks[:n_networks], problem.X, problem.preparation, map_)


def settled_features(
    problem: SampledProblem, networks: list[Network], map_: Callable[..., Any] = map
) -> NDArray[np.bool_] | None:
    """Which activations forget where reading began; None where sequences are many, or too short to tell.

    Cells that add up without forgetting, or that end in one of several states and stay there, depend on the first steps
    of a sequence for ever. Where there is hardly more than one beginning to learn from, a readout that uses them is
    wrong after another one. So networks read parts of the longest sequence from their beginnings, and should be, at
    the end of each, where they are after all steps before.
    """
    X = problem.X
    longest = int(X.lengths.argmax())
    first, steps = int(X.offsets[longest]), int(X.lengths[longest])
    length = min(max(steps // MOST_PARTS, SHORTEST), LONGEST)
    n_parts = min(steps // length, MOST_PARTS)
    if X.n_sequences > HELD_OUT or n_parts < FEWEST_PARTS:
        return None
    n = n_parts * length
    rows = X.rows[first : first + n]
    whole = Sequences(rows, np.array([0, n]), "list")
    parts = Sequences(rows[length:], np.arange(n_parts) * length, "list")
    ends = (np.arange(1, n_parts)[:, np.newaxis] + 1) * length - COMPARED + np.arange(COMPARED)
    after_all = _activations_at(ends, networks, whole, problem.preparation, map_)
    after_part = _activations_at(ends - length, networks, parts, problem.preparation, map_)
    distances = np.sqrt(((after_part - after_all) ** 2).mean(axis=1))
    settled = (distances <= FARTHEST * after_all.std(axis=(0, 1))).all(axis=0)
    return settled if settled.any() else None


def _activations_at(
    which: NDArray[np.int64], networks: list[Network], X: Sequences, preparation: Preparation, map_: Callable[..., Any]
) -> FloatArray:
    """Activations (*which.shape, n_features) at these rows, which ascend."""
    flat = which.ravel()
    found = [
        phi[flat[slice(*np.searchsorted(flat, [rows.start, rows.stop]))] - rows.start]
        for rows, phi in activation_blocks(networks, X, preparation, map_)
    ]
    return np.concatenate(found).reshape(*which.shape, -1)


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
        X, preparation, units.to(targets), weights, str(estimator.cell), check_gate_bias(estimator.gate_bias),
        replace(NETWORK_GRID, n_landmarks=min(most, NETWORK_GRID.n_landmarks), **own), objective, n_samples,
        entropy_of(estimator.random_state), str(estimator.dtype),
    )  # fmt: skip
    joined = JoinedSteps(
        problem, replace(JOINED_GRID, n_landmarks=most, **own), units, n_threads(estimator.n_jobs),
        kept_within(estimator.max_memory),
    )  # fmt: skip
    return problem, joined
