"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import platform
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
    return path.with_name(f"{_beginning(path)}{secrets.token_hex(8)}.tmp")


def _beginning(path: Path) -> str:
    """What the names of a file's temporary ones begin with; another host's differ, as its locks may not be seen."""
    return f".evoke-{hashlib.sha256(os.fsencode(f'{platform.node()}/{path.name}')).hexdigest()[:16]}-"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to be written, which takes the name `path` once it is complete and on the disk.

    A crash at any moment leaves the old file or the new one, and an error leaves the old one and nothing else. Only a
    process that is killed leaves its temporary file, ``.evoke-*.tmp``, which the next one to write the same file on the
    same host removes. A symbolic link stays one: what it leads to is replaced.

    Raises
    ------
    OSError
        The folder does not exist or cannot be written, the disk is full, or `path` is no regular file or leads nowhere.
    """
    path = Path(_target(os.fspath(path)))
    check_replaceable(path)
    _remove_left_behind(path)
    temporary = temporary_beside(path)
    try:
        with _open_locked(temporary) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)  # while it is locked
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename == os.fspath(temporary):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None  # the name that the user knows
        raise
    _sync_folder(path.parent)


def _target(path: str) -> str:
    """The file that a path leads to; a folder, by its name or by what is there, has none."""
    if os.path.basename(path) in ("", "."):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    real = os.path.realpath(path)
    if os.path.islink(real):  # links that lead to each other
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return real


@contextlib.contextmanager
def _open_locked(temporary: Path) -> Iterator[BinaryIO]:
    """A new file with a lock, which the system takes off when the process ends, however that comes about."""
    while True:
        with open(temporary, "xb") as file:
            with contextlib.suppress(OSError):  # where there are no locks nothing is removed
                fcntl.flock(file, fcntl.LOCK_EX)
            if temporary.exists():  # else another process was quicker with its lock and has removed it
                yield file
                return


def _remove_left_behind(path: Path) -> None:
    """Remove the temporary files of this one that no living process has locked."""
    beginning = _beginning(path)
    try:
        names = os.listdir(path.parent)
    except OSError:  # a folder may be writable all the same
        return
    for name in names:
        if name.startswith(beginning):
            with contextlib.suppress(OSError):  # it is locked, has gone, is another user's
                descriptor = os.open(path.with_name(name), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.with_name(name).unlink()
                finally:
                    os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk too; some file systems cannot, and keep the old file or the new one anyway."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
