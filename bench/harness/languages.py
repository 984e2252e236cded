"""What the study `languages` measures: languages learnt from their strings, and a^n b^n c^n from few of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evoke import tasks
from evoke.reproduce import run_language
from harness.results import Part

# From which strings a^n b^n c^n is learnt; the last are long ones.
CHOICES: dict[str, tuple[int, ...]] = {
    "1, 2": (1, 2), "1..3": (1, 2, 3), "1..4": (1, 2, 3, 4), "1..5": (1, 2, 3, 4, 5), "1, 2, 4, 8": (1, 2, 4, 8),
    "1, 3, 5, 7, 9": (1, 3, 5, 7, 9),
    **{f"1..{n}": tuple(range(1, n + 1)) for n in (10, 20, 30, 40)},
}  # fmt: skip
FEW = "anbncn"


@dataclass(frozen=True)
class Method:
    """The preset; it depends on the seed, and needs no other package."""

    seeded: bool = True
    package: str | None = None


def measure_language(name: str, _method: str, seed: int) -> dict[str, Any]:
    return _without_names(run_language(seed, name))


def measure_choice(choice: str, _method: str, seed: int) -> dict[str, Any]:
    strings = tasks.language(FEW).strings(CHOICES[choice])
    return _without_names(run_language(seed, FEW, strings=strings))


def _without_names(run: dict[str, Any]) -> dict[str, Any]:
    """The record has the set and the seed already."""
    return {key: value for key, value in run.items() if key not in ("language", "seed")}


METHODS = {"preset": Method()}
LANGUAGES = Part(tasks.LANGUAGES, METHODS, measure_language)
FEWEST = Part(tuple(CHOICES), METHODS, measure_choice)
