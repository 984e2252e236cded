"""Widths of intervals, from errors of forecasts."""

import numpy as np
import pytest
from scipy import stats

from evoke.forecasting.intervals import Intervals

rng = np.random.default_rng(3)


def test_intervals_grow_and_hold_their_share():
    errors = rng.normal(size=(400, 10, 1)) * np.sqrt(np.arange(1, 11))[:, None]
    intervals = Intervals.of(errors, n_apart=1e9)
    half = intervals.half_widths(10, 0.9)[:, 0]
    assert (np.diff(half) >= 0).all()
    assert (np.abs(errors[..., 0]) <= half).mean() == pytest.approx(0.9, abs=0.01)
    assert (np.diff(intervals.half_widths(30, 0.9)[10:, 0]) > 0).all()


def test_intervals_are_wider_where_errors_hang_together():
    independent = rng.normal(size=(400, 10, 1))
    alike = np.repeat(independent[:, :1], 10, axis=1)
    one, ten = Intervals.of(alike, n_apart=20), Intervals.of(independent, n_apart=20)
    assert one.n_independent == pytest.approx(20) and ten.n_independent == pytest.approx(200, rel=0.05)
    quantile = np.quantile(np.abs(alike), 0.9)
    for n_apart, freedom in [(20, 10), (5, 2.5), (1, 1.5)]:
        half = Intervals.of(alike, n_apart).half_widths(10, 0.9)
        np.testing.assert_allclose(half, quantile * stats.t.ppf(0.95, freedom) / stats.norm.ppf(0.95))


def test_intervals_of_few_normal_errors_hold_their_share():
    held = []
    for _ in range(2000):
        errors = np.repeat(rng.normal(size=(24, 1, 1)), 5, axis=1)
        held.append(np.abs(rng.normal()) <= Intervals.of(errors, n_apart=24).half_widths(1, 0.9)[0, 0])
    assert np.mean(held) == pytest.approx(0.9, abs=0.02)


def test_without_errors_there_is_no_width():
    np.testing.assert_array_equal(Intervals.of(np.zeros((3, 5, 2)), 2.0).half_widths(8, 0.9), np.zeros((8, 2)))
