"""The progress bar of ``evoke reproduce``, and how long ``evoke fit`` will take where no bar is seen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import Any

from evoke.cli.errors import print_note

__all__ = ["TimeLeft", "progress_bar"]

LEAST_SECONDS = 60.0  # that are worth a word
MOST_SECONDS = 1e11  # three thousand years, far from what timedelta can hold


class TimeLeft:
    """Says once, after the first networks, about how long a run will take, if that is a minute or more."""

    @contextmanager
    def watch(self, run: Any) -> Iterator[Callable[..., None]]:
        """Take the time of the first networks; see `evoke.evolution.Run`."""
        begin, first, is_said = monotonic(), run.esp.generation, False

        def say(done: float) -> None:
            nonlocal is_said
            if is_said or done <= first:
                return
            is_said = True
            seconds = (monotonic() - begin) * (run.n_generations - done) / (done - first)
            if seconds >= LEAST_SECONDS:
                time = timedelta(seconds=round(min(seconds, MOST_SECONDS)))
                print_note(f"about {time} to go, to the end of generation {run.n_generations}.")

        run.listeners.append(lambda share: say(run.esp.generation + share))
        yield lambda record, _esp: say(record["generation"])


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
