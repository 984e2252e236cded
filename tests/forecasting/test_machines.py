"""Machines on landmarks that read networks beside the last values."""

import numpy as np
import pytest

from evoke._core.kernel import Kernel
from evoke._core.lstm import Network
from evoke.forecasting import machines
from evoke.forecasting.machines import CAPACITIES, WIDTHS, LandmarkReadouts, TrainedMachine
from evoke.forecasting.parts import parts_of
from evoke.forecasting.reader import OutOfTime, Reader
from evoke.landmarks import Machine
from evoke.sequences.transformation import Transformation

rng = np.random.default_rng(0)
LAGS = (1, 2, 3)
GENOME = rng.normal(size=(4, 2, 4 * (2 + 1 + 1 + 2)))
READER = Reader(Network(GENOME, "lstm", (0.0, 0.0, 0.0)), 2, (1,), LAGS)  # two groups of two networks
SERIES = [(rng.normal(size=(n, 2)).cumsum(axis=0), np.column_stack([rng.normal(size=n), np.ones(n)])) for n in (60, 90)]
ORIGINS = [(), (70, 80)]
LEVEL = Transformation(False, ())


def parts():
    return parts_of(READER, LEVEL, SERIES, ORIGINS)


def rows_of(part, m):
    """Features of a group and targets, all rows at once."""
    blocks = list(part.blocks())
    return np.concatenate([F[m] for F, _ in blocks]), np.concatenate([v for _, v in blocks])


def by_hand(x, targets, machine):
    """The least-squares machine that the normal equations have: a constant, and landmarks."""

    def K(a, b):
        return np.exp(-machine.gamma * ((a[:, None] - b[None]) ** 2).sum(axis=2))

    A = np.column_stack([K(x, machine.places), np.ones(len(x))])
    penalty = np.zeros((A.shape[1],) * 2)
    penalty[:-1, :-1] = K(machine.places, machine.places) / machine.C
    coef = np.linalg.solve(A.T @ A + penalty, A.T @ targets)
    return lambda new: np.column_stack([K(new, machine.places), np.ones(len(new))]) @ coef


@pytest.mark.parametrize("all_rows", [False, True])
def test_against_normal_equations_in_numpy(all_rows):
    made = LandmarkReadouts.fit(parts(), np.inf, n_landmarks=8, last=READER.n_activations)
    assert (made.n_readouts, made.n_capacities) == (2, len(WIDTHS) * len(CAPACITIES))
    if all_rows:
        made = made.of_all(parts())
    for m in range(2):
        given = [rows_of(part, m) for part in parts()]
        until = [None, None if all_rows else 70 - 3]  # all of the other series, and what is before the first origin
        F = np.concatenate([F[:end] for (F, _), end in zip(given, until, strict=True)])
        v = np.concatenate([v[:end] for (_, v), end in zip(given, until, strict=True)])
        last = F[:, READER.n_activations : READER.n_activations + 2]
        for k in (0, 3, 6):  # the machines of higher capacities are the less exact the closer landmarks lie
            changes = made.units.to(v - last)
            x = (F - made.centre[m]) * made.inverse[m]
            wanted = last + by_hand(x, changes, made.machines[m][k])(x) * made.units.deviation + made.units.mean
            found = made.one_step(np.stack([F, F]), np.array([k, k]))[m]
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


def test_what_is_said_in_a_run_is_what_is_said_of_known_values():
    made = LandmarkReadouts.fit(parts(), np.inf, n_landmarks=8, last=READER.n_activations)
    F = np.stack([rows_of(parts()[1], m)[0][:5] for m in range(2)])
    said = made.speaker()(np.repeat(F[:, :, None], made.n_capacities, axis=2))
    for k in range(made.n_capacities):
        np.testing.assert_array_equal(said[:, :, k], made.one_step(F, np.array([k, k])))
    some = made.only(np.array([1, 4]))
    found, wanted = some.one_step(F, np.array([1, 0])), made.one_step(F, np.array([4, 1]))
    np.testing.assert_array_equal(found, wanted)


def test_rows_at_equal_distances_where_there_are_many(monkeypatch):
    monkeypatch.setattr(machines, "MOST_TRAINED", 40)
    features, changes = machines._sample(parts(), READER.n_activations, np.inf)
    every = [np.concatenate([rows_of(part, m)[0][: part.n_before_origins] for part in parts()]) for m in range(2)]
    np.testing.assert_array_equal(features, np.stack(every)[:, ::4])
    assert len(changes) == 31 <= 40


def test_a_machine_that_cannot_be_trained_says_the_last_value():
    machine = Machine.among(rng.normal(size=(20, 3)), Kernel("rbf", 0.5), 4)
    one = TrainedMachine.of(machine, 1.0, np.full_like(machine.sums(1).total, np.nan), 1)
    np.testing.assert_array_equal(one.changes(rng.normal(size=(5, 3))), 0.0)


def test_time_that_is_up_is_heeded():
    with pytest.raises(OutOfTime):
        LandmarkReadouts.fit(parts(), 0.0, n_landmarks=4, last=READER.n_activations)
