"""C files: what they say is what the model says, whatever compiles them."""

import itertools
import json
import shutil
import subprocess

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, tasks
from evoke.export import c_source, to_c
from harness.exports import KINDS, STRICT, InC, coefficients, in_single, said
from oracle.lstm import forward

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
SANITIZERS = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
ARM = ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-Os")
SMALL = {"n_generations": 1, "n_cells": 2, "subpopulation_size": 4, "random_state": 0}

# Prints what a model says on the lines of numbers that it is given.
CALLER = """
#include <stdio.h>
#define FIRST_DECLARATIONS
#define SECOND_DECLARATIONS
#include "first.c"
#include "second.c"
int main(void)
{
    first_state a;
    second_state b;
    double x[FIRST_N_INPUTS], one[FIRST_N_OUTPUTS], two[SECOND_N_OUTPUTS];
    first_reset(&a);
    second_reset(&b);
    while (scanf("%lf %lf", x, x + 1) == 2) {
        first_step(&a, x, one);
        second_step(&b, x, two);
        printf("%s %s\\n", first_labels[first_label(one)], second_labels[second_label(two)]);
    }
    return 0;
}
"""


def worst(found, wanted):
    """The largest difference in the last rows that both have."""
    return max(np.abs(a[-len(b) :] - b[-len(a) :]).max() for a, b in zip(found, wanted, strict=True))


@needs_gcc
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_a_stream(kind, seed, tmp_path):
    model, Z = KINDS[kind](np.random.default_rng(seed))
    wanted, scale = said(model, Z), 1.0 + coefficients(model)
    exact, mixed = (InC(model, tmp_path, dtype) for dtype in ("float64", "mixed"))
    found = [exact.read(z) for z in Z]
    assert worst(found, wanted) < 1e-14 * scale < 1e-9
    single = worst(in_single(model, Z), wanted)
    assert worst([mixed.read(z) for z in Z], wanted) < 20 * single + 1e-6
    if hasattr(model, "classes_") and not model.fitted_.multilabel:
        for z, values in zip(Z, found, strict=True):
            labels = [model.classes_[exact.label(np.ascontiguousarray(row))] for row in values]
            assert labels == list(model.stream().predict(z))


@needs_gcc
def test_values_are_those_of_plain_numpy(tmp_path):
    X, y = tasks.anbncn(4)
    model = EvokeClassifier(**SMALL).fit(X, y)
    phi = forward(model.genome_, X[-1], gate_bias=(0.0, 1.5, -1.5))[0]
    readout = model.readout_
    distances = ((phi[:, np.newaxis] - readout.support_vectors) ** 2).sum(axis=2)
    wanted = np.exp(-readout.gamma * distances) @ readout.dual_coef + readout.intercept
    np.testing.assert_allclose(InC(model, tmp_path).read(X[-1]), wanted, rtol=0, atol=1e-11)


def self_tested(text, folder, *options):
    (folder / "model.c").write_text(text)
    command = ["gcc", *STRICT, *options, "-DEVOKE_SELF_TEST", "model.c", "-o", "model"]
    subprocess.run(command, cwd=folder, check=True)
    return subprocess.run([folder / "model"], capture_output=True, text=True, check=False)


@needs_gcc
@pytest.mark.parametrize(
    "kind, dtype", list(zip(KINDS, itertools.cycle(["float64", "float32", "mixed"]), strict=False))
)
def test_the_self_test_passes_under_sanitizers(kind, dtype, tmp_path):
    model, _ = KINDS[kind](np.random.default_rng(7))
    done = self_tested(c_source(model, dtype=dtype), tmp_path, *SANITIZERS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("largest difference ")


@needs_gcc
@pytest.mark.parametrize("dtype, change", [("float64", "1e-3"), ("float32", "1e3f"), ("mixed", "1.0")])
def test_the_self_test_sees_another_number(dtype, change, tmp_path):
    text = c_source(EvokeClassifier(**SMALL, C=1.0).fit(*tasks.anbncn(3)), dtype=dtype)
    begin = text.index("intercept[EVOKE_N_OUTPUTS] = {") + len("intercept[EVOKE_N_OUTPUTS] = {")
    assert self_tested(text, tmp_path).returncode == 0
    assert self_tested(f"{text[:begin]}{change} + {text[begin:]}", tmp_path).returncode == 1


@needs_gcc
def test_the_self_test_takes_steps_of_the_user(tmp_path):
    X, y = tasks.anbncn(3)
    model = EvokeClassifier(**SMALL).fit(X, y)
    text = c_source(model, X=X[-1])
    assert f"enum {{ N_STEPS = {len(X[-1])} }};" in text
    assert repr(float(model.stream().decision_function(X[-1])[-1, 0])) in text


@needs_gcc
@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_probabilities(n_classes, tmp_path):
    X = [np.random.default_rng(k).normal(size=(9, 2)) for k in range(12)]
    labels = np.array([[[1, 0]], [[0, 1]], [[1, 1]]] * 4) if n_classes is None else [k % n_classes for k in range(12)]
    model = EvokeClassifier(**SMALL, n_networks=3).fit(X, labels)
    wanted = model.predict_proba(X)
    assert wanted.shape == (12, n_classes or 2)
    for dtype, tolerance in ("float64", 1e-12), ("mixed", 1e-5), ("float32", 1e-5):
        exported = InC(model, tmp_path, dtype)
        found = [exported.probabilities(exported.read(x)[-1], wanted.shape[1]) for x in X]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance)
    far = [exported.probabilities(np.full(model.fitted_.n_outputs, value, np.float32), wanted.shape[1])
           for value in (1e30, -1e30, np.nan)]  # fmt: skip
    assert np.isfinite(far[:2]).all()
    assert np.isnan(far[2]).all()


