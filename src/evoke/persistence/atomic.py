"""Files that are replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_replaceable", "naming", "replacing", "temporary_beside"]

# Windows replaces no file that is open elsewhere (access denied, sharing violation). Readers and virus scanners are
# done in a moment; the waits, in seconds, are a second in all.
_IN_USE = (5, 32)
_WAITS = (0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.3)


def check_replaceable(path: Path) -> None:
    """Refuse what is not a regular file: a rename would put one in the place of a device or a pipe."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


def temporary_beside(path: Path) -> Path:
    """A new name in the same folder, short however long that of the file is."""
    return path.with_name(f".evoke-{secrets.token_hex(8)}.tmp")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to be written, which takes the name `path` once it is complete and on the disk.

    A crash at any moment leaves the old file or the new one, and an error leaves the old one and nothing else. Only a
    process that is killed while it writes leaves its temporary file, ``.evoke-*.tmp``, which nothing needs any more. A
    symbolic link stays one: the file that it leads to is replaced. The permissions of the old file are kept. "~" at the
    beginning is the home folder.

    Raises
    ------
    OSError
        The folder does not exist or cannot be written, the disk is full, `path` is not a regular file or leads
        nowhere, or on Windows another program keeps the file open.
    """
    path = Path(_target(os.path.expanduser(os.fspath(path))))
    check_replaceable(path)
    temporary = temporary_beside(path)
    with naming(path, temporary):
        try:
            with open(temporary, "xb") as file:
                _keep_permissions(path, temporary)  # before there is anything to be read
                yield file
                file.flush()
                _sync(file.fileno())
            _replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.chmod(temporary, stat.S_IREAD | stat.S_IWRITE)  # Windows removes no file that is read-only
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    _sync_folder(path.parent)


@contextlib.contextmanager
def naming(path: str | os.PathLike[str], temporary: Path | None = None) -> Iterator[None]:
    """Errors of the system name this file: a full disk names none, and the user does not know a temporary one."""
    try:
        yield
    except OSError as error:
        unknown = (None, None if temporary is None else os.fspath(temporary))
        if error.errno is None or error.filename not in unknown:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _replace(temporary: Path, path: Path) -> None:
    """Give the new file the name of the old one, on Windows as soon as no other program has that open."""
    for wait in (*_WAITS, None):
        try:
            os.replace(temporary, path)
            return
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _IN_USE or not path.exists():
                raise
            if wait is None:
                why = "another program has it open, or it is read-only"
                raise PermissionError(errno.EACCES, why, os.fspath(path)) from None
            time.sleep(wait)


def _keep_permissions(path: Path, temporary: Path) -> None:
    """Give the new file the permissions of the old one, if there is one."""
    with contextlib.suppress(FileNotFoundError):
        old, new = (stat.S_IMODE(os.stat(file).st_mode) for file in (path, temporary))
        if old != new:  # some systems have the same for all files, and none can be set
            os.chmod(temporary, old)


def _target(path: str) -> str:
    """The file that a path leads to; a path of a folder, such as ``new/``, leads to none."""
    if os.path.basename(path) in ("", "."):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    real = os.path.realpath(path)
    if os.path.islink(real):  # links that lead to each other
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return real


def _sync(descriptor: int) -> None:
    """Put a file on the disk, where its system can: some of those in networks cannot be asked to."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk too. Where the system cannot, a crash still leaves the old file or the new one."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
