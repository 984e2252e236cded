import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC, SVR

from evoke._core.kernel import Kernel, decide, gram
from evoke._core.qp import Certificate, Machine
from oracle import svm as oracle

TOL = 1e-6
CACHE = 1 << 26
MAX_ITER = 200_000


class Problem:
    """Points, kernel, target and box of one quadratic programme."""

    def __init__(self, X, kernel, target, lower, upper, epsilon=0.0, gamma=0.5, coef0=1.0, degree=3):
        self.X = np.ascontiguousarray(X)
        self.parameters = kernel, gamma, coef0, degree
        self.target, self.lower, self.upper, self.epsilon = target, lower, upper, epsilon
        self.programme = target, lower, upper, epsilon

    def solve(self, tol=TOL, max_iter=MAX_ITER, cache_bytes=CACHE, beta=None):
        beta = np.zeros(len(self.X)) if beta is None else beta.copy()
        machine = Machine(self.X, Kernel(*self.parameters), cache_bytes)
        return beta, machine.solve(*self.programme, tol, max_iter, beta)

    def kernel(self):
        return oracle.kernel(self.X, self.X, *self.parameters)

    def check(self, beta, result):
        """What holds for any answer: a feasible beta, and a certificate that the definitions confirm."""
        assert (beta >= self.lower).all() and (beta <= self.upper).all()
        largest = max(self.upper.max(), -self.lower.min())
        assert abs(beta.sum()) <= 1e-13 * len(beta) * largest
        K, bias = self.kernel(), result.bias
        # rounding of K beta and of the sums over the points
        row = 1e-14 * (1.0 + np.abs(self.target).max() + np.abs(K).max() * np.abs(beta).sum())
        total = 1e-13 * (1.0 + oracle.primal_objective(K, beta, bias, *self.programme)) + row * np.abs(beta).sum()
        assert result.violation == pytest.approx(oracle.violation(K, beta, *self.programme), rel=0, abs=2 * row)
        assert bias == pytest.approx(oracle.bias(K, beta, *self.programme), rel=0, abs=row)
        objective = oracle.dual_objective(K, beta, self.target, self.epsilon)
        assert result.objective == pytest.approx(objective, rel=0, abs=total)
        points = row * (self.upper - self.lower).sum()
        gap = oracle.duality_gap(K, beta, bias, *self.programme)
        assert result.gap == pytest.approx(gap, rel=0, abs=total + points)
        assert result.gap >= -total
        if result.converged:
            assert result.violation <= TOL


def classification(seed, kernel, C=None, n=None, points=None, **parameters):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60)) if n is None else n
    X = make_points(rng, n, int(rng.integers(1, 7)), points)
    if rng.random() < 0.5:
        labels = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    else:
        labels = np.where(X @ rng.normal(size=X.shape[1]) + 0.1 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    C = 10.0 ** rng.uniform(-3, 8) if C is None else C
    weights = C * np.where(labels > 0.0, rng.choice([1.0, 7.0]), 1.0)
    if rng.random() < 0.3:
        weights *= rng.integers(1, 20, n)
    lower, upper = np.minimum(0.0, labels * weights), np.maximum(0.0, labels * weights)
    return Problem(X, kernel, labels, lower, upper, gamma=10.0 ** rng.uniform(-1, 0.5), **parameters)


def regression(seed, kernel, C=None, epsilon=None, n=None, points=None, **parameters):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60)) if n is None else n
    X = make_points(rng, n, int(rng.integers(1, 7)), points)
    target = np.sin(X @ rng.normal(size=X.shape[1])) + 0.05 * rng.normal(size=n)
    C = 10.0 ** rng.uniform(-3, 8) if C is None else C
    epsilon = 10.0 ** rng.uniform(-3, -0.5) if epsilon is None else epsilon
    return Problem(X, kernel, target, np.full(n, -C), np.full(n, C), epsilon, gamma=10.0 ** rng.uniform(-1, 0.5),
                   **parameters)


