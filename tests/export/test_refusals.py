"""What a form cannot hold is refused by name, and nothing is written."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from evoke import EvokeClassifier, EvokeForecaster, tasks
from evoke.exceptions import ParameterError
from evoke.export import c_source, to_c, to_html, to_onnx

SMALL = {"n_generations": 1, "n_cells": 2, "subpopulation_size": 4, "random_state": 0}
X, Y = tasks.anbncn(3)
SEQUENCES = [np.random.default_rng(k).normal(size=(9, 2)) for k in range(8)]


def write_c(model, path):
    to_c(model, path)


def write_onnx(model, path):
    pytest.importorskip("onnx")
    to_onnx(model, path)


@pytest.mark.parametrize("write", [write_c, write_onnx])
@pytest.mark.parametrize(
    "model, error, words",
    [
        (EvokeClassifier(), NotFittedError, "not fitted"),
        (LogisticRegression().fit([[0], [1]], [0, 1]), TypeError, "model must be a classifier, regressor or fore"),
        (EvokeClassifier(**SMALL, pool=("mean", "thirds"), n_networks=2).fit(SEQUENCES, [0, 1] * 4), ValueError,
         "'thirds', which are not known before the end"),
        (EvokeClassifier(**SMALL, n_points=4, n_networks=2).fit(SEQUENCES, [0, 1] * 4), ValueError,
         "n_points=4: points"),
    ],
)  # fmt: skip
def test_models_that_no_form_holds(write, model, error, words, tmp_path):
    path = tmp_path / "model.out"
    path.write_text("old")
    with pytest.raises(error, match=words):
        write(model, path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.out"]
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    "label, words, in_onnx",
    [
        (b"a", "neither a number nor text", False), ("\ud800", "has half a character", False),
        ("a\0b", "has the character 0, which ends a text of C", True), ("ß" * 2048, "a label has 4096 bytes", True),
    ],
)  # fmt: skip
def test_labels_that_no_form_holds(label, words, in_onnx, tmp_path):
    other = type(label)()
    model = EvokeClassifier(**SMALL, n_networks=2).fit(SEQUENCES, np.array([label, other] * 4))
    with pytest.raises(ValueError, match=words):
        write_c(model, tmp_path / "model.c")
    if in_onnx:
        write_onnx(model, tmp_path / "model.onnx")
    else:
        with pytest.raises(ValueError, match=words):
            write_onnx(model, tmp_path / "model.onnx")
    assert not (tmp_path / "model.c").exists()


@pytest.mark.parametrize("dtype", ["float64", "float32", "mixed"])
@pytest.mark.parametrize("write", [to_c, to_onnx])
def test_numbers_that_are_none(write, dtype, tmp_path):
    if write is to_onnx:
        pytest.importorskip("onnx")
    model = EvokeClassifier(**SMALL).fit(X, Y)
    model.readout_.intercept[0] = np.nan
    with pytest.raises(ValueError, match="the model has a number, nan, that is out of the range"):
        write(model, tmp_path / "model.out", dtype=dtype)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["float32", "mixed"])
@pytest.mark.parametrize("write", [to_c, to_onnx])
def test_series_beyond_single_precision(write, dtype, tmp_path):
    if write is to_onnx:
        pytest.importorskip("onnx")
    options = {"washout": 20, "validation": "half", "readout": "svm", "C": 10.0, "kernel": "linear"}
    model = EvokeForecaster(**SMALL, **options).fit(1e42 * (1.0 + tasks.superimposed_sines(2, 150)))
    with pytest.raises(ValueError, match=f"out of the range of dtype='{dtype}'"):
        write(model, tmp_path / "model.out", dtype=dtype)
    assert list(tmp_path.iterdir()) == []


def test_steps_of_a_self_test_have_values():
    model = EvokeClassifier(**SMALL).fit(X, Y)
    with pytest.raises(ValueError, match="X must be within the range of dtype='float32'"):
        c_source(model, dtype="float32", X=np.full((3, 4), 1e300))
    huge = EvokeClassifier(**SMALL, kernel="linear", readout="pinv").fit(X, Y)
    largest = np.finfo(float).max
    huge.readout_.intercept[:] = largest
    huge.readout_.dual_coef[:] = largest * np.where(np.arange(huge.readout_.dual_coef.shape[1]) % 2, 1.0, -1.0)
    with pytest.raises(ValueError, match="no finite values on the steps"):
        c_source(huge)


@pytest.mark.parametrize(
    "bad, words",
    [
        ({"dtype": "float16"}, "dtype must be one of"), ({"name": "Model"}, "name must begin with a small letter"),
        ({"name": "a-b"}, "name must begin"), ({"X": np.zeros((3, 5))}, "X must be finite numbers of shape"),
        ({"X": np.full((3, 4), np.nan)}, "X"),
    ],
)  # fmt: skip
def test_arguments_of_a_c_file(bad, words):
    with pytest.raises(ValueError, match=words):
        c_source(EvokeClassifier(**SMALL).fit(X, Y), **bad)


def test_numbers_beyond_single_precision(tmp_path):
    model = EvokeClassifier(**SMALL, kernel="linear", readout="pinv").fit(X, Y)
    model.readout_.dual_coef[0, 0] = 1e300
    for write in (c_source, lambda model, dtype: to_onnx(model, tmp_path / "model.onnx", dtype=dtype)):
        with pytest.raises(ValueError, match="out of the range of dtype='float32'"):
            write(model, dtype="float32")
    assert list(tmp_path.iterdir()) == []
    assert "e+300" in c_source(model, dtype="mixed")


@pytest.mark.parametrize("bad", [{"dtype": "float16"}, {"stateful": 2}])
def test_arguments_of_an_onnx_file(bad, tmp_path):
    with pytest.raises(ValueError, match=next(iter(bad))):
        to_onnx(EvokeClassifier(**SMALL).fit(X, Y), tmp_path / "model.onnx", **bad)
    assert list(tmp_path.iterdir()) == []


def test_onnx_alone_takes_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    model = EvokeClassifier(**SMALL).fit(X, Y)
    to_c(model, tmp_path / "model.c")
    with pytest.raises(ImportError, match=r"package onnx: pip install '\.\[export\]'"):
        to_onnx(model, tmp_path / "model.onnx")
    assert [file.name for file in tmp_path.iterdir()] == ["model.c"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OSError, match="missing"):
        to_c(EvokeClassifier(**SMALL).fit(X, Y), tmp_path / "missing" / "model.c")


@pytest.mark.parametrize("path", [None, 1, 1.5, ["a"], b"a.c", "", "a\0b", "half \ud800"])
@pytest.mark.parametrize("write", [to_c, to_html, to_onnx])
def test_paths_that_are_none(write, path):
    with pytest.raises(ParameterError, match=r"^path must be a path"):
        write(EvokeClassifier(), path)
