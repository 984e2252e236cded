"""What ``evoke info`` does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evoke.cli.errors import print_text
from evoke.cli.model import columns_of
from evoke.cli.tables import counted, some

__all__ = ["describe_model"]


def describe_model(model: Path, as_json: bool) -> None:
    """Print what a model file holds."""
    from evoke.estimators import load
    from evoke.persistence.archive import read_archive

    facts = _facts(load(model), read_archive(model)[0]["evoke"])
    text = json.dumps(facts, indent=2, default=_plain) if as_json else "\n".join(_lines(facts))
    print_text(text + "\n")


def _facts(model: Any, version: str) -> dict[str, Any]:
    """What was learned, without the arrays."""
    parameters = model.get_params(deep=False)
    columns = columns_of(model)[0] if hasattr(model, "fitted_") else None
    defaults = type(model)().get_params(deep=False)
    facts = {
        "class": type(model).__name__,
        "evoke": version,
        "parameters": parameters,
        "not_default": [name for name in parameters if repr(parameters[name]) != repr(defaults[name])],
        "n_features": model.n_features_in_,
        "columns": None if columns is None else columns.as_dict(),
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
    }
    if hasattr(model, "history_"):
        facts |= {
            "fitness": model.best_fitness_,
            "generations": len(model.history_),
            "evaluations": model.n_evaluations_,
            "n_cells": model.fitted_.network.n_cells,
            "n_networks": len(model.fitted_.networks),
            "n_support": len(model.readout_.support_vectors),
            "dual_gap": model.readout_.dual_gap.tolist(),
            "converged": model.readout_.converged.tolist(),
        }
    return facts


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [f"{facts['class']}, written by evoke {facts['evoke']}"]
    columns = facts["columns"]
    if columns is not None:
        lines.append(f"target: {some(columns['targets'])}" + (", one per sequence" if columns["per_sequence"] else ""))
        lines.append(f"features: {some(columns['features']) or 'none'}")
        if columns["sequence"] is not None:
            lines.append(f"sequence: {columns['sequence']}")
        if columns["time"] is not None:
            lines.append(f"time: {columns['time']}")
    else:
        lines.append(f"features: {facts['n_features']}, without names")
    if facts["classes"] is not None:
        lines.append(f"classes: {some(facts['classes'])}")
    if "fitness" in facts:
        readout = f"{facts['parameters']['readout']} with {facts['n_support']} support vectors"
        lines.append(f"network: {facts['n_cells']} cells; readout: {readout}")
        if not all(facts["converged"]):
            lines.append("the readout has not converged")
        effort = f"{counted(facts['generations'], 'generation')}, {counted(facts['evaluations'], 'network')}"
        lines.append(f"fitness: {facts['fitness']:.6g} in {effort}")
    changed = [f"{name}={facts['parameters'][name]!r}" for name in facts["not_default"]]
    lines.append(f"parameters: {', '.join([*changed, 'all others at their defaults'])}")
    return lines


def _plain(value: Any) -> Any:
    """Scalars and arrays of NumPy as JSON holds them; anything else as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
