"""Tables that the command line reads and writes."""

import gzip

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd

from evoke import load
from helpers.commands import QUICK, assert_clean, assert_one_line, csv, table


@pytest.mark.parametrize("text, words", [
    ("", ["is empty"]), ("\n\r\n", ["is empty"]), ("\ufeff", ["is empty"]), ("a,b\n", ["no rows of data"]),
    ("a,b,a\n1,2,3\n", ["several columns with the same name: 'a'"]),
    ("a:b\n1:2\n", ["no column 'a'; it has 'a:b'"]),
    ("a,b\n1,2,3\n", ["cannot be read", "line 2"]),
    ("a,b\n1,2,3,4,5\n1,2\n", ["cannot be read", "line 2"]), ("a,b\n1,2\n1,2,3,4\n", ["cannot be read", "line 3"]),
    ("a,b\n1\n", ["missing values: row 2 of 'b'"]),
    ('a,b\n1,2\n3,"4\n', ["cannot be read: the quote that begins in row 3 does not end"]),
    ('a,"b\n1,2\n', ["cannot be read: the quote that begins in row 1 does not end"]),
    ("a,b\n1,2\n,3\n4,\n5,NA\n", ["missing values: row 3 of 'a'; rows 4, 5 of 'b'"]),
    ("a,b\n1,2\n\n3,4\n\n", ["missing values: row 3 of 'a'; row 3 of 'b'"]),
    ("a,b\n" + "1,\n" * 8, ["rows 2, 3, 4, 5, 6 and 3 more of 'b'"]),
    ("a,b\n1,2\n3,x\n4,y\n", ["column 'b' is not numeric: rows 3, 4, the first has 'x'", "--features"]),
    ("a,b\n1,\"2,5\"\n", ["column 'b' is not numeric: row 2", "--decimal ,"]),
    ("a,b\n1,\"2,500,000\"\n", ["'2,500,000'", "without thousands separators"]),
    ("a,b\n1,2020-01-31\n", ["column 'b' is not numeric", "'2020-01-31'", "time"]),
    ("a,b\n1,31.1.2020\n", ["column 'b' is not numeric", "time"]),
    ("a,b\n1,inf\n", ["column 'b' is not finite: row 2"]), ("a,b\n1,1e999\n", ["column 'b' is not", "row 2"]),
    ("a,b\nx,2\n", ["column 'a' is not numeric: row 2"]),
    ("A,b\n1,2\n", ["no column 'a'", "it has 'A', 'b'"]), ("aa,b\n1,2\n", ["no column 'a'; did you mean 'aa'?"]),
    ("a\n1\n", ["no columns besides 'a'"]),
    (b"a,b\n1,2\n1,\xe9\n", ["is not CSV in UTF-8: byte 0xe9 in line 3"]),
    ("a,b\n1,2\n".encode("utf-16"), ["is not CSV in UTF-8: byte 0xff in line 1"]),
    (b"a,b\n1,\0\n", ["row 2", "'b'"]),
    (gzip.compress(b"a,b\n1,2\n", mtime=0), ["is not CSV in UTF-8: byte 0x8b in line 1"]),
    (b"PK\x03\x04", ["no rows of data"]), ("\na,b\n1,2\n", ["has no header: its first line is empty"]),
])  # fmt: skip
def test_tables_that_are_refused(here, tmp_path, text, words):
    path = csv(tmp_path, text)
    done = here("fit", path, "--target", "a", "--task", "regress", *QUICK, "-o", tmp_path / "model.evk")
    assert_one_line(done, 1, str(path), *words)
    assert_clean(tmp_path, "table.csv")


@pytest.mark.parametrize("text, options", [
    ("\ufeffa,b\n1,2\n3,4\n", []), ("a,b\r\n1,2\r\n3,4\r\n\r\n", []), ('"a","b"\n"1","2"\n"3","4"\n', []),
    ("a, b\n 1, 2\n3,  4\n", []), ("b,a\n2,1\n4,3", []), ("a;b\n1;2\n3;4\n", []),
    ("a;b\n1,0;2,0\n3,0;4,0\n", ["--decimal", ","]), ("a\tb\n1\t2\n3\t4\n", []), ("a|b\n1|2\n3|4\n", []),
    ("a:b\n1:2\n3:4\n", ["--separator", ":"]), ("a\tb\n1\t2\n3\t4\n", ["--separator", "\\t"]),
    ("a;b;\"c,,,,\"\n1;2;x\n3;4;y\n", ["--separator", ";", "--features", "b"]), (",a,b\n0,1,2\n1,3,4\n", []),
    ("a,b,c\n1,2,\n3,4,x\n", ["--features", "b"]),
    ('"a","b","c\nd"\n1,2,"\n\n"\n3,4,x\n', ["--features", "b"]),
])  # fmt: skip
def test_tables_that_mean_the_same(here, tmp_path, text, options):
    path = csv(tmp_path, text)
    fit = ["--target", "a", "--task", "regress", *QUICK]
    done = here("fit", path, *fit, *options, "-o", tmp_path / "model.evk")
    assert (done.returncode, done.stderr) == (0, "")
    plain = csv(tmp_path, "a,b\n1,2\n3,4\n", "plain.csv")
    here("fit", plain, *fit, "-o", tmp_path / "plain.evk")
    assert (tmp_path / "model.evk").read_bytes() == (tmp_path / "plain.evk").read_bytes()


