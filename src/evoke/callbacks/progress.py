"""A progress bar on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from evoke.evolution.run import Callback, Run

__all__ = ["Progress"]


@dataclass(frozen=True)
class Progress:
    """Shows a bar on stderr with the generations, the best fitness and the time, if stderr is a terminal.

    It needs rich (``pip install rich``), which is imported when a bar is shown. For one line per generation, which can
    also go to a file, use ``verbose=1``.

    Examples
    --------
    >>> from evoke import EvokeClassifier
    >>> from evoke.callbacks import Progress
    >>> model = EvokeClassifier(n_generations=1000, callbacks=[Progress()])
    """

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """Show the bar during the run; see `evoke.evolution.Run`."""
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
            task = bar.add_task("", total=run.n_generations, completed=run.esp.generation, fitness=run.esp.best_fitness)

            def show(record: dict[str, Any], _esp: Any) -> None:
                bar.update(task, completed=record["generation"], fitness=record["best_fitness"])

            yield show
