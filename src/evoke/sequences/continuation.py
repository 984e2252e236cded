"""How a pandas series goes on after its end: the next labels of its index, and its names, kept as plain data."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.errors import refusal
from evoke._validation.warn import warn
from evoke.sequences.index import common_step, counts_rows, first_fall, frequency_of, index_of, is_absolute, kind_of

__all__ = ["SeriesIndex", "beside_X"]

_ROUNDING = 1e-9  # of floats in equal steps, relative to the largest


@dataclass(frozen=True)
class SeriesIndex:
    """Where the index of a pandas series ends, how it goes on, and the names of its parts, as plain data.

    Attributes
    ----------
    frame : bool
        Whether the series was a data frame.
    labels : tuple
        The names of its columns, or the one of a Series.
    level_names : tuple
        The names of the axis of the columns.
    name : object
        The name of the index.
    kind : {"datetime", "period", "timedelta", "integer", "float", "unknown"}
        "unknown": it cannot go on, as its steps differ or have no order.
    default : bool
        Whether it only counts rows from 0.
    last : int or float
        The last label: itself, or the integer that stands for a time.
    step : str, int or float
        The frequency of a datetime by name; otherwise what `last` rises by.
    unit : str
        Of datetime and timedelta; the frequency of a period.
    tz : str
        Time zone of a datetime; empty: none.
    """

    frame: bool
    labels: tuple[Any, ...]
    level_names: tuple[Any, ...] = (None,)
    name: Any = None
    kind: str = "unknown"
    default: bool = False
    last: float = 0
    step: Any = 0
    unit: str = ""
    tz: str = ""

    @classmethod
    def of(cls, series: Any, like: SeriesIndex | None = None) -> SeriesIndex | None:
        """That of a series; None: it is no pandas object.

        Where its own few times do not tell their frequency, it is that of another one, `like`, if they agree with it.
        """
        index = index_of(series)
        if index is None:
            return None
        frame = series.ndim == 2
        labels = tuple(series.columns) if frame else (series.name,)
        names = tuple(series.columns.names) if frame else (None,)
        name = index.name if index.nlevels == 1 else None
        end = cls(frame, labels, names, name, default=counts_rows(index))
        kind = kind_of(index)
        if kind == "unknown" or first_fall(index) is not None:
            return end
        if kind == "datetime":
            known = like.step if like is not None and like.kind == kind else None
            step = frequency_of(index, known)[0]
            zone = _zone(index)
            last: float = int(index[-1:].astype("int64")[0])
            return end if step is None else replace(end, kind=kind, last=last, step=step, unit=index.unit, tz=zone)
        if kind in ("period", "timedelta"):
            step, unit = common_step(index)[0], index.freqstr if kind == "period" else index.unit
            last = int(index[-1:].astype("int64")[0])
            return end if step is None else replace(end, kind=kind, last=last, step=step, unit=unit)
        step, last = _equal_step(index), index[-1].item() if hasattr(index[-1], "item") else index[-1]
        return end if step is None else replace(end, kind=kind, last=last, step=step)

    def after(self, n: int) -> Any:
        """The next n labels, a pandas index; numbers from 0 where it cannot go on."""
        import pandas as pd

        steps = np.arange(1, n + 1)
        if self.kind == "datetime":
            index = self._times_after(n)
        elif self.kind == "period":
            index = pd.PeriodIndex.from_ordinals(self.last + self.step * steps, freq=self.unit)
        elif self.kind == "timedelta":
            index = pd.TimedeltaIndex((self.last + self.step * steps).astype(f"m8[{self.unit}]"))
        elif self.kind == "integer":
            index = pd.RangeIndex(self.last + self.step, self.last + self.step * (n + 1), self.step)
        elif self.kind == "float":
            index = pd.Index(self.last + self.step * steps, dtype=np.float64)
        else:
            index = pd.RangeIndex(n)
        return index.rename(self.name)

    def _times_after(self, n: int) -> Any:
        import pandas as pd

        offset = pd.tseries.frequencies.to_offset(self.step)
        last = pd.DatetimeIndex(np.array([self.last], dtype=f"M8[{self.unit}]"))
        last = last.tz_localize("UTC").tz_convert(self.tz) if self.tz else last
        on_the_wall = self.tz and not is_absolute(offset)
        begin = last.tz_localize(None)[0] if on_the_wall else last[0]
        times = pd.date_range(begin, periods=n + 1, freq=offset, unit=self.unit)
        times = times[1:] if times[0] == begin else times[:n]
        if on_the_wall:  # clocks may be put forward or back at one of these times
            times = times.tz_localize(self.tz, nonexistent="shift_forward", ambiguous=np.ones(n, dtype=bool))
            with suppress(Exception):  # pandas refuses it, in several ways, where an hour is skipped
                times.freq = offset
        return times

    def wrap(self, values: NDArray[Any]) -> Any:
        """What comes after the end, (n,) or (n, n_columns), as the kind of object that the series was.

        Warns
        -----
        UserWarning
            The index cannot go on; what is returned is numbered from 0. Or there is no pandas, and it is the array.
        """
        try:
            import pandas as pd
        except ImportError:
            warn("pandas is not installed: the continuation is an array, without its index")
            return values
        if self.kind == "unknown":
            warn(
                "the index of the series cannot go on, as its steps are not regular times or numbers: "
                "the continuation is numbered from 0"
            )
        index = self.after(len(values))
        if not self.frame:
            return pd.Series(values, index=index, name=self.labels[0])
        columns = pd.Index(list(self.labels))
        columns.names = list(self.level_names)
        return pd.DataFrame(values, index=index, columns=columns)

    def check_columns(self, columns: tuple[Any, ...] | None, name: str) -> None:
        """Refuse data frames whose columns are not those of the data frame of `fit`, in the same order."""
        if columns is not None and self.frame and self.labels != columns:
            raise ValueError(f"{name} must have the columns {list(self.labels)}, as in fit, got {list(columns)}")

    # ------------------------------------------------------------------ files

    def state(self) -> dict[str, Any]:
        """What a model file holds; names that it cannot hold become text."""
        named = {"labels": _plain(self.labels), "level_names": _plain(self.level_names), "name": _plain(self.name)}
        return asdict(self) | named

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> SeriesIndex:
        """What `state` gave.

        Raises
        ------
        Exception
            Of some kind, for what no index can have.
        """
        made = cls(**state)
        made.check()
        return made

    def check(self, n_columns: int | None = None) -> None:
        """That it could be one of ours, of a series with so many columns.

        Raises
        ------
        ValueError
            It could not.
        """
        times = {"datetime": str, "period": int, "timedelta": int}
        steps = times | {"integer": int, "float": float, "unknown": int}
        if self.kind not in steps:
            raise refusal("kind of _index", f"be one of {tuple(steps)}", self.kind)
        types = {
            "frame": bool, "default": bool, "labels": tuple, "level_names": tuple, "unit": str, "tz": str,
            "last": float if self.kind == "float" else int, "step": steps[self.kind],
        }  # fmt: skip
        for name, kind in types.items():
            if type(getattr(self, name)) is not kind:
                raise refusal(f"{name} of _index", f"be of {kind.__name__}", getattr(self, name))
        if self.kind != "datetime" and self.kind != "unknown" and not 0 < self.step < np.inf:
            raise refusal("step of _index", "be positive", self.step)
        n_labels = n_columns if self.frame and n_columns is not None else len(self.labels) if self.frame else 1
        if len(self.labels) != n_labels:
            raise ValueError(f"_index must have {n_labels} labels, got {len(self.labels)}")


def _zone(index: Any) -> str:
    """The name of the time zone; of one that pandas cannot find by its name, the offset of the last time."""
    import pandas as pd

    if index.tz is None:
        return ""
    try:
        index[-1:].tz_convert(str(index.tz))
        return str(index.tz)
    except Exception:  # which one depends on pandas and on the name
        return str(pd.Timestamp(index[-1].isoformat()).tz)


def _equal_step(index: Any) -> Any:
    """What numbers rise by, if it is always the same; None: it is not, or there is but one number."""
    import pandas as pd

    if isinstance(index, pd.RangeIndex):
        return index.step
    if len(index) == 1:
        return None
    labels = index.to_numpy(dtype=np.int64 if index.dtype.kind in "iu" else np.float64)
    steps = np.diff(labels)
    if labels.dtype == np.int64:
        return int(steps[0]) if (steps == steps[0]).all() else None
    step = float(labels[-1] - labels[0]) / len(steps)
    return step if (np.abs(steps - step) <= _ROUNDING * np.abs(labels).max()).all() else None


def _plain(name: Any) -> Any:
    """A name as a file can hold it."""
    if isinstance(name, tuple):
        return tuple(map(_plain, name))
    if name is None or type(name) in (bool, int, str, float):
        return name
    return name.item() if isinstance(name, np.generic) and name.dtype.kind in "biufU" else str(name)


def beside_X(X: Any, end: SeriesIndex | None, n_steps: int, known: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """The index that external inputs of `n_steps` after the end of a series must have, after that of what is known.

    Empty where X has none, or one that counts its own rows from 0, and where the series has none that can go on.
    """
    index = index_of(X)
    if index is None or end is None or end.kind == "unknown" or end.default or counts_rows(index):
        return ()
    ahead = end.after(n_steps)
    return (known[0].append(ahead),) if known else (ahead,)
