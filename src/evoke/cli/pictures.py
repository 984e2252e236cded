"""Figures that the command line draws; Matplotlib is imported only if one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from evoke.cli.files import write

__all__ = ["check_drawable", "draw", "draw_sequences"]

MOST_DRAWN = 6  # sequences in one figure; the help says so too


def check_drawable(path: Path) -> None:
    """Fails now, if the figure could not be drawn after the work."""
    from evoke.plot import check_picture

    check_picture(_kind(path))


def draw(display: Callable[[Any], Any] | dict[str, Callable[[Any], Any]], path: Path) -> None:
    """Write what `display` draws into the Matplotlib Figure that it is given, or several under their titles."""
    from evoke.plot import picture

    write(path, picture(display, _kind(path)))


def draw_sequences(display: Callable[..., Any], sequences: dict[Any, tuple[Any, ...]], path: Path) -> None:
    """Write a display of each of the first sequences under its name, or of one that has no name, which is None.

    `display` is called with a Matplotlib Figure and what `sequences` holds of a sequence.
    """
    draws = {
        name: (lambda figure, parts=parts: display(figure, *parts))
        for name, parts in islice(sequences.items(), MOST_DRAWN)
    }
    draw(draws[None] if None in draws else {str(name): draw_one for name, draw_one in draws.items()}, path)


def _kind(path: Path) -> str:
    return path.suffix[1:].lower()
