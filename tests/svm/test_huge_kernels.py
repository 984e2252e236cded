"""Machines on kernels of huge values: they say which kernel it is and what to do, and solve what can be solved."""

import numpy as np
import pytest

from evoke._core.kernel import Kernel
from evoke._core.qp import Machine
from evoke.readouts import SVMReadout
from evoke.svm import LSSVC, LSSVR, SVC, SVR, solve

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = X[:, 0] + 0.1 * rng.normal(size=40)
POLY = "kernel='poly' with gamma=1.0, coef0=0.0, degree=3"


def boxes(C, n):
    return np.full(n, -C), np.full(n, C)


def test_the_solver_says_that_a_problem_overflows():
    rows = X * 1e50
    machine, beta = Machine(rows, Kernel("poly", 1.0, 0.0, 3), 2**20), np.zeros(40)
    with pytest.raises(OverflowError, match="too large for double precision"):
        machine.solve(y, *boxes(1e10, 40), 0.0, 1e-3, 1000, beta)
    assert (np.abs(beta) <= 1e10).all()


@pytest.mark.parametrize("n", [40, 1600])  # all rows, and working sets
def test_the_error_names_kernel_and_remedy(n):
    rows, values = np.resize(X, (n, 3)), np.resize(y, n)
    rows = 1e50 * (rows + 1e-3 * rng.normal(size=rows.shape))
    message = rf"not finite: {POLY} has values up to .*e\+30\d, and C=1e\+10; .* scale X or lower gamma, "
    with pytest.raises(ValueError, match=message):
        SVR(kernel="poly", gamma=1.0, C=1e10, max_iter=3000).fit(rows, values)


def test_every_kernel_has_its_remedy():
    with pytest.raises(ValueError, match=r"kernel='linear' has values .* C=1e\+100; .*: scale X, or scale the"):
        SVR(kernel="linear", C=1e100).fit(X * 1e70, y)
    with pytest.raises(ValueError, match=r"the kernel that is given has values .*: scale the kernel, or scale"):
        SVR(kernel="precomputed", C=1e10).fit(X @ X.T * 1e300, y)
    lower, upper = boxes(1e200, 40)
    with pytest.raises(ValueError, match=r"kernel='rbf' with gamma=0.5 .* C=1e\+200; the targets or C are too large"):
        solve(X, y * 1e200, lower, upper, kernel="rbf", gamma=0.5, coef0=0.0, degree=1, epsilon=0.0, tol=1e-3,
              max_iter=-1, solver="native")  # fmt: skip


@pytest.mark.parametrize("machine", [LSSVR, LSSVC])
def test_a_singular_system_names_the_kernel(machine):
    with pytest.raises(ValueError, match=rf"C=1.0 is too large for values up to .* of {POLY}, lower it, or scale X"):
        machine(kernel="poly", gamma=1.0).fit(X * 1e20, y > 0 if machine is LSSVC else y)


def test_what_can_be_solved_is():
    machine = SVC(kernel="poly", gamma=1.0, C=1e10).fit(X * 1e50, X[:, 0] > 0)
    assert machine.fit_status_ == 0 and machine.score(X * 1e50, X[:, 0] > 0) == 1.0


def test_small_targets_with_a_smaller_tolerance():
    """The gains of all pairs underflow, and so can no longer be compared."""
    lower, upper = boxes(1.0, 3)
    found = solve([[1.0], [-1.0], [2.0]], [-2e-200, 2e-200, -4e-200], lower, upper, kernel="linear", gamma=1.0,
                  coef0=0.0, degree=1, epsilon=0.0, tol=1e-210, max_iter=-1, solver="native")  # fmt: skip
    assert found.converged.all() and (np.abs(found.beta) <= 4e-200).all()


def test_a_readout_that_overflows_says_so():
    readout = SVMReadout(Kernel("poly", 1e100, 0.0, 3), C=1e10, regression=True)
    with pytest.raises(ValueError, match=r"not finite: kernel='poly' with gamma=1e\+100"):
        readout.fit(X, y[None], np.ones(40))
