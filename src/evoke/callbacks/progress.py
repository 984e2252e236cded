"""How a run is getting on: a bar on a terminal or in a notebook, lines elsewhere."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any

from evoke.callbacks.accompanying import unheard
from evoke.evolution.run import Callback, Run

__all__ = ["Progress"]

# Generations completed, the one under way as a fraction, and the best fitness so far.
Show = Callable[[float, float], None]

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_PICTURES = 0.1


@dataclass(frozen=True)
class Progress:
    """Shows how many generations of a run are done, the best fitness and the time.

    On a terminal and in a notebook it is a bar, which also moves within a generation, unless other processes evaluate
    it. It needs rich (``pip install rich``), which is imported when a bar is shown. Where stderr is a pipe or a file it
    is a line now and then, every ten seconds at most and no more than a hundred in all, and one at the end. For one
    line per generation use ``verbose=1``.

    Examples
    --------
    >>> from evoke import EvokeClassifier
    >>> from evoke.callbacks import Progress
    >>> model = EvokeClassifier(n_generations=1000, callbacks=[Progress()])
    """

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """Show the run from its beginning to its end; see `evoke.evolution.Run`."""
        with ExitStack() as stack:
            place, failed, show_it = _place()(run), True, None
            with unheard():
                show_it, failed = place.__enter__(), False
                stack.push(_quietly(place))

            def show(completed: float, fitness: float) -> None:
                nonlocal failed
                if show_it is not None and not failed:
                    failed = True
                    with unheard():
                        show_it(completed, fitness)
                        failed = False

            run.listeners.append(lambda share: show(run.esp.generation + share, run.esp.best_fitness))
            yield lambda record, _esp: show(record["generation"], record["best_fitness"])


def _quietly(place: AbstractContextManager[Show]) -> Callable[..., None]:
    """The end of what is shown, which a terminal that has gone does not make an error of."""

    def end(*error: Any) -> None:
        with unheard():
            place.__exit__(None, None, None)  # the error of the run is not for it

    return end


def _place() -> Callable[[Run], AbstractContextManager[Show]]:
    """Where progress can be seen."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None:
        return _in_notebook
    if sys.stderr is None:
        return _nowhere
    return _on_terminal if sys.stderr.isatty() else _in_lines


@contextmanager
def _nowhere(run: Run) -> Iterator[Show]:
    yield lambda completed, fitness: None


@contextmanager
def _on_terminal(run: Run) -> Iterator[Show]:
    bar, show = _bar(run)
    with bar:
        yield show


@contextmanager
def _in_notebook(run: Run) -> Iterator[Show]:
    """IPython's displays can be replaced by themselves; rich's own way to do so takes ipywidgets."""
    from IPython.display import display  # type: ignore[import-not-found]

    bar, update = _bar(run)
    picture, last = display(bar, display_id=True), monotonic()

    def show(completed: float, fitness: float) -> None:
        nonlocal last
        update(completed, fitness)
        if monotonic() - last >= SECONDS_BETWEEN_PICTURES:
            picture.update(bar)
            last = monotonic()

    try:
        yield show
    finally:
        bar.stop_task(bar.task_ids[0])
        picture.update(bar)


def _bar(run: Run) -> tuple[Any, Show]:
    """A bar of rich, and what moves it."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError as error:
        raise ImportError(f"Progress needs rich: pip install rich ({error})") from None
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("generations, {task.fields[fitness]}"),
               TimeElapsedColumn(), TimeRemainingColumn())  # fmt: skip
    bar = Bar(*columns, console=Console(stderr=True))
    task = bar.add_task("", total=run.n_generations, completed=run.esp.generation, fitness=_said(run.esp.best_fitness))
    return bar, lambda completed, fitness: bar.update(task, completed=completed, fitness=_said(fitness))


def _said(fitness: float) -> str:
    return f"fitness {fitness:.4g}" if fitness < math.inf else "no fitness yet"


@contextmanager
def _in_lines(run: Run) -> Iterator[Show]:
    begin = said_at = monotonic()
    now = said = (float(run.esp.generation), run.esp.best_fitness)

    def say() -> None:
        nonlocal said, said_at
        said, said_at = now, monotonic()
        time = timedelta(seconds=round(said_at - begin))
        print(f"generation {now[0]:.4g} of {run.n_generations}, {_said(now[1])}, {time}", file=sys.stderr)

    def show(completed: float, fitness: float) -> None:
        nonlocal now
        now = completed, fitness
        if monotonic() - said_at >= SECONDS_BETWEEN_LINES and completed - said[0] >= run.n_generations / 100:
            say()

    try:
        yield show
    finally:
        if now != said:
            say()
