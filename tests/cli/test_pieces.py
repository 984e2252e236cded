"""Predictions for tables that are read piece by piece are those for the whole table."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd

from evoke.cli import answers, pieces
from helpers.commands import QUICK, assert_clean, assert_one_line, csv

SIZES = [1, 2, 7]
predict = importlib.import_module("evoke.cli.predict")  # the name is the command's too


@pytest.fixture
def in_pieces(here, monkeypatch):
    """`evoke predict` with pieces of so many rows; 0: of all rows, and 1 must not be needed for it."""

    def run(n_rows, *arguments):
        with monkeypatch.context() as patch:
            if n_rows:
                patch.setattr(pieces, "N_ROWS", n_rows)
                patch.setattr(answers, "rows_by_sequence", None)  # the whole table would need it
            else:
                patch.setattr(predict, "can_be_read_in_pieces", lambda *_: False)
            return here("predict", *arguments)

    return run


@pytest.fixture
def walks(frame, tmp_path):
    """A table of several kinds of targets."""
    frame["up"], frame["far"] = frame["place"] > 0, frame["place"].abs() > 1
    frame["of_three"] = np.sign(frame["place"]).astype(int)
    frame.to_csv(tmp_path / "walks.csv", index=False)
    frame.to_parquet(tmp_path / "walks.parquet", row_group_size=5)
    return tmp_path / "walks.csv"


FITS = {
    "label": ["--target", "side", "--sequence", "walk"],
    "integers": ["--target", "of_three", "--task", "classify", "--sequence", "walk"],
    "value": ["--target", "place", "--task", "regress"],
    "values": ["--target", "place,noise", "--task", "regress", "--sequence", "walk"],
    "truths": ["--target", "up,far", "--sequence", "walk"],
    "landmarks": ["--target", "side", "--sequence", "walk", "-p", "readout=landmarks", "-p", "n_landmarks=10",
                  "-p", "differences=[1,2]"],
}  # fmt: skip


@pytest.mark.parametrize("kind", FITS)
def test_pieces_are_the_whole(here, in_pieces, walks, tmp_path, kind):
    model = tmp_path / "model.evk"
    done = here("fit", walks, *FITS[kind], "--features", "step" if kind == "values" else "step,noise", *QUICK,
                "-o", model)  # fmt: skip
    assert done.returncode == 0, done.stderr
    decisions = ["--decisions"] if kind in ("label", "integers", "truths", "landmarks") else []
    whole = in_pieces(0, model, walks, *decisions)
    assert whole.stderr.startswith("Note: R2 " if "value" in kind else "Note: accuracy ")
    assert whole.returncode == 0 and len(whole.stdout.splitlines()) == len(pd.read_csv(walks)) + 1
    for n_rows in SIZES:
        for table in (walks, walks.with_suffix(".parquet")):
            done = in_pieces(n_rows, model, table, *decisions)
            assert (done.returncode, done.stdout, done.stderr) == (0, whole.stdout, whole.stderr)
    for suffix in ("csv", "tsv"):
        assert in_pieces(2, model, walks, "-o", tmp_path / f"pieces.{suffix}").returncode == 0
        assert in_pieces(0, model, walks, "-o", tmp_path / f"whole.{suffix}").returncode == 0
        assert (tmp_path / f"pieces.{suffix}").read_bytes() == (tmp_path / f"whole.{suffix}").read_bytes()
    assert in_pieces(2, model, walks, "-o", tmp_path / "pieces.parquet").returncode == 0
    assert in_pieces(0, model, walks, "-o", tmp_path / "whole.parquet").returncode == 0
    found, expected = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("pieces", "whole"))
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("n_rows", SIZES)
def test_sequences_whose_rows_are_mixed(here, in_pieces, model, frame, tmp_path, monkeypatch, n_rows):
    mixed = frame.sample(frac=1, random_state=0)
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    whole = in_pieces(0, model, tmp_path / "mixed.csv")
    monkeypatch.setattr(pieces, "N_ROWS", n_rows)
    assert here("predict", model, tmp_path / "mixed.csv").stdout == whole.stdout


def test_sequences_told_apart_by_times(here, in_pieces, frame, tmp_path, monkeypatch):
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(frame["walk"].astype(int) * 12, unit="h")
    frame.assign(walk=days).to_parquet(tmp_path / "days.parquet")
    fit = ["--target", "side", "--sequence", "walk", "--features", "step", *QUICK]
    assert here("fit", tmp_path / "days.parquet", *fit, "-o", tmp_path / "a.evk").returncode == 0
    whole = in_pieces(0, tmp_path / "a.evk", tmp_path / "days.parquet")
    monkeypatch.setattr(pieces, "N_ROWS", 7)
    assert here("predict", tmp_path / "a.evk", tmp_path / "days.parquet").stdout == whole.stdout


def test_an_index_of_equal_steps(here, in_pieces, frame, tmp_path):
    path, model = tmp_path / "index.parquet", tmp_path / "a.evk"
    frame[["step", "side"]].set_axis(pd.RangeIndex(5, 5 + 2 * len(frame), 2, name="t")).to_parquet(path)
    assert here("fit", path, "--target", "side", "--features", "step,t", *QUICK, "-o", model).returncode == 0
    whole = in_pieces(0, model, path)
    assert all(in_pieces(n_rows, model, path).stdout == whole.stdout for n_rows in SIZES)


@pytest.fixture
def sum_model(here, tmp_path):
    path = csv(tmp_path, "a,b,c\n" + "".join(f"{k % 3},{k},{k * k % 7}\n" for k in range(20)), "train.csv")
    done = here("fit", path, "--target", "c", "--task", "regress", "--sequence", "a", "--features", "b", *QUICK,
                "-o", tmp_path / "sum.evk")  # fmt: skip
    assert done.returncode == 0, done.stderr
    path.unlink()
    return tmp_path / "sum.evk"


@pytest.mark.parametrize("text, options", [
    ("a,b\nx,1\nx,2.50\nx, 1e-3 \ny,-7\n\n\r\n\n", []), ("\ufeffb,a\r\n1,\"é\n\"\r\n2,\"é\n\"\r\n3,z\r\n\r\n", []),
    ('"a";"b"\n01;1,5\n01;2\n1;3\n', ["--decimal", ","]), ("a|b|\nx|true|1\nx|False|\ny|TRUE|3\n", []),
    ("a,b\nx,123456789012345678901234567890\nx,9007199254740993\ny,0.1234567890123456789012345\n", []),
    ("a;b\nx;1.5\nx;2,5\ny;3\n", ["--decimal", ","]), ("a,b,d\nx,1,\nx,2,k\ny,3\n", []),
])  # fmt: skip
@pytest.mark.parametrize("n_rows", SIZES)
def test_cells_mean_the_same(in_pieces, sum_model, tmp_path, monkeypatch, text, options, n_rows):
    path = csv(tmp_path, text)
    whole = in_pieces(0, sum_model, path, *options)
    assert whole.returncode == 0, whole.stderr
    for block in (1, 3, 5):
        monkeypatch.setattr("evoke.cli.table_files._BLOCK", block)
        assert in_pieces(n_rows, sum_model, path, *options).stdout == whole.stdout


@pytest.mark.parametrize("text, words", [
    ("a,b\nx,1\nx,2\nx,\n", ["missing values: row 4 of 'b'"]), ("a,b\nx,1\n\ny,2\n", ["row 3 of 'b'"]),
    ("a,b\nx,1\nx,2\nx,k\n", ["column 'b' is not numeric: row 4, the first has 'k'"]),
    ("a,b\nx,1\nx,2\nx,true\n", ["column 'b' is not numeric", "row 4"]),
    ("a,b\nx,1\nx,2\nx,inf\n", ["column 'b' is not finite: row 4"]),
    ("a,b\nx,1\nx,2\nx,3,4\n", ["cannot be read", "line 4"]), ("a,b\nx,1\n,2\n", ["missing values: row 3 of 'a'"]),
    (b"a,b\nx,1\nx,2\n\xe9,3\n", ["is not CSV in UTF-8: byte 0xe9 in line 4"]), ("a,b\n\n", ["no rows of data"]),
    ("\n\n", ["is empty"]), ("\na,b\n1,2\n", ["has no header"]), ("a,c\n1,2\n", ["no column 'b'"]),
    ("a,b,b\n1,2,3\n", ["several columns with the same name"]),
])  # fmt: skip
def test_errors_name_rows_of_the_file(in_pieces, sum_model, tmp_path, monkeypatch, text, words):
    monkeypatch.setattr("evoke.cli.table_files._BLOCK", 1)
    path = csv(tmp_path, text)
    out = tmp_path / "out.csv"
    out.write_text("old")
    for n_rows, target in ((1, []), (2, ["-o", out])):
        assert_one_line(in_pieces(n_rows, sum_model, path, *target), 1, str(path), *words)
    assert out.read_text() == "old"
    assert_clean(tmp_path, "out.csv", "sum.evk", "table.csv")


@pytest.mark.parametrize("sequence", [[], ["--sequence", "walk"]])
def test_standard_input_and_output(here, data, tmp_path, sequence):
    fit = ["--target", "side", "--features", "step", *QUICK, *sequence, "-o", tmp_path / "a.evk"]
    assert here("fit", data, *fit).returncode == 0
    command = [sys.executable, "-m", "evoke", "predict", str(tmp_path / "a.evk"), "/dev/stdin"]
    from_pipe = subprocess.run(command, input=data.read_bytes(), capture_output=True, check=True)
    with open(data, "rb") as file:
        from_file = subprocess.run(command, stdin=file, capture_output=True, check=True)
    expected = here("predict", tmp_path / "a.evk", data).stdout
    assert from_pipe.stdout.decode() == from_file.stdout.decode() == expected
