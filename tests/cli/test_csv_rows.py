"""Rows of CSV are those of pandas, whoever writes them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoke.cli import csv_rows
from evoke.cli.csv_rows import header_text, rows_text

pytest.importorskip("pyarrow")

FLOATS = np.random.default_rng(0).normal(size=4000) * 10.0 ** np.random.default_rng(1).integers(-320, 308, size=4000)


def expected(columns, separator=","):
    return pd.DataFrame(columns).to_csv(index=False, header=False, sep=separator, lineterminator="\n")


@pytest.mark.parametrize("values", [
    FLOATS, FLOATS[:1], FLOATS % 1e4, np.arange(-300, 300) / 10.0, 10.0 ** np.arange(-20, 30),
    np.nextafter(1e-4, [0, 1]), np.nextafter(1e6, [0, 1e9]), np.array([0.0, -0.0, np.inf, -np.inf, 5e-324, 1e6, 1e16]),
    np.array([1.0, np.nan]), np.arange(-5, 5), np.array([2**64 - 1], dtype=np.uint64), np.array([True, False]),
    np.float32([0.1, 2.0]), np.array(["up", "down"]), np.array(["ä", "日本"], dtype=object),
    np.array(["a,b", "c"], dtype=object), np.array(['say "a"', "c"], dtype=object), np.array(["two\nlines", "c"]),
    np.array(["", "c"], dtype=object), np.array(["a\tb", " c "]), np.array([1, "two", None], dtype=object),
    np.array([True, 3], dtype=object), np.array(["2020-01-01"], dtype="datetime64[ns]"), np.array([], dtype=float),
])  # fmt: skip
@pytest.mark.parametrize("separator", [",", "\t"])
def test_text_of_pandas(values, separator):
    n = len(values)
    for columns in ({"y": values}, {"y": values, "n": np.arange(n)}, {"n": np.ones(n), "y": values}):
        assert rows_text(columns, separator) == expected(columns, separator)


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_text_of_any_numbers(values):
    columns = {"y": np.array(values)}
    assert rows_text(columns, ",") == expected(columns)


@given(st.lists(st.text(max_size=5), min_size=1))
def test_text_of_any_text(values):
    columns = {"y": np.array(values, dtype=object), "n": np.arange(len(values))}
    try:
        whole = expected(columns)
        whole.encode()
    except UnicodeError:  # half of a pair of surrogates
        return
    assert rows_text(columns, ",") == whole


def test_header_and_rows_without_pyarrow(monkeypatch):
    assert header_text({"a,b": FLOATS, "c": FLOATS}, ",") == '"a,b",c\n'
    columns = {"y": FLOATS, "n": np.arange(len(FLOATS))}
    whole = rows_text(columns, ",")
    monkeypatch.setattr(csv_rows, "_by_arrow", lambda *_: None)
    assert rows_text(columns, ",") == whole