@needs_gcc
def test_it_reads_on_for_ever(tmp_path):
    X = [np.random.default_rng(k).normal(size=(n, 2)) for k, n in enumerate((9, 60, 12, 8))]
    model = EvokeClassifier(**SMALL, readout="landmarks", differences=(1, 5), n_landmarks=8)
    exported = InC(model.fit(X, [x[:, 0] > 0 for x in X]), tmp_path)
    exported.read(X[1][:20])
    exported.count(2**32 - 7)
    found = np.stack([exported.step(x) for x in X[1][20:]])
    np.testing.assert_array_equal(found, exported.read(X[1])[20:])


@needs_gcc
def test_names_of_columns_end_no_comment(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, names = np.random.default_rng(0).normal(size=(12, 5)), ["a */ int b;", "c??/", "d\n\\", "e/*f*/", "@MORE_STATE@"]
    model = EvokeClassifier(**SMALL).fit(pandas.DataFrame(X, columns=names), X[:, 0] > 0)
    exported = InC(model, tmp_path)
    assert " * x: a  / int b;, c ?/, d  , e *f /,  MORE_STATE .\n" in exported.source.read_text()
    np.testing.assert_allclose(exported.read(X), said(model, [X])[0], rtol=0, atol=1e-10)


@needs_gcc
def test_two_models_in_one_program(tmp_path):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (9, 12, 10, 8)]
    signs = [np.where(x[:, 0] > 0, 'y"es??/', "nö") for x in X]
    models = [EvokeClassifier(**SMALL, cell=cell).fit(X, signs) for cell in ("lstm", "evolino")]
    for name, model in zip(("first", "second"), models, strict=True):
        to_c(model, tmp_path / f"{name}.c", name=name)
    (tmp_path / "caller.c").write_text(CALLER)
    command = ["gcc", *STRICT, "caller.c", "first.c", "second.c", "-o", "caller"]
    subprocess.run(command, cwd=tmp_path, check=True)
    given = "\n".join(" ".join(map(repr, row)) for row in X[0].tolist())
    done = subprocess.run([tmp_path / "caller"], input=given, capture_output=True, text=True, check=True)
    wanted = zip(*(model.predict(X[:1])[0] for model in models), strict=True)
    assert done.stdout.splitlines() == [" ".join(labels) for labels in wanted]


@needs_gcc
def test_a_forecaster_goes_on_where_the_series_ended(tmp_path):
    y = tasks.superimposed_sines(2, 150)
    model = EvokeForecaster(**SMALL, washout=20, validation="half", readout="svm", C=10.0).fit(y)
    exported = InC(model, tmp_path)
    found = [exported.resume()]
    for _ in range(20):
        found.append(exported.step(found[-1]))
    np.testing.assert_allclose(np.ravel(found[1:]), np.ravel(model.generate(20)), rtol=0, atol=1e-10)


NUMBERS = """
#include "model.c"
int main(void)
{
    static evoke_state state;
    static const evoke_real x[EVOKE_N_INPUTS] = {0.0 / 0.0};
    evoke_value values[EVOKE_N_OUTPUTS];
    evoke_reset(&state);
    evoke_step(&state, x, values);
    for (int o = 0; o < EVOKE_N_OUTPUTS; o++)
        if (values[o] == values[o])
            return 1;
    return 0;
}
"""


