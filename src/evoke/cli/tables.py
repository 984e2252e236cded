"""Tables that the command line reads and writes: CSV and Parquet, by pandas.

A cell of CSV stays text until a column is asked for numbers, so that labels and names of sequences are kept as they are
written. Rows are counted as a spreadsheet does: in CSV row 1 is the header, in Parquet it is the first row of data.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evoke.cli.files import write
from evoke.cli.manners import print_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Format", "Table", "check_format", "read_table", "some", "write_table"]

FloatArray = np.ndarray[Any, np.dtype[np.float64]]

# How files begin of gzip, bzip2, xz and zstd, of zip, which xlsx and ods are too, and of xls.
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_MOST_SHOWN = 5  # rows and columns that a message names


@dataclass(frozen=True)
class Format:
    """How numbers and cells of CSV are written."""

    separator: str = ","
    decimal: str = "."


def _import_pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f'tables need pandas: pip install "pandas>=2.2" ({error})') from None
    return pandas


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def check_format(path: Path | None) -> None:
    """Fails now, if a table could not be written to this file after the work."""
    _import_pandas()
    if path is not None and _is_parquet(path):
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise ImportError(f'Parquet needs pyarrow: pip install "pyarrow>=16" ({error})') from None


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
        What numbers that are text have in front of their fractions.
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

    def rows(self, chosen: Any) -> str:
        """The numbers of the rows where `chosen` is true, in words."""
        numbers = (np.flatnonzero(chosen) + self.first_row).tolist()
        word = "row" if len(numbers) == 1 else "rows"
        return f"{word} {some(numbers)}"

    def check_complete(self, columns: list[str]) -> None:
        """Refuse missing values.

        Raises
        ------
        ValueError
            Naming rows and columns.
        """
        places = []
        for name in columns:
            missing = self.frame[name].isna().to_numpy()
            if missing.any():
                places.append(f"{self.rows(missing)} of {name!r}")
        if places:
            more = f"; and {len(places) - _MOST_SHOWN} more columns" if len(places) > _MOST_SHOWN else ""
            raise ValueError(f"{self.name} has missing values: {'; '.join(places[:_MOST_SHOWN])}{more}")

    def holds(self, name: str) -> str:
        """What a column without missing values holds: "numbers", "truth values", "times" or "text"."""
        pandas = _import_pandas()
        column = self.frame[name]
        if column.dtype.kind in "mM":
            return "times"
        if pandas.api.types.is_bool_dtype(column) or column.astype(str).str.lower().isin(["true", "false"]).all():
            return "truth values"
        if pandas.to_numeric(self._with_points(column), errors="coerce").notna().all():
            return "numbers"
        return "text"

    def _with_points(self, column: pd.Series) -> pd.Series:
        """Text whose numbers have decimal points."""
        return column if self._decimal == "." else column.str.replace(self._decimal, ".", regex=False)

    def numbers(self, names: list[str], otherwise: str = "leave the column out with --features") -> FloatArray:
        """Columns (n_rows, n_columns) as numbers; true is 1, false is 0.

        Raises
        ------
        ValueError
            A column that does not hold finite numbers, by its name and with the first row and value that is none, and
            what can be done `otherwise`.
        """
        values = np.empty((len(self), len(names)))
        for k, name in enumerate(names):
            values[:, k] = self._numbers(name, otherwise)
        return values

    def features(self, names: list[str]) -> pd.DataFrame:
        """Columns of numbers under their names, which the model remembers."""
        return _import_pandas().DataFrame(self.numbers(names), columns=names)

    def _numbers(self, name: str, otherwise: str) -> FloatArray:
        pandas = _import_pandas()
        column = self.frame[name]
        if column.dtype.kind in "mM":
            raise ValueError(f"{self.name}: column {name!r} holds times, not numbers; {_HINT_TIMES} {otherwise}")
        if not pandas.api.types.is_numeric_dtype(column) and not pandas.api.types.is_bool_dtype(column):
            column = self._of_text(column, name, otherwise)
        values = column.to_numpy(dtype=np.float64)
        infinite = ~np.isfinite(values)
        if infinite.any():
            raise ValueError(f"{self.name}: column {name!r} is not finite: {self.rows(infinite)}")
        return values

    def _of_text(self, column: pd.Series, name: str, otherwise: str) -> pd.Series:
        pandas = _import_pandas()
        text = self._with_points(column.astype(str))
        odd = pandas.to_numeric(text, errors="coerce").isna().to_numpy()
        if not odd.any():
            return text.astype(np.float64)  # exact, which to_numeric is not promised to be
        truth = text.str.lower().map({"true": 1.0, "false": 0.0})
        if truth.notna().all():
            return truth
        first = str(column[odd].iloc[0])
        hint = next((hint for pattern, hint in _HINTS if re.fullmatch(pattern, first)), "")
        hint = f"{hint} {otherwise}" if hint in ("", _HINT_TIMES) else hint
        where = f"{self.rows(odd)}, the first has {_short(first)!r}"
        raise ValueError(f"{self.name}: column {name!r} is not numeric: {where}; {hint.strip()}")

    def labels(self, name: str) -> np.ndarray[Any, Any]:
        """A column as labels: what is written, whole numbers as integers."""
        column = self.frame[name]
        if column.dtype.kind in "biuf":
            return column.to_numpy()
        text = column.astype(str).to_numpy(dtype=object)
        try:
            numbers = [int(label) for label in text]
        except ValueError:
            return text.astype(str)
        whole = all(str(number) == label for number, label in zip(numbers, text, strict=True))  # "01" is a name
        return np.array(numbers) if whole else text.astype(str)


_HINT_TIMES = "give the time that has passed as a number, or"
_HINTS = (
    (r"\s*[+-]?\d+,\d+\s*", "for decimal commas there is --decimal ,"),
    (r"\s*[+-]?\d{1,3}([ ,']\d{3})+(\.\d*)?\s*", "write numbers without separators of thousands"),
    (r"\s*(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})([T ].*)?", _HINT_TIMES),
)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def some(items: list[Any]) -> str:
    """The first few items, and how many there are more."""
    shown = ", ".join(map(str, items[:_MOST_SHOWN]))
    return shown if len(items) <= _MOST_SHOWN else f"{shown} and {len(items) - _MOST_SHOWN} more"


def read_table(path: Path, form: Format = Format()) -> Table:
    """Read a table: Parquet where the name ends so, else CSV in UTF-8 with a header; tabs separate in ``.tsv``.

    Raises
    ------
    ValueError
        Nothing in it, another encoding, rows of differing length, columns of the same name.
    ImportError
        pandas is missing, or for Parquet pyarrow.
    """
    check_format(path)
    table = _read_parquet(path) if _is_parquet(path) else _read_csv(path, form)
    doubled = table.frame.columns[table.frame.columns.duplicated()].unique()
    if len(doubled):
        raise ValueError(f"{path} has several columns of the same name: {some([*map(repr, doubled)])}")
    if len(table) == 0:
        raise ValueError(f"{path} has no rows of data")
    return table


def _read_parquet(path: Path) -> Table:
    pandas = _import_pandas()
    try:
        frame = pandas.read_parquet(path, engine="pyarrow")
    except ValueError as error:  # pyarrow's own are such
        raise ValueError(f"{path} is no Parquet file that can be read: {error}") from None
    frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
    odd = [name for name in frame.columns if not isinstance(name, str)]
    if odd:
        raise ValueError(f"{path} has columns whose names are not text: {some(odd)}")
    return Table(frame, str(path), first_row=1)


def _read_csv(path: Path, form: Format) -> Table:
    pandas = _import_pandas()
    content = path.read_bytes().rstrip(b"\r\n")
    if content.startswith(_PACKED):
        raise ValueError(f"{path} is compressed or a spreadsheet: unpack it, or export it as CSV")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(f"{path} is not UTF-8 but UTF-16")
    if b"\0" in content:
        raise ValueError(f"{path} is no CSV file: it has a zero byte at {content.index(0)}")
    if not content.removeprefix(b"\xef\xbb\xbf").strip():
        raise ValueError(f"{path} is empty")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path} is not UTF-8: byte 0x{content[error.start]:02x} in line {line}") from None
    separator = "\t" if path.suffix.lower() == ".tsv" and form.separator == "," else form.separator
    how = {
        "sep": separator, "dtype": str, "header": None, "encoding": "utf-8-sig", "skip_blank_lines": False,
        "skipinitialspace": separator != "\t",
    }  # fmt: skip
    try:
        header = pandas.read_csv(BytesIO(content), nrows=1, keep_default_na=False, **how).iloc[0]
        _check_separator(path, header, separator)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # cells beyond the header would be lost
            frame = pandas.read_csv(
                BytesIO(content), names=range(len(header)), skiprows=0, index_col=False, low_memory=False, **how
            ).iloc[1:]
    except pandas.errors.ParserWarning:
        raise ValueError(f"{path} has rows of more than the {len(header)} cells of its header") from None
    except pandas.errors.ParserError as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ")
        raise ValueError(f"{path} cannot be read: {reason}") from None
    frame.columns = list(header)
    # a column without a name cannot be meant; row labels are written as such
    return Table(frame.loc[:, header.to_numpy() != ""].reset_index(drop=True), str(path), 2, form.decimal)


def _check_separator(path: Path, header: pd.Series, separator: str) -> None:
    if len(header) > 1:
        return
    for other, name in ((";", "';'"), ("\t", "'\\t'"), ("|", "'|'"), (",", "','")):
        if other != separator and other in header.iloc[0]:
            raise ValueError(
                f"{path} has a single column, {_short(header.iloc[0])!r}; if {name} separates its cells, give "
                f"--separator {name}"
            )


def write_table(columns: dict[str, Any], path: Path | None) -> None:
    """Write a table: to stdout as CSV, or to a file, as Parquet where its name ends so."""
    frame = _import_pandas().DataFrame(columns)
    if path is not None and _is_parquet(path):
        file = BytesIO()
        frame.to_parquet(file, engine="pyarrow", index=False)
        write(path, file.getvalue())
        return
    tabs = path is not None and path.suffix.lower() == ".tsv"
    text = frame.to_csv(index=False, sep="\t" if tabs else ",", lineterminator="\n")
    if path is None:
        print_text(text)
    else:
        write(path, text)
