"""How the command line speaks: errors and warnings in one line, quiet pipes."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

__all__ = ["Interrupted", "PoliteGroup", "few_warnings", "one_line_errors", "print_text"]


class Interrupted(click.ClickException):
    """Ctrl-C, or SIGTERM, before a command was done; the message says what is kept."""

    exit_code = 130  # as shells have it


@contextmanager
def one_line_errors() -> Iterator[None]:
    """What can go wrong without a fault of the program is told in one line, exit status 1; interrupts too, 130."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    except (ArithmeticError, ImportError, MemoryError, OSError, RuntimeError, ValueError) as error:
        raise click.ClickException(_in_one_line(error) or type(error).__name__) from None


def _in_one_line(said: object) -> str:
    """What the library says, in terms of the command line."""
    return re.sub("pass (X_val and )?y_val", "hold out less with -p validation=0.2", " ".join(str(said).split()))


@contextmanager
def few_warnings() -> Iterator[None]:
    """One line on stderr for each kind of warning: a solver may have the same to say of thousands of networks."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ResourceWarning)  # an interrupted import leaves files open
        try:
            yield
        finally:
            texts: dict[str, list[str]] = {}
            for warning in caught:
                texts.setdefault(warning.category.__name__, []).append(_in_one_line(warning.message))
            for kind, said in texts.items():
                more = f" (and {len(said) - 1} more of this kind)" if len(said) > 1 else ""
                click.echo(f"{kind}: {said[0]}{more}", err=True)


@contextmanager
def _stdout_errors() -> Iterator[None]:
    """A reader of stdout that has gone away (``| head``) is no error worth a word, all else is."""
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain again when it flushes at exit
        if error.errno == errno.EPIPE:
            raise SystemExit(1) from None
        raise click.ClickException(f"cannot write to stdout: {error.strerror}") from None


def print_text(text: str) -> None:
    """Write to stdout."""
    with _stdout_errors():
        click.echo(text, nl=False)


class PoliteGroup(click.Group):
    """The outermost group: Click itself writes help and version, and knows of no stdout that is full or closed."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        try:
            if sys.stdout is None:
                raise click.ClickException("cannot write to stdout: it is closed")
            with _stdout_errors():
                return super().main(*args, **kwargs)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
