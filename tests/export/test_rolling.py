"""Forecasters with rolling origins in all forms: they go on after the series of `fit` as `generate` does."""

import functools
import json
import re
import shutil
import subprocess
import warnings

import numpy as np
import pytest

from evoke import EvokeForecaster, tasks
from evoke.export import c_source, html_page, to_c, to_onnx
from evoke.export.rolling_plan import rolling_plan_of
from harness.exports import STRICT, InC, InOnnx

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
T = np.arange(120)
SMALL = {"n_networks": 4, "n_cells": 3, "random_state": 0}


def noisy(y):
    """A series with noise of its own."""
    return y + 0.05 * np.random.default_rng(0).normal(size=len(y))


@functools.cache
def fitted(name):
    """A model with something that most do not have, and how many steps it forecasts."""
    wave = noisy(np.sin(np.pi * T / 6))
    if name == "a series that grows ever more":  # and so does its range
        return EvokeForecaster(**SMALL, log=False, difference=(1,)).fit(np.exp(0.05 * T) * (1.2 + 0.1 * wave)), 60
    if name == "logarithms of seasons":
        return EvokeForecaster(**SMALL, season=12, log=True, difference=(12, 1)).fit(3.0 + wave + 0.01 * T), 40
    if name == "too short for networks":
        with pytest.warns(UserWarning, match="naive methods"):
            return EvokeForecaster(**SMALL, season=4).fit(wave[:20]), 12
    if name == "too short a last series":  # for differences of seasons
        return EvokeForecaster(**SMALL, season=12).fit([wave, wave[:80], wave[:9]]), 30
    if name == "landmarks and ridge":
        y = noisy(np.sin(0.3 * np.arange(1100)))
        return EvokeForecaster(**SMALL, n_landmarks=16, difference=()).fit(y), 30
    if name == "values of 1e300":
        return EvokeForecaster(**SMALL).fit(1e300 * wave), 20
    if name == "nothing varies":
        return EvokeForecaster(**SMALL).fit(np.full(80, 0.25)), 10
    raise ValueError(name)


NAMES = ["a series that grows ever more", "logarithms of seasons", "too short for networks",
         "too short a last series", "landmarks and ridge", "values of 1e300", "nothing varies"]  # fmt: skip


@pytest.fixture(scope="module", params=NAMES)
def case(request):
    model, n = fitted(request.param)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the forecast leaves the range")
        return model, model.generate(n)[:, np.newaxis]


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


@needs_gcc
def test_c(case, tmp_path):
    model, wanted = case
    close(InC(model, tmp_path).read(np.zeros((len(wanted), 0))), wanted)


def test_onnx(case, tmp_path):
    pytest.importorskip("onnxruntime")
    model, wanted = case
    (found,) = InOnnx(model, tmp_path).read([np.zeros((len(wanted), 0))])
    close(found, wanted)


def test_page(case):
    V8 = pytest.importorskip("py_mini_racer").MiniRacer
    model, wanted = case
    text = html_page(model)
    page, script = (re.search(rf"{begin}(.*?)</script>", text, re.DOTALL)[1]
                    for begin in ('id="page">', "<script>\n"))  # fmt: skip
    context = V8()
    context.eval(script[: script.index("/* The page of a model")])
    context.eval(f"const page = {page}, model = evokeModel(page.plan);")
    said = json.loads(context.eval(f"JSON.stringify(Array.from({{ length: {len(wanted)} }}, () => model.step([])))"))
    close(said, wanted)
    assert context.eval("model.difference(page.given, page.expected) <= page.allowed")
    assert json.loads(page)["fitness"] == []


def test_the_cases_are_what_they_are_called():
    plans = {name: rolling_plan_of(fitted(name)[0].fitted_, "") for name in NAMES}
    assert plans["a series that grows ever more"].rate > 0.01
    assert all(member.log and member.lags == (12, 1) for member in plans["logarithms of seasons"].members)
    assert plans["too short for networks"].members == []
    assert all(sum(member.lags) < 9 for member in plans["too short a last series"].members)
    assert {bool(member.features) for member in plans["landmarks and ridge"].members} == {True, False}
    assert plans["values of 1e300"].exponent > 990


@needs_gcc
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float64", "mixed", "float32"])
def test_self_tests_under_sanitizers(name, dtype, tmp_path):
    model, _ = fitted(name)
    if name == "values of 1e300" and dtype == "float32":
        with pytest.raises(ValueError, match="out of the range of dtype='float32'"):
            c_source(model, dtype=dtype)
        return
    (tmp_path / "model.c").write_text(c_source(model, dtype=dtype))
    options = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all", "-DEVOKE_SELF_TEST"]
    subprocess.run(["gcc", *STRICT, *options, "model.c", "-o", "model"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "model"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@needs_gcc
@pytest.mark.parametrize("y, dtype", [(np.zeros(100), "float64"), (4e8 + 1e8 * np.sin(T[:100] / 4), "float32")])
def test_what_is_allowed_is_a_number_with_a_point(y, dtype, tmp_path):
    source = c_source(EvokeForecaster(**SMALL).fit(y), dtype=dtype)
    allowed = re.search(r"return largest <= ([^ ]+) \?", source)[1]
    assert "." in allowed and float(allowed) == float(f"{float(allowed):.3g}")
    (tmp_path / "model.c").write_text(source)
    subprocess.run(["gcc", *STRICT, "-DEVOKE_SELF_TEST", "model.c", "-o", "model"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "model"], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"allowed {float(allowed):.3g}\n")


@needs_gcc
def test_it_begins_anew(tmp_path):
    exported = InC(fitted("logarithms of seasons")[0], tmp_path)
    first = exported.read(np.zeros((15, 0)))
    np.testing.assert_array_equal(exported.read(np.zeros((15, 0))), first)


@needs_gcc
def test_names_of_external_inputs_and_wrong_ones(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["sun", "*/ rain"])
    model = EvokeForecaster(**SMALL).fit(np.sin(0.3 * T) + X["sun"].to_numpy(), X=X)
    text = c_source(model, X=X.to_numpy()[:5])
    assert " * x: sun,  / rain.\n" in text
    assert "enum { N_STEPS = 5 };" in text
    with pytest.raises(ValueError, match=r"X must be finite numbers of shape \(n_steps, 2\)"):
        c_source(model, X=np.zeros((3, 1)))


def test_numbers_that_are_none_are_refused(tmp_path):
    model = EvokeForecaster(**SMALL).fit(tasks.superimposed_sines(2, 60))
    model.fitted_.network.genome[0, 0, 0] = np.nan
    for write in [to_c, *([to_onnx] if _has_onnx() else [])]:
        with pytest.raises(ValueError, match="the model has a number, nan"):
            write(model, tmp_path / "model.out")
    assert list(tmp_path.iterdir()) == []


def _has_onnx():
    try:
        import onnx  # noqa: F401
    except ImportError:
        return False
    return True
