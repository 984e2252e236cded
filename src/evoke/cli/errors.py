"""Errors and warnings in one line each; a stdout that is full or closed."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from evoke._validation.errors import printable

__all__ = ["Interrupted", "OutermostGroup", "few_warnings", "one_line_errors", "print_note", "print_text"]


class Interrupted(click.ClickException):
    """Ctrl-C or SIGTERM before a command was done; the message says what is kept."""

    exit_code = 130  # as in shells


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Report in one line what can fail without a fault of the program, exit status 1, and an interrupt, 130."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    except click.exceptions.Exit:  # which is a RuntimeError
        raise
    except (ArithmeticError, ImportError, MemoryError, OSError, RuntimeError, ValueError) as error:
        raise click.ClickException(_in_one_line(error) or type(error).__name__) from None


def _in_one_line(message: object) -> str:
    """A message of the library, in terms of the command line."""
    line = printable(" ".join(str(message).split()))
    return re.sub("pass (X_val and )?y_val", "hold out less with -p validation=0.2", line)


@contextmanager
def few_warnings() -> Iterator[None]:
    """Show the first warning of each kind at once and count the others: thousands of networks may have the same."""
    counts: Counter[str] = Counter()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        counts[category.__name__] += 1
        if counts[category.__name__] == 1:
            _say(f"{category.__name__}: {_in_one_line(message)}")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ResourceWarning)  # an interrupted import leaves files open
        for kind in (DeprecationWarning, PendingDeprecationWarning):  # of other packages, for who writes them
            warnings.simplefilter("ignore", kind)
        warnings.filterwarnings("ignore", r"\w+(\[\d+\])? has a gap before position")  # `times_of` names the row
        warnings.showwarning = show
        try:
            yield
        finally:
            for name, count in counts.items():
                if count > 1:
                    _say(f"{name}: {count - 1} more of this kind")


@contextmanager
def _stdout_errors() -> Iterator[None]:
    """A reader of stdout that has gone away (``| head``) needs no message, anything else does."""
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain again when it flushes at exit
        if error.errno == errno.EPIPE or (error.errno == errno.EINVAL and sys.platform == "win32"):
            raise SystemExit(1) from None
        raise click.ClickException(f"cannot write to stdout: {error.strerror}") from None


def print_text(text: str, *, data: bool = False) -> None:
    """Write to stdout; `data` are for other programs: the bytes of a file, unless stdout is a terminal."""
    with _stdout_errors():
        # color: click would take what looks like one out of data
        as_it_is = data and not sys.stdout.isatty()
        if as_it_is and hasattr(sys.stdout, "buffer"):  # a program that runs this one may have put something else there
            click.echo(text.encode(), nl=False)
        else:
            click.echo(text if as_it_is else printable(text), nl=False, color=True)


def print_note(text: str) -> None:
    """Write to stderr what may be of interest."""
    _say(f"Note: {printable(text)}")


def _say(text: str) -> None:
    """Write to stderr, which may be full or closed: that does not end the work."""
    with suppress(OSError):
        click.echo(text, err=True)


class OutermostGroup(click.Group):
    """Click writes help and version itself, and does not expect a stdout that is full or closed.

    An interrupt before a command has begun would be "Aborted!" with status 1.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the options."""
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what errors quote of files and names is shown as escapes where a terminal would obey it."""
        try:
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                raise Interrupted("interrupted") from None
        except click.ClickException as error:
            error.message = printable(error.message)
            _show(error)
            ctx.exit(error.exit_code)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with their first sentence, which Click would cut to one line."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, command.get_short_help_str(limit=1000)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        try:
            if sys.stdout is None:
                raise click.ClickException("cannot write to stdout: it is closed")
            with _stdout_errors():
                return super().main(*args, **kwargs)
        except click.ClickException as error:
            _show(error)
            sys.exit(error.exit_code)


def _show(error: click.ClickException) -> None:
    if sys.stderr is None:  # closed: click would take stdout instead
        return
    with suppress(OSError):  # a terminal that has gone
        error.show()
