from dataclasses import replace

import numpy as np
import pytest

from evoke._core.evaluate import evaluate
from evoke._core.kernel import Kernel
from evoke._core.lstm import Network
from evoke.evolution.evaluation import WorkQueue
from evoke.evolution.problem import Objective, Points
from evoke.readouts import SVMReadout
from evoke.sequences.prefixes import Segments
from oracle import evaluation as oracle

BIAS = (0.0, 1.5, -1.5)
RBF = ("rbf", 0.25, 0.0, 3)
TOL = 1e-10  # of pairs; Newton steps end far below it
WIDE = 60  # cells of networks that are too large to lie side by side
SAME = dict(rtol=0, atol=1e-6)


def parts(points):
    return points.rows, points.weights, points.targets


class Task:
    """A small random problem: sequences whose first half is for training, the rest for validation."""

    def __init__(self, seed, n_networks=3, n_outputs=2, exclusive=False, C=10.0, n_cells=None):
        rng = np.random.default_rng(seed)
        n_inputs, n_cells = int(rng.integers(1, 4)), n_cells or int(rng.integers(1, 6))
        self.genomes = 2.0 * rng.normal(size=(n_networks, n_cells, 4 * (n_inputs + n_cells)))
        self.sequences = [rng.normal(size=(int(length), n_inputs)) for length in rng.integers(1, 10, 8)]
        ends = np.cumsum([len(x) for x in self.sequences])
        begin, end, alone = np.concatenate([[0], ends[:-1]]), ends, np.full(8, -1)
        self.segments = np.array([begin, end, alone, alone], dtype=np.int64)
        rows = rng.permutation(ends[-1])
        targets = self.targets(rng, ends[-1], n_outputs, exclusive)
        self.train, self.validation = (
            Points(part.copy(), rng.integers(1, 5, len(part)).astype(float), targets[:, part].copy())
            for part in np.split(rows, [ends[-1] // 2])
        )
        self.exclusive, self.C = exclusive, C

    @staticmethod
    def targets(rng, n, n_outputs, exclusive):
        if exclusive:
            return np.where(np.arange(n_outputs)[:, None] == rng.integers(0, n_outputs, n), 1.0, -1.0)
        return rng.choice([-1.0, 1.0], (n_outputs, n))

    def box(self):
        bound = self.C * self.train.weights * self.train.targets
        return np.minimum(0.0, bound), np.maximum(0.0, bound)

    def evaluate(self, networks=slice(None), objective="hinge", cell="lstm", kernel=RBF, queue=None, **limits):
        rows = np.concatenate(self.sequences)
        readout = SVMReadout(Kernel(*kernel), self.C, **{"tol": TOL, "max_iter": 1_000_000, **limits})
        segments = Segments(rows, self.segments, np.arange(len(rows)))
        return evaluate(Network(self.genomes[networks], cell, BIAS), segments,
                        self.train, self.validation, readout, Objective(objective, self.exclusive), queue=queue)

    def expected(self, objective="hinge", cell="lstm", kernel=RBF):
        return np.array([
            oracle.evaluate(genome, self.sequences, parts(self.train), parts(self.validation), self.box(), cell, BIAS,
                            kernel, TOL, objective, self.exclusive)
            for genome in self.genomes
        ])


@pytest.mark.parametrize("objective", ["count", "hinge", "squared"])
@pytest.mark.parametrize("cell", ["lstm", "evolino"])
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6])
def test_equals_the_oracle(seed, cell, objective):
    task = Task(seed)
    errors, expected = task.evaluate(objective=objective, cell=cell), task.expected(objective, cell)
    np.testing.assert_allclose(errors[:, :2], expected[:, :2], **SAME)
    np.testing.assert_array_equal(errors[:, 2:], expected[:, 2:])


@pytest.mark.parametrize("n_cells", [8, 23, WIDE])
def test_many_cells_equal_the_oracle(n_cells):
    task, kernel = Task(3, n_networks=2, n_cells=n_cells), ("rbf", 0.5 / n_cells, 0.0, 3)
    np.testing.assert_allclose(task.evaluate(kernel=kernel), task.expected(kernel=kernel), **SAME)


@pytest.mark.parametrize("kernel", [("linear", 1.0, 0.0, 3), ("poly", 0.5, 1.0, 2)])
def test_other_kernels_equal_the_oracle(kernel):
    task = Task(0, C=1.0)
    np.testing.assert_allclose(task.evaluate(kernel=kernel), task.expected(kernel=kernel), **SAME)


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_one_class_a_step(seed):
    task = Task(seed, n_outputs=4, exclusive=True)
    errors = task.evaluate(objective="count")
    np.testing.assert_array_equal(errors, task.expected("count"))
    np.testing.assert_array_equal(errors[:, :2], errors[:, 2:])
    # several classes cannot be wrong at one step, so the count is at most that of the outputs on their own
    task.exclusive = False
    assert (errors <= task.evaluate(objective="count")).all()


