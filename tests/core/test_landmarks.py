"""Machines on landmarks: sums of products, what is solved from them, the choice of landmarks, judged networks."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from evoke._core import dispatch, landmarks
from evoke._core.evaluate import evaluate_landmarks
from evoke._core.kernel import Kernel, decide, gram
from evoke._core.lstm import Network, population
from evoke.evolution.evaluation import WorkQueue
from evoke.evolution.problem import Objective, Points
from evoke.readouts import LandmarkReadout
from evoke.sequences.containers import Sequences
from evoke.sequences.prefixes import share_prefixes
from oracle import landmarks as oracle
from oracle import svm

PARAMETERS = {"rbf": ("rbf", 0.4, 0.0, 3), "linear": ("linear", 1.0, 0.0, 3), "poly": ("poly", 0.3, 1.0, 2)}
BIAS = (0.0, 1.5, -1.5)
every_kernel = pytest.mark.parametrize("name", PARAMETERS)


def problem(seed, n=150, d=3, m=20, n_outputs=2):
    """Rows, landmarks among them, targets and fractional weights, some of which are 0."""
    rng = np.random.default_rng(seed)
    x, targets = rng.normal(size=(n, d)), rng.normal(size=(n, n_outputs))
    weights = rng.uniform(0.2, 3.0, n) * (rng.uniform(size=n) < 0.8)
    weights[0] = 1.0
    return x, np.ascontiguousarray(x[rng.permutation(n)[:m]]), targets, weights


def summed(x, places, targets, weights, parameters, cuts=()):
    """The sums over all rows, which come in blocks."""
    sums = landmarks.Sums(Kernel(*parameters), places, targets.shape[1])
    roots = np.sqrt(weights)
    for begin, end in zip((0, *cuts), (*cuts, len(x)), strict=True):
        sums.add(x[begin:end], targets[begin:end], roots[begin:end])
    return sums


def solved(x, places, targets, weights, C, parameters):
    sums = summed(x, places, targets, weights, parameters)
    return landmarks.solve(sums.total, gram(places, Kernel(*parameters)), C, targets.shape[1])


def both_objectives(x, places, targets, weights, C, parameters):
    """What is minimised: by the core, by the oracle; and what the functions say on other rows."""
    found = solved(x, places, targets, weights, C, parameters)
    K, K_zz = svm.kernel(x, places, *parameters), svm.kernel(places, places, *parameters)
    expected = oracle.solve(K, K_zz, targets, weights, C)
    objectives = [oracle.objective(K, K_zz, *each, targets, weights, C) for each in (found, expected)]
    return *objectives, K @ found.dual_coef + found.intercept, K @ expected[0] + expected[1]


# --- sums and what is solved from them ---


@every_kernel
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (5, 2, 3, 1), (64, 1, 8, 3), (65, 3, 7, 2), (200, 12, 41, 1)])
def test_sums_are_those_of_the_products(name, shape):
    n, d, m, n_outputs = shape
    x, places, targets, weights = problem(1, n, d, m, n_outputs)
    places = places if len(places) == m else np.random.default_rng(2).normal(size=(m, d))
    expected = oracle.sums(x, places, targets, weights, *PARAMETERS[name])
    found = summed(x, places, targets, weights, PARAMETERS[name]).total
    used = m + 1 + n_outputs
    scale = np.abs(expected).max()
    assert_allclose(np.triu(found[:used, :used]), np.triu(expected), rtol=1e-12, atol=1e-13 * scale)
    assert found.shape[0] % dispatch.LANES == 0
    assert not found[:, used:].any()  # of the columns that fill the last pack


def test_rows_without_weights_count_once():
    x, places, targets, _ = problem(2)
    sums = landmarks.Sums(Kernel(*PARAMETERS["rbf"]), places, 2)
    sums.add(x, targets)
    assert_array_equal(sums.total, summed(x, places, targets, np.ones(len(x)), PARAMETERS["rbf"]).total)
    before = sums.total.copy()
    sums.add(x[:0], targets[:0])
    assert_array_equal(sums.total, before)


@every_kernel
def test_a_weight_of_two_is_the_row_twice_and_one_of_zero_no_row(name):
    x, places, targets, _ = problem(3, n=90)
    weights = np.arange(90) % 3
    weighted = solved(x, places, targets, weights.astype(float), 10.0, PARAMETERS[name])
    rows = np.repeat(np.arange(90), weights)
    repeated = solved(x[rows], places, targets[rows], np.ones(len(rows)), 10.0, PARAMETERS[name])
    values = [decide(x, places, *each, Kernel(*PARAMETERS[name])) for each in (weighted, repeated)]
    assert_allclose(values[0], values[1], atol=1e-8)


@every_kernel
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_the_solution_is_that_of_least_squares(name, C):
    x, places, targets, weights = problem(4)
    found, expected, values, wanted = both_objectives(x, places, targets, weights, C, PARAMETERS[name])
    # 20 landmarks are more than the dimensions of the other kernels, whose normal equations are singular
    assert_allclose(found, expected, rtol=1e-9 if name == "rbf" else 1e-6)
    assert_allclose(values, wanted, atol=1e-6)


@given(
    st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 5), st.integers(1, 12), st.integers(1, 3),
    st.floats(-3, 4), st.sampled_from(list(PARAMETERS)),
)  # fmt: skip
def test_any_shape(seed, n, d, m, n_outputs, log_c, name):
    x, places, targets, weights = problem(seed, n, d, m, n_outputs)
    found, expected, values, wanted = both_objectives(x, places, targets, weights, 10.0**log_c, PARAMETERS[name])
    # the squares of the values' condition number are lost in the normal equations
    assert (found <= expected * (1.0 + 1e-6) + 1e-9).all()
    used = weights > 0
    assert_allclose(values[used], wanted[used], atol=1e-3 * max(1.0, np.abs(wanted).max()))


def test_all_rows_as_landmarks_are_the_exact_machine():
    """Which solves [K + I / (C w), 1; 1', 0] [coef; b] = [y; 0]."""
    x, _, targets, _ = problem(5, n=40)
    weights, C = np.random.default_rng(5).uniform(0.2, 3.0, 40), 10.0
    K = svm.kernel(x, x, *PARAMETERS["rbf"])
    system = np.ones((41, 41))
    system[:40, :40] = K + np.diag(1.0 / (C * weights))
    system[40, 40] = 0.0
    exact = np.linalg.solve(system, np.vstack([targets, np.zeros((1, 2))]))
    found = solved(x, x, targets, weights, C, PARAMETERS["rbf"])
    assert_allclose(decide(x, x, *found, Kernel(*PARAMETERS["rbf"])), K @ exact[:40] + exact[40], atol=1e-9)


@every_kernel
def test_landmarks_that_are_the_same(name):
    """Their matrix is singular; the function is that of one of each."""
    x, places, targets, weights = problem(6, m=5)
    values = []
    for z in places, np.repeat(places, 3, axis=0):
        found = solved(x, z, targets, weights, 10.0, PARAMETERS[name])
        values.append(decide(x, z, *found, Kernel(*PARAMETERS[name])))
    assert_allclose(values[1], values[0], atol=1e-6)


@every_kernel
def test_features_that_are_constant_tell_nothing(name):
    x, places, targets, weights = problem(7)
    if name == "rbf":
        x[:, 1], places[:, 1] = 3.0, 3.0
        found = solved(x, places, targets, weights, 10.0, PARAMETERS[name])
        without = [np.ascontiguousarray(np.delete(part, 1, axis=1)) for part in (x, places)]
        other = solved(*without, targets, weights, 10.0, PARAMETERS[name])
        assert_array_equal(found.dual_coef, other.dual_coef)
    x[:], places[:] = 3.0, 3.0
    found = solved(x, places, targets, weights, 10.0, PARAMETERS[name])
    mean = weights @ targets / weights.sum()
    assert_allclose(decide(x, places, *found, Kernel(*PARAMETERS[name])), np.tile(mean, (len(x), 1)), atol=1e-6)


def test_kernel_values_that_are_all_zero_tell_nothing():
    _, _, targets, weights = problem(7)
    found = solved(np.zeros((150, 3)), np.zeros((2, 3)), targets, weights, 10.0, PARAMETERS["linear"])
    assert_array_equal(found.dual_coef, np.zeros((2, 2)))
    assert_allclose(found.intercept, weights @ targets / weights.sum(), rtol=1e-12)


def test_one_landmark_is_a_regression_on_one_column():
    x, places, targets, weights = problem(8, m=1)
    k = svm.kernel(x, places, *PARAMETERS["rbf"])[:, 0]
    centred = k - weights @ k / weights.sum()
    slope = (weights * centred) @ targets / (weights @ centred**2 + 1.0 / 5.0)
    found = solved(x, places, targets, weights, 5.0, PARAMETERS["rbf"])
    assert_allclose(found.dual_coef[0], slope, rtol=1e-10)
    assert_allclose(found.intercept, weights @ (targets - np.outer(k, slope)) / weights.sum(), atol=1e-10)


def test_offsets_of_rows_and_targets():
    x, places, targets, weights = problem(9)
    near = solved(x, places, targets, weights, 10.0, PARAMETERS["rbf"])
    values = decide(x, places, *near, Kernel(*PARAMETERS["rbf"]))
    far_x, far_places = (np.round(part * 2.0**20) / 2.0**20 + 2.0**20 for part in (x, places))
    far = solved(far_x, far_places, targets, weights, 10.0, PARAMETERS["rbf"])
    assert_allclose(decide(far_x, far_places, *far, Kernel(*PARAMETERS["rbf"])), values, atol=1e-4)
    raised = solved(x, places, targets + 1e6, weights, 10.0, PARAMETERS["rbf"])
    assert_allclose(decide(x, places, *raised, Kernel(*PARAMETERS["rbf"])) - 1e6, values, atol=1e-4)


def test_what_cannot_be_solved():
    x, places, targets, weights = problem(10)
    sums = summed(x * 1e200, places * 1e200, targets, weights, PARAMETERS["linear"])
    assert landmarks.solve(sums.total, np.eye(len(places)), 1.0, 2) is None
    empty = landmarks.Sums(Kernel(*PARAMETERS["rbf"]), places, 2)
    assert landmarks.solve(empty.total, gram(places, Kernel(*PARAMETERS["rbf"])), 1.0, 2) is None


@pytest.mark.parametrize("cuts", [(1,), (63,), (64,), (65,), (10, 10, 100), tuple(range(1, 150))])
@every_kernel
def test_blocks_of_rows_give_the_same_bits(name, cuts):
    data = *problem(11), PARAMETERS[name]
    assert_array_equal(summed(*data, cuts).total, summed(*data).total)


def test_wrong_arguments_are_refused():
    x, places, targets, weights = problem(12)
    kernel = Kernel()
    sums = landmarks.Sums(kernel, places, 2)
    for rows, values, roots, message in (
        (x[:, :2].copy(), targets, None, "x must have 3 columns, got 2"),
        (x, targets[:-1], None, r"targets must have shape \(150, 2\), got \(149, 2\)"),
        (x, targets[:, :1].copy(), None, r"targets must have shape \(150, 2\), got \(150, 1\)"),
        (x, targets, weights[1:], r"roots must have shape \(150,\), got \(149,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            sums.add(rows, values, roots)
    for z, n_outputs in (places[:0], 1), (places[:, :0], 1), (places, 0):
        with pytest.raises(ValueError, match="landmarks must have rows and columns, and outputs, got"):
            landmarks.Sums(kernel, np.ascontiguousarray(z), n_outputs)
    matrix = gram(places, kernel)
    for total, values, C, n_outputs, message in (
        (sums.total, matrix[1:], 1.0, 2, r"gram must be square with at least one row, got shape \(19, 20\)"),
        (sums.total, matrix[:0, :0].copy(), 1.0, 2, "gram must be square with at least one row"),
        (sums.total[1:], matrix, 1.0, 2, "sums must have shape"),
        (sums.total, matrix, 1.0, 0, "sums must have shape"),
        (sums.total, matrix, 0.0, 2, "C must be a positive finite number, got 0.0"),
        (sums.total, matrix, np.inf, 2, "C must be a positive finite number, got inf"),
        (sums.total, matrix, np.nan, 2, "C must be a positive finite number, got nan"),
    ):
        with pytest.raises(ValueError, match=message):
            landmarks.solve(total, values, C, n_outputs)
    with pytest.raises(ValueError, match="x must have rows and columns"):
        landmarks.pivots(x[:0], kernel, 3, 0.0)


# --- the choice of landmarks ---


@every_kernel
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 2, 3), (50, 4, 50), (130, 3, 31)])
def test_pivots_are_those_of_the_whole_matrix(name, shape):
    n, d, m = shape
    x = np.random.default_rng(13).normal(size=(n, d))
    expected = oracle.pivots(x, m, 1e-8, *PARAMETERS[name])
    assert landmarks.pivots(x, Kernel(*PARAMETERS[name]), m, 1e-8).tolist() == expected
    rank = {"rbf": n, "linear": d, "poly": (d + 1) * (d + 2) // 2}[name]
    assert len(expected) == min(m, n, rank)


def test_a_row_that_was_taken_is_not_taken_again():
    x = np.repeat(np.random.default_rng(14).normal(size=(6, 2)), 4, axis=0)
    chosen = landmarks.pivots(x, Kernel(gamma=0.7), 24, 1e-10)
    assert sorted(chosen // 4) == list(range(6))
    assert landmarks.pivots(np.zeros((5, 2)), Kernel("linear"), 3, 0.0).tolist() == []
    assert landmarks.pivots(np.zeros((5, 2)), Kernel("rbf"), 3, 1e-10).tolist() == [0]


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (9, 2, 3, 2), (50, 4, 60, 1), (130, 3, 12, 7)])
def test_spread_rows_are_those_of_the_oracle(shape):
    n, d, m, tries = shape
    rng = np.random.default_rng(16)
    x, draws = rng.normal(size=(n, d)), rng.uniform(size=(m, tries))
    found = landmarks.spread(x, m, draws)
    assert found.tolist() == oracle.spread(x, m, draws)
    assert len(set(found)) == min(m, n)


