"""The index of pandas objects: steps must stand in order, and be paired with their like.

pandas is imported only where an object of its own was given.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.warn import warn

__all__ = [
    "check_pairs", "common_step", "counts_rows", "first_fall", "first_gap", "frequency_of", "index_of", "indexes_of",
    "is_absolute", "kind_of", "read_indexes",
]  # fmt: skip

_ORDERED_OBJECTS = ("integer", "floating", "mixed-integer-float", "decimal", "date", "datetime")
_WINDOWS = 12  # in which the frequency of times with gaps is looked for
_ON_GRID = 0.9  # of the times must be whole steps apart, if one frequency is to be theirs
_MOST_MISSING = 10  # times as many steps as there are times, for that


# ---------------------------------------------------------------------- what was given


def index_of(value: Any) -> Any:
    """The index of a pandas object; None: it is none."""
    if not hasattr(value, "iloc"):
        return None
    import pandas as pd

    return value.index if isinstance(value, (pd.DataFrame, pd.Series)) else None


def indexes_of(value: Any, several: bool) -> tuple[Any, ...]:
    """The index of the value, or of each element, None for one without; empty if there is none at all."""
    found = tuple(map(index_of, value)) if several else (index_of(value),)
    return () if all(index is None for index in found) else found


def read_indexes(
    value: Any,
    name: str,
    several: bool,
    *,
    beside: tuple[Any, ...] = (),
    of: str = "",
    offsets: NDArray[np.int64] | None = None,
) -> tuple[Any, ...]:
    """The indexes of sequences; each agrees with the one beside it, or where there is none, it rises.

    Parameters
    ----------
    value : object
        Of any kind, with the right number of sequences and steps.
    name : str
        What errors call it.
    several : bool
        Whether each element is a sequence.
    beside, of : tuple, str
        The indexes of the sequences that these belong to, and what errors call these.
    offsets : ndarray, optional
        Where in one table each sequence begins and ends.

    Raises
    ------
    ValueError
        An index that differs from the one beside it, or that falls, repeats or lacks a label.

    Warns
    -----
    UserWarning
        Times with a gap; the first is named.
    """
    indexes = indexes_of(value, several)
    gap: str | None = None
    check_pairs(indexes, name, beside, of, several)
    for i, index in enumerate(indexes):
        if index is None:
            continue
        place = f"[{i}]" if several else ""
        other = beside[i] if i < len(beside) else None
        if other is not None:
            continue
        cuts = [0, len(index)] if offsets is None or several else offsets.tolist()
        for begin, end in pairwise(cuts):
            _check_rises(index[begin:end], name + place, begin)
            gap = gap or _gap_in_words(index[begin:end], name + place, begin)
    if gap is not None:
        warn(gap)
    return indexes


# ---------------------------------------------------------------------- pairs


def check_pairs(
    indexes: tuple[Any, ...], name: str, beside: tuple[Any, ...], of: str, several: bool
) -> None:
    """Refuse indexes of which one differs from the one beside it."""
    for i, (index, other) in enumerate(zip(indexes, beside, strict=False)):
        if index is not None and other is not None:
            place = f"[{i}]" if several else ""
            _check_same(index, name + place, other, of + place)


def _check_same(index: Any, name: str, other: Any, of: str) -> None:
    """Refuse two indexes that differ, with the first position at which they do.

    One that only counts rows from 0 says nothing beside times, names or numbers; beside another count of rows, such as
    that of a slice, it does. A difference in length is left to those who check shapes.
    """
    import pandas as pd

    if len(index) != len(other) or index.equals(other):
        return
    counts = isinstance(index, pd.RangeIndex) and isinstance(other, pd.RangeIndex)
    if not counts and (counts_rows(index) or counts_rows(other)):
        return
    for i, (a, b) in enumerate(zip(index, other, strict=True)):
        if not _equal(a, b):
            raise ValueError(
                f"{name} must have the index of {of}: at position {i} it has {a}, {of} has {b}. "
                "To pair them as they stand, use reset_index(drop=True) on both"
            )


def counts_rows(index: Any) -> bool:
    """Whether this is the index that pandas gives to what has none: 0, 1, 2, ..."""
    import pandas as pd

    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def _equal(a: Any, b: Any) -> bool:
    try:
        return a is b or bool(a == b)
    except TypeError:  # pandas.NA
        return False


# ---------------------------------------------------------------------- order


def _check_rises(index: Any, name: str, begin: int = 0) -> None:
    """Refuse an index that falls, repeats or lacks a label; `begin` is the position of its first."""
    i = first_fall(index)
    if i is None:
        return
    if i == 0 or _is_missing(index[i]):
        raise ValueError(f"{name} must have an index without missing labels, got {index[i]} at position {begin + i}")
    if not (_equal(index[i], index[i - 1]) or _is_above(index[i - 1], index[i])):
        raise ValueError(
            f"{name} must have an index of labels that can be compared, but at position {begin + i} it has "
            f"{index[i]!r} after {index[i - 1]!r}; make them alike, as by pandas.to_datetime(index, utc=True)"
        )
    if _equal(index[i], index[i - 1]):
        what, hint = "repeats", "keep one step of each"
    else:
        what, hint = "falls", "sort it, as by sort_index()"
        if _ordered(index).is_monotonic_decreasing:
            hint = f"it stands newest first, {hint}"
    raise ValueError(
        f"{name} must have an index that rises, but it {what} at position {begin + i}: {index[i]} after "
        f"{index[i - 1]}; {hint}, or drop the index by reset_index(drop=True)"
    )


def first_fall(index: Any) -> int | None:
    """The first position at which a label is missing or is not above the one before it.

    None: the index rises, or has no order, as text has none.
    """
    ordered = _ordered(index)
    if ordered is None or (ordered.is_monotonic_increasing and ordered.is_unique and not _lacks_some(ordered)):
        return None
    labels = list(ordered)
    if any(map(_is_missing, labels)):
        return next(i for i, label in enumerate(labels) if _is_missing(label))
    return next((i for i, (a, b) in enumerate(pairwise(labels), 1) if not _is_above(b, a)), None)


def _is_above(b: Any, a: Any) -> bool:
    """Whether one label is above another; no if they cannot be compared, as times with and without a time zone."""
    try:
        return bool(b > a)
    except TypeError:
        return False


def _ordered(index: Any) -> Any:
    """The index as far as it has an order: numbers and times, of several levels those that change; else None."""
    import pandas as pd

    if isinstance(index, pd.MultiIndex):
        levels = [index.get_level_values(k) for k in range(index.nlevels)]
        levels = [level for level in levels if level.nunique(dropna=False) > 1]
        if not levels or any(_ordered(level) is None for level in levels):
            return None
        return levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels)
    if isinstance(index.dtype, pd.PeriodDtype) or index.dtype.kind in "iufmM":
        return index
    return index if index.dtype == object and pd.api.types.infer_dtype(index) in _ORDERED_OBJECTS else None


def _lacks_some(index: Any) -> bool:
    """Whether labels are missing, or parts of them."""
    if index.nlevels > 1:
        return any((codes < 0).any() for codes in index.codes)
    return bool(index.hasnans)


def _is_missing(label: Any) -> bool:
    import pandas as pd

    return any(map(_is_missing, label)) if isinstance(label, tuple) else bool(pd.isna(label))


# ---------------------------------------------------------------------- steps and gaps


def first_gap(index: Any) -> tuple[int, str] | None:
    """The first position before which times are missing, and in words the step that most have; None: no gap."""
    import pandas as pd

    kind = kind_of(index)
    if kind == "datetime":
        frequency, gap = frequency_of(index)
        return None if gap is None else (gap, str(frequency))
    if kind in ("period", "timedelta"):
        step, gap = common_step(index)
        if gap is not None:
            return gap, str(index.freqstr if kind == "period" else pd.to_timedelta(step, unit=index.unit))
    return None


def _gap_in_words(index: Any, name: str, begin: int) -> str | None:
    gap = first_gap(index)
    if gap is None:
        return None
    i, step = gap
    return (
        f"{name} has a gap before position {begin + i}: {index[i]} comes after {index[i - 1]}, where most steps are "
        f"{step}; to the network all steps are equal"
    )


def kind_of(index: Any) -> str:
    import pandas as pd

    kinds = {pd.DatetimeIndex: "datetime", pd.PeriodIndex: "period", pd.TimedeltaIndex: "timedelta"}
    for cls, kind in kinds.items():
        if isinstance(index, cls):
            return "unknown" if index.hasnans else kind
    if index.nlevels > 1 or len(index) == 0 or index.hasnans:
        return "unknown"
    return {"i": "integer", "u": "integer", "f": "float"}.get(index.dtype.kind, "unknown")


def common_step(index: Any) -> tuple[int | None, int | None]:
    """The step that most periods or differences of time have, in their units, and where the first longer one ends."""
    steps = np.diff(index.astype("int64").to_numpy())
    if len(steps) == 0:
        return (index.dtype.freq.n if kind_of(index) == "period" else None), None
    sizes, counts = np.unique(steps, return_counts=True)
    if counts.max() <= len(steps) / 2:
        return None, None
    step = int(sizes[counts.argmax()])
    longer = steps > step
    return step, int(np.argmax(longer)) + 1 if longer.any() else None


def frequency_of(index: Any, like: str | None = None) -> tuple[str | None, int | None]:
    """The frequency of times by name, that of all or of most, and where the first gap ends.

    None: most steps have none in common, or its name does not say all of it (holidays of one's own). Where the times
    have the frequency `like`, it is that: a few days tell nothing of weekends.
    """
    if index.freq is None and like is not None and (_steps(index, like) == 1).all():
        return like, None
    whole = index.freq or _inferred(index)
    if whole is not None:
        return (whole.freqstr if whole == _offset(whole.freqstr) else None), None
    best: tuple[float, str | None, int | None] = (0.5, None, None)
    for name in _candidates(index):
        steps = _steps(index, name)
        share = (steps == 1).mean()
        if share > best[0] and (steps > 0).mean() >= _ON_GRID:
            best = (share, name, int(np.argmax(steps > 1)) + 1 if (steps > 1).any() else None)
    return best[1:]


def _inferred(index: Any) -> Any:
    """The frequency that all times have, as pandas sees it; None: there is none, or there are fewer than three."""
    import pandas as pd

    return None if len(index) < 3 else pd.DatetimeIndex(index, freq="infer").freq


def _offset(name: str) -> Any:
    """The offset of this name; None: there is none."""
    import pandas as pd

    try:
        return pd.tseries.frequencies.to_offset(name)
    except ValueError:
        return None


def _candidates(index: Any) -> list[str]:
    """The frequencies that pandas finds in parts of an index."""
    found = (
        _inferred(index[begin : begin + size])
        for size in sorted({min(10, max(3, len(index) // 2)), 4, 3}, reverse=True) if size < len(index)
        for begin in np.unique(np.linspace(0, len(index) - size, _WINDOWS).astype(int))
    )  # fmt: skip
    names = list(dict.fromkeys(offset.freqstr for offset in found if offset is not None))
    return [*names, "B"] if "D" in names and "B" not in names else names  # parts may all be without a weekend


def _steps(index: Any, frequency: str) -> NDArray[np.int64]:
    """By how many steps each time comes after the one before; 0 where one of the two is no whole step from the first.

    Days and all above are counted by the clock on the wall.
    """
    import pandas as pd

    times = index if index.tz is None or is_absolute(_offset(frequency)) else index.tz_localize(None)
    none = np.zeros(len(times) - 1, dtype=np.int64)
    few = pd.date_range(times[0], periods=3, freq=frequency)
    if (times[-1] - times[0]) / (few[2] - few[1]) > _MOST_MISSING * len(times):
        return none
    place = pd.date_range(times[0], times[-1], freq=frequency).get_indexer(times)
    return np.where((place[1:] < 0) | (place[:-1] < 0), none, np.diff(place))


def is_absolute(offset: Any) -> bool:
    """Whether steps are so many hours, seconds, ...; days and all above follow the clock on the wall."""
    import pandas as pd

    return isinstance(offset, pd.offsets.Tick) and not isinstance(offset, pd.offsets.Day)
