"""Rolling origins in one and in several series."""

import numpy as np
import pytest

from evoke.forecasting.origins import Origins, mean_change


def test_one_series():
    origins = Origins.of([200], 1)
    (steps,) = origins.steps
    assert (len(steps), steps[0], steps[-1], origins.n_judged) == (24, 100, 176, 24)
    assert origins.n_apart == pytest.approx(100 / 24)
    assert Origins.of([200], 12).n_judged == 24 and Origins.of([200], 40).n_judged == 50
    assert Origins.of([2], 1).steps == ((1,),)


def test_the_last_of_several_series():
    assert Origins.of([60, 9, 100, 40], 1).steps == ((), (), (), *Origins.of([40], 1).steps)
    assert Origins.of([60, 9, 100, 40], 1).n_judged == 10
    assert Origins.of([100, 60], 30).judged == [1] and Origins.of([100, 59], 30).judged == [0, 1]


def test_several_series_where_the_last_is_short():
    origins = Origins.of([60, 9, 100, 39], 1)
    assert origins.n_judged == 24 and origins.judged == [0, 2]
    assert [len(steps) for steps in origins.steps] == [7, 0, 12, 0]
    for i in origins.judged:
        steps = origins.steps[i]
        assert steps[0] == origins.lengths[i] // 2 and steps[-1] == origins.lengths[i] - 24
    assert origins.n_apart == (30 + 50) / 24
    many = Origins.of([100] * 40 + [12], 1)
    assert {len(steps) for steps in many.steps[:-1]} == {2} and many.steps[-1] == ()


def test_which_origins_are_far():
    origins = Origins(((10, 12, 20, 33), (), (9,)), (50, 5, 40), 10)
    np.testing.assert_array_equal(origins.far.astype(int), [
        [0, 0, 1, 1, 1],  # 10 steps away, and another series
        [0, 0, 1, 1, 1],  # at least the further half
        [1, 0, 0, 1, 1],
        [1, 1, 1, 0, 1],
        [1, 1, 1, 1, 0],
    ])  # fmt: skip
    np.testing.assert_array_equal(Origins(((1,),), (2,), 1).far, [[True]])


def test_what_is_known_before():
    origins = Origins(((30, 40), (25,)), (60, 50), 10)
    assert origins.least_before(0) == min(30 + 50, 25 + 60)
    assert origins.least_before(24) == min(6 + 26, 1 + 36)
    assert origins.least_before(25) == 0  # nothing of its own
    assert Origins(((30,),), (60,), 10).least_before(12) == 18


def test_truth_bounds_and_scale():
    values = [np.arange(6.0)[:, None], 10 * np.arange(8.0)[:, None]]
    origins = Origins(((3,), (4, 5)), (6, 8), 2)
    np.testing.assert_array_equal(origins.truth(values)[..., 0], [[3, 4], [40, 50], [50, 60]])
    low, high = origins.bounds(values)
    np.testing.assert_array_equal([low[:, 0, 0], high[:, 0, 0]], [[0, 0, 0], [5, 70, 70]])
    np.testing.assert_allclose(origins.scale(values, 1)[:, 0, 0], [10, 1, 1])
    np.testing.assert_allclose(mean_change(values[1], 3), 30)
    np.testing.assert_allclose(mean_change(values[1], 8), 10)  # too short
    np.testing.assert_array_equal([mean_change(np.full((5, 1), 1e9), 1), mean_change(np.ones((1, 1)), 1)], [[1], [1]])


def test_how_lively_a_series_has_become():
    quiet_then_lively = np.array([0.0, 1, 0, 1, 0, 3, 0, 3, 0])[:, None]
    origins = Origins(((3, 5, 8),), (9,), 1)
    whole = 16 / 8
    times = origins.liveliness([quiet_then_lively], 1)
    np.testing.assert_allclose(times[:, 0, 0], [whole, whole, whole / (13 / 7)])
    # from a season before where so much is known
    np.testing.assert_allclose(origins.liveliness([quiet_then_lively], 4)[:, 0, 0], [whole, 4, 0.8])
    still = np.concatenate([np.zeros(5), np.arange(4.0)])[:, None]
    np.testing.assert_array_equal(origins.liveliness([still], 1)[:2, 0, 0], [4, 4])  # no more than that
    np.testing.assert_array_equal(origins.liveliness([0 * still], 1), np.ones((3, 1, 1)))
