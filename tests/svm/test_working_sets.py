"""Working sets find the optimum that the machine finds with all rows at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoke._core import qp
from evoke._core.kernel import Kernel
from evoke.svm import SVC, SVR, _solve, _working_sets
from evoke.svm._working_sets import WorkingSets

RBF = Kernel("rbf", 0.4)
TOL = 1e-6
MANY = 10_000_000


@pytest.fixture
def small(monkeypatch):
    """Sets of few rows, so that small problems take several rounds."""
    monkeypatch.setattr(_working_sets, "_FIRST_SET", 12)


def classes(rng, n, C, rare=0.5, noise=0.5):
    X = rng.normal(size=(n, 3))
    target = np.where(X[:, 0] + noise * rng.normal(size=n) > np.quantile(X[:, 0], rare), 1.0, -1.0)
    return X, target, np.minimum(0.0, C * target), np.maximum(0.0, C * target)


def both(problem, epsilon=0.0, kernel=RBF, start=None, max_iter=MANY, tol=TOL):
    X, target, lower, upper = problem
    found = []
    for machine in (qp.Machine(X, kernel, 8 * len(X) * (len(X) + 8)), WorkingSets(X, kernel, 2**20)):
        beta = np.zeros(len(X)) if start is None else start.copy()
        certificate = machine.solve(target, lower, upper, epsilon, tol, max_iter, beta)
        assert (lower <= beta).all() and (beta <= upper).all()
        assert beta.sum() == pytest.approx(0.0, abs=1e-9 * max(1.0, np.abs(beta).sum()))
        found.append((certificate, beta))
    return found


def assert_same_optimum(found):
    (expected, _), (certificate, _) = found
    assert certificate.converged and certificate.violation <= TOL
    assert certificate.gap <= TOL * max(1.0, certificate.objective)
    scale = max(1.0, abs(expected.objective))
    assert certificate.objective == pytest.approx(expected.objective, abs=3 * TOL * scale)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("C", [0.1, 10.0, 1e5])
@pytest.mark.parametrize("noise", [0.0, 0.5, 100.0])
@pytest.mark.parametrize("rare", [0.5, 0.02])
def test_classification(C, noise, rare):
    assert_same_optimum(both(classes(np.random.default_rng(1), 150, C, rare, noise)))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.1, 10.0])
def test_regression(C, epsilon):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(130, 2))
    target, bound = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=130), np.full(130, C)
    assert_same_optimum(both((X, target, -bound, bound), epsilon))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(13, 90), kind=st.sampled_from(["rbf", "linear", "poly"]))
def test_any_boxes_and_repeated_rows(seed, n, kind):
    rng = np.random.default_rng(seed)
    X, target, lower, upper = classes(rng, n, 10.0 ** rng.uniform(-1, 3))
    X = np.round(X)
    weights = rng.integers(0, 3, n)  # a weight of zero is a box of a point
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_working_sets, "_FIRST_SET", 12)
        assert_same_optimum(both((X, target, lower * weights, upper * weights), kernel=Kernel(kind, 0.3, 1.0, 2)))


@pytest.mark.usefixtures("small")
def test_one_class_alone_has_nothing_to_move():
    X = np.random.default_rng(0).normal(size=(40, 3))
    _, (certificate, beta) = both((X, np.ones(40), np.zeros(40), np.ones(40)))
    assert not beta.any() and certificate.converged


@pytest.mark.usefixtures("small")
def test_it_goes_on_from_any_feasible_point():
    rng = np.random.default_rng(3)
    problem = classes(rng, 120, 5.0)
    start = np.where(problem[1] > 0, 1.0, -1.0) * rng.uniform(0, 5, 120)
    start[problem[1] > 0] *= -start[problem[1] < 0].sum() / start[problem[1] > 0].sum() * 0.5
    start[problem[1] < 0] *= 0.5
    assert_same_optimum(both(problem, start=start))
    (_, optimum), _ = both(problem)
    assert_same_optimum(both(problem, start=optimum))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("max_iter", [1, 7, 60])
def test_a_limit_on_the_steps_holds_for_all_rounds(max_iter):
    _, (certificate, beta) = both(classes(np.random.default_rng(4), 150, 10.0), max_iter=max_iter)
    assert certificate.n_iter <= max_iter + 1 and not certificate.converged
    assert beta.any()


@pytest.mark.usefixtures("small")
def test_no_problem_is_without_end(monkeypatch):
    rounds = []
    solve_set = WorkingSets._solve_set
    monkeypatch.setattr(WorkingSets, "_solve_set", lambda self, *rest: rounds.append(1) or solve_set(self, *rest))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 1e3, 1e6]
    target = rng.choice([-1.0, 1.0], 200)
    bound = 1e6 * target
    both((X, target, np.minimum(0.0, bound), np.maximum(0.0, bound)), kernel=Kernel("poly", 1.0), max_iter=20_000)
    assert len(rounds) <= _working_sets._MOST_ROUNDS + _working_sets._MOST_TIGHTENED + 2


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("scale, C, epsilon", [(3e5, 1.0, 0.0), (3e4, 100.0, 0.1), (1e5, 10.0, 0.1)])
def test_where_rounding_is_in_the_way_all_rows_end_it(scale, C, epsilon, seed):
    # linear kernels of up to 1e11: rounds with few rows may not reach the tolerance, in however many steps
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 3))
    target, bound = np.where(X[:, 0] + 0.3 * rng.normal(size=2000) > 0.0, 1.0, -1.0), np.full(2000, C)
    problem = scale * X, target, -bound, bound
    (expected, _), (found, _) = both(problem, epsilon, Kernel("linear"), max_iter=2_000_000, tol=1e-3)
    assert found.n_iter < 20_000
    assert found.gap < 5.0 * expected.gap


def test_a_first_set_in_which_nothing_can_be_moved(recwarn):
    rng = np.random.default_rng(0)
    X, target, lower, upper = classes(rng, 2000, 5.0)
    first = np.linspace(0, 1999, 1000).astype(int)
    lower[first] = upper[first] = 0.0
    (expected, _), (found, _) = both((X, target, lower, upper))
    assert found.objective == pytest.approx(expected.objective, rel=1e-5)
    assert not recwarn.list


@pytest.mark.parametrize("Machine", [SVC, SVR])
def test_the_estimators_use_them_from_many_rows_on(Machine, monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0.3 * rng.normal(size=300)).astype(float)
    few = Machine(C=10.0, tol=1e-8).fit(X, y)
    monkeypatch.setattr(_solve, "MANY_ROWS", 300)
    monkeypatch.setattr(_working_sets, "_FIRST_SET", 40)
    many = Machine(C=10.0, tol=1e-8).fit(X, y)
    assert many.n_iter_ != few.n_iter_
    decide = "decision_function" if Machine is SVC else "predict"
    np.testing.assert_allclose(getattr(many, decide)(X), getattr(few, decide)(X), atol=1e-5)
