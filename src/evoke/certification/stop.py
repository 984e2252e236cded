"""A callback that ends a run as soon as its best network is certified."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke._validation.parameters import check_integer
from evoke.certification.certificate import MOST_COUNT, certify, parts_of
from evoke.certification.families import Family, strings_of
from evoke.evolution.run import Callback, Run
from evoke.tasks import Language

__all__ = ["CertifiedStop"]

# A wrong decision is an error of at least 1, so below it all decisions of training and validation are right.
RIGHT = 1.0
# The fitness of a network that was refused: every other one is better.
REFUSED = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class CertifiedStop:
    """Callback that ends a run once `evoke.certify` proves that its best network accepts every string of a language.

    Fitness says nothing more where all decisions are right with a margin. So a network that is right on all training
    and validation strings and is not certified is refused: it counts as the worst there is, and the best one of the
    next generation is looked at. Where none is certified until the end, the model has the refused network that was
    certified the furthest, and of these the one with the least error.

    Evolution sees no other strings than before; but which of the networks that fit is kept depends on the family, which
    the certificate is about.

    Parameters
    ----------
    language : str, Language or Family
        What `evoke.certify` takes.
    up_to : int, default=2**52
        The largest count or depth, at most 2^52. With two counts 2^51 is the most that can be hoped for, as their sum
        must be a number that floating point has exactly.

    Raises
    ------
    ParameterError
        An unknown language, or `up_to` out of range. In `fit`: a model that cannot be certified.

    Notes
    -----
    A run with `n_islands` or `n_restarts` is looked at where these meet. A run that continues from a `Checkpoint` or
    with ``warm_start`` does not know the networks that were refused before; with a `Checkpoint` behind this callback in
    the list it otherwise goes on to the same bits. ``history_`` has the fitness of each generation's candidate, which
    may rise from one to the next.

    Examples
    --------
    >>> from evoke import EvokeClassifier, certify, tasks
    >>> from evoke.certification import CertifiedStop
    >>> from evoke.reproduce import PRESETS
    >>> model = EvokeClassifier(**PRESETS["languages"], callbacks=[CertifiedStop("anbn")], random_state=0)
    >>> model = model.fit(*tasks.language("anbn").encode_counts(5))
    >>> certify(model, "anbn").certified, len(model.history_) < 100
    (True, True)
    """

    language: str | Language | Family
    up_to: int = MOST_COUNT

    def __post_init__(self) -> None:
        strings_of(self.language)
        check_integer("up_to", self.up_to, 1, MOST_COUNT)

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """Look at the best network of each generation; see `evoke.evolution.Run`."""
        refused, looked = Refused(), False

        def ended(_record: dict[str, Any], esp: Any) -> bool:
            nonlocal looked
            assert run.model is not None
            if not looked and esp.best is not None:
                parts_of(run.model(), strings_of(self.language))  # fails at once where it would in the end
                looked = True
            if not esp.best_fitness < RIGHT:
                return False
            certificate = certify(run.model(), self.language, self.up_to, quick=True)
            if certificate.certified:
                refused.forget()
                return True
            refused.add(certificate.up_to, esp)
            if esp.generation < run.n_generations:
                esp.judge_best_anew(REFUSED)
            else:
                refused.put_back(esp)
            return False

        try:
            yield ended
        finally:
            refused.put_back(run.esp)


class Refused:
    """The best of the networks that were refused in one run."""

    def __init__(self) -> None:
        self._rank: tuple[int, float] | None = None
        self._best: dict[str, Any] = {}

    def add(self, up_to: int, esp: Any) -> None:
        """Keep the best network so far of an engine, if it is better than the one that is kept."""
        rank = up_to, -esp.best_fitness
        if self._rank is None or rank > self._rank:
            state = esp.state_dict()
            self._rank, self._best = rank, {name: state[name] for name in ("best", "best_fitness")}

    def forget(self) -> None:
        """Keep none."""
        self.__init__()

    def put_back(self, esp: Any) -> None:
        """Make the one that is kept the best network so far of an engine."""
        if self._rank is not None:
            esp.load_state_dict(esp.state_dict() | self._best)
