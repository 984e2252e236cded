"""Arguments of the core that do not fit each other are refused: it reads memory without looking."""

from types import SimpleNamespace

import numpy as np
import pytest

from evoke._core import loo, lstm, pooled, qp
from evoke._core.evaluate import evaluate
from evoke._core.kernel import Kernel, decide, gram
from evoke._core.lstm import Network
from evoke._core.readout import fit_readout
from evoke.evolution.evaluation import WorkQueue
from evoke.evolution.problem import FreeRun, Objective, Points
from evoke.exceptions import ParameterError
from evoke.readouts import FittedReadout, LeaveOneOut, LSSVMReadout, PinvReadout, SVMReadout
from evoke.sequences.prefixes import Segments

ONE, MANY = Network(np.zeros((2, 12))), Network(np.zeros((3, 2, 12)))
ROWS = np.zeros((6, 1))


def points(n=4, n_outputs=1, **parts):
    whole = {"rows": np.arange(n), "weights": np.ones(n), "targets": np.resize([1.0, -1.0], (n_outputs, n))}
    return Points(**(whole | parts))


# ---------------------------------------------------------------- machines


@pytest.mark.parametrize(("shapes", "message"), [
    (((3, 5), (4, 2), (4, 1), (1,)), "x has 5 columns, but support_vectors has 2"),
    (((3, 2), (4, 2), (5, 1), (1,)), r"coef must have shape \(4, 1\), got \(5, 1\)"),
    (((3, 2), (4, 2), (4, 1), (2,)), r"coef must have shape \(4, 2\), got \(4, 1\)"),
    (((0, 5), (4, 2), (4, 1), (1,)), "x has 5 columns, but support_vectors has 2"),
])  # fmt: skip
def test_decide(shapes, message):
    with pytest.raises(ValueError, match=message):
        decide(*map(np.zeros, shapes), Kernel())


PARTS = {"support_vectors": np.zeros((4, 2)), "dual_coef": np.zeros((4, 1)), "intercept": np.zeros(1),
         "dual_gap": np.zeros(1), "converged": np.ones(1, bool), "kernel": Kernel()}  # fmt: skip


