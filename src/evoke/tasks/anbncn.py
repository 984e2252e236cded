"""The language of the paper, a^n b^n c^n: its strings, and how far a model accepts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_integer, check_method
from evoke.tasks._limits import MOST_COUNT, MOST_STEPS
from evoke.tasks.languages import language

__all__ = ["anbncn", "anbncn_accepted", "anbncn_accepts", "anbncn_margins"]

ANBNCN = language("anbncn")


def anbncn(n: int | Iterable[int]) -> tuple[list[FloatArray], list[NDArray[np.int64]]]:
    """Strings of the context-sensitive language a^n b^n c^n, to be predicted symbol by symbol.

    Parameters
    ----------
    n : int or iterable of int
        The strings 1..n, or those of the given numbers.

    Returns
    -------
    X : list of (3 n + 1, 4) arrays
        The start symbol S and the string, one unit for each of S, a, b, c: +1 where observed, -1 elsewhere.
    y : list of (3 n + 1, 4) arrays of 0 and 1
        Which of a, b, c and the end T may follow. After S only a (the language has n > 0), after an a another a or
        the first b.

    Examples
    --------
    >>> X, y = anbncn([2])
    >>> ["".join("abcT"[k] for k in row.nonzero()[0]) for row in y[0]]
    ['a', 'ab', 'ab', 'b', 'c', 'c', 'T']
    """
    numbers: Any
    if not np.iterable(n) or isinstance(n, (str, bytes, Mapping)):
        numbers = range(1, check_integer("n", n, 1, MOST_STEPS) + 1)
        n_steps = numbers[-1] * (3 * numbers[-1] + 5) // 2
    else:
        numbers = [check_integer(f"n[{i}]", k, 1, MOST_STEPS) for i, k in enumerate(n)]
        n_steps = sum(3 * k + 1 for k in numbers)
    if n_steps > MOST_STEPS:
        raise refusal("n", f"give at most {MOST_STEPS} steps in all, not {n_steps}", n)
    return ANBNCN.encode_counts([(k,) for k in numbers])


def anbncn_accepted(model: Any, test_max: int = 2000) -> int:
    """The largest m such that `model` accepts all strings n = 1..m, tested up to `test_max`.

    A string is accepted if all four outputs are right at every step.

    Parameters
    ----------
    model : object with ``decision_function`` of a list of sequences
        A fitted `EvokeClassifier`, for instance.
    test_max : int
        The longest string tried.

    Returns
    -------
    int
        0 if even the string n = 1 is rejected.
    """
    return ANBNCN.accepted(model, test_max)


def anbncn_accepts(model: Any, n: int) -> bool:
    """Whether `model` accepts the one string of `n`, however long: it is fed piece by piece, the state carried over.

    What provably repeats is skipped (`evoke.estimators.streams.ClassifierStream.repeat`).

    Parameters
    ----------
    model : object with ``stream``
        A fitted `EvokeClassifier`, for instance.
    n : int
        At least 1.

    Returns
    -------
    bool
        Whether all four outputs are right at every step.
    """
    return bool(ANBNCN.accepts(model, check_integer("n", n, 1, MOST_COUNT)))


def anbncn_margins(model: Any, test_max: int = 2000) -> tuple[FloatArray, NDArray[np.bool_]]:
    """By how much `model` accepts or rejects each of the strings n = 1..test_max.

    Parameters
    ----------
    model : object with ``decision_function`` of a list of sequences
        A fitted `EvokeClassifier`, for instance.
    test_max : int
        The longest string judged.

    Returns
    -------
    margins : ndarray of shape (test_max,)
        The least decision value over all steps and outputs of a string, those of outputs that are to say no with their
        sign changed: negative if one of them is wrong.
    accepted : bool ndarray of shape (test_max,)
        Whether all are right. Zero says no, so a string with a margin of zero may be either.
    """
    test_max = check_integer("test_max", test_max, 1, MOST_STEPS)
    check_method("model", model, "decision_function")
    margins, accepted = np.empty(test_max), np.empty(test_max, dtype=bool)
    for batch in ANBNCN.batches(test_max):
        X, y = ANBNCN.encode_counts(batch)
        for (n,), decisions, legal in zip(batch, model.decision_function(X), y, strict=True):
            margins[n - 1] = np.where(legal > 0, decisions, -decisions).min()
            accepted[n - 1] = np.array_equal(decisions > 0, legal > 0)
    return margins, accepted
