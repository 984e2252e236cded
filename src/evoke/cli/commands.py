"""The commands for one's own data and models, from ``evoke fit`` to ``evoke export``: options and help."""

from __future__ import annotations

from typing import Any

import click

from evoke.cli.errors import few_warnings, one_line_errors
from evoke.cli.figures import MOST_DRAWN
from evoke.cli.parameter_help import FitCommand
from evoke.cli.paths import InputFile, OutputFile, TableFile

__all__ = [
    "certify", "check_certificate", "compare", "export", "fit", "generate", "info", "predict", "score",
]  # fmt: skip


class Separator(click.ParamType):  # type: ignore[type-arg] # generic in new versions of Click only
    """A character between cells; a tab may be written as a backslash and a t."""

    name = "character"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        value = "\t" if value == "\\t" else value
        if len(value) != 1 or not value.isascii() or value.isalnum() or value in "\"'\n\r":
            self.fail(f"{value!r} is not one character of ASCII that can separate cells", param, ctx)
        return value


def _reading(command: Any) -> Any:
    for option in (
        click.option("--decimal", type=click.Choice([".", ","]), default=".", help="Decimal mark in CSV."),
        click.option("--separator", type=Separator(), help="Character between the cells of CSV.",
                     show_default="whichever of , ; tab | is most frequent in the header"),
    ):  # fmt: skip
        command = option(command)
    return command


