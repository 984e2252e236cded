import os
import subprocess
import sys

import numpy as np
import pytest

from evoke._core import dispatch, loo, pooled
from evoke._core.lstm import Network
from evoke.evolution.evaluation import WorkQueue
from evoke.evolution.problem import Objective, Points
from evoke.lstm import forward
from evoke.readouts import LeaveOneOut
from oracle import evaluation
from oracle import pooled as oracle

BIAS = (0.0, 1.5, -1.5)
POOL = tuple(pooled.STATISTICS)
WIDTHS, CAPACITIES = (0.3, 1.0, 3.0), (1.0, 10.0, 100.0)


class Sequences:
    """A few ragged sequences, single steps among them, laid end to end."""

    def __init__(self, rng, n_inputs, n=9):
        lengths = [1, 2, 3, *rng.integers(1, 30, n - 3)]
        self.each = [rng.normal(size=(int(length), n_inputs)) for length in lengths]
        self.rows, self.offsets = np.concatenate(self.each), np.cumsum([0, *lengths])


def genomes(rng, n_networks, n_cells, n_inputs):
    return rng.normal(size=(n_networks, n_cells, 4 * (n_inputs + n_cells)))


# more networks than a pack, fewer, a single one; networks too large to lie side by side
SHAPES = [(11, 3, 2), (5, 10, 1), (1, 7, 3), (9, 60, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cell", ["lstm", "evolino"])
def test_features_are_the_statistics_of_the_activations(shape, cell):
    rng = np.random.default_rng(0)
    n_networks, n_cells, n_inputs = shape
    sequences, weights = Sequences(rng, n_inputs), genomes(rng, *shape)
    found = pooled.pooled(Network(weights, cell, BIAS), sequences.rows, sequences.offsets, POOL)
    phi = forward(weights, sequences.each, cell=cell, gate_bias=BIAS)
    expected = np.array([[oracle.pooled(of[k], POOL) for of in phi] for k in range(n_networks)])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    assert found.shape[2] == n_cells * pooled.n_pooled(POOL)


def test_any_choice_and_order_of_statistics():
    rng = np.random.default_rng(1)
    sequences, network = Sequences(rng, 2), Network(genomes(rng, 3, 4, 2), "lstm", BIAS)
    every = pooled.pooled(network, sequences.rows, sequences.offsets, ("thirds", "min", "last"))
    few = pooled.pooled(network, sequences.rows, sequences.offsets, ("last", "thirds"))
    np.testing.assert_array_equal(few, np.concatenate([every[:, :, 16:], every[:, :, :12]], axis=2))


@pytest.mark.parametrize("n_cells", [4, 60])
def test_the_washout_does_not_count(n_cells):
    rng = np.random.default_rng(3)
    weights, each = genomes(rng, 9, n_cells, 2), [rng.normal(size=(length, 2)) for length in (4, 5, 12)]
    network = Network(weights, "lstm", BIAS)
    found = pooled.pooled(network, np.concatenate(each), np.array([0, 4, 9, 21]), POOL, 3)
    phi = forward(weights, each, gate_bias=BIAS)
    expected = np.array([[oracle.pooled(of[k][3:], POOL) for of in phi] for k in range(9)])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_a_network_has_the_same_features_in_any_company():
    rng = np.random.default_rng(2)
    sequences, weights = Sequences(rng, 2), genomes(rng, 10, 5, 2)
    together = pooled.pooled(Network(weights, "lstm", BIAS), sequences.rows, sequences.offsets, POOL)
    for k in range(10):
        alone = Network(np.ascontiguousarray(weights[k : k + 1]), "lstm", BIAS)
        np.testing.assert_array_equal(pooled.pooled(alone, sequences.rows, sequences.offsets, POOL)[0], together[k])


def test_wrong_inputs_are_refused():
    network = Network(np.zeros((1, 2, 16)), "lstm", BIAS)
    with pytest.raises(ValueError, match="rows have 3 columns, but the network has 2 inputs"):
        pooled.pooled(network, np.zeros((4, 3)), np.array([0, 4]), POOL)


# ---------------------------------------------------------------- leave-one-out


def problem(seed, n=12, n_features=4, n_outputs=1):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, n_features)) * 10.0 ** rng.integers(-3, 4, n_features)
    features[:, 0] = 0.1  # a cell that is saturated says nothing
    targets = rng.choice([-1.0, 1.0], (n_outputs, n))
    return features, Points(np.arange(n), rng.uniform(0.5, 2.0, n), targets)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("objective", ["hinge", "squared", "count"])
