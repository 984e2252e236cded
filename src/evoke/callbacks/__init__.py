"""What accompanies a long run: progress, an early end, checkpoints, a log.

Each object goes into the ``callbacks`` of an estimator, in any order. None of them keeps anything of a run, so they can
be used again, copied and pickled. How to write one's own is said at `evoke.evolution.Run`; often a function
``(record, esp)`` is enough, which is called after every generation and ends the run with a true result.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evoke._validation.parameters import check_integer, check_not_negative, check_path
from evoke.callbacks.checkpoint import Checkpoint
from evoke.evolution.run import Callback, Run
from evoke.persistence.atomic import check_replaceable

__all__ = ["Checkpoint", "EarlyStopping", "HistoryLog", "Progress"]


@dataclass(frozen=True)
class Progress:
    """A bar on stderr with the generations, the best fitness and the time; nothing where stderr is no terminal.

    It needs rich (``pip install rich``), which is imported when a bar is shown. For a line a generation, in a file too,
    there is ``verbose=1``.

    Examples
    --------
    >>> from evoke import EvokeClassifier
    >>> from evoke.callbacks import Progress
    >>> model = EvokeClassifier(n_generations=1000, callbacks=[Progress()])
    """

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """The bar; see `evoke.evolution.Run`."""
        if sys.stderr is None or not sys.stderr.isatty():
            yield lambda _record, _esp: None
            return
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar
        except ImportError as error:
            raise ImportError(f"Progress needs rich: pip install rich ({error})") from None
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("generations, fitness {task.fields[fitness]:.4g}"),
                   TimeElapsedColumn(), TimeRemainingColumn())  # fmt: skip
        with Bar(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(
                "", total=run.n_generations, completed=run.esp.generation, fitness=run.esp.best_fitness
            )

            def show(record: dict[str, Any], _esp: Any) -> None:
                bar.update(task, completed=record["generation"], fitness=record["best_fitness"])

            yield show


@dataclass(frozen=True)
class EarlyStopping:
    """Ends a run that is good enough or does not get better.

    It depends on the records alone, so it ends a run at the same generation for any number of jobs, and also if the run
    was cut and resumed or goes on by ``warm_start``. Records of a warm start on other data or of another objective do
    not count. A run that has ended so and is continued ends at once; to go on, raise `patience` or lower `target`.

    Parameters
    ----------
    patience : int or None, default=None
        Generations in a row without a better fitness after which the run ends; None: no such end.
    target : float or None, default=None
        The run ends when the best fitness, the training plus the validation error, is this low; None: no such end.
    min_delta : float, default=0.0
        A fitness is better if it is lower by more than this.

    Raises
    ------
    ValueError
        A value out of range, or neither `patience` nor `target`.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.callbacks import EarlyStopping
    >>> model = EvokeClassifier(n_generations=1000, callbacks=[EarlyStopping(patience=5)], random_state=0)
    >>> history = model.fit(*tasks.anbncn(3)).history_
    >>> len(history) < 1000, history[-6]["best_fitness"] == history[-1]["best_fitness"]
    (True, True)
    """

    patience: int | None = None
    target: float | None = None
    min_delta: float = 0.0

    def __post_init__(self) -> None:
        if self.patience is None and self.target is None:
            raise ValueError("patience=None and target=None would never end a run: give one of them")
        if self.patience is not None:
            check_integer("patience", self.patience, 1)
        if self.target is not None:
            check_not_negative("target", self.target)
        check_not_negative("min_delta", self.min_delta)

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """Judges the records of the past, then each new one; see `evoke.evolution.Run`."""
        ended = self._judge()
        run.stopped |= any([ended(record) for record in run.history[run.first :]])
        yield lambda record, _esp: ended(record)

    def _judge(self) -> Callable[[dict[str, Any]], bool]:
        """A function that is told record after record of one run, and says whether that is the end."""
        least, n_waited = np.inf, 0

        def ended(record: dict[str, Any]) -> bool:
            nonlocal least, n_waited
            fitness = record["best_fitness"]
            if fitness < least - self.min_delta:
                least, n_waited = fitness, 0
            else:
                n_waited += 1
            return bool(
                (self.target is not None and fitness <= self.target)
                or (self.patience is not None and n_waited >= self.patience)
            )

        return ended


@dataclass(frozen=True)
class HistoryLog:
    """Writes a record a generation to a file, as CSV or as JSON lines.

    The records are those of ``history_``. Each is handed to the operating system at once and can be followed while the
    run goes on. A run that goes on, from a `Checkpoint` or by ``warm_start``, continues its log: what is beyond the
    checkpoint is taken back, what is missing is put in. A run that begins anew begins its log anew.

    Parameters
    ----------
    path : str or PathLike
        Its suffix says the format: ``.csv``, with the names in the first line, or ``.jsonl``. In the latter what is not
        finite is null.

    Raises
    ------
    ValueError
        A path without one of the suffixes. In `fit`: what is there is no such log, or another fit writes to it too.
    OSError
        In `fit`: the file cannot be written.

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

    path: str | os.PathLike[str]

    def __post_init__(self) -> None:
        check_path(self.path)
        if Path(self.path).suffix not in (".csv", ".jsonl"):
            raise ValueError(f"path must end in .csv or .jsonl, got {self.path!r}")

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """Bring the file up to the history, then append; see `evoke.evolution.Run`."""
        path = Path(self.path)
        if path.exists():
            check_replaceable(path)
            with open(path, encoding="utf-8", errors="replace") as file:
                first = file.readline()
                if first and not first.startswith(("generation,", '{"generation": ')):
                    raise ValueError(f"{os.fspath(self.path)!r} is not a log of generations; it is left as it is")
        size = self._write("w", run.history)

        def append(record: dict[str, Any], _esp: Any) -> None:
            nonlocal size
            if os.path.getsize(path) != size:
                raise ValueError(
                    f"{os.fspath(self.path)!r} was changed during the fit: every fit needs a path of its own"
                )
            size = self._write("a", [record])

        yield append

    def _write(self, mode: str, records: list[dict[str, Any]]) -> int:
        """Write or append records; the size of the file behind them."""
        with open(self.path, mode, newline="", encoding="utf-8") as file:
            if Path(self.path).suffix == ".jsonl":
                file.writelines(json.dumps({k: finite(v) for k, v in record.items()}) + "\n" for record in records)
            elif records:
                table = csv.DictWriter(file, list(records[0]), lineterminator="\n")
                if file.tell() == 0:
                    table.writeheader()
                table.writerows(records)
            file.flush()
            return file.tell()


def finite(value: Any) -> Any:
    """JSON has neither NaN nor infinity."""
    return value if math.isfinite(value) else None
