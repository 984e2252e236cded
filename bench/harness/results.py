"""What a study has measured so far, in a file, so that it can be broken off and continued."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEYS = ("part", "set", "method", "seed")
FOLDER = Path(__file__).parents[2] / "docs" / "results"


class LeftOut(Exception):
    """A method cannot, or need not, be run on a set; the message says why."""


@dataclass(frozen=True)
class Part:
    """Sets, methods with `package` and `seeded`, and what measures one run (set, method, seed).

    `n_seeds` is for parts that need another number than the study.
    """

    sets: tuple[str, ...]
    methods: Mapping[str, Any]
    measure: Callable[[str, str, int], dict[str, Any]]
    n_seeds: int | None = None


class Results:
    """Records of single runs by (part, set, method, seed); with a file, each is written at once."""

    def __init__(self, file: Path | None = None):
        self.file = file
        self.head: dict[str, Any] = {}
        self.runs: list[dict[str, Any]] = []
        if file is not None and file.exists():
            stored = json.loads(file.read_text(encoding="utf-8"))
            self.runs = stored.pop("runs")
            self.head = stored

    def has(self, *key: Any) -> bool:
        return any(tuple(run[k] for k in KEYS) == key for run in self.runs)

    def add(self, *key: Any, **measured: Any) -> None:
        self.runs = [run for run in self.runs if tuple(run[k] for k in KEYS) != key]
        self.runs.append(dict(zip(KEYS, key, strict=True)) | measured)
        self.save()

    def drop(self, part: str, method: str) -> None:
        self.runs = [run for run in self.runs if (run["part"], run["method"]) != (part, method)]

    def of(self, part: str) -> list[dict[str, Any]]:
        return [run for run in self.runs if run["part"] == part]

    def save(self) -> None:
        """Replaces the file in one step, so that a reader never sees half of it."""
        if self.file is None:
            return
        lines = ",\n".join(f"  {json.dumps(run)}" for run in self.runs)
        head = json.dumps(self.head | {"n_runs": len(self.runs)}, indent=1)[:-2]
        beside = self.file.with_suffix(".part")
        beside.write_text(f'{head},\n "runs": [\n{lines}\n ]\n}}\n', encoding="utf-8")
        os.replace(beside, self.file)


def gathered(first: Path, *others: Path) -> Results:
    """The runs of several files, with the head of the first; kept in none."""
    results = Results()
    results.head = Results(first).head
    results.runs = [run for file in (first, *others) for run in Results(file).runs]
    return results
