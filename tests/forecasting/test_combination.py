"""Weights of forecasts."""

import numpy as np

from evoke.forecasting.combination import Combination
from evoke.forecasting.reach import Reach


def test_what_leaves_the_range_has_no_weight():
    low, high = np.zeros(1), np.ones(1)
    truth = np.full((2, 3, 1), 0.5)
    good, wild = truth[None], np.where([False, False, True], 9.0, 0.5)[None, None, :, None] + 0 * truth
    combination = Combination.of([wild, good + 0.4], truth, low, high)
    np.testing.assert_array_equal(combination.weights(3)[0][:, :, 0], [[0, 0, 0], [1, 1, 1]])


def test_a_run_that_leaves_the_range_is_held_and_not_left_out():
    low, high = np.zeros(1), np.ones(1)
    truth = np.full((2, 3, 1), 0.5)
    combination = Combination.of([truth[None], truth[None] + 0.4], truth, low, high)
    paths = [np.array([0.5, 9.0, 4.0])[None, :, None], np.full((1, 3, 1), 0.1)]
    values, held = combination.combine(paths, Reach.still(low, high))
    np.testing.assert_allclose(values[:, 0], [0.5, 3.0, 3.0], rtol=1e-8)
    np.testing.assert_allclose(held[:, 0], [0.0, 2.0, 1.0], rtol=1e-8, atol=1e-8)  # at most what it may leave by
    growing = Reach(low, high, np.array([[1.0], [2.0], [4.0]]))
    np.testing.assert_allclose(combination.combine(paths, growing)[0][:, 0], [0.5, 5.0, 4.0], rtol=1e-8)
    # one that cannot be made has no part
    paths[0] = np.full((1, 3, 1), np.nan)
    np.testing.assert_allclose(combination.combine(paths, Reach.still(low, high))[0][:, 0], 0.1)


def test_errors_of_intervals_are_of_forecasts_weighted_by_others():
    truth = np.zeros((4, 3, 2))
    good, bad = np.full((4, 3, 2), 0.1), np.full((4, 3, 2), 0.4)
    lucky = np.concatenate([np.full((1, 3, 2), 0.01), np.full((3, 3, 2), 1.0)])  # best at the first origin alone
    paths = [good[None], np.stack([bad, lucky])]
    combination = Combination.of(paths, truth, np.full(2, -1.0), np.ones(2))
    far = ~np.eye(4, dtype=bool)
    for r in range(4):
        others = Combination.of([p[:, far[r]] for p in paths], truth[far[r]], np.full(2, -1.0), np.ones(2))
        weights, best = others.weights(3)
        expected = weights[0] * good[r] + weights[1] * np.where(best[1] == 0, bad[r], lucky[r])
        np.testing.assert_allclose(combination.left_out(paths, truth, far)[r], expected, rtol=1e-12)


def test_what_is_used():
    errors = [np.array([[[1.0]], [[0.5]]]), np.array([[[4.0]], [[9.0]]]), np.array([[[2.0]]])]
    combination = Combination(errors, [np.ones((len(e), 1), dtype=bool) for e in errors])
    assert [k.tolist() for k in combination.used(2)] == [[1], [], [0]]  # the last is a naive method
    worse = Combination([10.0 * errors[0], errors[2]], [np.ones((2, 1), dtype=bool), np.ones((1, 1), dtype=bool)])
    assert [k.tolist() for k in worse.used(1)] == [[1], [0]]  # the best of the networks in any case
