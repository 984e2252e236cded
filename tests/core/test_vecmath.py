import os
import subprocess
import sys

import numpy as np
import pytest

from evoke._core import dispatch

# Eight bits more than a double: the reference rounds at most one part in 2000 of a double's ulp.
pytestmark = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs extended precision")

REFERENCE = {
    "exp": np.exp,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "tanpi": lambda x: np.tan(np.arccos(np.longdouble(-1)) * x),
}


def ulps(name, x):
    """Errors in units of the last place of the correctly rounded value."""
    exact = REFERENCE[name](x.astype(np.longdouble))
    return np.abs(dispatch.apply(name, x) - exact) / np.spacing(np.abs(exact).astype(np.float64))


def grid(low, high, n=200_000):
    """Evenly spread points, random points, and points close to zero on both sides."""
    rng = np.random.default_rng(0)
    small = np.geomspace(1e-300, 1.0, 20_000) * min(1.0, high)
    return np.concatenate([np.linspace(low, high, n), rng.uniform(low, high, n), small, -small])


@pytest.mark.parametrize(
    ("name", "x", "bound"),
    [
        ("exp", grid(-708.0, 709.0), 1.1),
        ("exp", grid(-1.0, 1.0), 1.1),
        ("logistic", grid(-708.0, 40.0), 2.4),
        ("logistic", grid(-6.0, 6.0), 2.4),
        ("tanh", grid(-20.0, 20.0), 3.0),
        ("tanh", grid(-1.0, 1.0), 3.0),
        # near 1/2 the argument itself limits what a double can say; 1/2 - x is exact, so the core keeps its accuracy
        ("tanpi", grid(-0.4999, 0.4999), 4.0),
    ],
)
def test_errors_in_ulps(name, x, bound):
    assert ulps(name, x).max() <= bound


def test_tanpi_near_its_poles():
    rest = np.geomspace(1e-16, 1e-3, 1000)
    x = 0.5 - rest
    rest = (0.5 - x).astype(np.longdouble)  # exact
    rest, x = rest[rest > 0], x[rest > 0]
    exact = 1 / np.tan(np.arccos(np.longdouble(-1)) * rest)
    assert (np.abs(dispatch.apply("tanpi", x) - exact) / np.spacing(exact.astype(np.float64))).max() <= 4.0
    np.testing.assert_array_equal(dispatch.apply("tanpi", -x), -dispatch.apply("tanpi", x))


@pytest.mark.parametrize("name", REFERENCE)
def test_nan_stays_nan(name):
    value = dispatch.apply(name, [np.nan, 0.25, -np.nan])
    np.testing.assert_array_equal(np.isnan(value), [True, False, True])


@pytest.mark.parametrize("name", REFERENCE)
def test_any_length_and_shape(name):
    x = np.linspace(-0.4, 0.4, 23)
    whole = dispatch.apply(name, x)
    for n in range(24):
        np.testing.assert_array_equal(dispatch.apply(name, x[:n]), whole[:n])
    np.testing.assert_array_equal(dispatch.apply(name, x[:12].reshape(3, 4)), whole[:12].reshape(3, 4))
    np.testing.assert_array_equal(dispatch.apply(name, x[::-1]), whole[::-1])