def test_tabs_separate_in_tsv(here, tmp_path):
    path = csv(tmp_path, "a\tb\n1\t2\n3\t4\n", "table.tsv")
    fit = ["--target", "a", "--task", "regress", *QUICK, "-o", tmp_path / "model.evk"]
    assert here("fit", path, *fit).returncode == 0
    here("predict", tmp_path / "model.evk", path, "-o", tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text().splitlines()[0] == "a"


def test_truth_values_are_numbers(here, tmp_path):
    models = []
    for text in ("a,b\n1,True\n0,false\n1,TRUE\n", "a,b\n1,1\n0,0\n1,1\n"):
        here("fit", csv(tmp_path, text), "--target", "a", "--task", "regress", *QUICK, "-o", tmp_path / "model.evk")
        models.append((tmp_path / "model.evk").read_bytes())
    assert models[0] == models[1]


@pytest.mark.parametrize("labels, classes", [
    (["01", "1"], ["01", "1"]), (["1", "2"], [1, 2]), (["-1", "10"], [-1, 10]), (["1.0", "2"], ["1.0", "2"]),
    (["True", "False"], ["False", "True"]), (["é, x", 'a "b"'], ['a "b"', "é, x"]), (["1_0", "2"], ["1_0", "2"]),
])  # fmt: skip
def test_labels_are_kept_as_they_are_written(here, tmp_path, labels, classes):
    frame = pd.DataFrame({"x": [0.0, 1.0] * 4, "label": labels * 4})
    frame.to_csv(tmp_path / "data.csv", index=False)
    out = tmp_path / "model.evk"
    done = here("fit", tmp_path / "data.csv", "--target", "label", "--task", "classify", *QUICK, "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert load(out).classes_.tolist() == classes
    assert set(table(here("predict", out, tmp_path / "data.csv").stdout)["label"]) <= set(labels)


def test_names_of_columns_with_commas(here, tmp_path):
    path = csv(tmp_path, '"a,b",c,d\n1,2,3\n4,5,6\n')
    out = tmp_path / "model.evk"
    done = here("fit", path, "--target", "a,b", "--task", "regress", "--features", "d,c", *QUICK, "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert load(out).metadata_["columns"]["targets"] == ["a,b"]
    assert load(out).feature_names_in_.tolist() == ["d", "c"]


def test_thousands_of_columns(here, tmp_path):
    values = np.random.default_rng(0).normal(size=(4, 2000))
    pd.DataFrame(values, columns=[f"x{k}" for k in range(2000)]).to_csv(tmp_path / "wide.csv", index=False)
    done = here("fit", tmp_path / "wide.csv", "--target", "x7", "--task", "regress", *QUICK, "-o", tmp_path / "a.evk")
    assert (done.returncode, done.stderr) == (0, "")
    assert "x0, x1, x2, x3, x4 and 1994 more" in done.stdout
    pd.DataFrame(values[:, :9], columns=[f"x{k}" for k in range(9)]).to_csv(tmp_path / "narrow.csv", index=False)
    assert_one_line(here("predict", tmp_path / "a.evk", tmp_path / "narrow.csv"), 1, "no column 'x9'")


@pytest.mark.parametrize("columns, words", [
    ({"a": [1.0, None], "b": [1, 2]}, ["missing values: row 2 of 'a'"]),
    ({"a": [1.0, 2.0], "b": pd.array([None, 2], dtype="Int64")}, ["missing values: row 1 of 'b'"]),
    ({"a": [1.0, 2.0], "b": pd.to_datetime(["2020-01-01", "2020-01-02"])}, ["column 'b' holds times"]),
    ({"a": [1.0, 2.0], "b": pd.to_timedelta([1, 2], unit="s")}, ["column 'b' holds times"]),
    ({"a": [1.0, 2.0], "b": ["x", "y"]}, ["column 'b' is not numeric: rows 1, 2"]),
    ({"a": [1.0, 2.0], "b": [[1], [2]]}, ["column 'b' is not numeric"]),
    ({"a": [], "b": []}, ["no rows of data"]),
])  # fmt: skip
def test_parquet_that_is_refused(here, tmp_path, columns, words):
    pytest.importorskip("pyarrow")
    pd.DataFrame(columns).to_parquet(tmp_path / "data.parquet")
    done = here("fit", tmp_path / "data.parquet", "--target", "a", "--task", "regress", "-o", tmp_path / "a.evk")
    assert_one_line(done, 1, *words)


@pytest.mark.parametrize("role", ["--sequence", "--target"])
def test_parquet_whose_text_is_not_utf_8(here, tmp_path, role):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ends = np.array([0, 1, 2, 3], np.int32)
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"a\xffb")]
    columns = {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]}
    columns["s"] = pyarrow.Array.from_buffers(pyarrow.string(), 3, buffers)
    parquet.write_table(pyarrow.table(columns), tmp_path / "data.parquet")
    arguments = ["--target", "s"] if role == "--target" else ["--target", "y", "--sequence", "s"]
    done = here("fit", tmp_path / "data.parquet", *arguments, "-o", tmp_path / "a.evk")
    assert done.returncode == 1 and "data.parquet is not a Parquet file that can be read" in done.stderr


