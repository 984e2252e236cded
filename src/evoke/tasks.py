"""The tasks of the paper: data, splits and scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["anbncn", "anbncn_accepted", "anbncn_accepts"]

FloatArray = NDArray[np.float64]

INPUT_SYMBOLS = "Sabc"
TARGET_SYMBOLS = "abcT"
# Rows of strings that are tested at a time: bounds the memory of testing strings of any length.
ROWS_AT_ONCE = 65536


def _check_n(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"n must be an integer, got {n!r}")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    return int(n)


def _inputs(n: int, begin: int, end: int) -> FloatArray:
    """Rows begin..end of the input S a^n b^n c^n: +1 for the symbol observed, -1 for the others."""
    t = np.arange(begin, end)
    symbol = np.where(t == 0, 0, 1 + (t - 1) // n)
    rows = np.full((end - begin, 4), -1.0)
    rows[np.arange(end - begin), symbol] = 1.0
    return rows


def _targets(n: int, begin: int, end: int) -> NDArray[np.bool_]:
    """Rows begin..end of the legal next symbols (a, b, c, T): a or b while a is read, then what is still missing."""
    t = np.arange(begin, end)
    legal = np.zeros((end - begin, 4), dtype=bool)
    legal[:, 0] = t <= n
    legal[:, 1] = (t >= 1) & (t < 2 * n)
    legal[:, 2] = (t >= 2 * n) & (t < 3 * n)
    legal[:, 3] = t == 3 * n
    return legal


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
    numbers = range(1, _check_n(n) + 1) if isinstance(n, (int, np.integer)) else [_check_n(k) for k in n]
    X = [_inputs(k, 0, 3 * k + 1) for k in numbers]
    y = [_targets(k, 0, 3 * k + 1).astype(np.int64) for k in numbers]
    return X, y


def _batches(first: int, last: int) -> Iterator[range]:
    """Ranges of n whose strings hold about ROWS_AT_ONCE rows together."""
    while first <= last:
        end, rows = first, 0
        while end <= last and (end == first or rows + 3 * end + 1 <= ROWS_AT_ONCE):
            rows += 3 * end + 1
            end += 1
        yield range(first, end)
        first = end


def anbncn_accepted(model: Any, test_max: int = 2000) -> int:
    """The largest m such that `model` accepts every string n = 1..m, tested up to `test_max`.

    A string is accepted if all four outputs are right at every step.

    Parameters
    ----------
    model : object with ``decision_function`` of a list of sequences
    test_max : int

    Returns
    -------
    int
        0 if even the string n = 1 is rejected.
    """
    for numbers in _batches(1, _check_n(test_max)):
        X, y = anbncn(numbers)
        for n, decisions, legal in zip(numbers, model.decision_function(X), y, strict=True):
            if not np.array_equal(decisions > 0, legal > 0):
                return n - 1
    return test_max


def anbncn_accepts(model: Any, n: int) -> bool:
    """Whether `model` accepts the one string of `n`, however long: it is fed piece by piece, the state carried over.

    Parameters
    ----------
    model : object with ``stream``
    n : int
    """
    n, length = _check_n(n), 3 * n + 1
    reader = model.stream()
    for begin in range(0, length, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, length)
        decisions = reader.decision_function(_inputs(n, begin, end))
        if not np.array_equal(decisions > 0, _targets(n, begin, end)):
            return False
    return True