def test_special_values():
    inf = np.inf
    np.testing.assert_array_equal(dispatch.apply("exp", [0.0, -0.0, -708.5, -1e300, -inf]), [1.0, 1.0, 0.0, 0.0, 0.0])
    assert np.isfinite(dispatch.apply("exp", [709.0, 710.0, 1e300, inf])).all()
    np.testing.assert_array_equal(dispatch.apply("logistic", [0.0, -0.0, 37.0, 100.0, inf]), [0.5, 0.5, 1.0, 1.0, 1.0])
    assert (dispatch.apply("logistic", [-709.0, -1e300, -inf]) < 1e-300).all()
    np.testing.assert_array_equal(dispatch.apply("tanh", [19.1, 1e300, inf]), [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(dispatch.apply("tanh", [-19.1, -1e300, -inf]), [-1.0, -1.0, -1.0])
    np.testing.assert_array_equal(dispatch.apply("tanpi", [0.25, -0.25, 0.5, -0.5]), [1.0, -1.0, inf, -inf])


@pytest.mark.parametrize("name", ["tanh", "tanpi"])
def test_odd_functions_keep_the_sign_of_zero_and_subnormals(name):
    value = dispatch.apply(name, [0.0, -0.0])
    np.testing.assert_array_equal(value, [0.0, 0.0])
    np.testing.assert_array_equal(np.signbit(value), [False, True])
    assert dispatch.apply(name, [5e-324])[0] > 0.0


@pytest.mark.parametrize("name", ["exp", "logistic", "tanh"])
def test_results_stay_in_range(name):
    x = np.linspace(-800.0, 800.0, 100_001)
    value = dispatch.apply(name, x)
    low, high = {"exp": (0.0, np.inf), "logistic": (0.0, 1.0), "tanh": (-1.0, 1.0)}[name]
    assert low <= value.min() and value.max() <= high


def test_unknown_function_is_refused():
    with pytest.raises(ValueError, match="'sin'"):
        dispatch.apply("sin", [0.0])


# Everything the core computes, as one hash. Values at the edge of rounding, ragged shapes, small caches.
PROBE = """
import hashlib
import numpy as np
from evoke._core import dispatch, lstm, qp
from evoke._core.evaluate import evaluate
from evoke._core.kernel import Kernel, decide, gram
from evoke.evolution.problem import Objective, Points
from evoke.readouts import LSSVMReadout, PinvReadout, SVMReadout
from evoke.sequences.prefixes import Segments

digest = hashlib.sha256()
rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(size=3001) * 10.0 ** rng.integers(-320, 4, 3001), [0.0, -0.0, np.inf, -np.inf]])
for name in ("exp", "logistic", "tanh"):
    digest.update(dispatch.apply(name, x))
digest.update(dispatch.apply("tanpi", rng.uniform(-0.5, 0.5, 3001)))

genomes = rng.normal(size=(11, 5, 4 * (3 + 5))) * 3.0
lengths = rng.integers(1, 30, 13)
offsets = np.concatenate([[0], np.cumsum(lengths)])
X = rng.normal(size=(offsets[-1], 3))
alone = np.full(13, -1)
table = np.array([offsets[:-1], offsets[1:], alone, alone])
for cell in ("lstm", "evolino"):
    for dtype in (np.float32, np.float64):
        nets, rows = genomes.astype(dtype), X.astype(dtype)
        digest.update(lstm.population(lstm.Network(nets, cell), rows, table))
        phi, state = lstm.sequences(lstm.Network(nets[0], cell), rows, offsets)
        digest.update(phi)
        digest.update(state)

n = 83
points, labels = phi[:n].copy(), np.where(rng.random(n) < 0.5, 1.0, -1.0)
for kernel in (Kernel(name, 0.5, 1.0, 3) for name in ("linear", "poly", "rbf")):
    for C in (0.1, 100.0):
        for cache in (1 << 20, 1):
            for target, lower, upper, epsilon in (
                (labels, np.minimum(0.0, C * labels), np.maximum(0.0, C * labels), 0.0),
                (points[:, 0] + 0.1 * labels, np.full(n, -C), np.full(n, C), 0.05),
            ):
                beta = np.zeros(n)
                machine = qp.Machine(points, kernel, cache)
                result = machine.solve(target, lower, upper, epsilon, 1e-6, 20000, beta)
                digest.update(beta)
                digest.update(repr(result).encode())
    digest.update(gram(points, kernel))
    digest.update(decide(phi, points, beta[:, None].copy(), np.zeros(1), kernel))

rows, y = np.arange(n), np.array([labels, -labels])
halves = slice(50), slice(50, n)
train, validation = (Points(rows[half], np.ones(len(rows[half])), y[:, half].copy()) for half in halves)
rbf = Kernel("rbf", 0.25)
for readout in SVMReadout(rbf, C=10.0, tol=1e-6), LSSVMReadout(rbf, C=1e6), PinvReadout(rcond=1e-12):
    digest.update(evaluate(
        lstm.Network(genomes), Segments(X, table, np.arange(len(X))), train, validation, readout, Objective("hinge")))
print(dispatch.simd(), digest.hexdigest())
"""


def run(code, simd):
    environment = {**os.environ, "EVOKE_SIMD": simd}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)


def test_every_instruction_set_gives_the_same_bits():
    answers = {}
    for simd in dispatch.supported():
        done = run(PROBE, simd)
        assert done.returncode == 0, done.stderr
        name, digest = done.stdout.split()
        assert name == simd
        answers[simd] = digest
    assert len(set(answers.values())) == 1, answers


def test_the_best_instruction_set_is_the_default():
    done = run("from evoke._core import dispatch; print(dispatch.simd())", "")
    assert done.stdout.split() == [dispatch.supported()[-1]]
    assert set(dispatch.supported()) <= set(dispatch.compiled())
    assert dispatch.compiled()[0] == "scalar"


def test_an_unknown_instruction_set_is_an_import_error():
    done = run("import evoke._core.dispatch", "mmx")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: EVOKE_SIMD='mmx'")
    assert all(name in last for name in dispatch.supported())


def test_import_leaves_subnormal_numbers_alone():
    code = """
import numpy as np
import evoke._core.dispatch, evoke._core.lstm, evoke._core.qp, evoke._core.evaluate
smallest = np.array([5e-324, 2.2250738585072014e-308])
assert (smallest * np.array([1.0, 0.5]) > 0.0).all()
assert float("5e-324") * 1.0 > 0.0
"""
    done = run(code, "")
    assert done.returncode == 0, done.stderr
