"""What ``evoke predict`` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.base import is_classifier

from evoke.cli.answers import Answers, has_targets, known_targets, score_answers, tally_of, tell
from evoke.cli.errors import print_note
from evoke.cli.figures import check_drawable, draw, draw_sequences
from evoke.cli.meanwhile import behind
from evoke.cli.model import load_model
from evoke.cli.paths import check_targets
from evoke.cli.pieces import NeedsAllRows, can_be_read_in_pieces, predicted_pieces
from evoke.cli.roles import Columns
from evoke.cli.table_files import Format, check_writable, read_table, table_writer, write_table
from evoke.cli.tables import Table
from evoke.sequences.converters import RowGroups

__all__ = ["predict_table"]

_NOT_USED = "the targets of the table are not used"


def predict_table(
    model: Path, data: Path, *, time: str | None, out: Path | None, decisions: bool, probabilities: bool,
    plot: Path | None, **form: Any,
) -> None:  # fmt: skip
    """Read a model and a table, write the predictions of the one for the other."""
    real_out, real_plot = check_targets({"--out": out, "--plot": plot}, inputs=[model, data])
    check_writable(real_out)
    check_drawable(real_plot)
    estimator, columns = load_model(model, time)
    if decisions and not hasattr(estimator, "decision_function"):
        raise click.UsageError(f"--decisions needs a classifier, but {model} is an {type(estimator).__name__}")
    if probabilities:
        _check_probabilities(estimator, model)

    if plot is None and not probabilities and can_be_read_in_pieces(estimator, columns, data):
        try:
            _predict_in_pieces(estimator, columns, data, Format(**form), real_out, decisions)
            return
        except NeedsAllRows:
            pass
    table = read_table(data, Format(**form))
    answers = Answers.of(estimator, columns, table)
    groups, X, predicted = answers.groups, answers.X, answers.predicted

    found = {}
    if columns.sequence is not None:
        found[columns.sequence] = groups.names if columns.per_sequence else table.frame[columns.sequence].to_numpy()
    if columns.time is not None and not columns.per_sequence:
        found[columns.time] = table.frame[columns.time].to_numpy()
    joined = np.asarray if columns.per_sequence else groups.join
    found |= _targets(joined(predicted), columns)
    if decisions:
        found |= _decisions(joined(estimator.decision_function(X)), estimator, columns)
    if probabilities:
        values = _by_column(joined(estimator.predict_proba(X)))
        of = columns.targets if len(columns.targets) > 1 else estimator.classes_
        found |= zip([f"probability {name}" for name in of], values, strict=True)
    known = _known_targets(estimator, columns, table, groups)
    if real_plot is not None and columns.per_sequence and known is None:
        raise click.ClickException(f"--plot draws predictions against the targets, which {data} does not tell")
    if real_plot is not None:
        _draw(predicted, known, groups, columns, estimator, real_plot)
    write_table(found, real_out)
    if known is not None:
        _say_score(estimator, columns, answers, known)


def _check_probabilities(estimator: Any, path: Path) -> None:
    """Refuse a model without probabilities, with the reason."""
    if not is_classifier(estimator):
        raise click.UsageError(f"--probabilities needs a classifier, but {path} is an {type(estimator).__name__}")
    try:
        estimator.predict_proba  # noqa: B018 - it is there, or says why not
    except AttributeError as error:
        reason = str(error.__cause__ or error).removeprefix("predict_proba needs ")
        raise click.UsageError(f"--probabilities needs {reason}, as with --per-sequence") from None


def _predict_in_pieces(
    estimator: Any, columns: Columns, data: Path, form: Format, out: Path | None, decisions: bool
) -> None:
    methods = ["predict", *(["decision_function"] if decisions else [])]
    tally, why_not = tally_of(estimator), ""
    with table_writer(out) as write_now, behind(write_now) as write:
        for table, names, (predicted, *values) in predicted_pieces(estimator, columns, data, form, methods):
            found = {} if columns.sequence is None else {columns.sequence: names}
            found |= _targets(predicted, columns)
            if decisions:
                found |= _decisions(values[0], estimator, columns)
            write(found)
            if not has_targets(table, columns):
                tally = None
            elif tally is not None:
                try:
                    known = known_targets(estimator, columns, table)
                    tally.add(known, tell(estimator, known, predicted))
                except ValueError as error:  # they are not needed
                    tally, why_not = None, str(error)
    if tally is not None:
        print_note(str(tally.score()))
    elif why_not:
        print_note(f"{_NOT_USED}: {why_not}")


def _say_score(estimator: Any, columns: Columns, answers: Answers, known: Any) -> None:
    season = getattr(estimator, "season", None)
    try:
        print_note(str(score_answers(estimator, columns, answers, known, season=season).score))
    except ValueError as error:  # a series that is too short
        print_note(f"{_NOT_USED}: {error}")


def _targets(predicted: Any, columns: Columns) -> dict[str, Any]:
    """What is predicted for each target: one value per row of the table, or one per sequence."""
    found = dict(zip(columns.targets, _by_column(predicted), strict=True))
    return found | {name: found[name] == 1 for name in columns.booleans}


def _decisions(values: Any, classifier: Any, columns: Columns) -> dict[str, Any]:
    """The decision values under their names."""
    return dict(zip(_names_of_decisions(classifier, columns), _by_column(values), strict=True))


def _by_column(values: Any) -> Any:
    values = np.asarray(values)
    return values.reshape(len(values), -1).T


def _names_of_decisions(classifier: Any, columns: Columns) -> list[str]:
    if len(columns.targets) > 1:
        names = columns.targets
    else:
        names = classifier.classes_[1:] if len(classifier.classes_) == 2 else classifier.classes_
    return [f"decision {name}" for name in names]


def _known_targets(estimator: Any, columns: Columns, table: Table, groups: RowGroups) -> Any:
    """The targets, if the table has them."""
    if not has_targets(table, columns):
        return None
    try:
        return known_targets(estimator, columns, table, groups)
    except ValueError as error:  # they are not needed
        print_note(f"{_NOT_USED}: {error}")
        return None


def _draw(predicted: list[Any], known: Any, groups: RowGroups, columns: Columns, estimator: Any, path: Path) -> None:
    from evoke.plot import PredictionDisplay

    classes = estimator.classes_ if is_classifier(estimator) and len(columns.targets) == 1 else None
    if columns.per_sequence:
        draw(
            lambda figure: PredictionDisplay.from_sequences(
                predicted, known, names=columns.targets, classes=classes, axes=figure
            ),
            path,
        )
        return
    targets = [None] * len(groups.names) if known is None else groups.split(known)
    draw_sequences(
        lambda figure, predicted, true: PredictionDisplay.from_predictions(
            predicted, true, names=columns.targets, classes=classes, axes=figure
        ),
        groups.names, list(zip(predicted, targets, strict=True)), path,
    )  # fmt: skip
