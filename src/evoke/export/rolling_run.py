"""Forecasts of a plan, by NumPy in any precision; what the self-tests of exported forecasters compare with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evoke._validation.arrays import FloatArray, to_array, to_float
from evoke._validation.errors import refusal
from evoke.export.plan import Machine, Scale
from evoke.export.rolling_plan import Member, RollingPlan
from evoke.forecasting.reach import LEAVES, MOST_GROWTH

__all__ = ["forecast", "rolling_examples"]

_N_STEPS, _SEED = 16, 20050730

# Differences that are allowed, in units of the largest value, and how much farther off than NumPy in single precision a
# form may be: runs read their own errors.
_ROUNDING = {"float64": 1e-11, "float32": 1e-6, "mixed": 1e-6}
_FARTHER = 10.0


def rolling_examples(model: Any, plan: RollingPlan, X: Any, dtype: str) -> tuple[FloatArray, FloatArray, float]:
    """External inputs (n, n_features) of the steps to come, the forecasts (n, n_outputs) of the model, and how far from
    them another may be.
    """
    if X is None:
        given = np.random.default_rng(_SEED).normal(size=(_N_STEPS, plan.n_features))
        inverse = plan.inputs.inverse
        deviation = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0.0)
        given = given * deviation + plan.inputs.mean
    else:
        given = np.ascontiguousarray(to_float(to_array(X, "X"), "X"))
        if given.ndim != 2 or given.shape[1] != plan.n_features or len(given) == 0 or not np.isfinite(given).all():
            raise refusal("X", f"be finite numbers of shape (n_steps, {plan.n_features})", X)
    if dtype != "float64":
        if np.abs(given).max(initial=0.0) > np.finfo(np.float32).max:
            raise refusal("X", f"be within the range of dtype={dtype!r}", X)
        given = given.astype(np.float32).astype(np.float64)
    expected = model.fitted_.continued(None, given, len(given), None, warns=False)[0]
    if not np.isfinite(expected).all():
        raise ValueError("the model has no finite values on the steps of its self-test; give others as X")
    sizes = [np.abs(expected), np.abs(np.ldexp([plan.low, plan.high], plan.exponent))]
    allowed = _ROUNDING[dtype] * float(np.max([size.max() for size in sizes]))
    if dtype != "float64":
        readout = np.float32 if dtype == "float32" else np.float64
        off = np.abs(forecast(plan, given, np.float32, readout) - expected).max()
        allowed += _FARTHER * float(off)
    return given, expected, allowed


def forecast(plan: RollingPlan, X: FloatArray, real: DTypeLike, value: DTypeLike) -> FloatArray:
    """What follows the series of `fit` (n, n_outputs), beside external inputs (n, n_features); cells and all else have
    a precision of their own.
    """
    prepared = (X.astype(real) - plan.inputs.mean.astype(real)) * plan.inputs.inverse.astype(real)
    runs = [_runs(plan, member, prepared, real, value) for member in plan.members]
    step = np.arange(1, len(X) + 1)
    rise = np.minimum(np.minimum(step, plan.n_known)[:, None] * plan.rate, MOST_GROWTH)
    reach = LEAVES * (plan.high - plan.low) * np.exp(rise)
    low, high = (plan.low - reach).astype(value), (plan.high + reach).astype(value)
    at = np.minimum(step, plan.n_judged) - 1
    paths = [path for member in runs for path in member]
    paths += [np.broadcast_to(each.astype(value), reach.shape) for each in (plan.last, plan.mean)]
    if len(plan.season):
        paths.append(plan.season.astype(value)[(step - 1) % len(plan.season)])
    weights = [each for member in plan.members for each in member.weights] + list(plan.naive)
    total, least, largest = (np.full(reach.shape, start, value) for start in (0.0, np.inf, -np.inf))
    for path, weight in zip(paths, weights, strict=True):
        share, held = weight[at].astype(value), np.clip(path, low, high)
        total = total + np.where(share > 0, share * held, 0)
        least = np.where(share > 0, np.minimum(least, held), least)
        largest = np.where(share > 0, np.maximum(largest, held), largest)
    first, second = plan.factors
    return np.asarray(np.clip(total, least, largest).astype(np.float64) * first * second)


def _runs(
    plan: RollingPlan, member: Member, external: NDArray[Any], real: DTypeLike, value: DTypeLike
) -> list[NDArray[Any]]:
    """The free runs (n, n_outputs) of a member."""
    n, H = member.n_readouts * plan.n_joined, plan.n_cells
    genomes = plan.genomes[:n].reshape(n, H, 4, -1).astype(real)
    found = []
    for run in range(member.n_runs):
        s, phi = np.moveaxis(member.states[:n].astype(real), 1, 0)
        w = np.repeat(member.before[None].astype(value), member.n_readouts, axis=0)  # (n_readouts, n_before, q)
        stages = [np.repeat(stage[None].astype(value), member.n_readouts, axis=0) for stage in member.stages]
        path = []
        for x in external:
            own = [np.repeat(w[:, -lag].astype(real), plan.n_joined, axis=0) for lag in plan.lags]
            beside = np.broadcast_to(np.append(x, 1).astype(real), (n, len(x) + 1))
            source = np.concatenate([*own, beside, phi], axis=1)
            net = np.einsum("nhgk,nk->gnh", genomes, source)
            with np.errstate(over="ignore"):
                i, f, o = 1 / (1 + np.exp(-net[1:]))
            s = i * (np.tanh(net[0]) if plan.cell == "lstm" else net[0]) + f * s
            phi = o * np.tanh(s) if plan.cell == "lstm" else np.tanh(o * s)
            features = np.concatenate(
                [phi.reshape(member.n_readouts, -1).astype(value), *(w[:, -lag] for lag in plan.readout_lags),
                 np.broadcast_to(x.astype(value), (member.n_readouts, len(x)))], axis=1,
            )  # fmt: skip
            said = np.stack([
                _said(group[run], row, member.features[m] if member.features else None)
                for m, (group, row) in enumerate(zip(member.machines, features, strict=True))
            ])  # fmt: skip
            if member.adds_last:
                said = said + w[:, -1]
            now = np.clip(said, member.low, member.high).astype(value)
            w = np.concatenate([w[:, 1:], now[:, None]], axis=1)
            level = now * member.deviation.astype(value) + member.mean.astype(value)
            for k in reversed(range(len(stages))):
                level = level + stages[k][:, 0]
                stages[k] = np.concatenate([stages[k][:, 1:], level[:, None]], axis=1)
            with np.errstate(over="ignore"):
                path.append(np.median(np.exp(level) if member.log else level, axis=0))
        found.append(np.stack(path))
    return found


def _said(machine: Machine, features: NDArray[Any], scale: Scale | None) -> NDArray[Any]:
    """What one machine says of the features of a step."""
    value = features.dtype
    if scale is not None:
        features = (features - scale.mean.astype(value)) * scale.inverse.astype(value)
    if machine.kernel == "rbf":
        distances = ((features - machine.vectors.astype(value)) ** 2).sum(axis=1)
        features = np.exp(-distances * value.type(machine.gamma))
    return np.asarray(features @ machine.coef.astype(value) + machine.intercept.astype(value))
