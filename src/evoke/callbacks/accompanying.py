"""What accompanies a run does not cost the run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from evoke._validation.warn import warn
from evoke.exceptions import ModelFileError, NotWrittenWarning

__all__ = ["going_on", "unheard"]


@contextmanager
def going_on(path: str | os.PathLike[str]) -> Iterator[None]:
    """A file that cannot be written, on a full disk for instance, becomes a warning that names it."""
    try:
        yield
    except (OSError, ModelFileError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        named = getattr(error, "filename", None)
        of = "" if named is None or os.fspath(path) == named else f" ({named})"
        warn(f"{os.fspath(path)!r} could not be written: {reason}{of}; the run continues without it", NotWrittenWarning)


@contextmanager
def unheard() -> Iterator[None]:
    """A stderr that is full or closed, such as a terminal that has gone, is not spoken to."""
    try:
        yield
    except (OSError, ValueError) as error:  # the latter for a file that was closed by Python
        if isinstance(error, ValueError) and "closed file" not in str(error):
            raise
