"""Ctrl-C and the stop flag of threads end a function of the core in the midst of its work."""

import os
import signal
import threading
import traceback
from contextlib import contextmanager

import numpy as np
import pytest

from evoke._core import evaluate as core_evaluate
from evoke._core.lstm import Network
from evoke.evolution.evaluation import WorkQueue
from evoke.evolution.problem import Objective, Points
from evoke.readouts import LSSVMReadout, PinvReadout
from evoke.sequences.prefixes import Segments
from evoke.svm import LSSVC, LSSVR

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")

LONG = 5000  # rows whose factor takes a second or more
WIDE = 500  # columns, and their pseudoinverse


@contextmanager
def soon(action):
    """The action in another thread, a moment after the block began."""
    timer = threading.Timer(0.1, action)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


@contextmanager
def interrupted_inside():
    """Ctrl-C comes soon, and the core notices it in the midst of its work, not the interpreter afterwards."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as caught, soon(lambda: os.kill(os.getpid(), signal.SIGINT)):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    assert traceback.extract_tb(caught.tb)[-1].name.endswith("has_to_end")


@pytest.mark.parametrize("machine", [LSSVR, LSSVC])
def test_a_least_squares_machine_hears_ctrl_c_in_its_factorisation_and_can_be_fitted_afterwards(machine):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(LONG, 3)), rng.integers(0, 2, LONG)
    model = machine(C=10.0)
    with interrupted_inside():
        model.fit(X, y)
    assert not hasattr(model, "dual_coef_")
    again, fresh = model.fit(X[:50], y[:50]), machine(C=10.0).fit(X[:50], y[:50])
    np.testing.assert_array_equal(again.dual_coef_, fresh.dual_coef_)


def test_the_pseudoinverse_hears_ctrl_c():
    phi, targets = np.random.default_rng(0).normal(size=(600, WIDE)), np.ones((1, 600))
    with interrupted_inside():
        PinvReadout().fit(phi, targets, np.ones(600))


@pytest.mark.parametrize("readout", ["lssvm", "pinv"])
def test_the_stop_flag_ends_the_fit_of_a_network(readout):
    """The errors of a network whose fit was ended are not written."""
    n_cells, n = (3, LONG) if readout == "lssvm" else (WIDE, 600)
    rng = np.random.default_rng(0)
    genomes, x = 0.1 * rng.normal(size=(1, n_cells, 4 * (1 + n_cells))), rng.normal(size=(n + 10, 1))
    segments = Segments(x, np.array([[0], [n + 10], [-1], [-1]]), None)
    train, validation = (
        Points(rows, np.ones(len(rows)), rng.choice([-1.0, 1.0], (1, len(rows))))
        for rows in (np.arange(n), np.arange(n, n + 10))
    )
    queue = WorkQueue(1, 1)

    def stop():
        queue.stop[0] = 1

    with soon(stop):
        core_evaluate.evaluate(
            Network(genomes, "lstm", (0.0, 0.0, 0.0)), segments, train, validation,
            LSSVMReadout(C=10.0) if readout == "lssvm" else PinvReadout(), Objective("hinge"), queue=queue,
        )  # fmt: skip
    assert np.isnan(queue.errors).all()