def make_points(rng, n, d, points):
    X = rng.normal(size=(n, d))
    points = rng.choice(["normal", "duplicate", "saturated", "near constant"]) if points is None else points
    if points == "duplicate":
        return X[rng.integers(0, max(1, n // 2), n)]
    if points == "saturated":
        return np.tanh(20.0 * X)
    if points == "near constant":
        return 0.9 + 1e-6 * X
    return X


def reference(problem):
    """beta of scikit-learn's LIBSVM with a limit on its iterations, or None where it refuses a single class."""
    kernel, gamma, coef0, degree = problem.parameters
    options = dict(kernel=kernel, gamma=gamma, coef0=coef0, degree=degree, tol=TOL, max_iter=20_000)
    classes = problem.epsilon == 0.0 and set(problem.target) <= {-1.0, 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if not classes:
            machine = SVR(C=problem.upper[0], epsilon=problem.epsilon, **options).fit(problem.X, problem.target)
        elif len(set(problem.target)) == 1:
            return None
        else:
            weights = np.maximum(problem.upper, -problem.lower)
            machine = SVC(C=1.0, **options).fit(problem.X, problem.target, sample_weight=weights)
    beta = np.zeros(len(problem.X))
    beta[machine.support_] = machine.dual_coef_[0]
    return beta


def check_against_reference(problem):
    beta, result = problem.solve()
    problem.check(beta, result)
    assert result.converged
    assert result.n_iter < MAX_ITER
    other = reference(problem)
    if other is not None:
        best = oracle.dual_objective(problem.kernel(), other, problem.target, problem.epsilon)
        assert result.objective >= best - TOL * max(1.0, abs(best))
    return beta, result


# A Gram matrix of full rank for any C, or one of low rank with a moderate C.
KERNELS = [("rbf", None), ("linear", 0.01), ("linear", 1.0), ("poly", 0.01), ("poly", 1.0)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("kernel", "C"), KERNELS)
def test_classification_is_as_good_as_libsvm(kernel, C, seed):
    check_against_reference(classification(seed, kernel, C))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("kernel", "C"), KERNELS)
def test_regression_is_as_good_as_libsvm(kernel, C, seed):
    check_against_reference(regression(seed, kernel, C))


@pytest.mark.parametrize("C", [1e3, 1e4, 1e5])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_low_rank_and_large_C(kernel, C):
    for seed in range(12):
        check_against_reference(classification(seed, kernel, C, n=50, points="normal"))
        check_against_reference(regression(seed, kernel, C, n=50, points="normal"))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_regression_without_a_tube(C, seed):
    check_against_reference(regression(seed, "rbf", C, epsilon=0.0))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("task", [classification, regression])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_tiny_programmes_reach_the_enumerated_optimum(n, task, kernel):
    for seed in range(12):
        problem = task(seed, kernel, C=[0.1, 10.0][seed % 2], n=n, points="normal")
        beta, result = problem.solve()
        problem.check(beta, result)
        K = problem.kernel()
        best = oracle.dual_objective(K, oracle.solve(K, *problem.programme), problem.target, problem.epsilon)
        assert result.converged
        assert result.objective == pytest.approx(best, rel=1e-5, abs=1e-6)


def test_two_points_by_hand():
    # x = -1 and +1: the margin touches both, so f(x) = x, beta = 1/2 each; with C below that both are at the bound
    X, labels = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    for C, expected in ((10.0, 0.5), (0.25, 0.25)):
        problem = Problem(X, "linear", labels, np.array([-C, 0.0]), np.array([0.0, C]))
        beta, result = problem.solve()
        np.testing.assert_allclose(beta, [-expected, expected], rtol=1e-15)
        assert result.bias == 0.0
        assert result.objective == pytest.approx(2 * expected - 2 * expected**2, rel=1e-15)
        assert result.gap == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("label", [-1.0, 1.0])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_a_single_class_is_decided_by_the_bias(n, label):
    labels = np.full(n, label)
    X = np.random.default_rng(0).normal(size=(n, 2))
    problem = Problem(X, "rbf", labels, np.minimum(0.0, labels), np.maximum(0.0, labels))
    beta, result = problem.solve()
    problem.check(beta, result)
    np.testing.assert_array_equal(beta, 0.0)
    assert result == Certificate(label, objective=0.0, gap=0.0, violation=0.0, n_iter=0, converged=True)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("n", [1, 2, 17])
def test_a_constant_target_is_the_bias(n, epsilon):
    X = np.random.default_rng(0).normal(size=(n, 2))
    problem = Problem(X, "rbf", np.full(n, 0.7), np.full(n, -10.0), np.full(n, 10.0), epsilon)
    beta, result = problem.solve()
    np.testing.assert_array_equal(beta, 0.0)
    assert result.bias == pytest.approx(0.7)
    assert result.converged
    assert result.gap == pytest.approx(0.0, abs=1e-14)


def test_all_points_at_their_bounds():
    X, labels = np.random.default_rng(3).normal(size=(40, 4)), np.tile([1.0, -1.0], 20)
    problem = Problem(X, "rbf", labels, np.minimum(0.0, 1e-3 * labels), np.maximum(0.0, 1e-3 * labels))
    beta, _ = check_against_reference(problem)
    np.testing.assert_array_equal(beta, 1e-3 * labels)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e8])
def test_contradicting_duplicates(C):
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 2, axis=0)
    labels = np.tile([1.0, -1.0], 10)
    problem = Problem(X, "rbf", labels, np.minimum(0.0, C * labels), np.maximum(0.0, C * labels))
    beta, result = check_against_reference(problem)
    # each pair cancels: w = 0, all at the bound
    np.testing.assert_array_equal(beta, C * labels)
    assert result.objective == pytest.approx(20 * C)


