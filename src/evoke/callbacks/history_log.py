"""A log of a run: its records in a file."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evoke.callbacks.accompanying import going_on
from evoke.callbacks.files import PathOfFit, check_path_of_fit, file_of
from evoke.evolution.run import Callback, Run
from evoke.persistence.atomic import check_replaceable, naming

__all__ = ["HistoryLog"]

_SUFFIXES = (".csv", ".jsonl")


@dataclass(frozen=True)
class HistoryLog:
    """Writes one record per generation to a file, as CSV or as JSON lines.

    The records are those of ``history_``. Each is passed to the operating system at once, so that the file can be
    followed while the run continues. A run that is continued, from a `Checkpoint` or with ``warm_start``, continues its
    log: records from after the checkpoint are removed, missing ones are added. A new run starts a new log.

    Parameters
    ----------
    path : str, PathLike or callable
        The suffix determines the format: ``.csv``, with the names in the first line, or ``.jsonl``, in which values
        that are not finite are null. ``{key}``, functions and ``~`` are as in `Checkpoint`.

    Raises
    ------
    ValueError
        A path with another suffix. In `fit`: the existing file is not such a log, or another fit is also writing to it.
    OSError
        In `fit`: the file cannot be written from the beginning.

    Warns
    -----
    NotWrittenWarning
        In `fit`: the file can no longer be written. The run continues, and it is tried again every generation.

    Examples
    --------
    >>> import csv
    >>> import tempfile
    >>> from pathlib import Path
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.callbacks import HistoryLog
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "run.csv"
    ...     model = EvokeClassifier(n_generations=2, callbacks=[HistoryLog(file)], random_state=0)
    ...     model = model.fit(*tasks.anbncn(3))
    ...     [row["generation"] for row in csv.DictReader(file.read_text().splitlines())]
    ['1', '2']
    """

    path: PathOfFit

    def __post_init__(self) -> None:
        check_path_of_fit(self.path, _SUFFIXES)

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """Write the history so far, then append each new record; see `evoke.evolution.Run`."""
        path = file_of(self.path, run, _SUFFIXES)
        if path.exists():
            check_replaceable(path)
            with open(path, encoding="utf-8", errors="replace") as file:
                first = file.readline()
                if first and not first.startswith(("generation,", '{"generation": ')):
                    raise ValueError(f"{str(path)!r} is not a log of generations; it is left unchanged")
        size: int | None = _write(path, "w", run.history)
        waiting: list[dict[str, Any]] = []

        def write() -> None:
            nonlocal size
            before, size = size, None
            if before is not None and os.path.getsize(path) != before:
                waiting.clear()  # the file is of another fit
                raise ValueError(
                    f"{str(path)!r} was changed during the fit: every fit needs a path of its own, such as one with "
                    "{key} in it"
                )
            if before is None:  # it failed, and the file may end anywhere
                size = _write(path, "w", run.history[: waiting[-1]["generation"]])
            else:
                size = _write(path, "a", waiting)
            waiting.clear()

        def append(record: dict[str, Any], _esp: Any) -> None:
            waiting.append(record)
            with going_on(path):
                write()

        try:
            yield append
        finally:
            if waiting:
                with going_on(path):
                    write()


def _write(path: Path, mode: str, records: list[dict[str, Any]]) -> int:
    """Write or append records; return the size of the file afterwards."""
    with naming(path), open(path, mode, newline="", encoding="utf-8") as file:
        if path.suffix == ".jsonl":
            file.writelines(json.dumps(_without_infinity(record)) + "\n" for record in records)
        elif records:
            table = csv.DictWriter(file, list(records[0]), lineterminator="\n")
            if file.tell() == 0:
                table.writeheader()
            table.writerows(records)
        file.flush()
        return file.tell()


def _without_infinity(record: dict[str, Any]) -> dict[str, Any]:
    """The record as JSON can hold it: it has neither NaN nor infinity."""
    return {name: value if math.isfinite(value) else None for name, value in record.items()}
