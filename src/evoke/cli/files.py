"""Files that the command line writes: checked before the work, never left in halves."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import click

__all__ = ["check_target", "write"]


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def check_target(path: Path) -> Path:
    """The real path of a file to be written; fails now rather than after an hour of work."""
    path = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
        temporary = _temporary(path)
        temporary.touch(exist_ok=False)
        temporary.unlink()
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    return path


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that a crash leaves the old or the new one, never a half."""
    temporary = _temporary(path)
    try:
        with open(temporary, "xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)
