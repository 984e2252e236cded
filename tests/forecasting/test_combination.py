"""Weights of forecasts."""

import numpy as np

from evoke.forecasting.combination import Combination


def test_what_leaves_the_range_has_no_weight():
    low, high = np.zeros(1), np.ones(1)
    truth = np.full((2, 3, 1), 0.5)
    good, wild = truth[None], np.where([False, False, True], 9.0, 0.5)[None, None, :, None] + 0 * truth
    combination = Combination.of([wild, good + 0.4], truth, low, high)
    np.testing.assert_array_equal(combination.weights(3)[0][:, :, 0], [[0, 0, 0], [1, 1, 1]])
    # a forecast is used until it leaves the range itself
    combination = Combination.of([good, good + 0.4], truth, low, high)
    paths = [np.array([0.5, 9.0, 0.5])[None, :, None], np.full((1, 3, 1), 0.1)]
    np.testing.assert_allclose(combination.combine(paths, low, high)[:, 0], [0.5, 0.1, 0.1])


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
