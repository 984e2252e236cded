"""Options that several command lines share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable


def add_only(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """The option --only NAME,... that chooses some of the names; without it, all."""
    known = list(names)
    parser.add_argument(
        "--only", metavar="NAME,...", type=_some_of(known), default=known, help=f"some of {', '.join(known)}"
    )


def _some_of(known: list[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        if unknown := set(names) - set(known):
            raise argparse.ArgumentTypeError(f"unknown {', '.join(sorted(unknown))}; known are {', '.join(known)}")
        return names

    return parse
