"""Tables of the command line, and what their columns hold.

Rows are counted as in a spreadsheet: in CSV row 1 is the header, in Parquet it is the first row of data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from evoke._core.lstm import finite
from evoke._validation.arrays import FloatArray
from evoke._validation.errors import counted, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "counted", "import_pandas", "quoted", "some"]


_AT_ONCE = 1 << 18  # cells
_MOST_SHOWN = 5  # rows and columns that a message names
_HINT_TIMES = "give the elapsed time as a number, or"
_HINTS = (  # to a cell that is not a number
    (r"\s*[+-]?\d{1,3},\d{3}\s*", "write numbers without thousands separators; only where the comma is a decimal mark, "
     "use --decimal ,"),
    (r"\s*[+-]?\d{1,3}(\.\d{3})+(,\d*)?\s*", "write numbers without thousands separators"),
    (r"\s*[+-]?\d+,\d+\s*", "use --decimal , for decimal commas"),
    (r"\s*[+-]?\d{1,3}([ ,']\d{3})+(\.\d*)?\s*", "write numbers without thousands separators"),
    (r"\s*(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})([T ].*)?", _HINT_TIMES),
)


# What stands for a missing number, as pandas takes it; among text it is text.
MISSING = (
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL",
    "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
_MOST_CHARACTERS = 10_000  # of a label: an array has as many for each


class Table:
    """A table that was read.

    Parameters
    ----------
    frame : DataFrame
        With column names that are distinct.
    name : str
        What messages call it.
    first_row : int
        The number that its first row of data has for the user.
    decimal : {".", ","}
        The decimal mark of numbers that are text.
    """

    def __init__(self, frame: pd.DataFrame, name: str, first_row: int, decimal: str = "."):
        self.frame = frame
        self.name = name
        self.first_row = first_row
        self._decimal = decimal

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        return list(self.frame.columns)

    def rows(self, positions: Any) -> str:
        """The rows at these positions, in words."""
        numbers = (positions + self.first_row).tolist()
        return f"{'row' if len(numbers) == 1 else 'rows'} {some(numbers)}"

    def check_complete(self, columns: list[str]) -> None:
        """Refuse missing values: empty cells, and words such as NA where all other cells are numbers.

        Raises
        ------
        ValueError
            Naming rows and columns.
        """
        missing = {name: np.flatnonzero(self._is_missing(name)) for name in columns}
        places = [f"{self.rows(positions)} of {name!r}" for name, positions in missing.items() if len(positions)]
        if places:
            more = f"; and {len(places) - _MOST_SHOWN} more columns" if len(places) > _MOST_SHOWN else ""
            raise ValueError(f"{self.name} has missing values: {'; '.join(places[:_MOST_SHOWN])}{more}")

    def _is_missing(self, name: str) -> np.ndarray[Any, Any]:
        column = self.frame[name]
        empty = column.isna().to_numpy()
        if column.dtype.kind in "biufcmM":
            return empty
        if column.dtype == object:
            words = np.array([isinstance(cell, str) and cell in MISSING for cell in column], dtype=bool)
        else:
            words = column.isin(MISSING).to_numpy()
        if not words.any():
            return empty
        others = column[~(empty | words)]
        return empty | words if len(others) and self._held(others) != "text" else empty

    def holds(self, name: str) -> str:
        """What a column without missing values holds: "numbers", "truth values", "times" or "text"."""
        return self._held(self.frame[name])

    def _held(self, column: pd.Series) -> str:
        kind = column.dtype.kind
        if kind in "mM":
            return "times"
        if kind in "iu" or (kind != "b" and self._as_numbers(column).notna().all()):
            return "numbers"
        return "truth values" if _as_text(column).str.lower().isin(["true", "false"]).all() else "text"

    def numbers(self, names: list[str], otherwise: str = "leave the column out with --features") -> FloatArray:
        """Columns (n_rows, n_columns) as numbers; true is 1, false is 0.

        Raises
        ------
        ValueError
            A column that does not hold finite numbers, with its name, the first row and value that is not one, and
            what can be done `otherwise`.
        """
        quick = self._finite(names)
        if quick is not None:
            return quick
        values = np.empty((len(self), len(names)))
        step = max(1, _AT_ONCE // len(self))
        for first in range(0, len(names), step):
            some_names = names[first : first + step]
            found = self._numbers_at_once(some_names)
            for k, name in enumerate(some_names):
                values[:, first + k] = self._numbers(name, otherwise) if found is None else found[:, k]
        return values

    def _finite(self, names: list[str]) -> FloatArray | None:
        """Columns that are finite floats already; None where one is not."""
        frame = self.frame[names]
        if any(dtype != np.float64 for dtype in frame.dtypes):
            return None
        values = np.ascontiguousarray(frame.to_numpy())
        return values if finite(values) else None

    def _numbers_at_once(self, names: list[str]) -> FloatArray | None:
        """Columns of text that are finite numbers, many times as fast as one by one; None where one is not."""
        columns = [self.frame[name] for name in names]
        if any(column.dtype.name not in ("object", "str", "string") for column in columns):
            return None
        cells = import_pandas().Series(np.concatenate([column.to_numpy(dtype=object) for column in columns]))
        if not all(isinstance(cell, str) for cell in cells) or self._as_numbers(cells).isna().any():
            return None
        values = self._with_points(cells).astype(np.float64).to_numpy().reshape(len(names), len(self)).T
        return values if np.isfinite(values).all() else None

    def features(self, names: list[str], times: Any = None) -> pd.DataFrame:
        """Columns of numbers under their names, which the model remembers."""
        return import_pandas().DataFrame(self.numbers(names), index=times, columns=names)

    def times(self, name: str) -> Any:
        """A column of times or numbers as a pandas index.

        Raises
        ------
        ValueError
            A column that holds neither, with its name and the first row and value that is no time.
        """
        pandas = import_pandas()
        column, held = self.frame[name], self.holds(name)
        if held == "numbers":
            labels = self.labels(name)
            return pandas.Index(labels if labels.dtype.kind in "iu" else self.numbers([name])[:, 0], name=name)
        if held == "times":
            return pandas.Index(column)
        text = _as_text(column)
        odd = np.flatnonzero(pandas.to_datetime(text, format="ISO8601", errors="coerce", utc=True).isna())
        if len(odd):
            raise ValueError(
                f"{self.name}: column {name!r} does not hold times: {self.rows(odd)}, the first has "
                f"{_short(text.iloc[odd[0]])!r}; write ISO dates such as 2005-07-30 or 2005-07-30T14:00, or numbers"
            )
        try:
            return pandas.DatetimeIndex(pandas.to_datetime(text, format="ISO8601"), name=name)
        except ValueError:  # several time zones, or offsets of summer and winter
            return pandas.DatetimeIndex(pandas.to_datetime(text, format="ISO8601", utc=True), name=name)

    def labels(self, name: str) -> np.ndarray[Any, Any]:
        """A column as labels: as they are written, whole numbers as integers."""
        column = self.frame[name]
        if column.dtype.kind in "biuf":
            return column.to_numpy()
        column = column.map(_decoded) if column.dtype == object else column
        odd = np.flatnonzero([isinstance(value, (list, dict, np.ndarray, bytes)) for value in column])
        if len(odd):
            raise ValueError(
                f"{self.name}: column {name!r} does not hold labels: {self.rows(odd)}, the first has "
                f"{shown(column.iloc[odd[0]])}; labels are text or numbers"
            )
        text = _as_text(column)
        if (longest := text.str.len().max()) > _MOST_CHARACTERS:
            raise ValueError(
                f"{self.name}: column {name!r} has a label of {longest} characters, at most {_MOST_CHARACTERS} are "
                "allowed"
            )
        ends = np.flatnonzero(text.str.endswith("\0"))
        if len(ends):  # which NumPy drops
            raise ValueError(f"{self.name}: column {name!r} has labels that end in a NUL character: {self.rows(ends)}")
        text = text.to_numpy(dtype=str)
        try:
            numbers = [int(label) for label in text]
        except ValueError:
            return text
        if any(str(number) != label for number, label in zip(numbers, text, strict=True)):
            return text  # "01" is a name
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= min(numbers) and max(numbers) <= np.iinfo(kind).max:
                return np.array(numbers, dtype=kind)
        return text  # as numbers they would be floats, among which some that differ are one

    def _numbers(self, name: str, otherwise: str) -> FloatArray:
        column = self.frame[name]
        held = self.holds(name)
        if held == "times":
            raise ValueError(f"{self.name}: column {name!r} holds times, not numbers; {_HINT_TIMES} {otherwise}")
        if held == "truth values":
            return (_as_text(column).str.lower() == "true").to_numpy(dtype=np.float64)
        if held == "text":
            odd = np.flatnonzero(self._as_numbers(column).isna())
            first = str(column.iloc[odd[0]])
            hint = next((hint for pattern, hint in _HINTS if re.fullmatch(pattern, first)), "")
            hint = f"{hint} {otherwise}" if hint in ("", _HINT_TIMES) else hint
            where = f"{self.rows(odd)}, the first has {_short(first)!r}"
            raise ValueError(f"{self.name}: column {name!r} is not numeric: {where}; {hint.strip()}")
        values = self._with_points(column).astype(np.float64).to_numpy()  # exact, which to_numeric may not be
        infinite = np.flatnonzero(~np.isfinite(values))
        if len(infinite):
            raise ValueError(f"{self.name}: column {name!r} is not finite: {self.rows(infinite)}")
        return values

    def _as_numbers(self, column: pd.Series) -> pd.Series:
        """NaN where the cell is not a number."""
        return import_pandas().to_numeric(self._with_points(column), errors="coerce")

    def _with_points(self, column: pd.Series) -> pd.Series:
        """Numbers as they are, and text with decimal points."""
        if column.dtype.kind in "biuf":
            return column
        text = _as_text(column)
        if self._decimal == ".":
            return text
        # points before three digits separate thousands then: 1.501 is not 1.501
        thousands = text.str.fullmatch(r"\s*[+-]?\d{1,3}(\.\d{3})+\s*")
        return text.where(~thousands, "-").str.replace(self._decimal, ".", regex=False)


def _as_text(column: pd.Series) -> pd.Series:
    """Cells as text; bytes, which need not be any, as Python writes them."""
    return column.map(str) if column.dtype == object else column.astype(str)


def _decoded(value: Any) -> Any:
    """Bytes as text, where they are text."""
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def some(items: list[Any]) -> str:
    """The first few items, and how many more there are."""
    shown = ", ".join(map(str, items[:_MOST_SHOWN]))
    return shown if len(items) <= _MOST_SHOWN else f"{shown} and {len(items) - _MOST_SHOWN} more"


def quoted(names: Iterable[Any]) -> str:
    """The first few names in quotes, and how many more there are."""
    return some([*map(repr, names)])


def import_pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f'tables need pandas: pip install "pandas>=2.2.2" ({error})') from None
    return pandas
