import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from evoke._core.dispatch import LANES
from evoke._core.kernel import Kernel
from evoke.evolution.evaluation import WorkQueue, activations, error, evaluate, fit_readout
from evoke.evolution.problem import FreeRun, Objective, Points, Problem, merge_points
from evoke.readouts import LSSVMReadout, PinvReadout, SVMReadout
from evoke.sequences.containers import as_sequences
from evoke.sequences.prefixes import Segments, share_prefixes
from evoke.svm import solve
from oracle.svm import dual_objective, kernel

BIAS = (0.0, 1.5, -1.5)
TIGHT = 1e-9  # tolerance of the solver in tests that compare two ways to the same optimum


def problem(seed=0, *, n_outputs=2, exclusive=False, objective="hinge", symbols=True, **readout):
    """A problem with targets at random; over two symbols beginnings are shared and many steps merge."""
    rng = np.random.default_rng(seed)
    draw = (lambda size: rng.integers(0, 2, size).astype(float)) if symbols else rng.normal
    X = as_sequences([draw(size=(length, 1)) for length in (4, 6, 3, 5, 6, 2)])
    if exclusive:
        labels = np.where(rng.integers(0, n_outputs, len(X.rows))[:, None] == np.arange(n_outputs), 1.0, -1.0)
    else:
        labels = rng.choice([-1.0, 1.0], (len(X.rows), n_outputs))
    segments = share_prefixes(X)
    first = X.offsets[3]
    parts = [merge_points(segments.row_of[part], labels[part]) for part in (slice(None, first), slice(first, None))]
    readout = SVMReadout(**{"C": 10.0, "tol": TIGHT, "max_iter": 1_000_000, **readout})
    return Problem(segments, *parts, "lstm", BIAS, readout, Objective(objective, exclusive))


def genomes(n, n_cells=3, n_inputs=1, seed=0):
    return 2.0 * np.random.default_rng(seed).normal(size=(n, n_cells, 4 * (n_inputs + n_cells)))


class Unfused(SVMReadout):
    """The same readout without its short cut through the core."""

    @property
    def fused(self):
        return False


def unfused(p):
    return replace(p, readout=Unfused(**vars(p.readout)))


# ---- digest


def changed(array, place=0):
    array = array.copy()
    array.flat[place] += 1
    return array


@pytest.mark.parametrize(
    "change",
    [
        lambda p: replace(p, segments=replace(p.segments, rows=changed(p.segments.rows, -1))),
        lambda p: replace(p, segments=replace(p.segments, table=changed(p.segments.table, -1))),
        lambda p: replace(p, train=replace(p.train, rows=changed(p.train.rows))),
        lambda p: replace(p, train=replace(p.train, weights=changed(p.train.weights))),
        lambda p: replace(p, validation=replace(p.validation, targets=changed(p.validation.targets))),
        lambda p: replace(p, train=p.validation, validation=p.train),
        lambda p: replace(p, cell="evolino"),
        lambda p: replace(p, gate_bias=(0.0, 1.5, 1.5)),
        lambda p: replace(p, readout=replace(p.readout, C=11.0)),
        lambda p: replace(p, readout=replace(p.readout, kernel=Kernel("rbf", 0.3))),
        lambda p: replace(p, readout=replace(p.readout, kernel=Kernel("linear", 0.25))),
        lambda p: replace(p, objective=replace(p.objective, name="count")),
        lambda p: replace(p, objective=replace(p.objective, exclusive=True)),
        lambda p: replace(p, objective=replace(p.objective, regression=True)),
        lambda p: replace(p, objective=replace(p.objective, epsilon=0.1)),
        lambda p: replace(p, free=FreeRun(np.zeros((0, 3), np.int64), 1.0)),
        lambda p: replace(p, free=FreeRun(None, 0.3)),
    ],
)
def test_the_digest_sees_every_change(change):
    p = problem()
    assert change(p).digest != p.digest
    assert problem().digest == p.digest == pickle.loads(pickle.dumps(p)).digest


def plain(rows):
    """Points whose values can be written down."""
    return Points(rows, 1.0 + rows, np.where(rows[None] % 2 == 0, 1.0, -1.0))


@pytest.mark.parametrize("readout, objective, free, digest", [
    (SVMReadout(Kernel("rbf", 0.5), C=10.0), Objective("hinge"), None,
     "5fae3da755e7ee72d14408e99b299231fc4389804c9a4aac5095effc5ed1b48e"),
    (LSSVMReadout(Kernel("poly", 0.5, 1.0, 2)), Objective("count", exclusive=True), None,
     "ed0ded78087912bbb0081fa661464671eedf3322420a4ee2a8a3fd076dc103f4"),
    (PinvReadout(), Objective("squared", regression=True, epsilon=0.1), FreeRun(None, 0.3),
     "7962a874cd5bade7c3ea1269b52fbfe57fbea1eca577cdbe43b172fdc5b6499c"),
    (PinvReadout(), Objective("squared", regression=True, epsilon=0.1), FreeRun(np.array([[0, 3, 5]]), 0.3),
     "c5b70cb02a4e2d1cc7e23a893b929bfdd98fd92af375d6150cf76a1bd1b83bd8"),
])  # fmt: skip
def test_the_digest_is_that_of_files_of_earlier_versions(readout, objective, free, digest):
    segments = Segments(np.arange(5.0)[:, None], np.array([[0], [5], [-1], [-1]]), np.arange(5))
    p = Problem(segments, plain(np.arange(3)), plain(np.arange(3, 5)), "lstm", BIAS, readout, objective, free)
    assert p.digest == digest


