"""Files that the command line writes: checked before the work, never left in halves."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from evoke.persistence.atomic import check_replaceable, replacing, temporary_beside

__all__ = ["Source", "TableTarget", "Target", "check_folder", "check_target", "check_targets", "write"]


class Source(click.Path):
    """Name of a file to be read."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail("'-' is no name; stdin has the name /dev/stdin, './-' is a file of this name", param, ctx)
        return super().convert(value, param, ctx)


class Target(click.Path):
    """Name of a file or folder to be written; neither nothing nor "-", which elsewhere means stdout."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty", param, ctx)
        if value == "-":
            self.fail("'-' is no name; the table goes to stdout by itself, './-' is a file of this name", param, ctx)
        return super().convert(value, param, ctx)


class TableTarget(Target):
    """Name of a table to be written, whose suffix says what it becomes; without one it is CSV."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if path.suffix.lower() not in ("", ".csv", ".tsv", ".parquet", ".pq"):
            self.fail(f"tables are written as .csv, .tsv or .parquet, not as {path.suffix}: {path}", param, ctx)
        return path


def check_target(path: Path) -> Path:
    """The real path of a file to be written; fails now rather than after an hour of work."""
    try:
        _check_old(path)  # by the name that was given: what /dev/stdout leads to may have no other
        real = Path(os.path.realpath(path))
        temporary = temporary_beside(real)
        temporary.touch(exist_ok=False)
        temporary.unlink(missing_ok=True)  # another process may take it for one that was left behind
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    return real


def check_targets(targets: dict[str, Path | None], inputs: Iterable[Path | None] = ()) -> list[Path | None]:
    """The real paths of several files to be written, by their options; none may be an input or another of them."""
    real = [None if path is None else check_target(path) for path in targets.values()]
    taken = {Path(os.path.realpath(path)): "it is read" for path in inputs if path is not None}
    for option, path in zip(targets, real, strict=True):
        if path in taken:
            raise click.UsageError(f"{option} cannot be {targets[option]}: {taken[path]}")
        if path is not None:
            taken[path] = f"{option} is the same file"
    return real


def check_folder(path: Path) -> Path:
    """Make a folder, if there is none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise click.ClickException(f"cannot write {path}: not a folder") from None
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    return path


def _check_old(path: Path) -> None:
    """What is there already must be a file that can be replaced."""
    check_replaceable(path)
    try:
        old = os.stat(path)
    except FileNotFoundError:
        return
    # /dev/stdout with stdout in a file: to replace that file would lose what is written through the open one
    if any(os.path.samestat(old, other) for other in map(_open_file, range(256)) if other):
        raise OSError(errno.EBUSY, "it is already open, as stdout or another redirection")


def _open_file(descriptor: int) -> os.stat_result | None:
    try:
        return os.fstat(descriptor)
    except OSError:  # closed
        return None


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that a crash leaves the old or the new one, never a half."""
    try:
        with replacing(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