def test_rows_that_are_the_same_are_spread_once():
    rng = np.random.default_rng(17)
    x = np.repeat(rng.normal(size=(6, 2)), 4, axis=0)
    assert sorted(landmarks.spread(x, 24, rng.uniform(size=(24, 3))) // 4) == list(range(6))
    assert landmarks.spread(np.ones((5, 2)), 3, np.full((3, 1), 0.99)).tolist() == [4]
    for rows, draws, message in (
        (x[:0], np.zeros((3, 1)), "x must have rows and columns"),
        (x, np.zeros((2, 1)), r"draws must have at least 3 rows, and columns, got shape \(2, 1\)"),
        (x, np.zeros((3, 0)), r"draws must have at least 3 rows, and columns, got shape \(3, 0\)"),
    ):
        with pytest.raises(ValueError, match=message):
            landmarks.spread(rows, 3, draws)


# --- networks judged by machines on landmarks ---


def posed(n_networks=11, n_cells=3):
    """Sequences, networks, and points to train on and to judge by."""
    rng = np.random.default_rng(0)
    lengths = [4, 1, 70, 25, 12]
    rows = rng.normal(size=(sum(lengths), 2))
    segments = share_prefixes(Sequences(rows, np.cumsum([0, *lengths]), "list"))
    part = rng.uniform(size=len(rows))
    train, held_out = (
        Points(segments.row_of[here], rng.uniform(0.5, 2.0, len(here)), rng.normal(size=(2, len(here))))
        for here in (np.flatnonzero(part < 0.6), np.flatnonzero(part > 0.7))
    )
    return rng.normal(size=(n_networks, n_cells, 4 * (2 + n_cells))), segments, train, held_out


SQUARED = Objective("squared", regression=True)


def evaluated(queue=None, **settings):
    genomes, segments, train, held_out = posed()
    readout = LandmarkReadout(**({"n_landmarks": 12} | settings))
    return evaluate_landmarks(Network(genomes, "lstm", BIAS), segments, train, held_out, readout, SQUARED, queue)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("n_landmarks", [1, 12, 1000])
def test_evaluation_is_the_best_pair_of_the_oracle(n_landmarks, relative, scaled):
    genomes, segments, train, held_out = posed()
    phi = population(Network(genomes, "lstm", BIAS), segments.rows, segments.table)
    grid = {"widths": (0.3, 1.0), "capacities": (0.1, 10.0), "relative": relative, "scaled": scaled}
    found = evaluated(n_landmarks=n_landmarks, **grid)
    points = [(each.rows, each.weights, each.targets) for each in (train, held_out)]
    expected = [oracle.best_pair(of, *points, **grid, n_landmarks=n_landmarks) for of in phi]
    assert_allclose(found[:, 1], expected, rtol=1e-7)
    assert not found[:, [0, 2]].any()


def test_evaluation_by_ridge_regression():
    genomes, segments, train, held_out = posed()
    phi = population(Network(genomes, "lstm", BIAS), segments.rows, segments.table)
    found = evaluated(kernel="linear", scaled=False, capacities=(0.1, 10.0))
    for k, of in enumerate(phi):
        errors = []
        for C in (0.1, 10.0):
            x, weights = of[train.rows], train.weights
            coef, intercept = oracle.solve(x, np.eye(x.shape[1]), train.targets.T, weights, C)
            decisions = of[held_out.rows] @ coef + intercept
            errors.append(held_out.weights @ ((decisions - held_out.targets.T) ** 2).sum(axis=1))
        assert_allclose(found[k, 1], min(errors), rtol=1e-9)


def test_wrong_decisions_are_counted():
    genomes, segments, train, held_out = posed()
    signs = [Points(p.rows, np.ones(len(p.rows)), np.sign(p.targets)) for p in (train, held_out)]
    network, readout = Network(genomes, "lstm", BIAS), LandmarkReadout(n_landmarks=12)
    squared, counted = (
        evaluate_landmarks(network, segments, *signs, readout, Objective(name)) for name in ("squared", "count")
    )
    assert_array_equal(counted[:, 1], counted[:, 3])
    assert (counted[:, 3] <= squared[:, 3]).all()
    assert (squared[:, 1] > 0.0).all()


def test_a_queue_gives_the_same_bits():
    assert_array_equal(evaluated(WorkQueue(11, 2)), evaluated())


def test_a_network_that_overflows_has_infinite_errors():
    genomes, segments, train, held_out = posed()
    genomes[4] = 1e308
    network = Network(genomes, "evolino", BIAS)
    errors = evaluate_landmarks(network, segments, train, held_out, LandmarkReadout(n_landmarks=12), SQUARED)
    phi = population(network, segments.rows, segments.table)
    assert_array_equal(np.isfinite(errors).all(axis=1), np.isfinite(phi).all(axis=(1, 2)))


def test_another_number_of_outputs_is_refused():
    genomes, segments, train, held_out = posed()
    one = Points(held_out.rows, held_out.weights, held_out.targets[:1].copy())
    with pytest.raises(ValueError, match="validation has 1 outputs, but train has 2"):
        evaluate_landmarks(Network(genomes, "lstm", BIAS), segments, train, one, LandmarkReadout(), SQUARED)


# --- instruction sets ---


def digest():
    """Of all that the core computes here."""
    found = [evaluated(), evaluated(kernel="linear")]
    for parameters in PARAMETERS.values():
        x, places, targets, weights = problem(15, n=300, d=7, m=45)
        found += [
            summed(x, places, targets, weights, parameters).total,
            *solved(x, places, targets, weights, 10.0, parameters),
            landmarks.pivots(x, Kernel(*parameters), 40, 1e-10),
            landmarks.spread(x, 40, np.random.default_rng(16).uniform(size=(40, 5))),
        ]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in found)).hexdigest()


BITS = """
import sys
sys.path.insert(0, {tests!r})
from core.test_landmarks import digest
print(digest())
"""


def test_the_same_bits_on_all_instruction_sets():
    tests = os.path.dirname(os.path.dirname(__file__))
    found = {
        subprocess.run(
            [sys.executable, "-c", BITS.format(tests=tests)], env={**os.environ, "EVOKE_SIMD": name}, check=True,
            capture_output=True, text=True,
        ).stdout
        for name in dispatch.supported()
    }  # fmt: skip
    assert len(found) == 1
