"""The numbers of a forecaster with rolling origins, for its web page."""

from __future__ import annotations

from typing import Any

from evoke.export.rolling_plan import Member, RollingPlan
from evoke.forecasting.reach import LEAVES, MOST_GROWTH

__all__ = ["rolling_numbers"]


def rolling_numbers(plan: RollingPlan) -> dict[str, Any]:
    """A plan as page_rolling.js reads it."""
    vectors: dict[bytes, int] = {}  # landmarks that several machines have
    tables: list[Any] = []
    return {
        "genomes": plan.genomes.tolist(), "cell": plan.cell, "n_cells": plan.n_cells, "n_inputs": plan.n_inputs,
        "n_joined": plan.n_joined, "lags": list(plan.lags), "readout_lags": list(plan.readout_lags),
        "n_features": plan.n_features, "per_sequence": False,
        "inputs": {"mean": plan.inputs.mean.tolist(), "inverse": plan.inputs.inverse.tolist()},
        "members": [_member(member, vectors, tables) for member in plan.members], "vectors": tables,
        "naive": plan.naive.tolist(), "last": plan.last.tolist(), "mean": plan.mean.tolist(),
        "season": plan.season.tolist(), "low": plan.low.tolist(), "high": plan.high.tolist(),
        "rate": plan.rate.tolist(), "n_known": plan.n_known, "factors": plan.factors.tolist(),
        "leaves": LEAVES, "most_growth": MOST_GROWTH,
    }  # fmt: skip


def _member(member: Member, vectors: dict[bytes, int], tables: list[Any]) -> dict[str, Any]:
    def number_of(machine: Any) -> int:
        key = machine.vectors.tobytes()
        if key not in vectors:
            vectors[key] = len(tables)
            tables.append(machine.vectors.tolist())
        return vectors[key]

    machines = [
        [{"kernel": one.kernel, "gamma": float(one.gamma), "vectors": number_of(one), "coef": one.coef.tolist(),
          "intercept": one.intercept.tolist()} for one in group]
        for group in member.machines
    ]  # fmt: skip
    return {
        "log": member.log, "mean": member.mean.tolist(), "deviation": member.deviation.tolist(),
        "low": member.low.tolist(), "high": member.high.tolist(), "machines": machines,
        "features": [{"mean": each.mean.tolist(), "inverse": each.inverse.tolist()} for each in member.features],
        "states": member.states.tolist(), "before": member.before.tolist(),
        "stages": [stage.tolist() for stage in member.stages], "weights": member.weights.tolist(),
    }  # fmt: skip
