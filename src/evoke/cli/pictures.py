"""Figures that the command line draws; Matplotlib is imported only if one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evoke.cli.files import write

__all__ = ["check_drawable", "draw"]


def check_drawable(path: Path) -> None:
    """Fails now, if the figure could not be drawn after the work."""
    from evoke.plot import check_picture

    check_picture(_kind(path))


def draw(display: Callable[[Any], Any], path: Path) -> None:
    """Write what `display` draws into the Matplotlib Figure that it is given."""
    from evoke.plot import picture

    write(path, picture(display, _kind(path)))


def _kind(path: Path) -> str:
    return path.suffix[1:].lower()
