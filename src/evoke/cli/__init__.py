"""The command line. Its commands import NumPy and scikit-learn when they are called, so that ``--help`` is quick."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

import click

from evoke._version import __version__
from evoke.cli.commands import (
    certify,
    check_certificate,
    compare,
    export,
    fit,
    generate,
    info,
    predict,
    score,
)
from evoke.cli.errors import OutermostGroup, one_line_errors, print_text
from evoke.cli.reproduce import reproduce

__all__ = ["cli"]


_START = """\
Three commands to start with:

  evoke fit DATA.csv --target COLUMN -o MODEL.evk   learn from a table
  evoke predict MODEL.evk DATA.csv                  predict its rows, or those of another table
  evoke score MODEL.evk OTHER.csv                   say how good the model is on a table it has not seen

evoke --help lists all commands, and evoke COMMAND --help the options of one.
"""


@click.group(
    cls=OutermostGroup, invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)  # fmt: skip
@click.version_option(__version__, prog_name="evoke", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Evolved recurrent networks with support vector readouts for learning from sequences."""
    if ctx.invoked_subcommand is None:
        print_text(_START)


@cli.command("show-config")
def show_config_command() -> None:
    """Show versions, instruction set and solvers."""
    with one_line_errors():
        from evoke.config import show_config

        with redirect_stdout(StringIO()) as text:
            show_config()
    print_text(text.getvalue())


for command in (
    fit, predict, score, compare, generate, info, reproduce, certify, check_certificate, export,
):  # fmt: skip
    cli.add_command(command)
