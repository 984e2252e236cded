"""What ``evoke fit`` does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.base import is_classifier

from evoke.cli import columns as roles
from evoke.cli.files import check_targets
from evoke.cli.manners import Interrupted, print_text
from evoke.cli.pictures import check_drawable, draw
from evoke.cli.settings import make_estimator
from evoke.cli.tables import Format, Table, read_table, some
from evoke.estimators.split import n_trained_on

__all__ = ["run"]


def run(
    data: Path, out: Path, target: tuple[str, ...], sequence: str | None, features: tuple[str, ...], task: str | None,
    per_sequence: bool, settings: tuple[str, ...], seed: int, n_jobs: int, checkpoint: Path | None, plot: Path | None,
    **form: str,
) -> None:  # fmt: skip
    """Read a table, learn from it, write the model, say how well it went."""
    if per_sequence and sequence is None:
        raise click.UsageError("--per-sequence goes with --sequence")
    if per_sequence and task == "forecast":
        raise click.UsageError("--per-sequence does not go with --task forecast")
    targets = {"--out": out, "--checkpoint": checkpoint, "--plot": plot}
    real_out, checkpoint, real_plot = check_targets(targets, inputs=[data])
    if real_plot is not None:
        check_drawable(real_plot)
    model = None if task is None else _estimator(task, settings, seed, n_jobs)
    table = read_table(data, Format(**form))
    columns = roles.choose_columns(table, target, features, sequence, per_sequence, all_others=task != "forecast")
    table.check_complete(columns.names)
    notes: list[str] = []
    if task is None:
        task = roles.guess_task(table, columns.targets)
        holds = table.holds(columns.targets[0])
        is_what = "is text" if holds == "text" else f"holds {holds}"
        notes.append(f"Note: the target {columns.targets[0]!r} {is_what}, so it is classified.")
    model = model or _estimator(task, settings, seed, n_jobs)
    groups = roles.Groups(table, columns.sequence)
    groups.check_washout(table, model.washout)
    if task == "classify" and len(columns.targets) > 1:
        booleans = [name for name in columns.targets if table.holds(name) == "truth values"]
        columns = replace(columns, booleans=booleans)
    if task == "forecast":
        data_of_fit = _series(table, columns, groups, notes)
    else:
        data_of_fit = _labelled(table, columns, groups, model, notes)
    for note in notes:
        click.echo(note, err=True)
    model.metadata_ = {"columns": columns.as_dict()}  # now, so that checkpoints have it too
    interrupted = _evolve(model, data_of_fit, checkpoint)
    model.set_params(n_jobs=None).save(real_out)  # the same file for any number of threads
    if real_plot is not None:
        _draw(model, real_plot)
    print_text(_summary(model, table, columns, groups))
    written = f"written to {', '.join(str(path) for path in (out, plot) if path is not None)}"
    if interrupted:
        raise Interrupted(f"interrupted after {len(model.history_)} generations, the best so far {written}")
    print_text(f"{written}\n")


def _evolve(model: Any, data: Any, checkpoint: Path | None) -> bool:
    """Fit the model; whether that was interrupted."""
    from evoke.callbacks import Checkpoint, Progress

    callbacks = [Progress()]
    if checkpoint is not None:
        callbacks = [Checkpoint(checkpoint), _Resumption(), *callbacks]
    try:
        model.set_params(callbacks=callbacks).fit(*data)
    except KeyboardInterrupt:
        if not hasattr(model, "readout_"):
            raise Interrupted("interrupted before the first generation was done; nothing written") from None
        return True
    return False


class _Resumption:
    """Says where a run goes on that a checkpoint has brought to a later generation."""

    @contextmanager
    def watch(self, run: Any) -> Iterator[Callable[..., None]]:
        """What is said at the start; see `evoke.evolution.Run`."""
        done, total = run.esp.generation, run.n_generations
        if done >= total:
            click.echo(f"Note: the checkpoint has all {total} generations, nothing is left to do.", err=True)
        elif done:
            click.echo(f"Note: going on from generation {done} of {total}.", err=True)
        yield lambda _record, _esp: None


def _estimator(task: str, settings: tuple[str, ...], seed: int, n_jobs: int) -> Any:
    from evoke import estimators

    kind = {
        "classify": estimators.EvokeClassifier,
        "regress": estimators.EvokeRegressor,
        "forecast": estimators.EvokeForecaster,
    }[task]
    return make_estimator(kind, settings, random_state=seed, n_jobs=n_jobs)


def _labelled(table: Table, columns: roles.Columns, groups: roles.Groups, model: Any, notes: list[str]) -> Any:
    """X and y of a classifier or regressor."""
    names = columns.targets
    labels = is_classifier(model) and len(names) == 1
    if labels:
        roles.check_labels(table, names[0], len(groups.ends) if columns.per_sequence else len(table))
    y = groups.split(table.labels(names[0]) if labels else roles.target_values(table, columns))
    if columns.per_sequence:
        y = roles.check_per_sequence(table, groups, y, names)
    elif columns.sequence is not None and roles.is_per_sequence(y):
        notes.append(
            f"Note: {some([*map(repr, names)])} does not change within any sequence; it is learned at every row, and "
            "with --per-sequence once a sequence."
        )
    if labels:
        lost = _only_held_out(y, model.validation)
        if len(lost):
            so = "networks are judged without having been taught it" if model.refit else "it cannot be learned"
            what = "the rows, if their order means nothing" if len(groups.ends) == 1 else "the sequences"
            notes.append(
                f"Note: {some([*map(repr, lost)])} is only in the part that is held out, the last of the table: {so}; "
                f"shuffle {what}, or hold out less with -p validation=0.2."
            )
            warnings.filterwarnings("ignore", "the held-out part has class")  # the same, in terms of Python
    return groups.split(table.features(columns.features)), y


def _only_held_out(y: Any, validation: Any) -> list[Any]:
    """Labels of which none is trained on, as in a table that is sorted by them."""
    units = y[0] if isinstance(y, list) and len(y) == 1 else y  # sequences, or the steps of a single one
    flat, trained = (np.hstack(part) for part in (units, units[: n_trained_on(len(units), validation)]))
    return sorted(set(flat.tolist()) - set(trained.tolist()))


def _series(table: Table, columns: roles.Columns, groups: roles.Groups, notes: list[str]) -> Any:
    """y and X of a forecaster."""
    y = groups.split(roles.target_values(table, columns))
    unused = [name for name in table.columns if name not in columns.names]
    if unused and not columns.features:
        notes.append(
            f"Note: a forecast reads its own series alone, not {some([*map(repr, unused)])}; --features names external "
            "inputs."
        )
    return (y, groups.split(table.features(columns.features))) if columns.features else (y,)


def _summary(model: Any, table: Table, columns: roles.Columns, groups: roles.Groups) -> str:
    best = min(model.history_, key=lambda record: record["generation_best"])
    of = f" from {some(columns.features)}" if columns.features else ""
    n = len(groups.ends)
    return (
        f"{type(model).__name__}: {some(columns.targets)}{of}; {n} sequence{'s' if n > 1 else ''}, {len(table)} rows\n"
        f"fitness {model.best_fitness_:.6g}: training error {best['train_error']:.6g}, "
        f"validation error {best['validation_error']:.6g}\n"
        f"{len(model.history_)} generations, {model.n_evaluations_} networks\n"
    )


def _draw(model: Any, path: Path) -> None:
    from evoke.plot import HistoryDisplay

    draw(lambda figure: HistoryDisplay.from_estimator(model, ax=figure), path)
