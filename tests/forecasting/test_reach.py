"""The range that forecasts may reach."""

import numpy as np
import pytest

from evoke.forecasting.reach import Reach, growth_rate

rng = np.random.default_rng(0)
STEPS = np.arange(120)
SEASON = 10 + 2 * np.sin(STEPS * np.pi / 6)


@pytest.mark.parametrize("y, season, rate", [
    (np.exp(0.05 * STEPS), 1, 0.05), (-np.exp(0.05 * STEPS), 1, 0.05), (np.exp(0.03 * STEPS) * SEASON, 12, 0.03),
    (3.0 * STEPS, 1, 0.0), (SEASON, 12, 0.0), (SEASON, 1, 0.0), (STEPS // 20, 1, 0.0), (np.exp(-0.05 * STEPS), 1, 0.0),
    (np.zeros(120), 1, 0.0), (100 / (1 + np.exp(-0.1 * (STEPS - 60))), 1, 0.0), (np.exp(0.05 * STEPS[:20]), 1, 0.0),
    (np.exp(0.05 * STEPS[:1]), 1, 0.0), (np.exp(0.05 * STEPS[:40]), 12, 0.05),
])  # fmt: skip
def test_rates_of_growth(y, season, rate):
    assert growth_rate(y[:, None].astype(float), season) == pytest.approx(rate, abs=2e-3)


def test_noise_hardly_ever_grows():
    grown = [np.exp(100 * growth_rate(rng.normal(size=(100, 1)), 1)[0]) for _ in range(200)]
    assert np.mean(np.array(grown) == 1.0) > 0.9 and max(grown) < 3.0


def test_a_series_may_grow_on_for_as_many_steps_as_it_has():
    y = np.stack([np.exp(0.05 * STEPS), 1.0 * STEPS], axis=1)
    reach = Reach.of([y, y[:30] - 7.0], 1, 200)
    np.testing.assert_array_equal([reach.low, reach.high], [[-6.0, -7.0], [y[-1, 0], 119.0]])
    steps = np.array([1, 100, 120, 120])
    np.testing.assert_allclose(reach.growth[[0, 99, 119, 199], 0], np.exp(0.05 * steps), rtol=1e-9)
    np.testing.assert_array_equal(reach.growth[:, 1], 1.0)


def test_where_paths_are_held():
    reach = Reach(np.zeros(1), np.ones(1), np.array([[1.0], [3.0]]))
    paths = np.array([[[3.5], [3.5]], [[-1.0], [-9.0]], [[np.inf], [np.nan]]])
    np.testing.assert_array_equal(reach.contains(paths)[..., 0], [[False, True], [True, False], [False, False]])
    np.testing.assert_allclose(reach.holds(paths)[:, :, 0], [[3.0, 3.5], [-1.0, -6.0], [3.0, np.nan]], rtol=1e-8)
    np.testing.assert_allclose(reach.beyond(paths)[:, :, 0], [[0.5, 0.0], [0.0, 3.0], [2.0, np.nan]], atol=1e-8)
    np.testing.assert_array_equal(reach.leaves(np.array([[2.5], [-0.5]]))[:, 0], [True, False])
