"""Files that the command line reads and writes: checked before the work, written as a whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click

from evoke.persistence.atomic import check_replaceable, replacing, temporary_beside

__all__ = [
    "InputFile", "OutputFile", "TableFile", "check_folder", "check_target", "check_targets", "whole_file", "write",
]  # fmt: skip

STDIN = "/dev/stdin"  # on every system


class InputFile(click.Path):
    """Name of a file to be read."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("'-' is not a file name: use /dev/stdin for stdin, ./- for a file called '-'", param, ctx)
        if value == STDIN and ctx is not None and not ctx.resilient_parsing and not os.path.exists(STDIN):
            value = _copy_of_stdin(ctx)
        return super().convert(os.path.expanduser(value), param, ctx)  # no shell does it in --name=~/file


def _copy_of_stdin(ctx: click.Context) -> str:
    """A file with what stdin has, as long as the command runs: for systems on which stdin has no name."""
    if sys.stdin is None:
        raise click.ClickException("cannot read stdin: it is closed")
    folder = tempfile.mkdtemp(prefix="evoke-")
    ctx.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    path = os.path.join(folder, "stdin")
    try:
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    except OSError as error:
        raise click.ClickException(f"cannot keep what stdin has in {folder}: {error.strerror}") from None
    return path


class OutputFile(click.Path):
    """Name of a file or folder to be written; neither empty nor "-", which means stdout elsewhere."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty", param, ctx)
        if value == "-":
            self.fail("'-' is not a file name: tables go to stdout anyway; use ./- for a file called '-'", param, ctx)
        return super().convert(os.path.expanduser(value), param, ctx)


class TableFile(OutputFile):
    """Name of a table to be written, whose suffix says the format; without one it is CSV."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if path.suffix.lower() not in ("", ".csv", ".tsv", ".parquet", ".pq"):
            self.fail(f"tables are written as .csv, .tsv or .parquet, not as {path.suffix}: {path}", param, ctx)
        return path


def check_target(path: Path) -> Path:
    """The real path of a file to be written; fails now rather than after an hour of work."""
    try:
        check_replaceable(path)
        _check_not_open(path)
        real = Path(os.path.realpath(path))
        temporary = temporary_beside(real)
        temporary.touch(exist_ok=False)
        temporary.unlink()
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    return real


def check_targets(targets: dict[str, Path | None], inputs: Iterable[Path | None] = ()) -> list[Path | None]:
    """The real paths of several files to be written, by their options; none may be an input or another of them."""
    real = [None if path is None else check_target(path) for path in targets.values()]
    taken = {Path(os.path.realpath(path)): "the command reads it" for path in inputs if path is not None}
    for option, path in zip(targets, real, strict=True):
        if path in taken:
            raise click.UsageError(f"{option} cannot be {targets[option]}: {taken[path]}")
        if path is not None:
            taken[path] = f"{option} is the same file"
    return real


def check_folder(path: Path) -> Path:
    """Make the folder if it does not exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise click.ClickException(f"cannot write {path}: not a folder") from None
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    return path


def _check_not_open(path: Path) -> None:
    """Refuse /dev/stdout with stdout in a file: to replace the file would lose what is written to the open one."""
    for descriptor in (1, 2):
        try:
            is_open = os.path.samestat(os.stat(path), os.fstat(descriptor))
        except OSError:  # nothing is there yet, or stdout is closed
            continue
        if is_open:
            raise OSError(errno.EBUSY, "it is already open, as stdout or stderr")


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that a crash leaves the old or the new one, never a half."""
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that is written piece by piece and appears when it is complete."""
    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
