"""The progress bar of ``evoke reproduce``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(title: str, runs: int, generations: int) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """A bar on stderr if that is a terminal, else nothing.

    Yields the function to which an experiment reports what is known of a run. `title` stands before the bar.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    done: dict[tuple[str | None, int], int] = {}
    columns = (TextColumn(title + "run {task.fields[run]}/{task.fields[runs]}"), BarColumn(), MofNCompleteColumn(),
               TextColumn("generations, {task.fields[state]}"), TimeElapsedColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=runs * generations, run=1, runs=runs, state="starting")

        def show(run: dict[str, Any]) -> None:
            key = run.get("language"), run["seed"]
            done[key] = generations if run["status"] in ("finished", "failed") else run["generations"]
            fitness = "no fitness yet" if run["fitness"] is None else f"fitness {run['fitness']:.3g}"
            bar.update(task, completed=sum(list(done.values())), run=len(done), state=f"seed {run['seed']}: {fitness}")

        yield show
