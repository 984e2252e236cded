"""evoke export: files that say what the model says, and refusals in one line."""

import shutil
import subprocess

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from evoke import load
from helpers.commands import assert_clean, assert_one_line


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("dtype", ["float64", "float32", "mixed"])
def test_a_c_file_that_tests_itself(here, model, tmp_path, dtype):
    done = here("export", model, "-o", tmp_path / "model.c", "--dtype", dtype, "--name", "walk")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'model.c'}: {(tmp_path / 'model.c').stat().st_size:,} bytes\n"
    assert " * x: step.\n" in (tmp_path / "model.c").read_text()
    command = ["gcc", "-std=c99", "-DWALK_SELF_TEST", "model.c", "-o", "model"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "model"], check=True, capture_output=True)


def test_an_onnx_file(here, model, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    assert here("export", model, "--stateful", "-o", tmp_path / "model.onnx").returncode == 0
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"))
    X, state = np.array([[[1.0], [-1.0], [1.0]]]), np.zeros((1, session.get_inputs()[2].shape[1]))
    label, *_ = session.run(None, {"X": X, "lengths": np.array([3]), "state": state})
    assert label[0].tolist() == load(model).stream().predict(X[0]).tolist()


@pytest.mark.parametrize("options, words", [
    ("-o model.txt", ["models are exported as .c or .onnx, not as .txt: model.txt"]),
    ("-o model", ["not as a file without suffix: model"]),
    ("-o model.c --stateful", ["--stateful is for .onnx"]),
    ("-o model.onnx --name walk", ["--name is for .c"]),
    ("-o model.c --dtype half", ["--dtype", "half"]),
    ("", ["--out"]),
])  # fmt: skip
def test_wrong_usage(here, model, tmp_path, options, words):
    assert_one_line(here("export", model, *options.split()), 2, *words)
    assert_clean(tmp_path, "data.csv", "model.evk")


def test_a_forecaster_with_rolling_origins(here, series, tmp_path):
    rolling = tmp_path / "rolling.evk"
    fitted = here("fit", series, "--target", "y", "--task", "forecast", "-p", "n_networks=2", "-o", rolling)
    assert fitted.returncode == 0, fitted.stderr
    done = here("export", rolling, "-o", tmp_path / "model.c")
    assert done.returncode == 0, done.stderr
    assert "evoke_resume(&state);" in (tmp_path / "model.c").read_text()


def test_refusals_leave_nothing(here, model, tmp_path):
    assert_one_line(here("export", model, "-o", tmp_path / "model.c", "--name", "Walk"), 1, "name must begin with")
    assert_one_line(here("export", tmp_path / "data.csv", "-o", tmp_path / "model.c"), 1, "data.csv")
    assert not (tmp_path / "model.c").exists()