def test_identical_points():
    X, labels = np.full((30, 4), 0.25), np.where(np.arange(30) % 3 == 0, 1.0, -1.0)
    problem = Problem(X, "rbf", labels, np.minimum(0.0, 5.0 * labels), np.maximum(0.0, 5.0 * labels))
    beta, result = check_against_reference(problem)
    assert result.objective == pytest.approx(100.0)  # ten pairs of height 2 C, no curvature


@pytest.mark.parametrize("task", [classification, regression])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_few_cache_slots_give_an_equally_good_solution(kernel, task):
    for seed in range(5):
        problem = task(seed, kernel, C=1.0, n=60)
        full, tiny = problem.solve(), problem.solve(cache_bytes=1)
        problem.check(*tiny)
        assert tiny[1].converged
        assert tiny[1].objective == pytest.approx(full[1].objective, rel=2 * TOL, abs=2 * TOL)
        for slots in (3, 10, 59):
            beta, result = problem.solve(cache_bytes=slots * 64 * 8)
            problem.check(beta, result)
            assert result.converged


def test_more_rows_than_are_filled_at_once():
    problem = classification(1, "rbf", C=1.0, n=600, points="normal")
    for cache_bytes in (CACHE, 50 * 600 * 8):
        beta, result = problem.solve(cache_bytes=cache_bytes)
        problem.check(beta, result)
        assert result.converged


def test_a_limit_on_iterations_is_reported():
    problem = classification(0, "rbf", C=100.0, n=50, points="normal")
    for max_iter in (0, 1, 5, 20):
        beta, result = problem.solve(max_iter=max_iter)
        problem.check(beta, result)
        assert result.n_iter == max_iter
        assert result.violation > TOL
        assert result.converged is False


@pytest.mark.parametrize("task", [classification, regression])
def test_starting_from_the_solution_takes_no_steps(task):
    for seed in range(10):
        problem = task(seed, "rbf", C=10.0, n=40)
        beta, first = problem.solve()
        again, second = problem.solve(beta=beta)
        assert second.n_iter <= 2
        assert second.objective == pytest.approx(first.objective, rel=TOL)
        assert second.converged


def test_starting_from_any_feasible_point_reaches_the_optimum():
    problem = regression(2, "rbf", C=10.0, n=30, points="normal")
    start = np.random.default_rng(0).uniform(-8.0, 8.0, 30)
    start -= start.mean()
    beta, result = problem.solve(beta=np.clip(start, -10.0, 10.0))
    assert result.converged
    assert result.objective == pytest.approx(problem.solve()[1].objective, rel=2 * TOL)


def test_a_machine_serves_several_targets_in_turn():
    one, two = (regression(seed, "rbf", C=10.0, n=30, points="normal") for seed in (0, 1))
    two.X, two.parameters = one.X, one.parameters
    machine = Machine(one.X, Kernel(*one.parameters), CACHE)
    for problem in (one, two, one):
        beta = np.zeros(30)
        result = machine.solve(*problem.programme, TOL, MAX_ITER, beta)
        alone, expected = problem.solve()
        np.testing.assert_array_equal(beta, alone)
        assert result == expected


@pytest.mark.parametrize("task", [classification, regression])
def test_certify_judges_a_solution_found_elsewhere(task):
    problem = task(4, "rbf", C=10.0, n=40, points="normal")
    machine = Machine(problem.X, Kernel(*problem.parameters), CACHE)
    solution = reference(problem)
    beta = np.clip(solution, problem.lower, problem.upper)
    result = machine.certify(*problem.programme, TOL, beta)
    problem.check(beta, result)
    assert result.gap < 1e-4
    nothing = machine.certify(*problem.programme, TOL, np.zeros(40))
    problem.check(np.zeros(40), nothing)
    assert nothing.objective == 0.0
    assert nothing.gap > 1.0
    assert not nothing.converged


