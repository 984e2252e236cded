"""Machines on landmarks that read networks beside the last values, for series of many steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evoke._core.kernel import Kernel, decide
from evoke._validation.arrays import FloatArray
from evoke.forecasting.parts import Part
from evoke.forecasting.reader import check_time
from evoke.landmarks import Block, Machine, add_up, mean_distance
from evoke.sequences.preparation import Units, mean_and_inverse

__all__ = ["LandmarkReadouts", "TrainedMachine"]

# Widths of the kernel, in units of the inverse mean squared distance of two rows, and capacities.
WIDTHS, CAPACITIES = (0.3, 1.0, 3.0), (1.0, 1e4, 1e8)

# Rows on which the machines are trained that are judged by free runs; those that are kept are trained on all rows.
MOST_TRAINED = 50_000

_BLOCK = 4096  # of these rows, between which it is seen whether time is up


@dataclass(frozen=True, eq=False)
class TrainedMachine:
    """A machine that says by how much a value differs from the last one, in units of such changes.

    Attributes
    ----------
    gamma, C : float
        Of the kernel exp(-gamma |x - y|^2), and the price of a squared error.
    places : ndarray of shape (m, n_features)
        The landmarks, standardised.
    coef : ndarray of shape (m, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    """

    gamma: float
    C: float
    places: FloatArray
    coef: FloatArray
    intercept: FloatArray

    @classmethod
    def of(cls, machine: Machine, C: float, total: FloatArray, n_outputs: int) -> TrainedMachine:
        """That of the sums over some rows; where these are singular to working precision it says that nothing changes.
        """
        solved = machine.solve(total, C, n_outputs)
        if solved is None:
            return cls(machine.kernel.gamma, C, machine.places, np.zeros((len(machine.places), n_outputs)),
                       np.zeros(n_outputs))  # fmt: skip
        return cls(machine.kernel.gamma, C, machine.places, *solved)

    @property
    def machine(self) -> Machine:
        """What it was before it was trained."""
        return Machine(Kernel("rbf", self.gamma), self.places)

    def changes(self, x: FloatArray) -> FloatArray:
        """What it says (n, n_outputs) of standardised features (n, n_features)."""
        return decide(x, self.places, self.coef, self.intercept, Kernel("rbf", self.gamma))


@dataclass(frozen=True, eq=False)
class LandmarkReadouts:
    """Machines on landmarks of groups of networks, for every width and capacity.

    Attributes
    ----------
    centre, inverse : ndarray of shape (n_readouts, n_features)
        What standardises the features; 0 of those that do not vary.
    last : int
        The first of the features that are the last value.
    units : Units
        Those of the changes.
    machines : list of list of TrainedMachine
        Of each group; those of one width have the same landmarks and follow each other.
    """

    centre: FloatArray
    inverse: FloatArray
    last: int
    units: Units
    machines: list[list[TrainedMachine]]

    @classmethod
    def fit(cls, parts: list[Part], until: float, *, n_landmarks: int, last: int) -> LandmarkReadouts:
        """Those of some of the rows before the first origin of each part."""
        features, changes = _sample(parts, last, until)
        units = Units.of(changes)
        centre, inverse = (np.stack(each) for each in zip(*(mean_and_inverse(F) for F in features), strict=True))
        untrained = cls(centre, inverse, last, units, [])
        machines = []
        for m, F in enumerate(features):
            x = untrained._standardised(m, F)
            mean, of_group = mean_distance(x), []
            for width in WIDTHS:
                check_time(until)
                machine = Machine.among(x, Kernel("rbf", width / mean), n_landmarks)
                total = add_up(machine, changes.shape[1], _blocks(x, np.ascontiguousarray(units.to(changes)), until))
                of_group += [TrainedMachine.of(machine, C, total, changes.shape[1]) for C in CAPACITIES]
            machines.append(of_group)
        return replace(untrained, machines=machines)

    @property
    def n_outputs(self) -> int:
        return len(self.units.mean)

    @property
    def n_readouts(self) -> int:
        return len(self.machines)

    @property
    def n_capacities(self) -> int:
        return len(self.machines[0])

    def before(self, origins: slice) -> LandmarkReadouts:
        """These, which know nothing of what comes after any origin."""
        return self

    def only(self, capacities: NDArray[np.intp]) -> LandmarkReadouts:
        """Those of some widths and capacities."""
        return replace(self, machines=[[group[k] for k in capacities] for group in self.machines])

    def of_all(self, parts: list[Part]) -> LandmarkReadouts:
        """Those that are trained on all rows, in one pass over them."""
        machines = [{one.gamma: one.machine for one in group} for group in self.machines]
        sums = [{gamma: one.sums(self.n_outputs) for gamma, one in group.items()} for group in machines]
        for part in parts:
            for features, targets in part.blocks():
                for m, group in enumerate(sums):
                    x = self._standardised(m, features[m])
                    changes = np.ascontiguousarray(self.units.to(targets - self._last(features[m])))
                    for each in group.values():
                        each.add(x, changes)
        trained = [
            [TrainedMachine.of(machines[m][one.gamma], one.C, sums[m][one.gamma].total, self.n_outputs)
             for one in group]
            for m, group in enumerate(self.machines)
        ]  # fmt: skip
        return replace(self, machines=trained)

    def speaker(self) -> Callable[[FloatArray], FloatArray]:
        """What says the values (n_readouts, n_origins, n_capacities, n_outputs) for features."""
        return self._say

    def one_step(self, features: FloatArray, best: NDArray[np.intp]) -> FloatArray:
        """Values (n_readouts, n, n_outputs) for features (n_readouts, n, n_features), by a capacity of each output."""
        said = np.empty((*features.shape[:2], self.n_outputs))
        for m, F in enumerate(features):
            for k in set(best.tolist()):
                said[m][:, best == k] = self._values(m, k, F)[:, best == k]
        return said

    def _say(self, features: FloatArray) -> FloatArray:
        said = np.empty((*features.shape[:3], self.n_outputs))
        for m, k in np.ndindex(self.n_readouts, self.n_capacities):
            said[m, :, k] = self._values(m, k, features[m, :, k])
        return said

    def _values(self, m: int, k: int, F: FloatArray) -> FloatArray:
        changes = self.machines[m][k].changes(self._standardised(m, F))
        return self._last(F) + changes * self.units.deviation + self.units.mean

    def _standardised(self, m: int, F: FloatArray) -> FloatArray:
        return np.ascontiguousarray((F - self.centre[m]) * self.inverse[m])

    def _last(self, F: FloatArray) -> FloatArray:
        return F[:, self.last : self.last + self.n_outputs]


def _sample(parts: list[Part], last: int, until: float) -> tuple[FloatArray, FloatArray]:
    """Features (n_readouts, n, n_features) and changes (n, n_outputs) of rows before origins, at equal distances."""
    n_rows = sum(part.n_before_origins for part in parts)
    every = max(1, -(-n_rows // MOST_TRAINED))
    features, changes, seen = [], [], 0
    for part in parts:
        left = part.n_before_origins
        for F, v in part.blocks(until):
            here = min(left, F.shape[1])
            chosen = slice(-seen % every, here, every)
            features.append(F[:, chosen])
            changes.append(v[chosen] - F[0, chosen, last : last + v.shape[1]])
            seen, left = seen + here, left - here
    return np.concatenate(features, axis=1), np.concatenate(changes)


def _blocks(x: FloatArray, targets: FloatArray, until: float) -> Iterator[Block]:
    for begin in range(0, len(x), _BLOCK):
        check_time(until)
        yield x[begin : begin + _BLOCK], targets[begin : begin + _BLOCK], None
