"""Networks that read series a block of steps at a time."""

import numpy as np
import pytest

from evoke._core.lstm import Network
from evoke.forecasting import reader as module
from evoke.forecasting.reader import OutOfTime, Reader, TeacherForced
from evoke.lstm import forward

rng = np.random.default_rng(0)
GENOME = rng.normal(size=(6, 3, 4 * (1 + 2 + 3)))
GATE_BIAS = (0.0, 0.0, 0.0)
READER = Reader(Network(GENOME, "lstm", GATE_BIAS), 2, (1,), (1, 2))
W, EXTERNAL = rng.normal(size=(50, 1)), np.column_stack([rng.normal(size=50), np.ones(50)])


def whole(read):
    return np.concatenate([features for _, features in read.blocks()], axis=1)


def test_features_by_hand():
    found = whole(TeacherForced(READER, W, EXTERNAL))
    before = np.concatenate([np.zeros((2, 1)), W])
    inputs = np.concatenate([before[1:-1], EXTERNAL], axis=1)
    for m in range(3):
        phi = [forward(GENOME[k], inputs, cell="lstm", gate_bias=GATE_BIAS) for k in (2 * m, 2 * m + 1)]
        wanted = np.concatenate([*phi, before[1:-1], before[:-2], EXTERNAL[:, :1]], axis=1)
        np.testing.assert_allclose(found[m], wanted, rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 7, 20, 50])
def test_blocks_have_the_bits_of_the_whole(rows, monkeypatch):
    cuts = [20, 33, 50]
    read = TeacherForced(READER, W, EXTERNAL, cuts)
    wanted = whole(read)
    monkeypatch.setattr(module, "ROWS", rows)
    other = TeacherForced(READER, W, EXTERNAL, cuts)
    np.testing.assert_array_equal(whole(other), wanted)
    np.testing.assert_array_equal(other.states, read.states)
    np.testing.assert_array_equal(TeacherForced(READER, W, EXTERNAL, cuts).read().states, read.states)
    for i, cut in enumerate(cuts):
        part = TeacherForced(READER, W[:cut], EXTERNAL[:cut], [cut]).read()
        np.testing.assert_array_equal(part.states[0], read.states[i])


def test_few_features_are_kept():
    kept = TeacherForced(READER, W, EXTERNAL, keeps=True)
    first, again = (list(kept.blocks()) for _ in range(2))
    assert first[0][1] is again[0][1]
    other = TeacherForced(READER, W, EXTERNAL)
    assert next(other.blocks())[1] is not next(other.blocks())[1]


def test_the_networks_of_the_first_readouts():
    first = READER.first(1)
    assert (first.n_readouts, len(first.each())) == (1, 2) and READER.first(3) is READER
    found, wanted = (whole(TeacherForced(reader, W, EXTERNAL)) for reader in (first, READER))
    np.testing.assert_array_equal(found, wanted[:1])


def test_time_that_is_up_is_heeded():
    with pytest.raises(OutOfTime):
        TeacherForced(READER, W, EXTERNAL).read(0.0)
