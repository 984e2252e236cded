"""Files of tables that the command line reads and writes, as a whole or piece by piece: CSV and Parquet, by pandas.

A cell of CSV stays text until a column is asked for numbers, so that labels and names of sequences are kept as they are
written.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
import tempfile
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import IO, Any

from evoke.cli.csv_rows import header_text, rows_text
from evoke.cli.errors import print_text
from evoke.cli.paths import whole_file
from evoke.cli.tables import MISSING, Table, counted, import_pandas, quoted, some

__all__ = ["Format", "check_writable", "read_pieces", "read_table", "table_writer", "write_table"]

_BLOCK = 1 << 20  # bytes or characters that are read at once
_MOST_HEADER = 1 << 22  # characters of all names, which a model remembers
_MOST_NAMES = 1 << 24  # and of an array of them, in which each has the room of the longest

_NO_COMMENTS = "remove the lines that begin with #"


@dataclass(frozen=True)
class Format:
    """How cells and numbers of CSV are written; separator None: the most frequent one in the header."""

    separator: str | None = None
    decimal: str = "."


def _is_parquet(path: Path | None) -> bool:
    return path is not None and path.suffix.lower() in (".parquet", ".pq")


def check_writable(path: Path | None) -> None:
    """Fails now if a table could not be written to this file after the work; None is stdout."""
    import_pandas()
    if _is_parquet(path):
        try:
            import pyarrow  # noqa: F401
        except ImportError as error:
            raise ImportError(f'Parquet needs pyarrow: pip install "pyarrow>=16" ({error})') from None


# ---------------------------------------------------------------------- reading


def read_table(path: Path, form: Format = Format()) -> Table:
    """Read a table: Parquet if the name says so, else CSV in UTF-8 with a header.

    Raises
    ------
    ValueError
        No rows, another encoding, rows of differing length, columns with the same name.
    ImportError
        pandas is missing, or for Parquet pyarrow.
    """
    return next(read_pieces(path, form, None))


def read_pieces(path: Path, form: Format, n_rows: int | None, numbers: Container[str] = ()) -> Iterator[Table]:
    """Read a table so many rows at a time, of which there is always one; None: all at once.

    Columns of CSV that are `numbers` are such at once where all cells of the piece are; all others are text.

    Raises
    ------
    ValueError
        As `read_table` does, with the numbers that rows have in the file.
    ImportError
        As `read_table`.
    """
    check_writable(path)
    pieces = _parquet_pieces(path, n_rows) if _is_parquet(path) else _csv_pieces(path, form, n_rows, numbers)
    row = 0
    for frame in pieces:
        lengths = [len(json.dumps(name)) for name in frame.columns] or [0]
        if sum(lengths) > _MOST_HEADER or len(lengths) * max(lengths) > _MOST_NAMES:
            raise ValueError(
                f"{path} has names of columns that are too long: {counted(sum(lengths), 'character')} in all, "
                f"{max(lengths)} in the longest of {len(lengths)}"
            )
        repeated = frame.columns[frame.columns.duplicated()].unique()
        if len(repeated):
            raise ValueError(f"{path} has several columns with the same name: {quoted(repeated)}")
        if len(frame):
            parquet = _is_parquet(path)
            yield Table(frame, str(path), row + (1 if parquet else 2), "." if parquet else form.decimal)
        row += len(frame)
    if row == 0:
        raise ValueError(f"{path} has no rows of data")


def _parquet_pieces(path: Path, n_rows: int | None) -> Iterator[Any]:
    frames = _batches(path, n_rows)
    while True:
        try:
            frame = next(frames, None)
            if frame is None:
                return
            frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
            _check_text(frame)
        except (ImportError, MemoryError, OSError):
            raise
        except Exception as error:  # what a file says of its columns, above all for pandas, is read without a check
            reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise ValueError(f"{path} is not a Parquet file that can be read: {reason}") from None
        odd = [name for name in frame.columns if not isinstance(name, str)]
        if odd:
            raise ValueError(f"{path} has columns whose names are not text: {some(odd)}")
        yield frame


def _check_text(frame: Any) -> None:
    """Fails where text of Arrow is not UTF-8, which it sees only when a cell is read."""
    import pyarrow

    for _, column in frame.items():
        if column.dtype == "str" or column.dtype == "string":
            pyarrow.array(column).validate(full=True)


def _batches(path: Path, n_rows: int | None) -> Iterator[Any]:
    pandas = import_pandas()
    if n_rows is None:
        yield pandas.read_parquet(path, engine="pyarrow")
        return
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    described = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
    # an index of equal steps is no column of the file, and a batch is not as long as it
    index = next((item for item in described if isinstance(item, dict) and item["name"] is not None), None)
    row = 0
    for batch in file.iter_batches(n_rows):
        frame = batch.to_pandas()
        if index is not None:
            first, step = index["start"] + row * index["step"], index["step"]
            frame.index = pandas.RangeIndex(first, first + len(frame) * step, step, name=index["name"])
        row += len(frame)
        yield frame


def _csv_pieces(path: Path, form: Format, n_rows: int | None, numbers: Container[str]) -> Iterator[Any]:
    pandas = import_pandas()
    with open(path, "rb") as file:
        text = _Text(file, path)
        beginning = text.peek_header()
        if not beginning.strip():
            raise ValueError(f"{path} is empty")
        first_line = beginning.split("\n", 1)[0]
        if not first_line.strip():
            raise ValueError(f"{path} has no header: its first line is empty")
        _check_first_line(beginning, path)
        separator = form.separator
        if separator is None:
            separator = "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=first_line.count)
        try:
            header = next(csv.reader(StringIO(beginning, newline=""), delimiter=separator, skipinitialspace=True))
            named = [name != "" for name in header]  # row labels are written without a name; they cannot be meant
            kinds = {k: str for k, name in enumerate(header) if name not in numbers}
            empty = {k: ["", *MISSING] if name in numbers else [""] for k, name in enumerate(header)}
            old = tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1)
            of_old: dict[str, Any] = {}
            if old:
                # Numbers are exact only where that is asked for, which later ones warn of. Of the first row of a block
                # cells beyond the header are dropped without a word: one more column shows them.
                of_old = {"float_precision": "round_trip", "names": range(len(header) + 1), "index_col": False}
                kinds[len(header)], empty[len(header)] = str, [""]
            # the header is a row, so that the parser counts as many cells in all rows
            with pandas.read_csv(
                text, sep=separator, dtype=kinds, header=None, skip_blank_lines=False, skipinitialspace=True,
                low_memory=False, iterator=True, decimal=form.decimal, na_values=empty, keep_default_na=False, **of_old,
            ) as reader:  # fmt: skip
                reader.get_chunk(1)
                row = 2
                while True:
                    try:
                        frame = reader.read(n_rows)
                    except StopIteration:
                        break
                    if old:
                        _check_no_more(frame.pop(len(header)), path, row)
                    _check_no_comment(frame, path, row)
                    row += len(frame)
                    frame.columns = header
                    yield frame.loc[:, named].reset_index(drop=True)
                    if n_rows is None:
                        break
        except (csv.Error, pandas.errors.ParserError) as error:
            reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
            if quoted := re.fullmatch(r"EOF inside string starting at row (\d+)", reason):  # they count from 0
                reason = f"the quote that begins in row {int(quoted[1]) + 1} does not end"
            raise ValueError(f"{path} cannot be read: {reason}") from None


def _check_first_line(beginning: str, path: Path) -> None:
    """Refuse a comment in the place of the header; a name may begin with #."""
    lines = beginning.split("\n", 2)
    if lines[0].startswith("#") and len(lines) > 2 and all(
        lines[0].count(separator) != lines[1].count(separator) for separator in ",;\t|" if separator in lines[1]
    ):
        raise ValueError(f"{path} begins with a comment, and the header has to be its first line: {_NO_COMMENTS}")


