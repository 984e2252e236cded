"""What notebooks show of a fitted estimator, below scikit-learn's diagram of its parameters."""

from __future__ import annotations

import html
import math
from typing import Any

from evoke.estimators.fitted import FittedModel

__all__ = ["fitted_html"]

_WIDTH, _HEIGHT = 160, 24

_LEAST = 1e-300  # of errors whose logarithm is drawn


def fitted_html(model: Any) -> str:
    """What an estimator has learned, as a table of one row and a line; nothing where it is not fitted."""
    if "fitted_" not in vars(model):
        return ""
    facts, fitness = {"networks": str(len(model.fitted_.networks))}, []
    if isinstance(model.fitted_, FittedModel):  # those of rolling origins are drawn, and not evolved
        fitness = [float(record["best_fitness"]) for record in model.history_]
        facts |= {
            "cells": str(model.fitted_.network.n_cells), "support vectors": str(len(model.readout_.support_vectors)),
            "generations": str(len(fitness)), "evaluations": str(model.n_evaluations_),
            "fitness": f"{model.best_fitness_:.4g}",
        }  # fmt: skip
    names = "".join(f"<th>{html.escape(name)}</th>" for name in facts)
    values = "".join(f"<td>{html.escape(value)}</td>" for value in facts.values())
    line = _line(fitness)
    return (
        '<table style="margin-top: 0.5em"><thead><tr>' + names + ("<th>over the generations</th>" if line else "")
        + "</tr></thead><tbody><tr>" + values + (f"<td>{line}</td>" if line else "") + "</tr></tbody></table>"
    )  # fmt: skip


def _line(fitness: list[float]) -> str:
    """The errors as a small picture, on a scale of logarithms where none is negative."""
    finite = [(t, value) for t, value in enumerate(fitness) if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    if min(value for _, value in finite) >= 0.0:
        finite = [(t, math.log10(max(value, _LEAST))) for t, value in finite]
    low, high = min(value for _, value in finite), max(value for _, value in finite)
    span = high - low or 1.0
    points = " ".join(
        f"{1 + (_WIDTH - 2) * t / (len(fitness) - 1):.1f},{2 + (_HEIGHT - 4) * (high - value) / span:.1f}"
        for t, value in finite
    )
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="fitness over the generations">'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )
