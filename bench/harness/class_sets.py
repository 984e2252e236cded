"""Sets of sequences with one label each and their usual splits, as lists of (T, n_channels) arrays.

Those of the UCR and UEA archives lie in aeon's wheel, the digits in scikit-learn; nothing is downloaded. Sequences of
unequal length have a second edition of the archive, padded to equal lengths, for methods that need them. The digits are
split as in scikit-learn's gallery: the first half to learn from, the second, by other writers, to be tested on.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Sequences = list[np.ndarray]

ARCHIVE = (
    "GunPoint", "ArrowHead", "BasicMotions", "PickupGestureWiimoteZ", "ItalyPowerDemand", "OSULeaf", "ACSF1",
    "JapaneseVowels",
)  # fmt: skip
PADDED = ("PickupGestureWiimoteZ", "JapaneseVowels")  # those with unequal lengths
DIGITS = {"digits by rows": 8, "digits by pixels": 1}  # values per step
SETS = (*ARCHIVE, *DIGITS)


@dataclass(frozen=True)
class Split:
    X: Sequences
    y: np.ndarray
    X_test: Sequences
    y_test: np.ndarray

    @property
    def lengths(self) -> tuple[int, int]:
        """Of the shortest and of the longest sequence."""
        lengths = [len(x) for x in self.X + self.X_test]
        return min(lengths), max(lengths)


@functools.cache
def load(name: str, padded: bool = False) -> Split:
    """The set; with `padded` in the edition of equal lengths, where there is one."""
    if name in DIGITS:
        return digits(DIGITS[name])
    import aeon
    from aeon.datasets import load_from_ts_file

    folder = Path(aeon.__file__).parent / "datasets" / "data" / name
    edition = "_eq" if padded and name in PADDED else ""
    parts = []
    for part in ("TRAIN", "TEST"):
        X, y = load_from_ts_file(str(folder / f"{name}{edition}_{part}.ts"))
        parts += [[np.ascontiguousarray(np.asarray(x, dtype=float).T) for x in X], np.asarray(y)]
    return Split(*parts)


def digits(n_features: int) -> Split:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X, half = X.reshape(len(X), -1, n_features), len(X) // 2
    return Split(list(X[:half]), y[:half], list(X[half:]), y[half:])


def resplit(split: Split, seed: int) -> Split:
    """The same sequences, drawn into parts that have as many of each class as before."""
    rng = np.random.default_rng(seed)
    X, y = split.X + split.X_test, np.concatenate([split.y, split.y_test])
    learned = np.zeros(len(y), bool)
    for label in np.unique(y):
        learned[rng.permutation(np.flatnonzero(y == label))[: (split.y == label).sum()]] = True
    a, b = np.flatnonzero(learned), np.flatnonzero(~learned)
    return Split([X[i] for i in a], y[a], [X[i] for i in b], y[b])
