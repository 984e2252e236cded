"""What a forecaster with rolling origins computes, without the classes of the library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke.export.plan import Machine, Scale, check_numbers
from evoke.forecasting.candidates import NetworkCandidate
from evoke.forecasting.machines import LandmarkReadouts
from evoke.forecasting.model import RollingModel
from evoke.forecasting.reach import growth_rate
from evoke.forecasting.ridge import RidgeReadouts

__all__ = ["Member", "RollingPlan", "check_rolling_range", "rolling_plan_of"]

# Runs of a smaller weight are left out: it is below the rounding error of the sum.
_LEAST_WEIGHT = 1e-15


@dataclass(frozen=True, eq=False, kw_only=True)
class Member:
    """Free runs on one transformed series. They have the same networks, and differ in what reads these.

    Attributes
    ----------
    log : bool
        Whether the series is a logarithm, before differences.
    lags : tuple of int
        Those of its differences, in the order in which they are taken.
    mean, deviation : ndarray of shape (n_outputs,)
        Units of the transformed series.
    low, high : ndarray of shape (n_outputs,)
        Where a run is clipped, without units.
    machines : list of list of Machine
        Readouts of each run of each group of networks.
    features : list of Scale
        Of what the machines of a group read; empty: as it is.
    adds_last : bool
        Whether machines say by how much a value differs from the last one.
    states : ndarray of shape (n_networks, 2, n_cells)
        States and outputs of the cells at the end of the series.
    before : ndarray of shape (n_before, n_outputs)
        The last values of the transformed series, without units.
    stages : list of ndarray of shape (lag, n_outputs)
        The last values of what each difference was taken of.
    weights : ndarray of shape (n_runs, n_judged, n_outputs)
        Of each run in the mean, at each step; the last ones count for all steps that follow.
    """

    log: bool
    lags: tuple[int, ...]
    mean: FloatArray
    deviation: FloatArray
    low: FloatArray
    high: FloatArray
    machines: list[list[Machine]]
    features: list[Scale]
    adds_last: bool
    states: FloatArray
    before: FloatArray
    stages: list[FloatArray]
    weights: FloatArray

    @property
    def n_readouts(self) -> int:
        """Groups of networks."""
        return len(self.machines)

    @property
    def n_runs(self) -> int:
        return len(self.weights)


@dataclass(frozen=True, eq=False, kw_only=True)
class RollingPlan:
    """A forecaster with rolling origins, in numbers. All values of the series are without its `exponent`.

    Attributes
    ----------
    estimator : str
        Name of its class.
    genomes : ndarray of shape (n_networks, n_cells, 4 * (n_inputs + n_cells))
        Those that are read. Their inputs are the values at the `lags`, the external inputs and a 1.
    cell : {"lstm", "evolino"}
    n_joined : int
        Networks that one readout reads.
    lags, readout_lags : tuple of int
        Own values that networks and readouts read, as steps back.
    n_features : int
        External inputs.
    names : list of str
        Those of the external inputs; empty where they have none.
    inputs : Scale
        Of the external inputs.
    members : list of Member
    naive : ndarray of shape (2 or 3, n_judged, n_outputs)
        Weights of the last value, of the mean, and of the last season where there is one.
    last, mean : ndarray of shape (n_outputs,)
        Of the series.
    season : ndarray of shape (n, n_outputs)
        The last season; empty where there is none.
    low, high : ndarray of shape (n_outputs,)
        The ends of the range of the data.
    rate : ndarray of shape (n_outputs,)
        That by which the range may grow with each step, of the first `n_known` steps.
    n_known : int
    exponent : ndarray of shape (n_outputs,)
        Values are times 2 to the power of it.
    """

    estimator: str
    genomes: FloatArray
    cell: str
    n_joined: int
    lags: tuple[int, ...]
    readout_lags: tuple[int, ...]
    n_features: int
    names: list[str]
    inputs: Scale
    members: list[Member]
    naive: FloatArray
    last: FloatArray
    mean: FloatArray
    season: FloatArray
    low: FloatArray
    high: FloatArray
    rate: FloatArray
    n_known: int
    exponent: NDArray[np.int64]

    @property
    def n_outputs(self) -> int:
        return len(self.last)

    @property
    def n_cells(self) -> int:
        return self.genomes.shape[1]

    @property
    def n_inputs(self) -> int:
        """Inputs of the networks."""
        return self.genomes.shape[2] // 4 - self.n_cells

    @property
    def n_before(self) -> int:
        """Values of a transformed series that are kept."""
        return max(*self.lags, *self.readout_lags)

    @property
    def n_read(self) -> int:
        """Numbers that a readout reads: activations, own values, external inputs."""
        return self.n_joined * self.n_cells + len(self.readout_lags) * self.n_outputs + self.n_features

    @property
    def n_judged(self) -> int:
        return self.naive.shape[1]

    @property
    def factors(self) -> FloatArray:
        """Two powers of two (2, n_outputs), by which values are multiplied; one alone may be out of range."""
        half = self.exponent // 2
        return np.ldexp(1.0, np.stack([half, self.exponent - half]))

    def in_words(self) -> str:
        """What it is, in half a line."""
        n_runs, n_series = sum(member.n_runs for member in self.members), len(self.members)
        runs = "1 free run" if n_runs == 1 else f"{n_runs} free runs"
        series = "1 transformed series" if n_series == 1 else f"{n_series} transformed series"
        return f"{self.estimator}: {len(self.genomes)} networks of {self.n_cells} cells each, {runs} on {series}"


def rolling_plan_of(model: RollingModel, name: str) -> RollingPlan:
    """What is to be written of a fitted forecaster of this name: it goes on after the series of `fit`."""
    y, season = model.end[0], model.season
    here = list(model.candidates_for(y))
    n_naive = 3 if season > 1 else 2
    usable = [np.full((len(errors), model.n_outputs), k >= len(here) or here[k] is not None)
              for k, errors in enumerate(model.combination.errors)]  # fmt: skip
    weights, best = model.combination.weights(model.combination.n_judged, usable)
    weights = np.where(weights > _LEAST_WEIGHT, weights, 0.0)
    members = []
    for k, candidate in enumerate(here):
        own = [np.where(best[k] == c, weights[k], 0.0) for c in range(len(model.combination.errors[k]))]
        kept = [c for c, share in enumerate(own) if share.any()]
        if candidate is not None and kept:
            members.append(_member(model, candidate.only(np.array(kept)), np.stack([own[c] for c in kept])))
    n_networks = max((member.n_readouts for member in members), default=0) * model.reader.n_joined
    return RollingPlan(
        estimator=name, genomes=model.network.genome[:n_networks], cell=model.network.cell,
        n_joined=model.reader.n_joined, lags=model.reader.lags, readout_lags=model.reader.readout_lags,
        n_features=model.features.n,
        names=[] if model.features.names is None else [str(column) for column in model.features.names],
        inputs=Scale(model.preparation.mean, model.preparation.inverse), members=members, naive=weights[-n_naive:],
        last=y[-1], mean=y.mean(axis=0), season=_season(y, season),
        low=y.min(axis=0), high=y.max(axis=0), rate=growth_rate(y, season), n_known=len(y),
        exponent=model.exponent,
    )  # fmt: skip


def check_rolling_range(plan: RollingPlan, dtype: str) -> None:
    """That the numbers of a forecaster are finite in the precision that a form has them in.

    Raises
    ------
    ValueError
        One is not.
    """
    cells = [plan.genomes, plan.inputs.mean, plan.inputs.inverse, *(member.states for member in plan.members)]
    values = [plan.factors, 1.0 / plan.factors, plan.last, plan.mean, plan.season, plan.naive, plan.rate,
              np.ldexp([plan.low, plan.high], plan.exponent)]  # fmt: skip
    for member in plan.members:
        values += [member.before, *member.stages, member.mean, member.deviation, member.low, member.high]
        values += [part for scale in member.features for part in (scale.mean, scale.inverse)]
        for group in member.machines:
            values += [part for each in group for part in (each.vectors, each.coef, each.intercept, each.gamma)]
    check_numbers(cells, values, dtype)


def _season(y: FloatArray, season: int) -> FloatArray:
    """The values that the last season has at each of its steps; what is known of it, again and again."""
    known = y[len(y) - min(season, len(y)) :]
    return known[np.arange(season) % len(known)] if season > 1 else y[:0]


def _member(model: RollingModel, candidate: NetworkCandidate, weights: FloatArray) -> Member:
    """A candidate with the capacities that have a part, at the end of the series of `fit`."""
    y, inputs = model.end
    n, readouts, transformation = len(y), candidate.readouts, candidate.transformation
    read = candidate.follow(model.reader_of(candidate), y, inputs, [n]).read()
    stages = transformation.stages(y)
    features: list[Scale] = []
    if isinstance(readouts, LandmarkReadouts):
        deviation, mean = readouts.units.deviation, readouts.units.mean
        machines = [
            [Machine("rbf", one.gamma, 0.0, 1, one.places, one.coef * deviation, one.intercept * deviation + mean)
             for one in group]
            for group in readouts.machines
        ]  # fmt: skip
        features = [Scale(*each) for each in zip(readouts.centre, readouts.inverse, strict=True)]
    elif isinstance(readouts, RidgeReadouts):
        coef, intercept = readouts.weights()
        machines = [
            [Machine("linear", 1.0, 0.0, 1, np.empty((0, coef.shape[3])), coef[m, 0, c], intercept[m, 0, c])
             for c in range(readouts.n_capacities)]
            for m in range(readouts.n_readouts)
        ]  # fmt: skip
    else:  # pragma: no cover
        raise TypeError(f"readouts of type {type(readouts).__name__}")
    return Member(
        log=transformation.log, lags=transformation.lags, mean=candidate.units.mean,
        deviation=candidate.units.deviation, low=candidate.low, high=candidate.high, machines=machines,
        features=features, adds_last=bool(features), states=read.states[0],
        before=read.values[n : n + model.reader.n_before],
        stages=[stage[n - lag :] for lag, stage in zip(transformation.lags, stages, strict=False)], weights=weights,
    )  # fmt: skip