# ---- points


def test_equal_steps_become_one_point():
    rows = np.array([4, 2, 4, 4, 2])
    targets = np.array([[1.0, -1], [1, 1], [1, -1], [-1, -1], [1, 1]])
    points = merge_points(rows, targets)
    found = {(int(row), *t): w for row, t, w in zip(points.rows, points.targets.T, points.weights, strict=True)}
    assert found == {(4, 1, -1): 2, (2, 1, 1): 2, (4, -1, -1): 1}
    assert points.rows.dtype == np.int64
    assert points.targets.shape == (2, 3) and points.targets.flags.c_contiguous


def test_merging_is_independent_of_order():
    rng = np.random.default_rng(0)
    rows, targets = rng.integers(0, 5, 40), rng.choice([-1.0, 1.0], (40, 2))
    order = rng.permutation(40)
    a, b = merge_points(rows, targets), merge_points(rows[order], targets[order])
    assert a.weights.sum() == 40
    for name in ("rows", "weights", "targets"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_boxes():
    lower, upper = SVMReadout(C=3.0).boxes(np.array([[1.0, -1.0], [-1.0, -1.0]]), np.array([2.0, 5.0]))
    np.testing.assert_array_equal(lower, [[0, -15], [-6, -15]])
    np.testing.assert_array_equal(upper, [[6, 0], [0, 0]])


@pytest.mark.parametrize("seed", range(4))
def test_a_merged_problem_has_the_solution_of_the_repeated_rows(seed):
    rng = np.random.default_rng(seed)
    phi, rows = rng.normal(size=(6, 2)), rng.integers(0, 6, 30)
    targets = rng.choice([-1.0, 1.0], (30, 1))
    points = merge_points(rows, targets)
    assert len(points.rows) < 30
    readout = SVMReadout(Kernel("rbf", 0.5), C=2.0, tol=TIGHT)
    merged = readout.fit(phi[points.rows], points.targets, points.weights)
    repeated = readout.fit(phi[rows], targets.T.copy(), np.ones(30))
    np.testing.assert_allclose(merged.decide(phi), repeated.decide(phi), atol=1e-6)

    def dual(x, t, weights):
        solution = solve(x, t, *readout.boxes(t, weights), kernel="rbf", gamma=0.5, coef0=0.0, degree=3, epsilon=0.0,
                         tol=TIGHT, max_iter=-1, solver="native")
        return dual_objective(kernel(x, x, "rbf", 0.5), solution.beta[0], t[0])

    values = dual(phi[points.rows], points.targets, points.weights), dual(phi[rows], targets.T.copy(), np.ones(30))
    assert values[0] == pytest.approx(values[1], rel=1e-9)


# ---- error


LABELS = np.array([[1.0, -1, -1, 1], [-1.0, 1, -1, -1], [-1.0, -1, 1, -1]])  # (n_outputs, n)
DECISIONS = np.array([[2.0, -1.5, -3.0], [0.5, 0.2, -1.0], [0.0, -2.0, 0.0], [-0.5, -0.7, -2.0]])
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    "objective, exclusive, expected",
    [
        # outputs on their own. Step 1: the first says yes wrongly. Step 2: 0 says no, the third is wrong.
        # Step 3: the first misses its yes.
        ("count", False, 2 * 1 + 3 * 1 + 4 * 1),
        # the largest wins: right at step 0; the first at step 1, wrong; a tie at step 2 goes to the first, wrong;
        # at step 3 the first wins, rightly, though its decision is negative
        ("count", True, 2 + 3),
        # margins missing: step 0 none; step 1: 1.5, 0.8, 0; step 2: 1, 0, 1; step 3: 1.5, 0.3, 0
        ("hinge", False, 2 * 2.3 + 3 * 2 + 4 * 1.8),
        ("hinge", True, 2 * 2.3 + 3 * 2 + 4 * 1.8),
        ("squared", False, 2 * (2.25 + 0.64) + 3 * 2 + 4 * (2.25 + 0.09)),
    ],
)
def test_error_by_hand(objective, exclusive, expected):
    points = Points(np.arange(4), WEIGHTS, LABELS)
    assert error(Objective(objective, exclusive), points, DECISIONS) == pytest.approx(expected, rel=1e-15)


def test_one_output_is_never_exclusive():
    points = Points(np.arange(3), np.ones(3), np.array([[1.0, -1.0, 1.0]]))
    assert error(Objective("count", True), points, np.array([[0.1], [0.1], [-0.1]])) == 2


