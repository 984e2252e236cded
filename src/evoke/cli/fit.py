"""What ``evoke fit`` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import click
from sklearn.base import is_classifier

from evoke import estimators
from evoke.callbacks import Checkpoint, Progress
from evoke.cli.again import command_again
from evoke.cli.errors import Interrupted, print_note, print_text
from evoke.cli.figures import check_drawable, draw
from evoke.cli.held_out import Watched, held_out_lines
from evoke.cli.parameters import make_estimator, preset_parameters
from evoke.cli.paths import check_targets
from evoke.cli.progress import TimeLeft
from evoke.cli.roles import (
    Columns,
    check_labels,
    check_washout,
    choose_columns,
    guess_task,
    one_per_sequence,
    target_series,
    target_values,
    times_of,
)
from evoke.cli.table_files import Format, read_table
from evoke.cli.tables import Table, counted, quoted, some
from evoke.sequences.converters import RowGroups, rows_by_sequence

__all__ = ["fit_model"]

_KINDS = {
    "classify": estimators.EvokeClassifier,
    "regress": estimators.EvokeRegressor,
    "forecast": estimators.EvokeForecaster,
}

_DRAWN_STEPS = 24  # of the forecast of a model without generations


def fit_model(
    data: Path, out: Path, *, target: tuple[str, ...], sequence: str | None, time: str | None,
    features: tuple[str, ...], task: str | None, per_sequence: bool, preset: str | None, settings: tuple[str, ...],
    seed: int, n_jobs: int, checkpoint: Path | None, plot: Path | None, **form: Any,
) -> None:  # fmt: skip
    """Read a table, learn from it, write the model, say how well it went."""
    if per_sequence and sequence is None:
        raise click.UsageError("--per-sequence needs --sequence")
    if per_sequence and task == "forecast":
        raise click.UsageError("--per-sequence does not go with --task forecast")
    targets = {"--out": out, "--checkpoint": checkpoint, "--plot": plot}
    real_out, checkpoint, real_plot = check_targets(targets, inputs=[data])
    check_drawable(real_plot)
    own = {"random_state": seed, "n_jobs": n_jobs}
    if task is not None:  # wrong usage is reported before a large table is read
        make_estimator(_KINDS[task], settings, preset_parameters(task, preset), **own)

    table = read_table(data, Format(**form))
    columns = choose_columns(table, target, features, sequence, time, all_others=task != "forecast")
    table.check_complete(columns.names)
    notes: list[str] = []  # shown when nothing is refused any more
    if task is None:
        task = guess_task(table, columns.targets)
        holds = table.holds(columns.targets[0])
        is_what = "is text" if holds == "text" else f"holds {holds}"
        notes.append(f"the target {columns.targets[0]!r} {is_what}, so it is classified.")
    if task == "classify" and len(columns.targets) > 1:
        columns = replace(columns, booleans=[name for name in columns.targets if table.holds(name) == "truth values"])
    columns = replace(columns, per_sequence=per_sequence)
    model = make_estimator(_KINDS[task], settings, preset_parameters(task, preset), **own)
    model.metadata_ = {"columns": columns.as_dict()}  # now, so that checkpoints have it too
    groups = rows_by_sequence(table.frame, columns.sequence, table.name)
    check_washout(table, groups, model.washout)
    times = times_of(table, columns, groups)
    if task == "forecast":
        data_of_fit = _series(table, columns, groups, times, notes)
    else:
        data_of_fit = _labelled(table, columns, groups, times, model, notes)
    for note in notes:
        print_note(note)

    watched = Watched()
    end = _evolve(model, data_of_fit, checkpoint, watched)
    try:
        model.set_params(n_jobs=None).save(real_out)  # the same file for any number of threads
    except OSError as error:
        kept = f"; the run so far is in {checkpoint}" if checkpoint is not None and checkpoint.exists() else ""
        raise click.ClickException(f"cannot write {out}: {error.strerror or error}{kept}") from None
    if real_plot is not None:
        _draw(model, real_plot)
    y = data_of_fit[0] if task == "forecast" else data_of_fit[1]
    print_text(_summary(model, table, columns, groups) + "\n".join([*held_out_lines(model, watched.run, y), ""]))
    files = ", ".join(str(path) for path in (out, plot) if path is not None)
    if end is not None:
        kind = Interrupted if isinstance(end, KeyboardInterrupt) else click.ClickException
        why = "interrupted" if kind is Interrupted else f"{end}; ended"
        done = counted(len(model.history_), "generation")
        if kind is Interrupted:
            print_note(f"to go on: {_to_go_on(out, checkpoint)}")
        raise kind(f"{why} after {done}; the best network so far was written to {files}")
    print_text(f"written to {files}\n")


def _labelled(
    table: Table, columns: Columns, groups: RowGroups, times: Any, model: Any, notes: list[str]
) -> tuple[Any, Any]:
    """X and y of a classifier or regressor."""
    names = columns.targets
    if is_classifier(model) and len(names) == 1:
        check_labels(table, names[0], len(groups.names) if columns.per_sequence else len(table))
        y = groups.split(table.labels(names[0]))
    else:
        y = groups.split(target_values(table, columns))
    if columns.per_sequence:
        y = one_per_sequence(table, groups, y, names)
    elif len(y) > 1 and max(map(len, y)) > 1 and all((part == part[0]).all() for part in y):
        notes.append(
            f"{quoted(names)} is constant within every sequence but is learned at every row; --per-sequence learns it "
            "once per sequence."
        )
    return groups.split(table.features(columns.features, times)), y


def _series(table: Table, columns: Columns, groups: RowGroups, times: Any, notes: list[str]) -> tuple[Any, Any]:
    """y and X of a forecaster."""
    y = groups.split(target_series(table, columns, times))
    if columns.features:
        return y, groups.split(table.features(columns.features, times))
    unused = [name for name in table.columns if name not in columns.names]
    if unused:
        notes.append(f"a forecast reads only its own series, not {quoted(unused)}; --features names external inputs.")
    return y, None


def _evolve(model: Any, data: tuple[Any, Any], checkpoint: Path | None, watched: Watched) -> BaseException | None:
    """Fit the model; what ended that early, after a generation that can be kept."""
    callbacks: list[Any] = [watched] if checkpoint is None else [Checkpoint(checkpoint), _Resumption(), watched]
    callbacks.append(Progress() if sys.stderr is not None and sys.stderr.isatty() else TimeLeft())
    try:
        model.set_params(callbacks=callbacks).fit(*data)
    except KeyboardInterrupt as end:
        if not hasattr(model, "readout_"):
            raise Interrupted("interrupted before the first generation was complete; nothing was written") from None
        return end
    except (MemoryError, OSError, RuntimeError, ValueError) as end:
        if not (hasattr(model, "readout_") and hasattr(model, "history_")):
            raise
        return end
    return None


def _to_go_on(out: Path, checkpoint: Path | None) -> str:
    """The command that continues an interrupted one, to the same bits as without the interrupt."""
    if checkpoint is not None:
        return command_again()
    # the model is a checkpoint as good as any, but cannot be the result too
    names = (out.with_name(f"{out.stem}-{k}{out.suffix}") for k in count(2))
    return command_again(checkpoint=out, out=next(name for name in names if not os.path.lexists(name)))


class _Resumption:
    """Says from which generation a checkpoint continues."""

    @contextmanager
    def watch(self, run: Any) -> Iterator[Callable[..., None]]:
        """What is said at the start; see `evoke.evolution.Run`."""
        done, total = run.esp.generation, run.n_generations
        if done >= total:
            print_note(f"the checkpoint already has all {counted(total, 'generation')}.")
        elif done:
            print_note(f"continuing after generation {done} of {total}.")
        yield lambda _record, _esp: None


def _summary(model: Any, table: Table, columns: Columns, groups: RowGroups) -> str:
    if not hasattr(model, "history_"):
        n = len(model.fitted_.networks)
        return f"{_learned(model, table, columns, groups)}{n} networks, none of them evolved\n"
    # a sum over the steps that a generation sees: that of another generation may be of fewer
    best = next((record for record in model.history_ if record["generation_best"] == model.best_fitness_), None)
    parts = "" if best is None else (
        f": training error {best['train_error']:.6g}, validation error {best['validation_error']:.6g}"
    )
    return (
        f"{_learned(model, table, columns, groups)}"
        f"fitness {model.best_fitness_:.6g}{parts}\n"
        f"{counted(len(model.history_), 'generation')}, {counted(model.n_evaluations_, 'network')}\n"
    )


def _learned(model: Any, table: Table, columns: Columns, groups: RowGroups) -> str:
    of = f" from {some(columns.features)}" if columns.features else ""
    size = f"{counted(len(groups.names), 'sequence')}, {counted(len(table), 'row')}"
    return f"{type(model).__name__}: {some(columns.targets)}{of}; {size}\n"


def _draw(model: Any, path: Path) -> None:
    from evoke.plot import ContinuationDisplay, HistoryDisplay

    if hasattr(model, "history_"):
        draw(lambda figure: HistoryDisplay.from_estimator(model, ax=figure), path)
    else:  # without generations
        draw(lambda figure: ContinuationDisplay.from_estimator(model, _DRAWN_STEPS, axes=figure), path)