_TIME = click.option("--time", metavar="COL", help="Column with the times of the rows, if it is not that of the model.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
_OUT = click.option("-o", "--out", type=TableFile(), help="Write the table to this file: .csv, .tsv or .parquet.")
_PLOT = click.option("--plot", type=OutputFile(), help="Draw the evolution to this file: FILE.png, .svg, ...")
_PLOT_FIRST = click.option("--plot", type=OutputFile(),
                           help=f"Draw the first {MOST_DRAWN} sequences to this file: FILE.png, .svg, ...")  # fmt: skip


@click.command(cls=FitCommand)
@click.argument("data", type=InputFile())
@click.option("-o", "--out", type=OutputFile(), required=True, help="Write the model to this file.")
@click.option("--target", multiple=True, required=True, metavar="COL[,COL]", help="Columns to predict.")
@click.option("--sequence", metavar="COL", help="Column that tells the sequences apart.")
@click.option("--time", metavar="COL", help="Column with the times of the rows, which must rise.")
@click.option("--features", multiple=True, metavar="COL[,COL]", help="Columns to read; by default all others.")
@click.option("--task", type=click.Choice(["classify", "regress", "forecast"]),
              help="Predict labels, predict values, or continue a series. By default a text target is classified.")
@click.option("--per-sequence", is_flag=True, help="Learn one target per sequence, repeated in all its rows.")
@click.option("--preset", type=click.Choice(["paper", "languages"]),
              help="Parameters of the paper, or ours for formal languages; what -p sets counts more.")
@click.option("-p", "settings", multiple=True, metavar="NAME=VALUE",
              help="Parameter of the estimator: -p n_generations=100 -p readout=lssvm. See the lists below.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="The same seed gives the same model.")
@click.option("--jobs", "n_jobs", type=click.IntRange(min=1), default=1,
              help="Number of threads; the result is the same.")
@click.option("--checkpoint", type=OutputFile(),
              help="Save the run to this file every 10 generations, and continue from the file if it exists.")
@_PLOT
@_reading
def fit(**arguments: Any) -> None:
    """Learn from a table and write a model.

    DATA is CSV with a header, or Parquet if the name ends in .parquet. Each row is a step. Rows with the same value of
    --sequence are one sequence, in the order of the file; without it the whole table is one sequence. All columns but
    the targets, --sequence and --time are features and must be numbers. With --task forecast there are no features
    unless --features names some.

    The column --time holds ISO dates (2005-07-30, 2005-07-30T14:00) or numbers. They must rise within each sequence; a
    gap is warned of. Tables that the model writes carry the times.

    With --per-sequence each sequence is left out in turn. Without it networks are judged on the last half of the
    sequences, or of the rows if there is only one sequence; to hold out less, use -p validation=0.3. If the sequences
    are sorted by label, use -p validation=stratified, which shuffles.

    Ctrl-C ends the run early: the best network so far is written as the model, and the exit status is 130.

    Missing values (empty cells, and NA, NaN, null or None among numbers) are refused; the message names their rows. Row
    1 of CSV is its header.
    """
    with one_line_errors(), few_warnings():
        from evoke.cli.fit import fit_model

        fit_model(**arguments)


@click.command()
@click.argument("model", type=InputFile())
@click.argument("data", type=InputFile())
@_TIME
@_OUT
@click.option("--decisions", is_flag=True, help="Add the decision values of a classifier.")
@click.option("--probabilities", is_flag=True, help="Add the probabilities of the classes.")
@_PLOT_FIRST
@_reading
def predict(**arguments: Any) -> None:
    """Predict with a model from "evoke fit".

    Writes a table of predictions with the names of the targets, as CSV to stdout or to a file. It has one row for each
    row of DATA, in the same order; if the model learned one target per sequence, it has one row for each sequence. A
    forecaster predicts each row from those before it; to let it run freely, use "evoke generate".

    The figure shows the predictions over time, and the targets too if DATA has them; with one label per sequence it is
    a confusion matrix. If DATA has the targets, the score goes to stderr, as "evoke score" prints it.
    """
    with one_line_errors(), few_warnings():
        from evoke.cli.predict import predict_table

        predict_table(**arguments)


@click.command()
@click.argument("model", type=InputFile())
@click.argument("data", type=InputFile())
@_TIME
@_JSON
@_reading
def score(**arguments: Any) -> None:
    """Score a model by a table that has the targets.

    Prints the accuracy of a classifier, the R^2 of a regressor, or the mean absolute scaled error (MASE) one step ahead
    of a forecaster, of which less is better. Beside it is the naive answer to the same rows: always the most frequent
    label, always the mean, or the last value and that of a season ago.
    """
    with one_line_errors(), few_warnings():
        from evoke.cli.score import score_model

        score_model(**arguments)


@click.command()
@click.argument("a", type=InputFile())
@click.argument("b", type=InputFile())
@click.argument("data", type=InputFile())
@_TIME
@_JSON
@_reading
def compare(**arguments: Any) -> None:
    """Compare two models by a table that has the targets.

    Prints the score of each, as "evoke score" does, the difference, and the share of rows or sequences where A is right
    and B is not, and the other way round. Of values it is the share where one is nearer.
    """
    with one_line_errors(), few_warnings():
        from evoke.cli.score import compare_models

        compare_models(**arguments)


@click.command()
@click.argument("model", type=InputFile())
@click.option("--steps", type=click.IntRange(min=1), required=True, help="Number of steps to generate.")
@click.option("--interval", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="SHARE",
              help="Add the ends of intervals that are to hold this share of the values, 0.9 for instance.")
@click.option("--context", type=InputFile(), help="Table of the series to continue.")
@click.option("--inputs", type=InputFile(),
              help="Table of the external inputs at the generated steps, if the model has any.")
@_TIME
@_OUT
@_PLOT_FIRST
@_reading
def generate(**arguments: Any) -> None:
    """Continue a series with a forecaster.

    The forecaster reads its own output. It continues the series of --context, or each of its sequences if it has
    several; without --context, the last series that the model was trained on. Writes one row per step; the columns
    have the names of the targets. If the series has times, those of the steps come first.
    """
    with one_line_errors(), few_warnings():
        from evoke.cli.generate import generate_series

        generate_series(**arguments)


@click.command()
@click.argument("model", type=InputFile())
@_JSON
@click.option("--html", "page", type=OutputFile(), help="Write a web page that computes what the model does.")
@click.option("--example", type=InputFile(), help="Table whose first sequence that page begins with.")
@click.option("--symbols", metavar="TEXT", help="One character a feature, where steps are symbols: texts are typed.")
def info(**arguments: Any) -> None:
    """Show what a model file holds.

    The page of --html needs no other file and no network: people without Python can give the model sequences there, and
    see its cells and its answers.
    """
    with one_line_errors():
        from evoke.cli.info import describe_model

        describe_model(**arguments)


@click.command()
@click.argument("model", type=InputFile())
@click.option("--language", required=True, metavar="NAME",
              help="anbn, anb2n, anbncn, anbncndn, anbncndnen, anbmcn+m, anbmBmAn, dyck1.")  # fmt: skip
@click.option("--up-to", type=click.IntRange(1, 2**52), default=2**52, help="The largest count, or depth of brackets.")
@click.option("--json", "json_file", type=OutputFile(), help="Write the certificate to this file.")
def certify(**arguments: Any) -> None:
    """Prove that a classifier accepts every string of a language.

    Prints up to which counts, or depths of brackets, all strings are accepted, and the invariants of the proof. The
    exit status is 1 where the proof does not reach as far as asked. "evoke check-certificate" checks a file written by
    --json.
    """
    with one_line_errors():
        from evoke.cli.certify import certify_model

        certify_model(**arguments)


@click.command("check-certificate")
@click.argument("certificate", type=InputFile())
@click.argument("model", type=InputFile())
def check_certificate(**arguments: Any) -> None:
    """Check a certificate against the model that it is about.

    The check reads both files by itself and shares no code with "evoke certify". The exit status is 1 where the
    certificate does not hold.
    """
    with one_line_errors():
        from evoke.cli.certify import check_file

        check_file(**arguments)


@click.command()
@click.argument("model", type=InputFile())
@click.option("-o", "--out", type=OutputFile(), required=True, help="Write to this file: FILE.c or FILE.onnx.")
@click.option("--dtype", type=click.Choice(["float64", "float32", "mixed"]), default="float64",
              help="Double, float, or float with the readout in double.")  # fmt: skip
@click.option("--name", metavar="NAME", help="With which the names in a C file begin.", show_default="evoke")
@click.option("--stateful", is_flag=True, help="ONNX that is given its state and returns it.")
def export(**arguments: Any) -> None:
    """Write a model as one C99 file without any library, or as ONNX.

    The C file reads a step at a time; compiled with -DEVOKE_SELF_TEST it is a program that compares itself with the
    model. To write ONNX takes the Python package onnx.
    """
    with one_line_errors():
        from evoke.cli.export import export_model

        export_model(**arguments)
