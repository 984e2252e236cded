"""The commands for one's own data: ``evoke fit``, ``predict``, ``generate`` and ``info``; what they do is elsewhere."""

from __future__ import annotations

from typing import Any

import click

from evoke.cli.files import Source, TableTarget, Target
from evoke.cli.manners import few_warnings, one_line_errors

__all__ = ["fit", "generate", "info", "predict"]


class Separator(click.ParamType):  # type: ignore[type-arg] # generic in new versions of Click only
    """A character between cells; a tab may be written as a backslash and a t."""

    name = "character"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        value = "\t" if value == "\\t" else value
        if len(value) != 1 or value.isalnum() or value in "\"'\n\r":
            self.fail(f"{value!r} is not a character that can separate cells", param, ctx)
        return value


def _reading(command: Any) -> Any:
    for option in (
        click.option("--decimal", type=click.Choice([".", ","]), default=".", help="Decimal mark in CSV."),
        click.option("--separator", type=Separator(), default=",", help="What separates the cells of CSV."),
    ):
        command = option(command)
    return command


_OUT = click.option("-o", "--out", type=TableTarget(), help="Write the table to this file: .csv, .tsv or .parquet.")
_PLOT = click.option("--plot", type=Target(), help="Draw it to this file; FILE.png, .svg, ...")
_PLOT_FIRST = click.option("--plot", type=Target(), help="Draw the first 6 sequences to this file; FILE.png, .svg, ...")


@click.command()
@click.argument("data", type=Source())
@click.option("-o", "--out", type=Target(), required=True, help="Write the model to this file.")
@click.option("--target", multiple=True, required=True, metavar="COL[,COL]", help="What is to be predicted.")
@click.option("--sequence", metavar="COL", help="What tells the sequences apart.")
@click.option("--features", multiple=True, metavar="COL[,COL]", help="What is read, if not all other columns.")
@click.option("--task", type=click.Choice(["classify", "regress", "forecast"]),
              help="Labels, values, or a series to be continued; without it a target that is text is classified.")
@click.option("--per-sequence", is_flag=True, help="Learn one target a sequence, which all its rows repeat.")
@click.option("-p", "settings", multiple=True, metavar="NAME=VALUE",
              help="Parameter of the estimator: -p n_generations=100 -p readout=lssvm.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="The same seed gives the same model.")
@click.option("--jobs", "n_jobs", type=click.IntRange(min=1), default=1, help="Threads; no result depends on it.")
@click.option("--checkpoint", type=Target(),
              help="Save the run to this file every 10 generations, and go on from it if it is there.")
@_PLOT
@_reading
def fit(**arguments: Any) -> None:
    """Learn from a table: CSV with a header, or Parquet if the name ends in .parquet.

    A row is a step. Rows with the same value of --sequence are one sequence, in the order of the file; without it the
    whole table is one. All columns but the target and --sequence are features and must be numbers (--task forecast has
    none, unless --features names some).

    Networks are judged on the last half of the sequences, of a single one on the last half of its rows; another part is
    held out with -p validation=0.3. Of sequences sorted by label, shuffle the order first.

    Ctrl-C ends the run early: the model is that of the best network so far, and the exit status 130.

    Missing values (empty cells, NA, NaN, null, None) are refused with their rows; row 1 of CSV is its header.
    """
    with one_line_errors(), few_warnings():
        from evoke.cli.fit import run

        run(**arguments)


@click.command()
@click.argument("model", type=Source())
@click.argument("data", type=Source())
@_OUT
@click.option("--decisions", is_flag=True, help="Add the decision values of a classifier.")
@_PLOT_FIRST
@_reading
def predict(**arguments: Any) -> None:
    """Predict with a model of "evoke fit".

    Writes a table of predictions under the names of the targets, as CSV to stdout or to a file: one row for each row of
    DATA in its order, or one for each sequence if the model was trained so, with the sequence in front. A forecaster
    predicts each row from those before it; "evoke generate" lets it run freely.

    The figure shows the predictions over time, and the targets too if DATA has them.
    """
    with one_line_errors(), few_warnings():
        from evoke.cli.predict import run

        run(**arguments)


@click.command()
@click.argument("model", type=Source())
@click.option("--steps", type=click.IntRange(min=1), required=True, help="Steps to go.")
@click.option("--context", type=Source(), help="Table of the series to be continued.")
@click.option("--inputs", type=Source(), help="Table of the external inputs in the steps to go, if the model has some.")
@_OUT
@_PLOT_FIRST
@_reading
def generate(**arguments: Any) -> None:
    """Go on with a series by a forecaster's own output.

    Continues the series of --context, each of its sequences if it has several; without it, the last series that the
    model was trained on. Writes a row for each step, under the names of the targets.
    """
    with one_line_errors(), few_warnings():
        from evoke.cli.generate import run

        run(**arguments)


@click.command()
@click.argument("model", type=Source())
@click.option("--json", "as_json", is_flag=True, help="All of it, as JSON.")
def info(**arguments: Any) -> None:
    """What a model file holds."""
    with one_line_errors():
        from evoke.cli.info import run

        run(**arguments)
