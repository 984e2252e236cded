"""Ways of continuing a series, which are judged by free runs from rolling origins: networks and naive methods."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evoke._core import lstm
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke.forecasting.origins import Origins
from evoke.sequences.preparation import Units
from evoke.sequences.transformation import Transformation

__all__ = [
    "CAPACITIES", "LEAST_ROWS", "NetworkCandidate", "OutOfTime", "Reader", "TeacherForced", "check_time", "naive_paths",
]  # fmt: skip

# Ridge penalty: the number of features / C, in units of standardised features.
CAPACITIES = (1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e5, 1e8, 1e11)
LEAST_ROWS = 12  # to train on at the first origin
_LIMIT = 0.5  # of the range of the transformed series, beyond which a free run is clipped
_CONSTANT = 1e-9  # a feature that varies by less is constant


class OutOfTime(Exception):
    """Time was up before a candidate was fitted."""


def check_time(until: float) -> None:
    """Raise `OutOfTime` where time is up, by `time.monotonic`."""
    if time.monotonic() >= until:
        raise OutOfTime


@dataclass(frozen=True, eq=False)
class TeacherForced:
    """A transformed series, and networks that have read its true values.

    Attributes
    ----------
    values : ndarray of shape (n_before + T, n_outputs)
        The transformed series without units, zero before its first value.
    features : ndarray of shape (n_readouts, T, n_features)
        What the readouts read to predict each value.
    states : ndarray of shape (n_cuts, n_networks, 2, n_cells)
        States and outputs of the cells when the values before a cut have been read.
    """

    values: FloatArray
    features: FloatArray
    states: FloatArray


@dataclass(frozen=True, eq=False)
class Reader:
    """Networks that read a series, and the readouts that read several networks each.

    Attributes
    ----------
    networks : Network
        A population. Their inputs are ``[w(t - lag) for each lag | X(t) | 1]``.
    n_joined : int
        Networks that give their activations to one readout.
    lags : tuple of int
        Own values that networks read, as steps back.
    readout_lags : tuple of int
        Own values that readouts read beside the activations and X(t).
    """

    networks: Network
    n_joined: int
    lags: tuple[int, ...]
    readout_lags: tuple[int, ...]

    @property
    def n_before(self) -> int:
        return max(*self.lags, *self.readout_lags)

    @property
    def n_readouts(self) -> int:
        return len(self.networks.genome) // self.n_joined

    def each(self) -> list[Network]:
        """The networks one by one."""
        return [Network(genome, self.networks.cell, self.networks.gate_bias) for genome in self.networks.genome]

    def follow(
        self, w: FloatArray, external: FloatArray, cuts: Sequence[int] = (), until: float = np.inf
    ) -> TeacherForced:
        """Read the true values (T, n_outputs) of a series without units, beside external inputs (T, n_external + 1)."""
        n_steps, before = len(w), self.n_before
        values = np.concatenate([np.zeros((before, w.shape[1])), w])

        def lagged(lags: tuple[int, ...]) -> list[FloatArray]:
            return [values[before - lag : before - lag + n_steps] for lag in lags]

        inputs = np.ascontiguousarray(np.concatenate([*lagged(self.lags), external], axis=1))
        bounds = [0, *cuts, *([n_steps] if not cuts or cuts[-1] < n_steps else [])]
        n_networks, n_cells = len(self.networks.genome), self.networks.n_cells
        phi = np.empty((n_networks, n_steps, n_cells))
        states = np.zeros((len(bounds), n_networks, 2, n_cells))
        for k, network in enumerate(self.each()):
            check_time(until)
            for i in range(1, len(bounds)):
                begin, end = bounds[i - 1], bounds[i]
                offsets = np.array([0, end - begin])
                phi[k, begin:end], state = lstm.sequences(network, inputs[begin:end], offsets, states[i - 1, k : k + 1])
                states[i, k] = state[0]
        phi = phi.reshape(self.n_readouts, self.n_joined, n_steps, n_cells).transpose(0, 2, 1, 3)
        own = np.concatenate([*lagged(self.readout_lags), external[:, :-1]], axis=1)
        features = np.concatenate(
            [phi.reshape(self.n_readouts, n_steps, -1), np.broadcast_to(own, (self.n_readouts, *own.shape))], axis=2
        )
        return TeacherForced(values, features, states[1 : 1 + len(cuts)])


@dataclass(frozen=True, eq=False)
class NetworkCandidate:
    """Networks on a transformed series, each group with a ridge readout for every capacity.

    Attributes
    ----------
    transformation : Transformation
    units : Units
        Those of the (last) transformed series.
    centre, inverse : ndarray of shape (n_readouts, n_features)
        What standardises the features.
    coef : ndarray of shape (n_readouts, n_capacities, n_features, n_outputs)
    intercept : ndarray of shape (n_readouts, n_capacities, n_outputs)
    low, high : ndarray of shape (n_outputs,)
        Where a free run is clipped.
    """

    transformation: Transformation
    units: Units
    centre: FloatArray
    inverse: FloatArray
    coef: FloatArray
    intercept: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def fit(
        cls, reader: Reader, transformation: Transformation, series: list[tuple[FloatArray, FloatArray]],
        origins: Origins, until: float = np.inf,
    ) -> tuple[NetworkCandidate, FloatArray]:  # fmt: skip
        """Train readouts on all other series and what is before each origin, and on all; free runs are by the former.

        Parameters
        ----------
        series : list of (y, external)
            Values (T, n_outputs) and inputs (T, n_external + 1).
        until : float
            When time is up, by `time.monotonic`.

        Returns
        -------
        candidate : NetworkCandidate
        paths : ndarray of shape (n_capacities, n_origins, n_judged, n_outputs)
            Of y: medians over the readouts.

        Raises
        ------
        OutOfTime
            Before all was done.
        """
        start = transformation.start
        learned = [
            _Learned.by(reader, transformation, y, external, steps, until)
            for (y, external), steps in zip(series, origins.steps, strict=True)
            if len(y) > start
        ]
        F = np.concatenate([part.features for part in learned], axis=1)
        centre, spread = F.mean(axis=1), F.std(axis=1)
        inverse = np.divide(1.0, spread, out=np.ones_like(spread), where=spread > _CONSTANT)
        coef, intercept = ridge_path(
            [((part.features - centre[:, None]) * inverse[:, None], part.targets) for part in learned],
            [[step - part.first for step in part.steps] for part in learned],
            until,
        )
        w = np.concatenate([part.w[start:] for part in learned])
        low, high = w.min(axis=0), w.max(axis=0)
        reach = _LIMIT * (high - low)
        made = cls(
            transformation, learned[-1].units, centre, inverse, coef[:, -1], intercept[:, -1], low - reach, high + reach
        )
        paths, done = [], 0
        for part in learned:
            own = slice(done, done + len(part.steps))
            done = own.stop
            if part.steps:
                judged = replace(made, units=part.units, coef=coef[:, own], intercept=intercept[:, own])
                ahead = np.stack([part.external[o : o + origins.n_judged] for o in part.steps])
                paths.append(judged._run(reader, part.y, part.read, part.steps, ahead, origins.n_judged, until))
        return made, np.concatenate(paths, axis=1)

    def own_units(self, y: FloatArray) -> NetworkCandidate:
        """The same for a series with units of its own."""
        return replace(self, units=Units.of(self.transformation.apply(y)[self.transformation.start :]))

    def follow(self, reader: Reader, y: FloatArray, external: FloatArray, cuts: Sequence[int] = ()) -> TeacherForced:
        """Networks that read the true values."""
        w = np.nan_to_num(self.units.to(self.transformation.apply(y)), nan=0.0)
        return reader.follow(w, external, cuts)

    def paths(self, reader: Reader, y: FloatArray, external: FloatArray, n_steps: int) -> FloatArray:
        """Free runs (n_capacities, n_steps, n_outputs) after y, beside external inputs of y and of what follows."""
        n = len(y)
        read = self.follow(reader, y, external[:n], [n])
        one = replace(self, coef=self.coef[:, None], intercept=self.intercept[:, None])
        return one._run(reader, y, read, [n], external[None, n:], n_steps)[:, 0]

    def one_step(self, reader: Reader, y: FloatArray, external: FloatArray, best: NDArray[np.intp]) -> FloatArray:
        """Predictions of every value from the true ones before it, by the best capacity of each output."""
        read = self.follow(reader, y, external)
        F = (read.features - self.centre[:, None]) * self.inverse[:, None]
        outputs = np.arange(len(best))
        coef, intercept = self.coef[:, best, :, outputs], self.intercept[:, best, outputs]  # (q, M, P), (M, q)
        w = np.einsum("mtp,qmp->mtq", F, coef) + intercept[:, None]
        w = np.clip(w, self.low, self.high) * self.units.deviation + self.units.mean
        return np.median(self.transformation.undo_one_step(y, w), axis=0)

    def _run(
        self, reader: Reader, y: FloatArray, read: TeacherForced, origins: Sequence[int], ahead: FloatArray,
        n_steps: int, until: float = np.inf,
    ) -> FloatArray:  # fmt: skip
        """Free runs from each origin, whose readouts (n_readouts, n_origins, ...) are its own."""
        n_readouts, n_origins, n_capacities, n_features, n_outputs = self.coef.shape
        before, n_cells, joined = reader.n_before, reader.networks.n_cells, reader.n_joined
        run = np.empty((n_readouts, n_origins, n_capacities, before + n_steps, n_outputs))
        run[..., :before, :] = np.stack([read.values[o : o + before] for o in origins])[None, :, None]
        n_runs = n_origins * n_capacities
        offsets, networks = np.arange(n_runs + 1), reader.each()
        states = np.ascontiguousarray(np.repeat(read.states.transpose(1, 0, 2, 3), n_capacities, axis=1))
        external = np.broadcast_to(ahead[:, None], (n_origins, n_capacities, *ahead.shape[1:]))
        features = np.empty((n_readouts, n_origins, n_capacities, n_features))
        coef = np.ascontiguousarray(np.moveaxis(self.coef * self.inverse[:, None, None, :, None], -1, 0))
        intercept = self.intercept - np.einsum("mrcpq,mp->mrcq", self.coef, self.centre * self.inverse)
        n_phi = joined * n_cells
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
            for q in range(n_outputs):
                said = np.einsum("mrcp,mrcp->mrc", features, coef[q]) + intercept[..., q]
                run[..., now, q] = np.clip(said, self.low[q], self.high[q])
        paths = run[..., before:, :] * self.units.deviation + self.units.mean
        undone = [np.median(self.transformation.undo(y, o, paths[:, r]), axis=0) for r, o in enumerate(origins)]
        return np.stack(undone, axis=1)


@dataclass(frozen=True, eq=False)
class _Learned:
    """A series that readouts are trained on: from step `first` on, where the networks have found their phase."""

    y: FloatArray
    external: FloatArray
    steps: tuple[int, ...]
    units: Units
    w: FloatArray
    read: TeacherForced
    first: int

    @classmethod
    def by(
        cls, reader: Reader, transformation: Transformation, y: FloatArray, external: FloatArray,
        steps: tuple[int, ...], until: float,
    ) -> _Learned:  # fmt: skip
        """What networks make of a series, with their states at some steps."""
        start = transformation.start
        transformed = transformation.apply(y)
        units = Units.of(transformed[start:])
        w = np.nan_to_num(units.to(transformed), nan=0.0)
        first = start + max(reader.readout_lags)
        if steps:
            first = max(start, min(first, steps[0] - LEAST_ROWS))
        return cls(y, external, steps, units, w, reader.follow(w, external, steps, until), first)

    @property
    def features(self) -> FloatArray:
        return self.read.features[:, self.first :]

    @property
    def targets(self) -> FloatArray:
        return self.w[self.first :]


def ridge_path(
    parts: list[tuple[FloatArray, FloatArray]], ends: list[list[int]], until: float = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Ridge readouts for all `CAPACITIES`, each of the first rows of one part and all rows of the others.

    Triangular factors grow with the rows, so that each end costs what its new rows do.

    Parameters
    ----------
    parts : list of (F, v)
        Features (n_readouts, n_rows, n_features) and targets (n_rows, n_outputs).
    ends : list of list of int
        How many rows of each part are the first ones, several times or never; ascending.
    until : float
        When time is up, by `time.monotonic`.

    Returns
    -------
    coef : ndarray of shape (n_readouts, n_ends + 1, n_capacities, n_features, n_outputs)
        Those of each end, part after part, and of all rows.
    intercept : ndarray of shape (n_readouts, n_ends + 1, n_capacities, n_outputs)
    """
    n_features = parts[0][0].shape[2]
    rows = [np.concatenate([np.ones((*F.shape[:2], 1)), F, np.broadcast_to(v, (len(F), *v.shape))], axis=2)
            for F, v in parts]  # fmt: skip
    before = after = rows[0][:, :0]
    others = [after]  # factors of all parts after each, the last one first
    for block in rows[:0:-1]:
        after = _factor(after, block)
        others.append(after)
    factors = []
    for block, stops in zip(rows, ends, strict=True):
        R, done = _factor(before, others.pop()), 0
        for stop in stops:
            check_time(until)
            R = _factor(R, block[:, done:stop])
            done = stop
            factors.append(R)
        if others:
            before = _factor(before, block)
    factors.append(_factor(R, block[:, done:]))
    n_readouts, _, size = rows[0].shape
    shape = (n_readouts, len(factors), len(CAPACITIES))
    coef, intercept = np.empty((*shape, n_features, size - 1 - n_features)), np.empty((*shape, size - 1 - n_features))
    for m, e in np.ndindex(shape[:2]):
        check_time(until)
        coef[m, e], intercept[m, e] = _ridge(factors[e][m], n_features)
    return coef, intercept


