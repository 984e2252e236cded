"""Networks that continue a transformed series, and are judged by free runs from rolling origins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evoke._core import lstm
from evoke._validation.arrays import FloatArray
from evoke.forecasting.origins import Origins
from evoke.forecasting.parts import Part, parts_of
from evoke.forecasting.reader import Reader, TeacherForced, check_time
from evoke.sequences.preparation import Units
from evoke.sequences.transformation import Transformation

__all__ = ["NetworkCandidate", "Readouts"]

_LIMIT = 0.5  # of the range of the transformed series, beyond which a free run is clipped


class Readouts(Protocol):
    """What reads the networks: each group of them by itself, with several capacities.

    Attributes
    ----------
    centre, inverse : ndarray of shape (n_readouts, n_features)
        What standardises the features.
    """

    @property
    def centre(self) -> FloatArray:
        """What is taken from features."""

    @property
    def inverse(self) -> FloatArray:
        """What they are then multiplied by."""

    @property
    def n_readouts(self) -> int:
        """Groups of networks."""

    @property
    def n_capacities(self) -> int:
        """Readouts of each group."""

    def before(self, origins: slice) -> Readouts:
        """Those that were trained on what is before some origins."""

    def only(self, capacities: NDArray[np.intp]) -> Readouts:
        """Those of some capacities."""

    def of_all(self, parts: list[Part]) -> Readouts:
        """Those that were trained on all rows."""

    def speaker(self) -> Callable[[FloatArray], FloatArray]:
        """What says the values (n_readouts, n_origins, n_capacities, n_outputs) for features."""

    def one_step(self, features: FloatArray, best: NDArray[np.intp]) -> FloatArray:
        """Values (n_readouts, n, n_outputs) for features (n_readouts, n, n_features), by a capacity of each output."""


@dataclass(frozen=True, eq=False)
class NetworkCandidate:
    """Networks on a transformed series, and readouts of them.

    Attributes
    ----------
    transformation : Transformation
    units : Units
        Those of the (last) transformed series.
    readouts : Readouts
    low, high : ndarray of shape (n_outputs,)
        Where a free run is clipped.
    """

    transformation: Transformation
    units: Units
    readouts: Readouts
    low: FloatArray
    high: FloatArray

    @classmethod
    def fit(
        cls, reader: Reader, transformation: Transformation, series: list[tuple[FloatArray, FloatArray]],
        origins: Origins, train: Callable[[list[Part], float], Readouts], until: float = np.inf,
    ) -> tuple[NetworkCandidate, FloatArray]:  # fmt: skip
        """Train readouts on all other series and what is before each origin; free runs are by these.

        Parameters
        ----------
        series : list of (y, external)
            Values (T, n_outputs) and inputs (T, n_external + 1).
        train : callable
            Makes the readouts of parts, until time is up.
        until : float
            When time is up, by `time.monotonic`.

        Returns
        -------
        candidate : NetworkCandidate
            Not yet `of_all`.
        paths : ndarray of shape (n_capacities, n_origins, n_judged, n_outputs)
            Of y: medians over the readouts.

        Raises
        ------
        OutOfTime
            Before all was done.
        """
        start = transformation.start
        parts = parts_of(reader, transformation, series, origins.steps)
        readouts = train(parts, until)
        w = np.concatenate([part.w[start:] for part in parts])
        low, high = w.min(axis=0), w.max(axis=0)
        reach = _LIMIT * (high - low)
        made = cls(transformation, parts[-1].units, readouts, low - reach, high + reach)
        paths, done = [], 0
        for part in parts:
            own = slice(done, done + len(part.steps))
            done = own.stop
            if part.steps:
                judged = replace(made, units=part.units, readouts=readouts.before(own))
                ahead = np.stack([part.external[o : o + origins.n_judged] for o in part.steps])
                paths.append(judged._run(reader, part.y, part.read, part.steps, ahead, origins.n_judged, until))
        return made, np.concatenate(paths, axis=1)

    def of_all(
        self, reader: Reader, series: list[tuple[FloatArray, FloatArray]], origins: Origins
    ) -> NetworkCandidate:
        """The same with readouts that were trained on all of the series."""
        parts = parts_of(reader, self.transformation, series, origins.steps)
        return replace(self, readouts=self.readouts.of_all(parts))

    def only(self, capacities: NDArray[np.intp]) -> NetworkCandidate:
        """The same with some of its capacities."""
        return replace(self, readouts=self.readouts.only(capacities))

    def own_units(self, y: FloatArray) -> NetworkCandidate:
        """The same for a series with units of its own."""
        return replace(self, units=Units.of(self.transformation.apply(y)[self.transformation.start :]))

    def follow(self, reader: Reader, y: FloatArray, external: FloatArray, cuts: Sequence[int] = ()) -> TeacherForced:
        """Networks that read the true values."""
        w = np.nan_to_num(self.units.to(self.transformation.apply(y)), nan=0.0)
        return TeacherForced(reader, w, external, cuts)

    def paths(self, reader: Reader, y: FloatArray, external: FloatArray, n_steps: int) -> FloatArray:
        """Free runs (n_capacities, n_steps, n_outputs) after y, beside external inputs of y and of what follows."""
        n = len(y)
        read = self.follow(reader, y, external[:n], [n]).read()
        return self._run(reader, y, read, [n], external[None, n:], n_steps)[:, 0]

    def one_step(self, reader: Reader, y: FloatArray, external: FloatArray, best: NDArray[np.intp]) -> FloatArray:
        """Predictions of every value from the true ones before it, by the best capacity of each output."""
        blocks: Iterable[FloatArray] = (F for _, F in self.follow(reader, y, external).blocks())
        w = np.concatenate([self.readouts.one_step(F, best) for F in blocks], axis=1)
        w = np.clip(w, self.low, self.high) * self.units.deviation + self.units.mean
        return np.median(self.transformation.undo_one_step(y, w), axis=0)

    def _run(
        self, reader: Reader, y: FloatArray, read: TeacherForced, origins: Sequence[int], ahead: FloatArray,
        n_steps: int, until: float = np.inf,
    ) -> FloatArray:  # fmt: skip
        """Free runs from each origin, whose readouts are its own."""
        n_readouts, n_origins, n_capacities = reader.n_readouts, len(origins), self.readouts.n_capacities
        before, n_cells, joined, n_outputs = reader.n_before, reader.networks.n_cells, reader.n_joined, y.shape[1]
        run = np.empty((n_readouts, n_origins, n_capacities, before + n_steps, n_outputs))
        run[..., :before, :] = np.stack([read.values[o : o + before] for o in origins])[None, :, None]
        n_runs = n_origins * n_capacities
        offsets, networks = np.arange(n_runs + 1), reader.each()
        states = np.ascontiguousarray(np.repeat(read.states.transpose(1, 0, 2, 3), n_capacities, axis=1))
        external = np.broadcast_to(ahead[:, None], (n_origins, n_capacities, *ahead.shape[1:]))
        n_phi = reader.n_activations
        n_own = len(reader.readout_lags) * n_outputs + ahead.shape[2] - 1
        features = np.empty((n_readouts, n_origins, n_capacities, n_phi + n_own))
        say = self.readouts.speaker()
        for t in range(n_steps):
            now = before + t
            for m in range(n_readouts):
                check_time(until)
                lagged = [run[m, :, :, now - lag] for lag in reader.lags]
                inputs = np.concatenate([*lagged, external[:, :, t]], axis=2).reshape(n_runs, -1)
                inputs = np.ascontiguousarray(inputs)
                for g in range(joined):
                    k = m * joined + g
                    phi, states[k] = lstm.sequences(networks[k], inputs, offsets, states[k])
                    features[m, :, :, g * n_cells : (g + 1) * n_cells] = phi.reshape(n_origins, n_capacities, n_cells)
            own = [run[..., now - lag, :] for lag in reader.readout_lags]
            beside = external[:, :, t, :-1]
            beside = np.broadcast_to(beside, (n_readouts, *beside.shape))
            features[..., n_phi:] = np.concatenate([*own, beside], axis=-1)
            run[..., now, :] = np.clip(say(features), self.low, self.high)
        paths = run[..., before:, :] * self.units.deviation + self.units.mean
        undone = [np.median(self.transformation.undo(y, o, paths[:, r]), axis=0) for r, o in enumerate(origins)]
        return np.stack(undone, axis=1)
