"""Steps on which an exported model can be tested, and what the model itself says there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evoke._validation.arrays import FloatArray, to_array, to_float
from evoke._validation.errors import refusal
from evoke.export.plan import Plan, Scale

__all__ = ["examples_of"]

_N_STEPS, _SEED = 16, 20050730

# Differences that are allowed, in units of the largest value that is added up.
_ROUNDING = {"float64": 1e-12, "float32": 1e-6, "mixed": 1e-12}

# How much farther off than NumPy in single precision a model may be: errors grow in networks that amplify them.
_FARTHER = 10.0


def examples_of(model: Any, plan: Plan, X: Any, dtype: str) -> tuple[FloatArray, FloatArray, float]:
    """Steps (n, n_given), the values (n, n_outputs) of the model there, and how far from them another may be."""
    given = _random(plan) if X is None else _checked(X, plan)
    if dtype != "float64":
        if np.abs(given).max() > np.finfo(np.float32).max:
            raise refusal("X", f"be within the range of dtype={dtype!r}", X)
        given = given.astype(np.float32).astype(np.float64)
    expected = _said(model, plan, given)
    if not np.isfinite(expected).all():
        raise ValueError("the model has no finite values on the steps of its self-test; give others as X")
    machine = plan.machine
    summed = np.abs(machine.coef).sum() if machine.kernel == "rbf" else 0.0
    allowed = _ROUNDING[dtype] * (1.0 + max(float(summed), float(np.abs(expected).max())))
    if dtype != "float64":
        readout = np.float32 if dtype == "float32" else np.float64
        allowed += _FARTHER * float(np.abs(_evaluated(plan, given, readout) - expected).max())
    return given, expected, allowed


def _checked(X: Any, plan: Plan) -> FloatArray:
    rows = to_float(to_array(X, "X"), "X")
    if rows.ndim != 2 or rows.shape[1] != plan.n_given or len(rows) == 0 or not np.isfinite(rows).all():
        raise refusal("X", f"be finite numbers of shape (n_steps, {plan.n_given})", X)
    return np.ascontiguousarray(rows)


def _random(plan: Plan) -> FloatArray:
    """Steps like those that the model was trained on, as far as it knows them."""
    steps = np.random.default_rng(_SEED).normal(size=(_N_STEPS, plan.n_given))
    if plan.inputs is not None:
        F = plan.n_features
        inverse = plan.inputs.inverse[:F]
        deviation = np.divide(1.0, inverse, out=np.zeros(F), where=inverse > 0.0)
        return steps * deviation + plan.inputs.mean[:F]
    if plan.last is not None:
        return steps * np.maximum(1.0, np.abs(plan.last).max())
    return steps


def _said(model: Any, plan: Plan, given: FloatArray) -> FloatArray:
    """What the model says after each of these steps."""
    reader, n = model.stream(), plan.n_features
    if plan.feedback_scale is not None:
        return np.stack([reader.step(row[n:], row[:n] if n else None) for row in given])
    say = reader.predict if plan.labels is None else reader.decision_function
    return np.asarray(say(given)).reshape(len(given), plan.n_outputs)


def _evaluated(plan: Plan, given: FloatArray, dtype: DTypeLike) -> FloatArray:
    """What a plan says, by NumPy with cells in single precision and a readout in another."""
    x: NDArray[Any] = given.astype(np.float32)
    phi = _activations(plan, _inputs(plan, x))
    read = phi.reshape(len(x), -1) if not plan.pool else np.stack([
        _pooled(plan, phi[plan.washout if t >= plan.washout else 0 : t + 1]) for t in range(len(x))
    ])  # fmt: skip
    read = read.astype(dtype)
    if plan.read is not None:
        read = np.clip(_scaled(read, plan.read), -plan.read.limit, plan.read.limit)
    machine = plan.machine
    coef, vectors = machine.coef.astype(dtype), machine.vectors.astype(dtype)
    if machine.kernel == "linear":
        values = read
    elif machine.kernel == "rbf":
        values = np.exp(-machine.gamma * ((read[:, np.newaxis] - vectors) ** 2).sum(axis=2)).astype(dtype)
    else:
        values = (machine.gamma * (read @ vectors.T) + machine.coef0) ** machine.degree
    return values @ coef + machine.intercept


def _scaled(values: NDArray[Any], scale: Scale) -> NDArray[Any]:
    return ((values - scale.mean.astype(values.dtype)) * scale.inverse.astype(values.dtype)).astype(values.dtype)


def _inputs(plan: Plan, x: NDArray[Any]) -> NDArray[Any]:
    if plan.feedback_scale is not None:
        x = x.copy()
        x[:, plan.n_features :] *= plan.feedback_scale
        return x
    if plan.inputs is None:
        return x
    changes = [np.concatenate([np.zeros_like(x[:lag]), x[lag:] - x[: max(0, len(x) - lag)]]) for lag in plan.lags]
    columns = _scaled(np.concatenate([x, *changes], axis=1), plan.inputs)
    return np.concatenate([columns, np.ones_like(x[:, :1])], axis=1)


def _activations(plan: Plan, inputs: NDArray[Any]) -> NDArray[Any]:
    """(n_steps, n_networks, n_cells)"""
    dtype, n, H = inputs.dtype, plan.n_networks, plan.n_cells
    weights = plan.genomes.astype(dtype).reshape(n, H, 4, -1)
    bias = np.array([0.0, *plan.gate_bias], dtype)
    s, phi, found = np.zeros((n, H), dtype), np.zeros((n, H), dtype), []
    for row in inputs:
        source = np.concatenate([np.broadcast_to(row, (n, len(row))), phi], axis=1)
        net = np.einsum("nhgk,nk->gnh", weights, source) + bias[:, None, None]
        with np.errstate(over="ignore"):
            i, f, o = 1 / (1 + np.exp(-net[1:]))
        s = i * (np.tanh(net[0]) if plan.cell == "lstm" else net[0]) + f * s
        phi = o * np.tanh(s) if plan.cell == "lstm" else np.tanh(o * s)
        found.append(phi)
    return np.stack(found)


def _pooled(plan: Plan, phi: NDArray[Any]) -> NDArray[Any]:
    """The statistics of activations (n_steps, n_networks, n_cells)."""
    found = {
        "last": phi[-1], "mean": phi.mean(axis=0), "std": phi.std(axis=0), "max": phi.max(axis=0),
        "min": phi.min(axis=0), "positive": (phi > 0).mean(axis=0, dtype=phi.dtype),
        "change": np.abs(np.diff(phi, axis=0)).sum(axis=0) / np.maximum(1, len(phi) - 1),
    }  # fmt: skip
    return np.stack([found[name] for name in plan.pool], axis=1).ravel()