def _check_no_more(column: Any, path: Path, row: int) -> None:
    """Refuse rows with more cells than the header, which are in the column after its last."""
    more = column.notna().to_numpy()
    if more.any():
        line = row + int(more.argmax())
        raise ValueError(f"{path} cannot be read: Expected {column.name} fields in line {line}, saw more")


def _check_no_comment(frame: Any, path: Path, row: int) -> None:
    """Refuse a line that has nothing but a comment in its first cell, by the number of its row."""
    if frame.shape[1] < 2 or frame.dtypes.iloc[0].kind in "biufcmM":
        return
    odd = frame[0].astype(str).str.startswith("#").to_numpy() & frame[1].isna().to_numpy()
    odd[odd] = frame[odd].iloc[:, 1:].isna().all(axis=1)
    if odd.any():
        raise ValueError(f"{path} has a comment in row {row + int(odd.argmax())}: {_NO_COMMENTS}")


class _Text:
    """The bytes of a file, which are text in UTF-8, without the line ends after its last line, piece by piece."""

    def __init__(self, file: IO[bytes], path: Path):
        self._file, self._path = file, path
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._n_lines = 0  # before what the decoder has not seen yet
        self._between = True  # characters, not within one
        self._ends = b""  # held back until other text follows
        self._peeked = b""
        self._begun = self._done = False

    def __iter__(self) -> Iterator[bytes]:  # pandas asks files for it
        while piece := self.read():
            yield piece

    def peek_header(self) -> str:
        """The beginning, at least until the end of the first line and until there is text that is not blank."""
        while b"\n" not in self._peeked or not self._peeked.strip():
            piece = self._next()
            if not piece:
                break
            self._peeked += piece
        return self._peeked.decode(errors="ignore")  # its last character may be cut

    def read(self, _size: int = -1) -> bytes:
        """The next piece, of any size; empty at the end."""
        piece, self._peeked = self._peeked, b""
        return piece or self._next()

    def _next(self) -> bytes:
        while not self._done:
            block = self._file.read(_BLOCK)
            self._done = not block
            self._check(block)
            text = self._ends + block
            if not self._begun:
                if len(text) < len(codecs.BOM_UTF8) and not self._done:
                    self._ends = text
                    continue
                text = text.removeprefix(codecs.BOM_UTF8)
                self._begun = True
            body = text.rstrip(b"\r\n")
            self._ends = text[len(body) :]
            if body:
                return body
        return b""

    def _check(self, block: bytes) -> None:
        """Refuse what is not UTF-8. That all is ASCII is found faster than text is decoded."""
        if not (self._between and block.isascii()):
            try:
                self._decoder.decode(block, final=self._done)
            except UnicodeDecodeError as error:
                line = self._n_lines + error.object.count(b"\n", 0, error.start) + 1
                raise ValueError(
                    f"{self._path} is not CSV in UTF-8: byte 0x{error.object[error.start]:02x} in line {line}; "
                    "export it as such"
                ) from None
            self._between = self._decoder.getstate()[0] == b""
        self._n_lines += block.count(b"\n")


