"""Machines on landmarks that separate classes: the minimum, passes and blocks, paths of capacities, judgement."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from evoke._core.kernel import Kernel, cross, decide, gram, weighted
from evoke._core.landmarks import Solved
from evoke.landmarks import Machine, train_machine
from evoke.landmarks.hinge import LabelledBlock, best_capacity, misjudged, path, separate
from oracle import svm

KERNELS = [("rbf", 0.5, 0.0, 1), ("linear", 1.0, 0.0, 1)]


def problem(seed, n=120, d=3, n_outputs=1):
    """Rows, signs that follow them but for some noise, and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    signs = np.where(np.sin(2.0 * x[:, :1]) + 0.4 * rng.normal(size=(n, n_outputs)) > 0.0, 1.0, -1.0)
    return x, signs, rng.uniform(0.2, 2.0, n)


def machine_for(x, parameters, m=15):
    kernel = Kernel(*parameters)
    return Machine(kernel, np.eye(x.shape[1]) if kernel.name == "linear" else x[:: len(x) // m][:m].copy())


def in_blocks(machine, x, signs, weights, size=50, keep=False):
    roots = np.sqrt(weights)
    return [
        LabelledBlock.of(machine, (x[k : k + size], signs[k : k + size], roots[k : k + size]), keep=keep)
        for k in range(0, len(x), size)
    ]


def least_squares(machine, x, signs, weights, C):
    return train_machine(machine, signs.shape[1], [(x, signs, np.sqrt(weights))], C)


def price(machine, parameters, x, signs, weights, C, coef, intercept):
    """What is minimised, of one output."""
    slack = np.maximum(1.0 - signs * (svm.kernel(x, machine.places, *parameters) @ coef + intercept), 0.0)
    return weights @ slack**2 + coef @ svm.kernel(machine.places, machine.places, *parameters) @ coef / C


def least_price(machine, parameters, x, signs, weights, C):
    """By a general method, from zero."""
    K = svm.kernel(x, machine.places, *parameters)
    G = svm.kernel(machine.places, machine.places, *parameters)

    def of(point):
        coef, intercept = point[:-1], point[-1]
        slack = np.maximum(1.0 - signs * (K @ coef + intercept), 0.0)
        slope = -2.0 * weights * signs * slack
        gradient = np.append(K.T @ slope + 2.0 * G @ coef / C, slope.sum())
        return weights @ slack**2 + coef @ G @ coef / C, gradient

    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-9}
    return minimize(of, np.zeros(K.shape[1] + 1), jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("parameters", KERNELS)
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_it_is_the_minimum(parameters, C):
    x, signs, weights = problem(1)
    machine = machine_for(x, parameters)
    blocks = in_blocks(machine, x, signs, weights)
    found = separate(machine, lambda: blocks, C, least_squares(machine, x, signs, weights, C), 50, 0.0)
    assert found.converged.all()
    coef, intercept = found.solved.dual_coef[:, 0], found.solved.intercept[0]
    reached = price(machine, parameters, x, signs[:, 0], weights, C, coef, intercept)
    assert reached <= least_price(machine, parameters, x, signs[:, 0], weights, C) * (1.0 + 1e-7)
    if parameters[0] == "rbf" and C > 1.0:  # where rows are beyond the margin it is not that of least squares
        start = least_squares(machine, x, signs, weights, C)
        coef, intercept = start.dual_coef[:, 0], start.intercept[0]
        assert price(machine, parameters, x, signs[:, 0], weights, C, coef, intercept) > reached * 1.001


@given(st.integers(0, 2**32), st.integers(2, 60), st.integers(1, 4), st.integers(1, 3), st.floats(-2.0, 6.0))
def test_any_shape_ends_no_worse_than_it_began(seed, n, d, n_outputs, power):
    x, signs, weights = problem(seed, n, d, n_outputs)
    parameters, C = KERNELS[seed % 2], 10.0**power
    machine = machine_for(x, parameters, min(n, 15))
    start = least_squares(machine, x, signs, weights, C)
    if start is None:
        return
    blocks = in_blocks(machine, x, signs, weights, size=16)
    found = separate(machine, lambda: blocks, C, start, 30, 0.0)
    for k in range(n_outputs):
        before, after = (
            price(machine, parameters, x, signs[:, k], weights, C, each.dual_coef[:, k], each.intercept[k])
            for each in (start, found.solved)
        )
        assert after <= before * (1.0 + 1e-6) + 1e-9
        alone = [LabelledBlock.of(machine, (b.block[0], b.block[1][:, k : k + 1].copy(), b.block[2])) for b in blocks]
        one = Solved(start.dual_coef[:, k : k + 1].copy(), start.intercept[k : k + 1].copy())
        single = separate(machine, lambda alone=alone: alone, C, one, 30, 0.0)
        # of one output decisions are added up in another order
        assert_allclose(single.solved.dual_coef[:, 0], found.solved.dual_coef[:, k], rtol=1e-3, atol=1e-3 * C)


def test_threads_change_no_bit_and_kept_values_only_rounding():
    x, signs, weights = problem(2, n=3000, n_outputs=2)
    machine = machine_for(x, KERNELS[0], 40)
    start = least_squares(machine, x, signs, weights, 10.0)
    blocks = in_blocks(machine, x, signs, weights, size=256)
    alone = separate(machine, lambda: blocks, 10.0, start, 20, 0.0)
    with ThreadPoolExecutor(4) as pool:
        several = separate(machine, lambda: iter(blocks), 10.0, start, 20, 0.0, pool.map)
    assert_array_equal(alone.solved.dual_coef, several.solved.dual_coef)
    assert_array_equal(alone.solved.intercept, several.solved.intercept)
    kept = in_blocks(machine, x, signs, weights, size=256, keep=True)
    same = separate(machine, lambda: kept, 10.0, start, 20, 0.0)
    assert_allclose(same.solved.dual_coef, alone.solved.dual_coef, rtol=1e-5)


def test_a_weight_of_two_is_the_row_twice_and_one_of_zero_no_row():
    x, signs, _ = problem(3)
    machine = machine_for(x, KERNELS[0])
    weights = np.random.default_rng(3).integers(0, 3, len(x)).astype(float)
    often = np.repeat(np.arange(len(x)), weights.astype(int))

    def coefficients(x, signs, weights):
        blocks = in_blocks(machine, x, signs, weights)
        start = least_squares(machine, x, signs, weights, 10.0)
        return separate(machine, lambda: blocks, 10.0, start, 50, 0.0).solved.dual_coef

    repeated = coefficients(x[often], signs[often], np.ones(len(often)))
    assert_allclose(coefficients(x, signs, weights), repeated, rtol=1e-6)


def test_passes_and_tolerance_end_it():
    x, signs, weights = problem(4, n=2000)
    machine = machine_for(x, KERNELS[0], 40)
    start = least_squares(machine, x, signs, weights, 100.0)
    blocks = in_blocks(machine, x, signs, weights, size=500)
    one = separate(machine, lambda: blocks, 100.0, start, 1, 0.0)
    assert_array_equal(one.solved.dual_coef, start.dual_coef)
    assert not one.converged.any()
    loose, exact = (separate(machine, lambda: blocks, 100.0, start, 50, tol) for tol in (0.05, 0.0))
    assert loose.converged.all()
    assert exact.converged.all()
    assert 1 < loose.n_passes < exact.n_passes


def test_a_path_is_the_machine_of_each_capacity():
    x, signs, weights = problem(5)
    machine = machine_for(x, KERNELS[0])
    found = dict(path(machine, 1, (x, signs, np.sqrt(weights)), (100.0, 1.0)))
    assert list(found) == [1.0, 100.0]
    for C, each in found.items():
        least = least_price(machine, KERNELS[0], x, signs[:, 0], weights, C)
        reached = price(machine, KERNELS[0], x, signs[:, 0], weights, C, each.dual_coef[:, 0], each.intercept[0])
        assert least * (1.0 - 1e-9) <= reached <= least * 1.02  # the tolerance of the choice
    nothing = np.full_like(x, np.nan), signs, None
    assert not list(path(machine, 1, nothing, (1.0,)))
    assert best_capacity(machine, nothing, nothing, (1.0,), exclusive=True) is None


def test_the_best_capacity_misjudges_the_fewest():
    (x, signs, weights), (rows, true, _) = problem(6, n=400), problem(7, n=400)
    machine, capacities = machine_for(x, KERNELS[0], 60), (1e-3, 1e-2, 1.0, 100.0, 1e4, 1e6)
    block, held = (x, signs, np.sqrt(weights)), (rows, true, None)
    errors = {}
    for C, solved in path(machine, 1, block, capacities):
        decisions = svm.kernel(rows, machine.places, *KERNELS[0]) @ solved.dual_coef + solved.intercept
        errors[C] = misjudged(decisions, true, np.ones(len(rows)), exclusive=True)
    best = best_capacity(machine, block, held, capacities, exclusive=True)
    assert best.error == pytest.approx(min(errors.values()))
    assert best.C == min(errors, key=errors.get) < 1e4
    assert misjudged(best.decisions, true, np.ones(len(rows)), exclusive=True) == best.error


def test_what_is_misjudged():
    signs, weights = np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.array([1.0, 1.0, 2.0, 0.0])
    decisions = np.array([[2.0], [1.0], [0.5], [9.0]])  # right, wrong with a loss of 4, right with a loss of 0.25
    assert misjudged(decisions, signs, weights, exclusive=True) == pytest.approx((1.0 + 0.5 * (4.0 + 2.0 * 0.25)) / 4.0)
    of_three = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0]])
    made = np.array([[-2.0, -3.0, -4.0], [3.0, 2.0, -4.0]])  # right though below zero, wrong though the sign is right
    loss = np.array([(4.0 + 0.0 + 0.0) / 3.0, (4.0 + 0.0 + 0.0) / 3.0])
    expected = 0.5 * (0.0 + 1.0) + 0.5 * loss.mean()
    assert misjudged(made, of_three, np.ones(2), exclusive=True) == pytest.approx(expected)
    signs_wrong = np.array([1.0 / 3.0, 1.0 / 3.0])
    expected = signs_wrong.mean() + 0.5 * loss.mean()
    assert misjudged(made, of_three, np.ones(2), exclusive=False) == pytest.approx(expected)
    assert misjudged(np.array([[np.nan]]), np.ones((1, 1)), np.ones(1), exclusive=True) == np.inf


