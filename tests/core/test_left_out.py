"""Evaluation of networks by readouts of steps, with each sequence left out."""

import os
import subprocess
import sys

import numpy as np
import pytest

from evoke._core import dispatch, loo, lstm
from evoke._core.evaluate import evaluate_left_out
from evoke._core.lstm import Network
from evoke.evolution.evaluation import WorkQueue
from evoke.evolution.problem import Objective, Points
from evoke.readouts import LeaveOneOut
from evoke.sequences.containers import Sequences
from evoke.sequences.prefixes import share_prefixes

BIAS = (0.0, 1.5, -1.5)
READOUT, OBJECTIVE = LeaveOneOut("rbf", (0.3, 1.0), (1.0, 100.0), scaled=False), Objective("hinge")


def posed(n_networks=11, n_cells=3):
    """Sequences with a common beginning, the rows that count, and networks."""
    rng = np.random.default_rng(0)
    lengths = [4, 1, 7, 5, 12]
    rows = rng.choice([-1.0, 1.0], (sum(lengths), 2))
    segments = share_prefixes(Sequences(rows, np.cumsum([0, *lengths]), "list"))
    block = np.repeat(np.arange(5), lengths)
    counted = np.flatnonzero(rng.uniform(size=len(rows)) < 0.8)
    points = Points(
        segments.row_of[counted], rng.uniform(0.5, 2.0, len(counted)), rng.choice([-1.0, 1.0], (2, len(counted)))
    )
    blocks = np.append(np.flatnonzero(np.diff(block[counted], prepend=-1)), len(counted))
    return rng.normal(size=(n_networks, n_cells, 4 * (2 + n_cells))), segments, points, blocks


def evaluated(queue=None, **shape):
    genomes, segments, points, blocks = posed(**shape)
    return evaluate_left_out(Network(genomes, "lstm", BIAS), segments, points, blocks, READOUT, OBJECTIVE, queue)


@pytest.mark.parametrize("n_cells", [3, 60])
def test_evaluation_is_the_best_of_each_network(n_cells):
    genomes, segments, points, blocks = posed(n_cells=n_cells)
    assert len(segments.rows) < 29
    phi = lstm.population(Network(genomes, "lstm", BIAS), segments.rows, segments.table)
    for k, row in enumerate(evaluated(n_cells=n_cells)):
        features = np.ascontiguousarray(phi[k, points.rows])
        found = READOUT.choose(features, points, OBJECTIVE, blocks)
        np.testing.assert_array_equal(row, [0.0, found.error, 0.0, found.wrong])


def test_a_queue_gives_the_same_bits():
    np.testing.assert_array_equal(evaluated(WorkQueue(11, 2)), evaluated())
    stopped = WorkQueue(11, 1)
    stopped.stop[0] = 1
    assert np.isnan(evaluated(stopped)).any()


def test_a_network_that_overflows_has_infinite_errors():
    genomes, segments, points, blocks = posed()
    genomes[4] = 1e308
    errors = evaluate_left_out(Network(genomes, "evolino", BIAS), segments, points, blocks, READOUT, OBJECTIVE)
    phi = lstm.population(Network(genomes, "evolino", BIAS), segments.rows, segments.table)
    np.testing.assert_array_equal(np.isfinite(errors).all(axis=1), np.isfinite(phi).all(axis=(1, 2)))


def test_wrong_arguments_are_refused():
    genomes, segments, points, blocks = posed()
    network = Network(genomes, "lstm", BIAS)
    beyond = Points(points.rows + len(segments.rows), points.weights, points.targets)
    with pytest.raises(ValueError, match="rows must be from 0 to"):
        evaluate_left_out(network, segments, beyond, blocks, READOUT, OBJECTIVE)
    with pytest.raises(ValueError, match="blocks must be the offsets"):
        evaluate_left_out(network, segments, points, blocks[:-1], READOUT, OBJECTIVE)
    with pytest.raises(ValueError, match="rows have 2 columns, but the network has 3 inputs"):
        evaluate_left_out(Network(np.zeros((1, 2, 20)), "lstm", BIAS), segments, points, blocks, READOUT, OBJECTIVE)


BITS = """
import hashlib, sys
sys.path.insert(0, {tests!r})
from core.test_left_out import evaluated
print(hashlib.sha256(evaluated().tobytes()).hexdigest())
"""


def test_the_same_bits_on_all_instruction_sets():
    tests = os.path.dirname(os.path.dirname(__file__))
    found = {
        subprocess.run(
            [sys.executable, "-c", BITS.format(tests=tests)], env={**os.environ, "EVOKE_SIMD": name}, check=True,
            capture_output=True, text=True,
        ).stdout
        for name in dispatch.supported()
    }  # fmt: skip
    assert len(found) == 1


def test_choose_takes_blocks_by_name():
    _, _, points, blocks = posed()
    features = np.random.default_rng(1).normal(size=(len(points.rows), 2))
    arguments = features, points, "linear", (1.0,), (1.0,), OBJECTIVE
    assert loo.choose(*arguments, blocks=blocks).error != loo.choose(*arguments).error