def test_types_and_index_of_parquet(here, tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"a": pd.array([1, 2, 3, 4], "Int64"), "b": [True, False, True, False], "c": pd.Categorical([3, 4, 3, 4])},
        index=pd.Index([5, 5, 6, 6], name="who"),
    )
    frame.to_parquet(tmp_path / "data.parquet")
    out = tmp_path / "a.evk"
    done = here("fit", tmp_path / "data.parquet", "--target", "a", "--task", "regress", "--sequence", "who", *QUICK,
                "-o", out)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert load(out).feature_names_in_.tolist() == ["b", "c"]
    assert table(here("predict", out, tmp_path / "data.parquet").stdout)["who"].tolist() == ["5", "5", "6", "6"]


@pytest.mark.parametrize("target, words", [
    (pd.array([True, False] * 3), "holds truth values"),
    (pd.to_datetime(["2020-01-01", "2020-01-02"] * 3), "holds times"),
])  # fmt: skip
def test_targets_of_parquet_that_are_no_text(here, tmp_path, target, words):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": target, "b": np.arange(6.0)}).to_parquet(tmp_path / "data.parquet")
    done = here("fit", tmp_path / "data.parquet", "--target", "a", *QUICK, "-o", tmp_path / "a.evk")
    assert (done.returncode, done.stderr) == (0, f"Note: the target 'a' {words}, so it is classified.\n")


def test_what_is_no_parquet(here, tmp_path):
    pytest.importorskip("pyarrow")
    path = csv(tmp_path, "a,b\n1,2\n", "data.parquet")
    assert_one_line(here("fit", path, "--target", "a", "-o", tmp_path / "a.evk"), 1, str(path), "not a Parquet file")


@pytest.mark.parametrize("said", [
    "{", "[]", '"x"', '{"columns": [{"name": "a"}]}',
    *('{"column_indexes": [], "columns": [], "index_columns": ' + index + "}" for index in (
        "null", "3", '["gone"]', "[null]", "[{}]", '[{"name": "i"}]', '[{"kind": "range", "name": "i", "step": 1}]',
        '[{"kind": "range", "name": "i", "start": "x", "stop": null, "step": 1}]',
        '[{"kind": "range", "name": "i", "start": 0, "stop": 0, "step": 0}]',
    )),
])  # fmt: skip
def test_what_parquet_says_of_an_index_that_is_not_there(here, tmp_path, said):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path, odd, out = tmp_path / "data.parquet", tmp_path / "odd.parquet", tmp_path / "a.evk"
    frame = pyarrow.table({"a": [1.0, 2.0, 3.0], "b": [0.5, 1.0, 0.0]})
    parquet.write_table(frame, path)
    parquet.write_table(frame.replace_schema_metadata({"pandas": said}), odd)
    fit = ["--target", "a", "--task", "regress", *QUICK, "-o", out]
    assert here("fit", path, *fit).returncode == 0
    for command in (["fit", odd, *fit], ["predict", out, odd]):
        done = here(*command)
        if done.returncode:
            assert_one_line(done, 1, f"{odd} is not a Parquet file that can be read: ")
