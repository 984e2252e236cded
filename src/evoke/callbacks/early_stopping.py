"""An early end of a run that is good enough or no longer improves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke._validation.errors import ParameterError
from evoke._validation.parameters import check_integer, check_not_negative
from evoke.evolution.run import Callback, Run

__all__ = ["EarlyStopping"]


@dataclass(frozen=True)
class EarlyStopping:
    """Ends a run that is good enough or no longer improves.

    The decision depends only on the records. A run therefore ends at the same generation for any number of jobs, and
    also if it was interrupted and resumed or is continued with ``warm_start``. Records from before a warm start on
    other data or with another objective do not count. If a run that was ended like this is continued, it ends at once:
    to train further, raise `patience` or lower `target`.

    Parameters
    ----------
    patience : int or None, default=None
        The run ends after this many consecutive generations without a better fitness. None: no limit.
    target : float or None, default=None
        The run ends when the best fitness, the sum of training and validation error, is at most this. None: no target.
    min_delta : float, default=0.0
        A fitness counts as better if it is lower by more than this.
    relative_delta : float, default=0.0
        And by more than this part of the best one so far.

    Raises
    ------
    ValueError
        A value out of range, or neither `patience` nor `target`.

    Notes
    -----
    With ``validation="loo"`` the fitness is the sum of the errors of n sequences, each of which was left out. Its
    standard error is about ``1 / sqrt(n)`` of it where errors scatter as much as they are large; what is gained below
    that may as well be chance. ``relative_delta=0.1`` is that of 100 sequences.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.callbacks import EarlyStopping
    >>> model = EvokeClassifier(n_generations=1000, callbacks=[EarlyStopping(patience=5)], random_state=0)
    >>> history = model.fit(*tasks.anbncn(3)).history_
    >>> len(history) < 1000, history[-6]["best_fitness"] == history[-1]["best_fitness"]
    (True, True)

    Whole sequences, until the leave-one-out error no longer improves by a tenth:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(40) % 2
    >>> X = [rng.normal(size=(20, 1)).cumsum(axis=label) for label in y]
    >>> stopping = EarlyStopping(patience=2, relative_delta=0.1)
    >>> model = EvokeClassifier(n_generations=100, subpopulation_size=20, callbacks=[stopping], random_state=0)
    >>> len(model.fit(X, y).history_) < 20
    True
    """

    patience: int | None = None
    target: float | None = None
    min_delta: float = 0.0
    relative_delta: float = 0.0

    def __post_init__(self) -> None:
        if self.patience is None and self.target is None:
            raise ParameterError("patience=None and target=None would never end a run: give one of them")
        if self.patience is not None:
            check_integer("patience", self.patience, 1)
        if self.target is not None:
            check_not_negative("target", self.target)
        check_not_negative("min_delta", self.min_delta)
        check_not_negative("relative_delta", self.relative_delta)

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """Judge the records so far, then each new one; see `evoke.evolution.Run`."""
        ended = self._judge()
        run.stopped |= any([ended(record) for record in run.history[run.first :]])
        yield lambda record, _esp: ended(record)

    def _judge(self) -> Callable[[dict[str, Any]], bool]:
        """A function that is called with the records of one run in order and returns whether the run ends."""
        best, n_waited = np.inf, 0

        def ended(record: dict[str, Any]) -> bool:
            nonlocal best, n_waited
            fitness = record["best_fitness"]
            delta = 0.0 if best == np.inf else max(self.min_delta, self.relative_delta * best)
            if fitness < best - delta:
                best, n_waited = fitness, 0
            else:
                n_waited += 1
            return bool(
                (self.target is not None and fitness <= self.target)
                or (self.patience is not None and n_waited >= self.patience)
            )

        return ended
