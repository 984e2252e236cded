"""Figures that the command line draws; Matplotlib is imported only when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from evoke.cli.paths import write

__all__ = ["MOST_DRAWN", "check_drawable", "draw", "draw_sequences"]

MOST_DRAWN = 6  # sequences in one figure


def check_drawable(path: Path | None) -> None:
    """Fails now if the figure could not be drawn after the work."""
    if path is not None:
        from evoke.plot import check_picture

        check_picture(_kind(path))


def draw(display: Callable[[Any], Any] | dict[str, Callable[[Any], Any]], path: Path) -> None:
    """Write what `display` draws into the Matplotlib Figure that it is given, or several under their titles."""
    from evoke.plot import picture

    write(path, picture(display, _kind(path)))


def draw_sequences(display: Callable[..., Any], names: list[Any], parts: list[tuple[Any, ...]], path: Path) -> None:
    """Write a display of each of the first sequences under its name; of a single one without a name, which is None.

    `display` is called with a Matplotlib Figure and one of the `parts`.
    """
    draws = {
        name: (lambda figure, part=part: display(figure, *part))
        for name, part in islice(zip(names, parts, strict=True), MOST_DRAWN)
    }
    draw(draws[None] if None in draws else {str(name): draw_one for name, draw_one in draws.items()}, path)


def _kind(path: Path) -> str:
    return path.suffix[1:].lower()
