"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_replaceable", "replacing", "temporary_beside"]


def check_replaceable(path: Path) -> None:
    """What is there already must be a file: a rename would put one in the place of a device or a pipe."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def temporary_beside(path: Path) -> Path:
    """A name of its own in the same folder, short enough wherever that of the file is."""
    return path.with_name(f".evoke-{secrets.token_hex(8)}.tmp")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to be written, which takes the name `path` once it is complete and on the disk.

    A crash at any moment leaves the old file or the new one, and an error leaves the old one and nothing else. Only a
    process that is killed leaves its temporary file, ``.evoke-*.tmp``. A symbolic link stays one: what it leads to is
    replaced.

    Raises
    ------
    OSError
        The folder does not exist or cannot be written, the disk is full, or `path` is no regular file.
    """
    path = Path(os.path.realpath(os.fspath(path)))
    check_replaceable(path)
    temporary = temporary_beside(path)
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename == os.fspath(temporary):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None  # the name that the user knows
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk too; some file systems cannot, and keep the old file or the new one anyway."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