@needs_gcc
@pytest.mark.parametrize("dtype", ["float64", "float32", "mixed"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_what_is_no_number_is_never_made_a_whole_one(kernel, dtype, tmp_path):
    to_c(EvokeClassifier(**SMALL, kernel=kernel).fit(*tasks.anbncn(3)), tmp_path / "model.c", dtype=dtype)
    (tmp_path / "main.c").write_text(NUMBERS)
    # which some processors trap, and C does not define
    subprocess.run(["gcc", "-std=c99", *SANITIZERS, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


@needs_gcc
@pytest.mark.parametrize(
    "labels, written",
    [
        (np.array([-(2**63), 5]), "{(-INT64_C(9223372036854775807) - 1), INT64_C(5)}"),
        (np.array([2**64 - 1, 2**63], np.uint64), "{UINT64_C(9223372036854775808), UINT64_C(18446744073709551615)}"),
        (np.array([0.5, 1.5], np.longdouble), "{0.5, 1.5}"),
        (np.array([True, False]), "{0, 1}"),
        (np.array(['??=/*\\\n"*/', "@n@"]), r'{"\077\077=/*\134\012\042*/", "\100n\100"}'),
    ],
)
def test_labels_are_constants(labels, written, tmp_path):
    X = [np.random.default_rng(k).normal(size=(9, 2)) for k in range(8)]
    exported = InC(EvokeClassifier(**SMALL, n_networks=2).fit(X, np.tile(labels, 4)), tmp_path)
    assert f"evoke_labels[EVOKE_N_CLASSES] = {written};" in exported.source.read_text()


@needs_gcc
def test_what_is_no_number_gives_no_number(tmp_path):
    X, y = tasks.anbncn(3)
    exported = InC(EvokeClassifier(**SMALL).fit(X, y), tmp_path)
    exported.reset()
    assert np.isnan(exported.step(np.full(4, np.nan))).all()
    exported.reset()
    assert np.isfinite(exported.step(np.full(4, 1e300))).all()


@pytest.mark.skipif(shutil.which(ARM[0]) is None, reason="needs arm-none-eabi-gcc")
@pytest.mark.parametrize("kind", ["classes of steps", "whole sequences", "series", "rolling origins"])
def test_it_needs_nothing_on_a_cortex_m(kind, tmp_path):
    model, _ = KINDS[kind](np.random.default_rng(3))
    to_c(model, tmp_path / "model.c", dtype="float32")
    subprocess.run([*ARM, *STRICT, "-c", "model.c", "-o", "model.o"], cwd=tmp_path, check=True)
    asked = subprocess.run(["arm-none-eabi-nm", "-u", "model.o"], cwd=tmp_path, check=True, capture_output=True)
    # what compilers may always ask for
    assert {line.split()[1] for line in asked.stdout.splitlines()} <= {b"memset", b"memcpy", b"memmove"}


WASM = """
const fs = require("fs");
const [file, json] = process.argv.slice(2);
const model = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(file)), {}).exports;
const given = JSON.parse(json);
const state = model.__heap_base.value, x = state + ((model.evoke_state_size() + 15) & ~15), values = x + 1024;
model.memory.grow(16);
const memory = new Float64Array(model.memory.buffer);
model.evoke_reset(state);
const said = given.map(row => {
    row.forEach((number, k) => { memory[x / 8 + k] = number; });
    model.evoke_step(state, x, values);
    return memory[values / 8];
});
console.log(JSON.stringify(said));
"""


@pytest.mark.skipif(None in map(shutil.which, ("clang", "wasm-ld", "node")), reason="needs clang, lld and node")
@pytest.mark.parametrize("kind", ["classes of steps", "whole sequences"])
def test_webassembly_says_the_same(kind, tmp_path):
    model, Z = KINDS[kind](np.random.default_rng(4))
    to_c(model, tmp_path / "model.c")
    (tmp_path / "run.js").write_text(WASM)
    command = ["clang", "--target=wasm32", "-O2", "-nostdlib", "-mbulk-memory", "-Wl,--no-entry", "-Wl,--export-all"]
    subprocess.run([*command, "-o", "model.wasm", "model.c"], cwd=tmp_path, check=True)
    command = ["node", "run.js", "model.wasm", json.dumps(Z[0].tolist())]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    np.testing.assert_allclose(json.loads(done.stdout), said(model, Z[:1])[0][:, 0], rtol=0, atol=1e-9)
