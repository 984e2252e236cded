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


# ---- what is missing


def test_words_for_missing_values_are_labels_among_text(here, tmp_path):
    path = csv(tmp_path, "label,who,x\nNA,None,1\nNone,None,2\nnull,nan,3\nNA,nan,4\n")
    done = here("fit", path, "--target", "label", "--sequence", "who", *QUICK, "-o", tmp_path / "model.evk")
    assert done.returncode == 0, done.stderr
    assert load(tmp_path / "model.evk").classes_.tolist() == ["NA", "None", "null"]
    found = table(here("predict", tmp_path / "model.evk", path).stdout)
    assert len(found) == 4


@pytest.mark.parametrize("cells, options, words", [
    (["1", "NA", "2"], ["--task", "classify"], "missing values: row 3 of 'label'"),
    (["true", "None", "false"], [], "missing values: row 3 of 'label'"),
    (["a", "", "b"], [], "missing values: row 3 of 'label'"),
    (["0.5", "nan", "1.5"], ["--task", "regress"], "missing values: row 3 of 'label'"),
    (["a", "NA", "b"], ["--task", "regress"], "column 'label' is not numeric: rows 2, 3, 4"),
])  # fmt: skip
def test_words_for_missing_values_among_numbers_are_missing(here, tmp_path, cells, options, words):
    path = csv(tmp_path, "label,x\n" + "".join(f"{cell},{k}\n" for k, cell in enumerate(cells)))
    done = here("fit", path, "--target", "label", *options, *QUICK, "-o", tmp_path / "model.evk")
    assert_one_line(done, 1, words)
    features = here("fit", path, "--target", "x", "--task", "regress", *QUICK, "-o", tmp_path / "model.evk")
    is_text = cells[0] == "a" and cells[1]
    assert_one_line(features, 1, "column 'label' is not numeric" if is_text else "row 3 of 'label'")


# ---- other odd tables


@pytest.mark.parametrize("text, options, words", [
    ("# made by x\na,b\n1,2\n", [], ["begins with a comment", "remove the lines that begin with #"]),
    ("a,b\n1,2\n# half\n3,4\n", [], ["has a comment in row 3", "remove the lines that begin with #"]),
    ("a,b\n1,\"1,501\"\n", [], ["'1,501'", "without thousands separators; only where the comma is a decimal mark"]),
    ("a,b\n1,\"1,50\"\n", [], ["'1,50'; use --decimal , for decimal commas"]),
    ("a;b\n1;1.501\n", ["--decimal", ","], ["'1.501'", "without thousands separators"]),
    ("a," + "b" * 5_000_000 + "\n1,2\n", [], ["has names of columns that are too long: 50000", "field"]),
    ("a," + ",".join(f"{k}{'b' * 50_000}" for k in range(99)) + "\n1," + "2," * 98 + "2\n", [], ["too long"]),
])  # fmt: skip
def test_tables_that_are_refused(here, tmp_path, text, options, words):
    path = csv(tmp_path, text)
    done = here("fit", path, "--target", "a", "--task", "regress", *options, *QUICK, "-o", tmp_path / "model.evk")
    words = words[1:] if words[-1] == "field" else words
    assert_one_line(done, 1, *words)
    assert len(done.stderr) < 1000
    assert_clean(tmp_path, "table.csv")


def test_names_of_parquet_that_are_too_long(here, tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1.0, 2.0], "b" * 5_000_000: [1.0, 2.0]}).to_parquet(tmp_path / "table.parquet")
    fit = ["--target", "a", "--task", "regress", *QUICK, "-o", tmp_path / "model.evk"]
    assert_one_line(here("fit", tmp_path / "table.parquet", *fit), 1, "names of columns that are too long")
    assert_clean(tmp_path, "table.parquet")


def test_a_label_that_is_too_long(here, tmp_path):
    path = csv(tmp_path, f"label,x\na,1\n{'b' * 20_000},2\n")
    done = here("fit", path, "--target", "label", *QUICK, "-o", tmp_path / "model.evk")
    assert_one_line(done, 1, "column 'label' has a label of 20000 characters, at most 10000 are allowed")


@pytest.mark.parametrize("text", ["#a,b\n1,2\n3,4\n", "b,#a\n2,1\n4,3\n"])
def test_names_may_begin_as_comments_do(here, tmp_path, text):
    path = csv(tmp_path, text)
    done = here("fit", path, "--target", "#a", "--task", "regress", *QUICK, "-o", tmp_path / "model.evk")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("separator", ["\u00a7", "\U0001f600", "ab"])
def test_a_separator_of_several_bytes(here, tmp_path, separator):
    path = csv(tmp_path, f"a{separator}b\n1{separator}2\n")
    fit = ["--target", "a", "--task", "regress", *QUICK, "-o", tmp_path / "model.evk"]
    assert_one_line(here("fit", path, "--separator", separator, *fit), 2, "is not one character of ASCII")


def test_columns_at_once_have_the_numbers_that_each_has(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 50)) * 10.0 ** rng.integers(-300, 300, size=(3, 50))
    frame = pd.DataFrame(values, columns=[f"c{k}" for k in range(50)])
    frame.to_csv(tmp_path / "table.csv", index=False)
    found = read_table(tmp_path / "table.csv")
    np.testing.assert_array_equal(found.numbers(found.columns), values)
    calls = []
    found._numbers = lambda name, otherwise: calls.append(name)
    found.numbers(found.columns)
    assert calls == []  # each column by itself takes ten times as long