# ---- evaluate


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("objective", ["hinge", "squared", "count"])
def test_the_core_agrees_with_the_plain_way(objective, exclusive):
    # without conflicting labels on equal rows there are no ties, and so counts compare
    p = problem(1, n_outputs=3, exclusive=exclusive, objective=objective, symbols=False)
    candidates = genomes(9)
    fused, plain = evaluate(p, candidates), evaluate(unfused(p), candidates)
    assert fused.shape == (9, 4)
    np.testing.assert_allclose(fused[:, :2], plain[:, :2], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(fused[:, 2:], plain[:, 2:])
    assert (np.ptp(fused, axis=0) > 0).any()  # the networks do differ
    if objective == "count":
        np.testing.assert_array_equal(fused[:, :2], fused[:, 2:])


@pytest.mark.parametrize("kernel", [Kernel("linear", 0.25), Kernel("poly", 0.25, 1.0, 2)])
def test_the_core_agrees_for_other_kernels(kernel):
    p = problem(2, C=1.0, kernel=kernel)
    np.testing.assert_allclose(evaluate(p, genomes(3)), evaluate(unfused(p), genomes(3)), rtol=1e-6, atol=1e-6)


def test_a_readout_that_the_core_does_not_know_is_not_taken_for_another():
    class Lasso(SVMReadout):
        name = "lasso"

    p = problem()
    p = replace(p, readout=Lasso(**vars(p.readout)))
    with pytest.raises(ValueError, match="the core cannot train the readout 'lasso': its fused must be False"):
        evaluate(p, genomes(2))


def test_fitting_the_readout_of_a_network_gives_its_errors():
    p, candidates = problem(3), genomes(4)
    errors = evaluate(p, candidates)
    for genome, expected in zip(candidates, errors, strict=True):
        fitted = fit_readout(p, genome)
        assert fitted.converged.all()
        phi = activations(p, genome[None])[0]
        found = [error(p.objective, points, fitted.decide(phi[points.rows])) for points in (p.train, p.validation)]
        np.testing.assert_allclose(found, expected[:2], rtol=1e-6, atol=1e-6)


def test_only_support_vectors_are_kept():
    fitted = fit_readout(problem(0), genomes(1)[0])
    assert fitted.dual_coef.any(axis=1).all()
    assert fitted.support_vectors.shape == (len(fitted.dual_coef), 3)
    assert fitted.intercept.shape == fitted.dual_gap.shape == (2,)


def test_evaluation_is_pure():
    p, candidates = problem(4), genomes(19)
    before = pickle.dumps(p), candidates.copy()
    whole = evaluate(p, candidates)
    np.testing.assert_array_equal(evaluate(p, candidates), whole)
    for cut in (1, 8, 11):
        parts = evaluate(p, candidates[:cut]), evaluate(p, candidates[cut:])
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(evaluate(p, candidates[::-1]), whole[::-1])
    np.testing.assert_array_equal(evaluate(pickle.loads(before[0]), candidates), whole)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda genome: evaluate(p, genome[None]), candidates))
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert pickle.dumps(p) == before[0]
    np.testing.assert_array_equal(candidates, before[1])


@pytest.mark.parametrize("n_networks, n_threads", [(0, 2), (1, 1), (3, 2), (8, 1), (40, 2), (77, 3), (200, 8)])
def test_a_queue_hands_out_every_network_once_in_blocks_and_then_half_blocks(n_networks, n_threads):
    queue, taken = WorkQueue(n_networks, n_threads), []
    while (part := queue.next_block()).start < part.stop:
        taken.append(part)
    assert [k for part in taken for k in range(part.start, part.stop)] == list(range(n_networks))
    assert all(part.stop - part.start in (LANES, LANES // 2) for part in taken[:-1])
    sizes = [part.stop - part.start for part in taken]
    assert sizes == sorted(sizes, reverse=True)
    assert queue.next_block() == queue.next_block() == slice(n_networks, n_networks)


@pytest.mark.parametrize("way", [lambda p: p, unfused])
def test_a_queue_gives_the_bits_of_one_thread(way):
    p, candidates = way(problem(4)), genomes(30)
    queue = WorkQueue(30, 3)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: evaluate(p, candidates, queue), range(3)))
    assert all(errors is queue.errors for errors in found)
    np.testing.assert_array_equal(queue.errors, evaluate(p, candidates))


@pytest.mark.parametrize("way", [lambda p: p, unfused])
def test_a_stop_flag_ends_both_ways(way):
    stopped = WorkQueue(3, 2)
    stopped.stop[0] = 1
    assert np.isnan(evaluate(way(problem(0)), genomes(3), stopped)).all()
    assert np.isfinite(evaluate(way(problem(0)), genomes(3), WorkQueue(3, 2))).all()


def test_a_network_that_overflows_has_infinite_errors_in_the_plain_way():
    candidates = genomes(2)
    candidates[0] = np.nan
    np.testing.assert_array_equal(np.isposinf(evaluate(unfused(problem(0)), candidates)), [[True] * 4, [False] * 4])
