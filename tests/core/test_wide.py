"""Networks with many cells or inputs, whose sequences are read side by side, and networks in single precision."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoke._core import dispatch, lstm, pooled
from evoke._core import evaluate as core
from evoke.evolution.problem import Objective, Points
from evoke.lstm import forward
from evoke.readouts import LeaveOneOut
from evoke.sequences.prefixes import Segments
from oracle import pooled as oracle

BIAS = (0.1, 1.5, -1.5)
DTYPES = (np.float64, np.float32)
POOL = tuple(pooled.STATISTICS)
# inputs, cells: many cells, so many that networks read by themselves, many inputs, many of both, a few of each, more
# than are added up at a time
SHAPES = [(2, 30), (3, 60), (40, 3), (90, 70), (17, 4), (1, 20), (300, 5), (2, 270)]


def make(seed, n_inputs, n_cells, lengths, n_networks, dtype=np.float64):
    rng = np.random.default_rng(seed)
    genomes = rng.normal(size=(n_networks, n_cells, 4 * (n_inputs + n_cells))) / np.sqrt(n_inputs + n_cells)
    return genomes.astype(dtype), [rng.normal(size=(int(length), n_inputs)).astype(dtype) for length in lengths]


def end_to_end(X):
    return np.concatenate(X), np.cumsum([0, *map(len, X)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_inputs, n_cells", SHAPES)
@pytest.mark.parametrize("n_sequences", [1, 2, 5, 12, 13, 40])
def test_sequences_of_any_lengths_have_the_bits_that_each_has_alone(n_inputs, n_cells, n_sequences, dtype):
    lengths = np.random.default_rng(n_sequences).integers(1, 40, n_sequences)
    genomes, X = make(n_sequences, n_inputs, n_cells, lengths, 3, dtype)
    together = forward(genomes, X, gate_bias=BIAS, dtype=dtype)
    for k, genome in enumerate(genomes):
        one, ends = forward(genome, X, gate_bias=BIAS, dtype=dtype, return_state=True)
        for x, phi, own, end in zip(X, together, one, ends, strict=True):
            alone, last = forward(genome, x, gate_bias=BIAS, dtype=dtype, return_state=True)
            np.testing.assert_array_equal(phi[k], alone)
            np.testing.assert_array_equal(own, alone)
            np.testing.assert_array_equal(end, last)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_inputs=st.integers(1, 60),
    n_cells=st.integers(1, 40),
    lengths=st.lists(st.integers(1, 12) | st.integers(40, 60), min_size=1, max_size=30),
    cell=st.sampled_from(lstm.CELLS),
    dtype=st.sampled_from(DTYPES),
)
def test_every_step_follows_from_the_one_before(seed, n_inputs, n_cells, lengths, cell, dtype):
    (genome,), X = make(seed, n_inputs, n_cells, lengths, 1, dtype)
    whole, end = forward(genome, X, cell=cell, dtype=dtype, return_state=True)
    head, state = forward(genome, [x[:1] for x in X], cell=cell, dtype=dtype, return_state=True)
    rest = [k for k, x in enumerate(X) if len(x) > 1]
    np.testing.assert_array_equal(np.concatenate(head), [phi[0] for phi in whole])
    if rest:
        tail, last = forward(genome, [X[k][1:] for k in rest], cell=cell, dtype=dtype, state=state[rest],
                             return_state=True)  # fmt: skip
        np.testing.assert_array_equal(np.concatenate(tail), np.concatenate([whole[k][1:] for k in rest]))
        np.testing.assert_array_equal(last, end[rest])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_inputs, n_cells", SHAPES)
def test_segments_wait_for_the_one_that_they_continue(n_inputs, n_cells, dtype):
    # a trunk, thirty branches of all lengths, and a leaf on each of the first ten
    genomes, (x,) = make(1, n_inputs, n_cells, [400], 18, dtype)
    lengths = [7, *np.random.default_rng(0).integers(1, 15, 40)]
    end = np.cumsum(lengths)
    begin, parent, slot = end - lengths, np.full(41, 0), np.full(41, -1)
    parent[0], parent[31:] = -1, np.arange(1, 11)
    slot[:11] = np.arange(11)
    phi = lstm.population(lstm.Network(genomes, "lstm", BIAS), x, np.array([begin, end, parent, slot]))
    for k in (1, 5, 30, 31, 40):
        path = [0, parent[k], k] if k > 30 else [0, k]
        rows = np.concatenate([np.arange(begin[j], end[j]) for j in path])
        plain = forward(genomes, x[rows], gate_bias=BIAS, dtype=dtype)
        np.testing.assert_array_equal(phi[:, rows], plain)


@pytest.mark.parametrize("washout", [0, 2])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_inputs, n_cells", [*SHAPES, (2, 3)])
def test_pooled_features_are_those_of_the_activations(n_inputs, n_cells, dtype, washout):
    lengths = washout + np.random.default_rng(3).integers(1, 30, 29)
    genomes, X = make(2, n_inputs, n_cells, lengths, 18, dtype)
    rows, offsets = end_to_end(X)
    networks = lstm.Network(genomes, "lstm", BIAS)
    found = pooled.pooled(networks, rows.astype(np.float64), offsets, POOL, washout)
    phi = forward(genomes, X, gate_bias=BIAS, dtype=dtype)
    expected = [[oracle.pooled(of[k][washout:].astype(np.float64), POOL) for of in phi] for k in range(len(genomes))]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def problem(n_inputs, n_cells, dtype):
    """Networks, rows and points of sequences with a target each."""
    genomes, X = make(4, n_inputs, n_cells, np.random.default_rng(5).integers(3, 20, 30), 21)
    rows, offsets = end_to_end(X)
    targets = np.where(np.random.default_rng(6).random((1, len(X))) < 0.5, -1.0, 1.0)
    return lstm.Network(genomes.astype(dtype), "lstm", BIAS), rows, offsets, targets


def errors(n_inputs, n_cells, dtype):
    """Of all ways of judging networks in which precisions differ: pooled features, and steps left out by sequences."""
    networks, rows, offsets, targets = problem(n_inputs, n_cells, dtype)
    n = len(offsets) - 1
    readout, objective = LeaveOneOut(widths=(0.3, 1.0), capacities=(1.0, 10.0)), Objective("hinge", exclusive=True)

    class Read:
        pass

    Read.rows, Read.offsets = rows, offsets
    by_features = pooled.evaluate(networks, Read, POOL, Points(np.arange(n), np.ones(n), targets), readout, objective)
    none = np.full(n, -1)
    segments = Segments(rows, np.array([offsets[:-1], offsets[1:], none, none]), np.arange(len(rows)))
    last = Points(offsets[1:] - 1, np.ones(n), targets)
    by_steps = core.evaluate_left_out(networks, segments, last, np.arange(n + 1), readout, objective)
    return np.concatenate([by_features, by_steps], axis=1)


@pytest.mark.parametrize("n_inputs, n_cells", [*SHAPES, (2, 3)])
def test_errors_in_single_precision_are_near_those_in_double(n_inputs, n_cells):
    double, single = errors(n_inputs, n_cells, np.float64), errors(n_inputs, n_cells, np.float32)
    assert np.isfinite(double).all()
    np.testing.assert_allclose(single[:, 1::4], double[:, 1::4], rtol=2e-3)
    assert (single[:, 1] != double[:, 1]).any()


BITS = """
import sys
sys.path[:0] = {tests!r}
import test_wide
print(test_wide.digests())
"""


def digests():
    """Of errors and activations in both precisions."""
    found = {}
    for n_inputs, n_cells in [(3, 60), (40, 3), (2, 3)]:
        for dtype in DTYPES:
            genomes, X = make(7, n_inputs, n_cells, [3, 30, 14, 1, 8, 9, 22], 5, dtype)
            values = [errors(n_inputs, n_cells, dtype)]
            values += forward(genomes, X, dtype=dtype) + forward(genomes[0], X, dtype=dtype)
            digest = hashlib.sha256(b"".join(np.ascontiguousarray(value).tobytes() for value in values))
            found[f"{n_inputs} {n_cells} {np.dtype(dtype)}"] = digest.hexdigest()
    return json.dumps(found)


def test_all_instruction_sets_give_the_same_bits():
    here = os.path.dirname(__file__)
    tests, found = [here, os.path.dirname(here)], []
    for name in dispatch.supported():
        done = subprocess.run(
            [sys.executable, "-c", BITS.format(tests=tests)], env={**os.environ, "EVOKE_SIMD": name}, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        found.append(done.stdout)
    assert len(set(found)) == 1
