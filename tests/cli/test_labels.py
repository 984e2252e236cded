"""Labels and names of sequences of tables: each stays itself, or is refused."""

import datetime
from decimal import Decimal

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import numpy as np
import pandas as pd

from evoke import load
from evoke.cli.table_files import read_table
from helpers.commands import QUICK, assert_clean, assert_one_line, csv, table

BIG = ["9223372036854775808", "9223372036854775809", "-1"]


def labels(folder, values, name="table.parquet", **more):
    frame = pd.DataFrame({"label": pd.Series(values, **more), "x": np.arange(len(values), dtype=float)})
    if name.endswith(".csv"):
        frame.to_csv(folder / name, index=False)
    else:
        pytest.importorskip("pyarrow")
        frame.to_parquet(folder / name, index=False)
    return folder / name


def test_large_integers_stay_apart(here, tmp_path):
    path = labels(tmp_path, BIG * 2, "table.csv")
    done = here("fit", path, "--target", "label", "--task", "classify", *QUICK, "-o", tmp_path / "model.evk")
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "model.evk").classes_.tolist() == sorted(BIG)
    found = here("predict", tmp_path / "model.evk", path)
    assert set(table(found.stdout)["label"]) <= set(BIG)


@pytest.mark.parametrize("values, found", [
    (BIG, BIG), (BIG[:2], [int(label) for label in BIG[:2]]), (["01", "1"], ["01", "1"]), (["1", "-2"], [1, -2]),
    (["1.10", "1.1"], ["1.10", "1.1"]), (["True", "true", "1"], ["True", "true", "1"]),
    (["2020-01-01", "2020-01-01T00:00"], ["2020-01-01", "2020-01-01T00:00"]), (["1_0", "10"], ["1_0", "10"]),
])  # fmt: skip
def test_labels_of_csv_are_as_they_are_written(tmp_path, values, found):
    assert read_table(labels(tmp_path, values, "table.csv")).labels("label").tolist() == found


@pytest.mark.parametrize("values, more, found", [
    (BIG[:2], {"dtype": "uint64"}, [2**63, 2**63 + 1]), ([1, 2**62 + 1], {"dtype": "Int64"}, [1, 2**62 + 1]),
    ([Decimal("9007199254740993.25"), Decimal("9007199254740993.26")], {}, ["9007199254740993.25",
                                                                         "9007199254740993.26"]),
    ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], {}, ["2020-01-01", "2020-01-02"]),
    (pd.to_datetime([1, 2]), {}, ["1970-01-01 00:00:00.000000001", "1970-01-01 00:00:00.000000002"]),
    ([True, False], {}, [True, False]), (["a", "b"], {"dtype": "category"}, ["a", "b"]),
])  # fmt: skip
def test_labels_of_parquet_stay_apart(tmp_path, values, more, found):
    assert read_table(labels(tmp_path, values, **more)).labels("label").tolist() == found


@pytest.mark.parametrize("values, words", [
    ([[1, 2], [3]], ["column 'label' does not hold labels: rows 1, 2, the first has array([1, 2])"]),
    ([{"a": 1}, {"a": 2}], ["column 'label' does not hold labels: rows 1, 2, the first has {'a': 1}"]),
    ([b"\xff", b"a"], ["column 'label' does not hold labels: row 1, the first has b'\\xff'"]),
    (["a\0", "a"], ["column 'label' has labels that end in a NUL character: row 1"]),
    ([2.0**53, 2.0**53 + 2], ["dtype float64, which cannot tell whole numbers of this size apart"]),
])  # fmt: skip
def test_labels_that_are_refused(here, tmp_path, values, words):
    path = labels(tmp_path, values)
    done = here("fit", path, "--target", "label", "--task", "classify", *QUICK, "-o", tmp_path / "model.evk")
    assert_one_line(done, 1, *words)
    assert_clean(tmp_path, "table.parquet")


def test_bytes_that_are_text_are_labels(tmp_path):
    assert read_table(labels(tmp_path, [b"a", b"\xc3\xa9"])).labels("label").tolist() == ["a", "é"]


@pytest.mark.parametrize("names, words", [
    ([[1], [2]], ["table.parquet has sequences 'label' with array([1])", "no name of a sequence"]),
    ([{"a": 1}, {"a": 2}], ["table.parquet has sequences 'label' with {'a': 1}", "no name of a sequence"]),
    ([2.0**53, 2.0**53 + 2], ["of dtype float64, which cannot tell whole numbers such as 9007199254740992.0 apart"]),
])  # fmt: skip
def test_names_of_sequences_that_are_refused(here, tmp_path, names, words):
    path = labels(tmp_path, names)
    fit = ["--target", "x", "--features", "x2", "--sequence", "label", "--task", "regress", *QUICK]
    frame = pd.read_parquet(path).assign(x2=1.0)
    frame.to_parquet(path, index=False)
    assert_one_line(here("fit", path, *fit, "-o", tmp_path / "model.evk"), 1, *words)
    good = csv(tmp_path, "label,x,x2\n1,2,3\n1,3,4\n2,3,4\n2,1,1\n")
    assert here("fit", good, *fit, "-o", tmp_path / "model.evk").returncode == 0
    assert_one_line(here("predict", tmp_path / "model.evk", path), 1, *words)