@pytest.mark.parametrize("scaled", [True, False])
def test_the_best_pair_of_the_grid_and_its_machine(seed, kernel, objective, scaled):
    features, points = problem(seed, n_outputs=1 + seed % 3)
    widths = WIDTHS if kernel == "rbf" else (1.0,)
    exclusive = len(points.targets) > 1
    found = loo.choose(features, points, kernel, widths, CAPACITIES, Objective(objective, exclusive), True, scaled)
    used = oracle.standardised(features) if scaled else features
    best = None
    for width in widths:
        K = oracle.kernel_matrix(used, kernel, width)
        for C in CAPACITIES:
            ridge = 1 / (C * points.weights)
            decisions = np.array([oracle.leave_one_out(K, y, ridge) for y in points.targets])
            error = evaluation.error(objective, exclusive, points.targets, decisions, points.weights)
            if best is None or error < best[0] - 1e-9:
                best = error, decisions, [oracle.machine(K, y, ridge) for y in points.targets]
    np.testing.assert_allclose(found.error, best[0], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(found.decisions, best[1], rtol=1e-6, atol=1e-8)
    wrong = evaluation.error("count", exclusive, points.targets, best[1], points.weights)
    np.testing.assert_allclose(found.wrong, wrong, rtol=1e-12)
    coef, bias = (np.array(part) for part in zip(*best[2], strict=True))
    values = np.trace(used @ used.T) / len(used) if kernel == "linear" else 1.0
    np.testing.assert_allclose(found.dual_coef.T * values, coef, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.intercept, bias, rtol=1e-6, atol=1e-8)
    if scaled:
        np.testing.assert_allclose((features - found.mean) * found.inverse, used, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_width_and_a_capacity_that_are_given(kernel):
    features, points = problem(8)
    features = oracle.standardised(features)
    found = loo.choose(features, points, kernel, (0.7,), (3.0,), Objective("hinge"), False, False)
    K = features @ features.T
    if kernel == "rbf":
        K = np.exp(-0.7 * (np.diag(K)[:, None] + np.diag(K) - 2 * K))
    expected = oracle.leave_one_out(K, points.targets[0], 1 / (3.0 * points.weights))
    np.testing.assert_allclose(found.decisions[0], expected, rtol=1e-8)
    assert found.C == 3.0
    assert kernel == "linear" or found.gamma == 0.7


def test_a_weight_of_two_is_two_equal_points_left_out_together():
    features, points = problem(3)
    doubled = Points(points.rows, np.where(points.rows == 4, 2.0, 1.0), points.targets)
    found = loo.choose(features, doubled, "rbf", (1.0,), (10.0,), Objective("squared"), True, False)
    K = oracle.kernel_matrix(features, "rbf", 1.0)
    twice = np.append(np.arange(12), 4)
    for i in (2, 4):
        others = twice[twice != i]
        coef, bias = oracle.machine(K[np.ix_(others, others)], points.targets[0][others], np.full(len(others), 0.1))
        np.testing.assert_allclose(found.decisions[0, i], K[i, others] @ coef + bias, rtol=1e-9)


@pytest.mark.parametrize("features", [np.full((6, 3), 2.5), np.zeros((6, 1))])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_features_that_say_nothing_give_the_mean_of_the_others(features, kernel):
    points = Points(np.arange(6), np.ones(6), np.array([[1.0, 1, 1, 1, -1, -1]]))
    found = loo.choose(features, points, kernel, (1.0,), (10.0,), Objective("squared"))
    np.testing.assert_allclose(found.decisions[0], (2.0 - points.targets[0]) / 5)


def test_features_that_are_not_finite_are_no_choice():
    features, points = problem(0)
    for value in np.nan, np.inf:
        features[3, 2] = value
        assert loo.choose(features, points, "rbf", WIDTHS, CAPACITIES, Objective("hinge")) is None


# ---------------------------------------------------------------- blocks that are left out together

# numbers of points in each; the problem has 12
BLOCKS = {
    "halves": (6, 6), "all but one": (11, 1), "one and the others": (1, 11), "mixed": (3, 1, 5, 1, 2),
    "pairs": (2,) * 6, "more than a pack": (9, 3), "ones": (1,) * 12,
}  # fmt: skip


@pytest.mark.parametrize("sizes", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_decided_by_machines_without_them(sizes, kernel, seed):
    features, points = problem(seed, n_outputs=1 + seed)
    offsets, block = np.cumsum([0, *sizes]), np.repeat(np.arange(len(sizes)), sizes)
    widths, exclusive = WIDTHS if kernel == "rbf" else (1.0,), seed > 0
    objective = Objective("squared", exclusive)
    found = loo.choose(features, points, kernel, widths, CAPACITIES, objective, True, True, offsets)
    best, used = None, oracle.standardised(features)
    for width in widths:
        K = oracle.kernel_matrix(used, kernel, width)
        for C in CAPACITIES:
            ridge = 1 / (C * points.weights)
            decisions = np.array([oracle.leave_out_blocks(K, y, ridge, block) for y in points.targets])
            error = evaluation.error("squared", exclusive, points.targets, decisions, points.weights)
            if best is None or error < best[0] - 1e-9:
                best = error, decisions, [oracle.machine(K, y, ridge) for y in points.targets]
    np.testing.assert_allclose(found.error, best[0], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(found.decisions, best[1], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.intercept, [bias for _, bias in best[2]], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n", [2, 3, 17, 40, 90])
def test_blocks_of_random_sizes(n):
    rng = np.random.default_rng(n)
    features = rng.normal(size=(n, 3))
    points = Points(np.arange(n), rng.uniform(0.5, 2.0, n), rng.normal(size=(2, n)))
    offsets = np.unique([0, n, *rng.integers(1, n, 4)])
    found = loo.choose(features, points, "rbf", (1.0,), (10.0,), Objective("squared", regression=True), True, False,
                       offsets)  # fmt: skip
    K = oracle.kernel_matrix(features, "rbf", 1.0)
    block = np.searchsorted(offsets, np.arange(n), side="right")
    for y, decisions in zip(points.targets, found.decisions, strict=True):
        expected = oracle.leave_out_blocks(K, y, 0.1 / points.weights, block)
        np.testing.assert_allclose(decisions, expected, rtol=1e-9, atol=1e-11)


def test_a_block_with_all_of_a_class():
    features, points = problem(5)
    points = Points(points.rows, points.weights, np.where(np.arange(12) < 4, 1.0, -1.0)[None])
    found = loo.choose(features, points, "rbf", WIDTHS, CAPACITIES, Objective("hinge"), blocks=np.array([0, 4, 12]))
    # what knows one class alone says that class of all, each time
    np.testing.assert_allclose(found.decisions[0], np.where(np.arange(12) < 4, -1.0, 1.0), rtol=1e-9)
    np.testing.assert_allclose(found.wrong, points.weights.sum(), rtol=1e-12)


def test_blocks_of_one_are_points_to_the_same_bits():
    features, points = problem(7, n_outputs=3)
    arguments = features, points, "rbf", WIDTHS, CAPACITIES, Objective("squared", True)
    expected, found = loo.choose(*arguments), loo.choose(*arguments, blocks=np.arange(13))
    for name, value in expected._asdict().items():
        np.testing.assert_array_equal(getattr(found, name), value)


@pytest.mark.parametrize("blocks", [[0, 12], [0], [], [1, 5, 12], [0, 5, 11], [0, 5, 5, 12], [0, 7, 3, 12]])
def test_blocks_that_cannot_be(blocks):
    features, points = problem(0)
    with pytest.raises(ValueError, match=r"^blocks must "):
        loo.choose(features, points, "rbf", WIDTHS, CAPACITIES, Objective("hinge"), blocks=np.array(blocks, np.int64))


# ---------------------------------------------------------------- evaluation


def evaluated(seed=0, n_networks=19, queue=None, n_cells=3, blocks=None):
    rng = np.random.default_rng(seed)
    sequences = Sequences(rng, 2, n=14)
    points = Points(np.arange(14), rng.uniform(0.5, 2.0, 14), rng.choice([-1.0, 1.0], (2, 14)))
    weights = genomes(rng, n_networks, n_cells, 2)
    readout, objective = LeaveOneOut("rbf", WIDTHS, CAPACITIES), Objective("hinge")
    errors = pooled.evaluate(Network(weights, "lstm", BIAS), sequences, POOL, points, readout, objective, queue=queue,
                             blocks=blocks)  # fmt: skip
    return errors, weights, sequences, points, objective


@pytest.mark.parametrize("n_cells", [3, 60])
@pytest.mark.parametrize("blocks", [None, np.array([0, 5, 6, 14])])
def test_evaluation_is_the_best_of_each_network(n_cells, blocks):
    errors, weights, sequences, points, objective = evaluated(n_cells=n_cells, blocks=blocks)
    features = pooled.pooled(Network(weights, "lstm", BIAS), sequences.rows, sequences.offsets, POOL)
    for k, row in enumerate(errors):
        found = loo.choose(features[k], points, "rbf", WIDTHS, CAPACITIES, objective, blocks=blocks)
        np.testing.assert_array_equal(row, [0.0, found.error, 0.0, found.wrong])


def test_a_queue_gives_the_same_bits():
    queue = WorkQueue(19, 2)
    np.testing.assert_array_equal(evaluated(queue=queue)[0], evaluated()[0])
    stopped = WorkQueue(19, 1)
    stopped.stop[0] = 1
    assert np.isnan(evaluated(queue=stopped)[0]).any()


def test_a_network_that_overflows_has_infinite_errors():
    rng = np.random.default_rng(0)
    sequences = Sequences(rng, 1, n=5)
    points = Points(np.arange(5), np.ones(5), np.array([[1.0, -1, 1, -1, 1]]))
    weights = np.stack([genomes(rng, 1, 2, 1)[0], np.full((2, 12), 1e308)])
    sequences.rows[:] = 1e5
    readout = LeaveOneOut("rbf", WIDTHS, CAPACITIES)
    network = Network(weights, "evolino", BIAS)
    errors = pooled.evaluate(network, sequences, POOL, points, readout, Objective("hinge"))
    features = pooled.pooled(network, sequences.rows, sequences.offsets, POOL)
    for k in range(2):
        assert np.isfinite(errors[k]).all() == np.isfinite(features[k]).all()


BITS = """
import hashlib, sys
sys.path.insert(0, {tests!r})
import numpy as np
from core.test_pooled import evaluated
for blocks in None, np.array([0, 5, 6, 14]):
    print(hashlib.sha256(evaluated(blocks=blocks)[0].tobytes()).hexdigest())
"""


def test_the_same_bits_on_all_instruction_sets():
    tests = os.path.dirname(os.path.dirname(__file__))
    found = {
        name: subprocess.run(
            [sys.executable, "-c", BITS.format(tests=tests)], env={**os.environ, "EVOKE_SIMD": name}, check=True,
            capture_output=True, text=True,
        ).stdout
        for name in dispatch.supported()
    }  # fmt: skip
    assert len(set(found.values())) == 1
