"""What ``evoke score`` and ``evoke compare`` do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from evoke.cli.answers import Answers, Scored, first_scored, known_targets, score_answers
from evoke.cli.errors import print_text
from evoke.cli.model import load_model
from evoke.cli.roles import Columns
from evoke.cli.scores import Score
from evoke.cli.table_files import Format, read_table
from evoke.cli.tables import Table, quoted

__all__ = ["compare_models", "score_model"]


def score_model(model: Path, data: Path, *, time: str | None, as_json: bool, **form: Any) -> None:
    """Print the score of a model by a table."""
    estimator, columns = load_model(model, time)
    score = _scored(estimator, columns, read_table(data, Format(**form)), season=_season(estimator)).score
    if as_json:
        _print_json(score.as_dict() | {"better_than_naive": score.is_better})
        return
    hint = "" if score.is_better else f"hint: here the model is no better than {score.rival}\n"
    print_text(f"{score}\n{hint}")


def compare_models(a: Path, b: Path, data: Path, *, time: str | None, as_json: bool, **form: Any) -> None:
    """Print the scores of two models by the same table, and where only one of them is right."""
    (one, its_columns), (other, other_columns) = (load_model(path, time) for path in (a, b))
    _check_alike(one, other, its_columns, other_columns)
    season, start = _season(one), None
    if hasattr(one, "generate"):
        season = season if season == _season(other) else None
        start = max(first_scored(one), first_scored(other))
    table = read_table(data, Format(**form))
    scored = [
        _scored(estimator, columns, table, start, season)
        for estimator, columns in ((one, its_columns), (other, other_columns))
    ]
    scores = [each.score for each in scored]
    only = _shares(*scored)
    if as_json:
        _print_json({
            "a": {"model": str(a)} | scores[0].as_dict(), "b": {"model": str(b)} | scores[1].as_dict(),
            "difference": _difference(scores), "only_a": only[0], "only_b": only[1],
        })  # fmt: skip
        return
    measure, unit = scores[0].measure, scores[0].unit
    what = "is nearer" if scored[0].right is None else "alone is right"
    lines = [
        *(f"{name}: {measure} {score.value:.4g}" for name, score in zip(("A", "B"), scores, strict=True)),
        f"B - A: {scores[1].value - scores[0].value:+.4g}{' (of a MASE less is better)' * (measure == 'MASE')}",
        *(
            f"{name} {what}: {share * scores[0].n:.0f} of {scores[0].n} {unit}s ({share:.4g})"
            for name, share in zip(("A", "B"), only, strict=True)
        ),
        *(f"{name}: {measure} {value:.4g}" for name, value in scores[0].naive.items()),
    ]
    lines += [
        f"hint: here {name} is no better than {score.rival}"
        for name, score in zip(("A", "B"), scores, strict=True)
        if not score.is_better
    ]
    print_text("\n".join(lines) + "\n")


def _scored(
    estimator: Any, columns: Columns, table: Table, start: int | None = None, season: int | None = None
) -> Scored:
    answers = Answers.of(estimator, columns, table)
    known = known_targets(estimator, columns, table, answers.groups)
    return score_answers(estimator, columns, answers, known, start, season)


def _season(estimator: Any) -> int | None:
    return getattr(estimator, "season", None)


def _check_alike(one: Any, other: Any, columns: Columns, other_columns: Columns) -> None:
    """Refuse models whose answers cannot be compared row by row, or sequence by sequence."""
    facts = {
        "models": (type(one).__name__, type(other).__name__),
        "targets": (quoted(columns.targets), quoted(other_columns.targets)),
        "--per-sequence": (columns.per_sequence, other_columns.per_sequence),
    }
    if columns.per_sequence or hasattr(one, "generate"):
        facts["sequences told apart by"] = (columns.sequence, other_columns.sequence)
    for name, (of_one, of_other) in facts.items():
        if of_one != of_other:
            raise click.UsageError(f"A and B cannot be compared: they have different {name}: {of_one} and {of_other}")


def _shares(one: Scored, other: Scored) -> tuple[float, float]:
    """Where only the one is right, or nearer, and where only the other."""
    if one.right is not None and other.right is not None:
        return float((one.right & ~other.right).mean()), float((other.right & ~one.right).mean())
    assert one.off is not None and other.off is not None
    return float(np.mean(one.off < other.off)), float(np.mean(other.off < one.off))


def _difference(scores: list[Score]) -> float | None:
    difference = scores[1].value - scores[0].value
    return difference if np.isfinite(difference) else None


def _print_json(facts: dict[str, Any]) -> None:
    print_text(json.dumps(facts, indent=2) + "\n")