def _factor(R: FloatArray, rows: FloatArray) -> FloatArray:
    """The triangular factors of what has the factors R, and more rows: readout by readout, so that Ctrl-C is heard."""
    if not rows.shape[1]:
        return R
    return np.stack([np.linalg.qr(np.concatenate(each), mode="r") for each in zip(R, rows, strict=True)])


def _ridge(R: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
    """Weights (n_capacities, n_features, n_outputs) and intercepts, from a factor of ones, features and targets.

    It has as many rows as it has columns or as there were rows, whichever is less: few where cells are many.
    """
    means = R[0, 1:] / R[0, 0]  # the first row holds the sums, in units of the root of the number of rows
    U, S, Vt = np.linalg.svd(R[1:, 1 : 1 + n_features], full_matrices=False)
    projected = U.T @ R[1:, 1 + n_features :]
    coef = np.stack([Vt.T @ ((S / (S * S + n_features / C))[:, None] * projected) for C in CAPACITIES])
    return coef, means[n_features:] - np.einsum("cpq,p->cq", coef, means[:n_features])


def naive_paths(
    y: FloatArray, origins: Sequence[int], season: int, n_steps: int, *, seasonal: bool
) -> list[FloatArray]:
    """What naive methods say: the last value, the mean, and the last season again; each (1, n_origins, n_steps, q)."""
    paths = [
        np.stack([np.broadcast_to(y[o - 1], (n_steps, y.shape[1])) for o in origins])[None],
        np.stack([np.broadcast_to(y[:o].mean(axis=0), (n_steps, y.shape[1])) for o in origins])[None],
    ]
    if seasonal:
        again = np.arange(n_steps) % season
        paths.append(np.stack([y[o - min(season, o) : o][again % min(season, o)] for o in origins])[None])
    return paths