# --- kernel values ---


@pytest.mark.parametrize("parameters", [*KERNELS, ("poly", 0.3, 1.0, 3)])
@pytest.mark.parametrize(("n", "m", "d"), [(1, 1, 1), (7, 5, 3), (30, 64, 2), (3, 9, 33)])
def test_kernel_values_between_rows(parameters, n, m, d):
    rng = np.random.default_rng(n)
    x, z = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    kernel = Kernel(*parameters)
    values = cross(x, z, kernel)
    assert_allclose(values, svm.kernel(x, z, *parameters), rtol=1e-12, atol=1e-12)
    assert_allclose(cross(z, z, kernel), gram(z, kernel), rtol=1e-13)
    coef, intercept = rng.normal(size=(m, 2)), rng.normal(size=2)
    assert_allclose(weighted(values, coef, intercept), decide(x, z, coef, intercept, kernel), rtol=1e-10, atol=1e-10)


def test_kernel_values_of_odd_shapes():
    kernel = Kernel("rbf", 1.0)
    assert cross(np.empty((0, 2)), np.ones((3, 2)), kernel).shape == (0, 3)
    with pytest.raises(ValueError, match="x has 2 columns, but z has 3"):
        cross(np.ones((1, 2)), np.ones((1, 3)), kernel)
    with pytest.raises(ValueError, match="at least one column"):
        cross(np.empty((1, 0)), np.empty((1, 0)), kernel)
    with pytest.raises(ValueError, match="coef must have shape"):
        weighted(np.ones((2, 3)), np.ones((2, 1)), np.ones(1))
    assert_array_equal(weighted(np.empty((2, 0)), np.empty((0, 1)), np.array([3.0])), [[3.0], [3.0]])
