"""What the proof takes for granted of the core, over the whole range of each function."""

import math
from decimal import Decimal

import numpy as np
import pytest

from evoke._core.dispatch import apply
from evoke._core.lstm import Network, sequences
from evoke.certification import bounds
from evoke.certification.bounds import Reader
from evoke.certification.checker import arithmetic, counts
from evoke.certification.families import FAMILIES
from evoke.certification.states import begin, read, span
from evoke.readouts import FittedReadout


def all_sizes(n=20_000):
    rng = np.random.default_rng(0)
    x = np.concatenate([10.0 ** rng.uniform(-323, 308, n), rng.uniform(0, 50, n), rng.uniform(0, 720, n)])
    return np.concatenate([x, -x, [0.0, -0.0, 36.75, 19.07, -19.07, 708.0, -708.0, np.nextafter(-708.0, 0)]])


def test_saturation_is_exact():
    x = all_sizes()
    step = np.float64(36.75) + np.arange(200_000) * np.spacing(36.75)
    for values in (x[x >= 36.75], step):
        assert (apply("logistic", values) == 1.0).all()
    step = np.float64(19.07) + np.arange(200_000) * np.spacing(19.07)
    for values in (x[x >= 19.07], step):
        assert (apply("tanh", values) == 1.0).all()
        assert (apply("tanh", -values) == -1.0).all()
    low = apply("logistic", x[x <= -708.0])
    assert (low > 0.0).all()
    assert (low < 1e-307).all()
    assert (apply("tanh", np.array([0.0, -0.0])) == 0.0).all()


@pytest.mark.parametrize("name", ["logistic", "tanh"])
def test_bounds_hold_the_core_and_the_check_holds_less(name):
    rng = np.random.default_rng(1)
    x = rng.permutation(all_sizes())[:6000]
    value = apply(name, x)
    low, high = getattr(bounds, name)(x, x)
    assert (low <= value).all()
    assert (value <= high).all()
    for point, below, above, at in zip(x, low, high, value, strict=True):
        checked = getattr(arithmetic, name)(Decimal(float(point)), Decimal(float(point)))
        assert checked[0] <= at <= checked[1]
        assert below <= checked[0]
        assert checked[1] <= above


@pytest.mark.parametrize("name", ["logistic", "tanh"])
def test_bounds_of_intervals(name):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 3000)) * 10.0 ** rng.uniform(-3, 2, 3000)
    low, high = getattr(bounds, name)(x.min(axis=0), x.max(axis=0))
    for share in np.linspace(0, 1, 9):
        value = apply(name, share * x[0] + (1 - share) * x[1])
        assert (low <= value).all()
        assert (value <= high).all()


@pytest.mark.parametrize("cell", ["lstm", "evolino"])
@pytest.mark.parametrize("scale", [0.5, 5.0, 500.0])
def test_runs_lie_within_the_states_of_both_arithmetics(cell, scale):
    rng = np.random.default_rng(3)
    for _ in range(20):
        network = Network(rng.uniform(-scale, scale, (3, 4 * 6)), cell)
        readout = FittedReadout(rng.standard_normal((4, 3)), rng.standard_normal((4, 2)), rng.standard_normal(2),
                                np.zeros(2), np.ones(2, dtype=bool), make_kernel())  # fmt: skip
        reader = Reader(network, readout)
        symbols = rng.integers(3, size=30)
        x = np.full((30, 3), -1.0)
        x[np.arange(30), symbols] = 1.0
        phi, _ = sequences(network, x, np.array([0, 30]))
        decisions = readout.decide(phi)
        state, before = begin(3, 1), None
        for t in range(30):
            state = read(reader, state, int(symbols[t]), (0,), None)
            _, before = sequences(network, x[t : t + 1], np.array([0, 1]), before)
            for h in range(3):
                low, high = span(state.cells[h], (0,), None)
                assert low <= before[0, 0, h] <= high
            assert (state.phi[0] <= phi[t]).all()
            assert (phi[t] <= state.phi[1]).all()
            low, high = reader.decisions(state.phi)
            assert (low <= decisions[t]).all()
            assert (decisions[t] <= high).all()


def make_kernel():
    from evoke._core.kernel import Kernel

    return Kernel("rbf", 0.3)


def test_families_fit_the_checkers_own_list():
    assert set(counts.LANGUAGES) == set(FAMILIES)
    assert math.isclose(float(arithmetic.ONE_TANH), bounds.ONE_TANH)
    assert math.isclose(float(arithmetic.ONE_LOGISTIC), bounds.ONE_LOGISTIC)
