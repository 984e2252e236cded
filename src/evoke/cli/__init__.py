"""The command line. NumPy and scikit-learn are imported inside the commands only: ``evoke --help`` is quick."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

import click

from evoke import __version__
from evoke.cli.data import fit, generate, info, predict
from evoke.cli.manners import PoliteGroup, one_line_errors, print_text
from evoke.cli.reproduce import reproduce

__all__ = ["cli"]


@click.group(cls=PoliteGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="evoke", message="%(prog)s %(version)s")
def cli() -> None:
    """Evolved recurrent networks with support vector readouts for learning from sequences."""


@cli.command("show-config")
def show_config_command() -> None:
    """Versions, instruction set and the state of ThunderSVM."""
    with one_line_errors():
        from evoke.config import show_config

        with redirect_stdout(StringIO()) as text:
            show_config()
    print_text(text.getvalue())


for command in (fit, predict, generate, info, reproduce):
    cli.add_command(command)
