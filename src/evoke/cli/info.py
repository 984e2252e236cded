"""What ``evoke info`` does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evoke.cli.errors import print_text
from evoke.cli.model import columns_of
from evoke.cli.paths import check_targets
from evoke.cli.roles import find, times_of
from evoke.cli.table_files import Format, read_table
from evoke.cli.tables import counted, some
from evoke.sequences.converters import rows_by_sequence

__all__ = ["describe_model"]


# Steps of a sequence that a page begins with.
_MOST_STEPS = 5000


def describe_model(
    model: Path, as_json: bool, page: Path | None = None, example: Path | None = None, symbols: str | None = None
) -> None:
    """Print what a model file holds, or write a page of it."""
    if page is None and (example is not None or symbols is not None):
        raise click.UsageError(f"{'--symbols' if example is None else '--example'} is for the page of --html")
    if page is not None and as_json:
        raise click.UsageError("--json and --html are two forms: choose one")
    check_targets({"--html": page}, [model] if example is None else [model, example])
    from evoke.estimators import load
    from evoke.persistence.archive import read_archive

    estimator = load(model)
    if page is not None:
        from evoke.export import to_html

        X = None if example is None else _first_sequence(estimator, model, example)
        to_html(estimator, page, X=X, symbols=symbols, title=model.stem)
        print_text(f"{page}: {page.stat().st_size:,} bytes\n")
        return
    facts = _facts(estimator, read_archive(model)[0]["evoke"])
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


def _first_sequence(model: Any, path: Path, data: Path) -> Any:
    """The features (n_steps, n_features) of the first sequence of a table, cut where a page ends."""
    columns, reason = columns_of(model)
    if columns is None:
        raise click.UsageError(f"--example needs a model of 'evoke fit', and {path} is none: {reason}")
    if not columns.features:
        raise click.UsageError(f"--example: {path} reads no features")
    table = read_table(data, Format())
    table.check_complete(find(table, replace(columns, targets=[]).names))
    groups = rows_by_sequence(table.frame, columns.sequence, table.name)
    return groups.split(table.features(columns.features, times_of(table, columns, groups)))[0][:_MOST_STEPS]


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