@pytest.mark.parametrize(("name", "value", "message"), [
    ("support_vectors", np.zeros(4), r"support_vectors must have shape \(None, None\), got \(4,\)"),
    ("dual_coef", np.zeros((2, 1)), r"dual_coef must have shape \(4, 1\), got \(2, 1\)"),
    ("dual_coef", np.zeros((4, 3)), r"dual_coef must have shape \(4, 1\), got \(4, 3\)"),
    ("intercept", np.zeros((1, 1)), r"intercept must have shape \(None,\), got \(1, 1\)"),
    ("dual_gap", np.zeros(2), r"dual_gap must have shape \(1,\), got \(2,\)"),
    ("converged", np.zeros(0), r"converged must have shape \(1,\), got \(0,\)"),
    ("intercept", [0.0], r"intercept must be an array, got \[0\.0\]"),
    ("kernel", "rbf", "kernel must be a Kernel, got 'rbf'"),
])  # fmt: skip
def test_parts_of_a_readout(name, value, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        FittedReadout(**(PARTS | {name: value}))
    assert FittedReadout(**PARTS).decide(np.zeros((3, 2))).shape == (3, 1)


def test_no_rows():
    for call in (lambda x: qp.Machine(x, Kernel(), 1000), lambda x: gram(x, Kernel())):
        with pytest.raises(ValueError, match="x must have at least one row, got 0"):
            call(np.zeros((0, 3)))


@pytest.mark.parametrize("n", [0, 3, 5, 10**6])
@pytest.mark.parametrize("which", range(4))
def test_arrays_of_a_quadratic_programme(which, n):
    machine = qp.Machine(np.eye(4), Kernel(), 1000)
    arrays = [np.array([1.0, -1.0, 1.0, -1.0]), np.full(4, -1.0), np.ones(4), np.zeros(4)]
    arrays[which] = np.ones(n)
    *problem, beta = arrays
    name = ("target", "lower", "upper", "beta")[which]
    for call in (
        lambda: machine.solve(*problem, 0.0, 1e-3, 100, beta), lambda: machine.certify(*problem, 0.0, 1e-3, beta)
    ):
        with pytest.raises(ValueError, match=rf"^{name} must have shape \(4,\), got \({n},\)"):
            call()


# ---------------------------------------------------------------- networks


@pytest.mark.parametrize("array", [np.zeros(3, int), np.zeros(3, np.float16), np.zeros(3, bool), np.zeros(3, ">f8"),
                                   np.zeros(3, complex), np.zeros(3, "S8"), np.zeros(3, np.longdouble)])
def test_finite(array):
    with pytest.raises(ValueError, match="array must be of float64 or float32, got "):
        lstm.finite(array)


OFFSETS = [
    ([], r"begin with 0 and end with the number of rows, 6, got \[\]"),
    ([0, 3], r"begin with 0 and end with the number of rows, 6, got \[0, 3\]"),
    ([0, 10**9], r"begin with 0 and end with the number of rows, 6, got \[0, 1000000000\]"),
    ([1, 6], r"begin with 0 and end with the number of rows, 6, got \[1, 6\]"),
    ([-5, 6], r"begin with 0 and end with the number of rows, 6, got \[-5, 6\]"),
    ([0, -3, 6], r"ascend by at least \d, got -3 after 0"),
    ([0, 4, 2, 6], r"ascend by at least \d, got 2 after 4"),
    ([0, 10**9, 6], r"ascend by at least \d, got 6 after 1000000000"),
    ([0, 2**63 - 1, -(2**63), 6], r"ascend by at least \d, got -9223372036854775808 after 9223372036854775807"),
]


@pytest.mark.parametrize(("offsets", "message"), OFFSETS)
def test_offsets(offsets, message):
    offsets = np.array(offsets, dtype=np.int64)
    sequences = SimpleNamespace(rows=ROWS, offsets=offsets)
    for call in (
        lambda: lstm.sequences(ONE, ROWS, offsets),
        lambda: pooled.pooled(MANY, ROWS, offsets, ("mean",)),
        lambda: pooled.evaluate(
            MANY, sequences, ("mean",), points(max(1, len(offsets) - 1)), LeaveOneOut(), Objective("count")
        ),
    ):
        with pytest.raises(ValueError, match=f"^offsets must {message}"):
            call()


def test_sequences_without_steps():
    offsets = np.array([0, 2, 2, 6])
    assert lstm.sequences(ONE, ROWS, offsets)[1].shape == (3, 2, 2)
    with pytest.raises(ValueError, match="offsets must ascend by at least 1, got 2 after 2"):
        pooled.pooled(MANY, ROWS, offsets, ("mean",))


@pytest.mark.parametrize(("washout", "message"), [
    (3, "offsets must ascend by at least 4, got 3 after 0"),
    (-1, "washout must be from 0 to the number of rows, 6, got -1"),
    (7, "washout must be from 0 to the number of rows, 6, got 7"),
    (2**63 - 1, "washout must be from 0 to the number of rows, 6, got 9223372036854775807"),
])  # fmt: skip
def test_washout(washout, message):
    sequences = SimpleNamespace(rows=ROWS, offsets=np.array([0, 3, 6]))
    for call in (
        lambda: pooled.pooled(MANY, ROWS, sequences.offsets, ("mean",), washout),
        lambda: pooled.evaluate(
            MANY, sequences, ("mean",), points(2), LeaveOneOut(), Objective("count"), washout=washout
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()


TABLES = [
    ([[0, 3], [3, 7], [-1, -1], [-1, -1]], r"table\[:2, 1\] is \[3, 7\], which is no segment of 6 rows"),
    ([[-1, 3], [3, 6], [-1, -1], [-1, -1]], r"table\[:2, 0\] is \[-1, 3\], which is no segment of 6 rows"),
    ([[0, 3], [0, 6], [-1, -1], [-1, -1]], r"table\[:2, 0\] is \[0, 0\], which is no segment of 6 rows"),
    ([[0, 3], [3, 6], [-1, 5], [0, -1]], r"table\[2, 1\] must be -1 or an earlier segment with a slot, got 5"),
    ([[0, 3], [3, 6], [-1, 1], [0, 1]], r"table\[2, 1\] must be -1 or an earlier segment with a slot, got 1"),
    ([[0, 3], [3, 6], [-1, 0], [-1, -1]], r"table\[2, 1\] must be -1 or an earlier segment with a slot, got 0"),
    ([[0, 3], [3, 6], [-2, -1], [0, -1]], r"table\[2, 0\] must be -1 or an earlier segment with a slot, got -2"),
    ([[0, 3], [3, 6], [-1, 0], [2, -1]], r"table\[3, 0\] must be -1 or a slot below 2, got 2"),
    ([[0, 3], [3, 6], [-1, 0], [2**62, -1]], r"table\[3, 0\] must be -1 or a slot below 2"),
    ([[0, 3], [3, 6], [-1, -1], [0, -5]], r"table\[3, 1\] must be -1 or a slot below 2, got -5"),
]


@pytest.mark.parametrize(("table", "message"), TABLES)
def test_tables_of_segments(table, message):
    table = np.array(table)
    for call in (
        lambda: lstm.population(MANY, ROWS, table),
        lambda: evaluated(segments=Segments(ROWS, table, np.arange(6))),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            call()


# ---------------------------------------------------------------- evaluation


def evaluated(readout=SVMReadout(), **changes):  # noqa: B008 a readout cannot be changed
    table = np.array([[0, 3], [3, 6], [-1, 0], [0, -1]])
    whole = {"networks": MANY, "segments": Segments(ROWS, table, np.arange(6)), "train": points(),
             "validation": points(3), "readout": readout, "objective": Objective("count")}  # fmt: skip
    return evaluate(**(whole | changes))


POINTS = [
    ({"rows": np.array([0, 1, 2, 6])}, "rows must be from 0 to 5, got 6"),
    ({"rows": np.array([0, 1, -2, 3])}, "rows must be from 0 to 5, got -2"),
    ({"rows": np.arange(0)}, "points must have at least one row, got 0"),
    ({"weights": np.ones(3)}, r"weights must have shape \(4,\), got \(3,\)"),
    ({"targets": np.ones((1, 3))}, r"targets must have shape \(n_outputs, 4\), got \(1, 3\)"),
    ({"targets": np.ones((0, 4))}, r"targets must have shape \(n_outputs, 4\), got \(0, 4\)"),
]


@pytest.mark.parametrize(("parts", "message"), POINTS)
@pytest.mark.parametrize("readout", [SVMReadout(), LSSVMReadout(), PinvReadout()])
@pytest.mark.parametrize("which", ["train", "validation"])
def test_points(which, readout, parts, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        evaluated(readout, **{which: points(**parts)})


@pytest.mark.parametrize(("stretches", "message"), [
    ([[2, 3, 6]], r"stretches\[0, 0\] must be a segment with a slot, got 2"),
    ([[-1, 3, 6]], r"stretches\[0, 0\] must be a segment with a slot, got -1"),
    ([[1, 3, 6]], r"stretches\[0, 0\] must be a segment with a slot, got 1"),
    ([[0, 4, 7]], r"stretches\[0, 1:\] is \[4, 7\], which is no part of 6 rows"),
    ([[0, 3, 5]], "stretches have 2 steps, but validation has 3 points"),
    ([[0, 3]], r"stretches must have shape \(n, 3\), got \(1, 2\)"),
])  # fmt: skip
def test_free_runs(stretches, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        evaluated(free=FreeRun(np.array(stretches), 1.0))
    assert evaluated(free=FreeRun(np.array([[0, 3, 6]]), 1.0)).shape == (3, 4)


def test_outputs_that_do_not_fit():
    with pytest.raises(ValueError, match="validation has 2 outputs, but train has 1"):
        evaluated(validation=points(3, 2))
    with pytest.raises(ValueError, match="the readout has 2 outputs, which do not fit into 1 inputs"):
        evaluated(train=points(4, 2), validation=points(3, 2), free=FreeRun(np.array([[0, 3, 6]]), 1.0))


def test_a_queue_for_other_networks():
    sequences = SimpleNamespace(rows=ROWS, offsets=np.array([0, 3, 6]))
    for call in (
        lambda queue: evaluated(queue=queue),
        lambda queue: pooled.evaluate(
            MANY, sequences, ("mean",), points(2), LeaveOneOut(), Objective("count"), queue=queue
        ),
    ):
        with pytest.raises(ValueError, match=r"errors of the queue must have shape \(3, 4\), got \(9, 4\)"):
            call(WorkQueue(9, 1))


def test_names():
    with pytest.raises(ParameterError, match=r"objective must be one of \('count', 'hinge', 'squared'\), got 'nope'"):
        evaluated(objective=Objective("nope"))
    with pytest.raises(ValueError, match="the core cannot train the readout 'nope'"):
        fit_readout(np.eye(4), np.ones((1, 4)), np.ones(4), SimpleNamespace(name="nope"))
    with pytest.raises(ParameterError, match=r"pool must be one of \('last', .*\), got 'median'"):
        pooled.pooled(MANY, ROWS, np.array([0, 6]), ("mean", "median"))


# ---------------------------------------------------------------- leave-one-out


def chosen(features, of, kernel="rbf"):
    return loo.choose(features, of, kernel, (1.0,), (1.0,), Objective("squared"))


@pytest.mark.parametrize("n", [1, 3, 5, 1000])
def test_points_of_another_length(n):
    sequences = SimpleNamespace(rows=ROWS, offsets=np.array([0, 1, 2, 4, 6]))
    with pytest.raises(ValueError, match=f"points has {n} rows, but features has 4"):
        chosen(np.eye(4), points(n))
    with pytest.raises(ValueError, match=f"points has {n} rows, but there are 4 sequences"):
        pooled.evaluate(MANY, sequences, ("mean",), points(n), LeaveOneOut(), Objective("count"))


@pytest.mark.parametrize(("parts", "message"), [
    ({"weights": np.ones(3)}, r"weights must have shape \(4,\), got \(3,\)"),
    ({"targets": np.ones((1, 5))}, r"targets must have shape \(n_outputs, 4\), got \(1, 5\)"),
    ({"targets": np.ones((0, 4))}, r"targets must have shape \(n_outputs, 4\), got \(0, 4\)"),
])  # fmt: skip
def test_parts_of_points(parts, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        chosen(np.eye(4), points(**parts))


def test_nothing_to_choose_from():
    with pytest.raises(ValueError, match="points must have at least one row, got 0"):
        chosen(np.zeros((0, 2)), points(0))
    with pytest.raises(ParameterError, match=r"kernel must be one of \('linear', 'rbf'\), got 'poly'"):
        chosen(np.eye(4), points(), "poly")