@pytest.mark.parametrize("task", [classification, regression])
def test_the_order_of_the_points_does_not_matter(task):
    for seed in range(5):
        problem = task(seed, "rbf", C=10.0, n=50, points="normal")
        order = np.random.default_rng(seed).permutation(50)
        target, lower, upper, epsilon = problem.programme
        permuted = Problem(problem.X[order], "rbf", target[order], lower[order], upper[order], epsilon,
                           problem.parameters[1])
        decisions = []
        for p in (problem, permuted):
            beta, result = p.solve(tol=1e-8)
            K = oracle.kernel(problem.X, p.X, *p.parameters)
            decisions.append(oracle.decide(K, beta, result.bias))
        # |w - w'|^2 is at most twice the sum of both gaps, K(x, x) = 1; the bias adds the same once more
        np.testing.assert_allclose(decisions[0], decisions[1], rtol=0, atol=2e-3)


def test_box_weights_equal_repeated_rows():
    rng = np.random.default_rng(0)
    problem = regression(0, "rbf", C=2.0, n=20, points="normal")
    times = rng.integers(1, 4, 20)
    rows = np.repeat(np.arange(20), times)
    target, lower, upper, epsilon = problem.programme
    gamma = problem.parameters[1]
    weighted = Problem(problem.X, "rbf", target, lower * times, upper * times, epsilon, gamma)
    repeated = Problem(problem.X[rows], "rbf", target[rows], lower[rows], upper[rows], epsilon, gamma)
    (_, one), (_, two) = weighted.solve(), repeated.solve()
    assert one.objective == pytest.approx(two.objective, rel=4 * TOL)
    assert one.bias == pytest.approx(two.bias, abs=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3])
def test_features_of_any_scale(kernel, scale):
    # scaled points with the box (linear) or the width (rbf) scaled back are the same problem
    problem = classification(5, kernel, C=1.0, n=40, points="normal")
    target, lower, upper, epsilon = problem.programme
    gamma = problem.parameters[1]
    factor = scale**-2 if kernel == "linear" else 1.0
    scaled = Problem(scale * problem.X, kernel, target, factor * lower, factor * upper, epsilon, gamma * scale**-2)
    _, expected = problem.solve()
    _, result = scaled.solve()
    assert result.converged
    assert result.objective == pytest.approx(factor * expected.objective, rel=1e-5)


@pytest.mark.parametrize(("kernel", "pairwise"), [
    ("linear", lambda X, gamma, coef0, degree: linear_kernel(X)),
    ("poly", lambda X, gamma, coef0, degree: polynomial_kernel(X, gamma=gamma, coef0=coef0, degree=degree)),
    ("rbf", lambda X, gamma, coef0, degree: rbf_kernel(X, gamma=gamma)),
])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 50])
def test_gram_equals_scikit_learn(n, kernel, pairwise):
    rng = np.random.default_rng(n)
    for degree in (1, 2, 3, 6):
        X = rng.uniform(-1.0, 1.0, (n, int(rng.integers(1, 8))))
        K = gram(X, Kernel(kernel, 0.3, 0.5, degree))
        np.testing.assert_array_equal(K, K.T)
        np.testing.assert_allclose(K, pairwise(X, 0.3, 0.5, degree), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(K, oracle.kernel(X, X, kernel, 0.3, 0.5, degree), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("n_sv", [0, 1, 30])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_decide_equals_the_oracle_row_by_row(n_outputs, n_sv, kernel):
    rng = np.random.default_rng(n_sv)
    x, sv = rng.normal(size=(21, 4)), rng.normal(size=(n_sv, 4))
    coef, bias = rng.normal(size=(n_sv, n_outputs)), rng.normal(size=n_outputs)
    parameters = kernel, 0.3, 0.5, 3
    decisions = decide(x, sv, coef, bias, Kernel(*parameters))
    K = oracle.kernel(x, sv, *parameters)
    for o in range(n_outputs):
        np.testing.assert_allclose(decisions[:, o], oracle.decide(K, coef[:, o], bias[o]), rtol=1e-12, atol=1e-12)
    for i in range(21):
        np.testing.assert_array_equal(decide(x[i : i + 1], sv, coef, bias, Kernel(*parameters)), decisions[i : i + 1])
    assert decide(x[:0], sv, coef, bias, Kernel(*parameters)).shape == (0, n_outputs)


def test_a_gram_matrix_that_overflows_is_no_result():
    X = np.array([[1e120], [-1e120], [2.0], [3.0]])
    labels = np.array([1.0, -1.0, 1.0, -1.0])
    problem = Problem(X, "poly", labels, np.minimum(0.0, labels), np.maximum(0.0, labels))
    with pytest.raises(OverflowError, match="values are too large for double precision"):
        problem.solve()
