"""Warnings that name the line of the user, however deep they are found."""

from __future__ import annotations

import inspect
import warnings

__all__ = ["warn"]

_NOT_THE_USER = ("evoke", "sklearn")  # packages, the latter because it wraps our methods


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called us from outside."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _NOT_THE_USER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