# ---------------------------------------------------------------------- writing


def write_table(columns: dict[str, Any], path: Path | None) -> None:
    """Write a table: to stdout as CSV, or to a file in the format that its name says."""
    with table_writer(path) as write:
        write(columns)


@contextmanager
def table_writer(path: Path | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """What writes a table piece by piece, to where `write_table` does; it appears once all are written."""
    if path is None:
        # as in files: a stdout of Windows may have an encoding without all letters, and line ends of its own
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as text:
            yield _csv_writer(text.write, ",")
            text.seek(0)
            while piece := text.read(_BLOCK):
                print_text(piece, data=True)
        return
    with whole_file(path) as file:
        if _is_parquet(path):
            with _parquet_writer(file) as write:
                yield write
        else:
            tab = path.suffix.lower() == ".tsv"
            yield _csv_writer(lambda text: file.write(text.encode()), "\t" if tab else ",")


def _csv_writer(write: Callable[[str], Any], separator: str) -> Callable[[dict[str, Any]], None]:
    begun = False

    def write_rows(columns: dict[str, Any]) -> None:
        nonlocal begun
        if not begun:
            write(header_text(columns, separator))
            begun = True
        write(rows_text(columns, separator))

    return write_rows


@contextmanager
def _parquet_writer(file: IO[bytes]) -> Iterator[Callable[[dict[str, Any]], None]]:
    import pyarrow
    from pyarrow import parquet

    writer = None

    def write_rows(columns: dict[str, Any]) -> None:
        nonlocal writer
        table = pyarrow.Table.from_pandas(import_pandas().DataFrame(columns), preserve_index=False)
        if writer is None:
            writer = parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)

    try:
        yield write_rows
    finally:
        if writer is not None:
            writer.close()