def test_one_output_is_never_exclusive():
    task = Task(1, n_outputs=1)
    alone = task.evaluate(objective="count")
    task.exclusive = True
    np.testing.assert_array_equal(task.evaluate(objective="count"), alone)


def test_outputs_are_independent_and_add_up():
    task = Task(2, n_outputs=3)
    together = task.evaluate()
    total = np.zeros_like(together)
    for o in range(3):
        one = Task(2, n_outputs=3)
        one.train, one.validation = (
            replace(points, targets=points.targets[o : o + 1]) for points in (task.train, task.validation)
        )
        total += one.evaluate()
    np.testing.assert_allclose(together, total, rtol=1e-15)


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_an_output_with_a_single_class(label):
    task = Task(0)
    task.train.targets[0] = label
    np.testing.assert_allclose(task.evaluate(), task.expected(), **SAME)
    task.train.targets[1] = label  # now no output has anything to learn: every decision is the label
    errors = task.evaluate()
    wrong = ((task.validation.targets != label) * task.validation.weights).sum()
    np.testing.assert_array_equal(errors, np.tile([0.0, 2.0 * wrong, 0.0, wrong], (3, 1)))


def test_weights_equal_repeated_rows():
    task = Task(4)
    weighted = task.evaluate()
    for name in ("train", "validation"):
        rows, weights, targets = parts(getattr(task, name))
        times = weights.astype(int)
        repeated = Points(np.repeat(rows, times), np.ones(times.sum()), np.repeat(targets, times, axis=1))
        setattr(task, name, repeated)
    np.testing.assert_allclose(task.evaluate(), weighted, **SAME)


@pytest.mark.parametrize("n_networks", [1, 7, 8, 9, 17])
def test_slices_give_the_bits_of_the_whole(n_networks):
    task = Task(n_networks, n_networks=n_networks)
    whole = task.evaluate()
    assert whole.shape == (n_networks, 4)
    assert np.isfinite(whole).all()
    for k in range(n_networks):
        np.testing.assert_array_equal(task.evaluate(slice(k, k + 1)), whole[k : k + 1])
    middle = n_networks // 2
    parts = [task.evaluate(slice(0, middle)), task.evaluate(slice(middle, None))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_no_networks():
    assert Task(0).evaluate(slice(0, 0)).shape == (0, 4)


@pytest.mark.parametrize("n_cells", [3, WIDE])
def test_shared_beginnings_give_the_same_bits(n_cells):
    task = Task(5, n_cells=n_cells)
    stem, a, b = (np.random.default_rng(0).normal(size=(length, task.sequences[0].shape[1])) for length in (4, 3, 5))
    n = 12
    rng = np.random.default_rng(1)
    labels = rng.choice([-1.0, 1.0], (2, n))
    task.sequences = [stem, a, b]
    task.segments = np.array([[0, 4, 7], [4, 7, 12], [-1, 0, 0], [0, -1, -1]])
    task.train = task.validation = Points(np.arange(n), np.ones(n), labels)
    shared = task.evaluate()
    # the same sequences written out; rows of the second stem take no part
    task.sequences = [np.concatenate([stem, a]), np.concatenate([stem, b])]
    task.segments = np.array([[0, 7], [7, 16], [-1, -1], [-1, -1]])
    rows = np.concatenate([np.arange(7), np.arange(11, 16)])
    task.train = task.validation = Points(rows, np.ones(n), labels)
    np.testing.assert_array_equal(task.evaluate(), shared)
    np.testing.assert_allclose(shared, task.expected(), **SAME)


def test_a_stop_flag_leaves_nan():
    task, stopped = Task(6, n_networks=9), WorkQueue(9, 2)
    stopped.stop[0] = 1
    assert np.isnan(task.evaluate(queue=stopped)).all()
    np.testing.assert_array_equal(task.evaluate(queue=WorkQueue(9, 2)), task.evaluate())


def test_a_limit_on_iterations_still_gives_an_error():
    task = Task(7)
    errors = task.evaluate(tol=1e-6, max_iter=1)
    assert np.isfinite(errors).all()
    assert (errors[:, 0] > task.evaluate()[:, 0]).any()


@pytest.mark.parametrize("objective", ["count", "hinge", "squared"])
def test_a_network_whose_activations_overflow_is_not_perfect(objective):
    task = Task(1, n_networks=2)
    task.genomes[0] = np.nan  # as inf - inf gives for weights and inputs that are large enough
    errors = task.evaluate(objective=objective)
    np.testing.assert_array_equal(np.isposinf(errors), [[True] * 4, [False] * 4])
