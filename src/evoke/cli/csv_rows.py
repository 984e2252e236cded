"""Rows of CSV as text: that of pandas, made by pyarrow where it writes the same, which is many times as fast."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke.cli.tables import import_pandas

__all__ = ["header_text", "rows_text"]


def header_text(columns: dict[str, Any], separator: str) -> str:
    """The first line of a table."""
    return _by_pandas({name: [] for name in columns}, separator, header=True)


def rows_text(columns: dict[str, Any], separator: str) -> str:
    """The rows of a table with these columns."""
    found = _by_arrow([np.asarray(values) for values in columns.values()], separator)
    return _by_pandas(columns, separator, header=False) if found is None else found


def _by_pandas(columns: dict[str, Any], separator: str, *, header: bool) -> str:
    frame = import_pandas().DataFrame(columns)
    return str(frame.to_csv(index=False, header=header, sep=separator, lineterminator="\n"))


def _by_arrow(columns: list[NDArray[Any]], separator: str) -> str | None:
    """The text of pandas; None without pyarrow, or for columns of which it would write another text."""
    try:
        import pyarrow
        from pyarrow import csv
    except ImportError:
        return None
    texts = [_texts(values) for values in columns]
    if any(text is None for text in texts):
        return None
    out = BytesIO()
    try:  # without quotes: it has none, or all text has them
        options = csv.WriteOptions(include_header=False, delimiter=separator, quoting_style="none")
        csv.write_csv(pyarrow.table(texts, [str(k) for k in range(len(texts))]), out, options)
    except pyarrow.ArrowInvalid:  # some text needs them
        return None
    return out.getvalue().decode()


def _texts(values: NDArray[Any]) -> Any:
    """A column as text, in an array of pyarrow; None: this is left to pandas."""
    import pyarrow
    from pyarrow import compute

    if values.dtype.kind == "b":
        return compute.if_else(pyarrow.array(values), "True", "False")
    if values.dtype.kind in "iu":
        return pyarrow.array(values).cast(pyarrow.string())
    if values.dtype == np.float64:
        # the digits are the same, the fewest that tell the number from others; where they end is not
        alike = (np.abs(values) >= 1e-4) & (np.abs(values) < 1e6) & (values != np.trunc(values))
        if np.isnan(values).any():
            return None
        texts = pyarrow.array(values).cast(pyarrow.string())
        others = pyarrow.array(map(repr, values[~alike].tolist()), pyarrow.string())
        return texts if alike.all() else compute.replace_with_mask(texts, pyarrow.array(~alike), others)
    if values.dtype.kind in "UO":
        try:
            texts = pyarrow.array(values, pyarrow.string())
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):  # objects of other kinds
            return None
        empty = texts.null_count or compute.any(compute.equal(texts, "")).as_py()
        return None if empty else texts
    return None
