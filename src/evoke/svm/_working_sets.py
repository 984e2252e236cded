"""Problems of many rows, solved on working sets: most rows are decided long before the last ones are."""

import numpy as np

from evoke._core.kernel import decide
from evoke._core.qp import Machine

__all__ = ["MANY_ROWS", "WorkingSets"]

MANY_ROWS = 1500  # from here on working sets are faster than all rows at once
_FIRST_SET, _FIRST_SHARE = 1000, 8  # rows of the first set: so many, or one in eight
_LARGEST_SHARE, _ROUNDS_TO_GROW = 0.25, 8  # a set is at most this share of all rows, and twice that 8 rounds later
_MOST_ROUNDS = 50  # then all rows
_MOST_TIGHTENED = 6
_MARGIN = 0.05  # of the violation, times the rounds so far
_STEPS_A_ROW = 100  # of a set; one that takes more is lost in rounding
_MOSTLY_FREE = 0.6  # such a share of free variables in the first set: there is little to leave out


class WorkingSets:
    """A `Machine` for many rows: decomposition in the manner of Osuna, Freund and Girosi (1997).

    In each round the machine solves the problem for the rows of a working set, while the coefficients of the others
    stay as they are: their part of the function goes into the targets. The next set are the free variables and those
    that violate the optimality conditions of the whole problem, the worst ones if they are many. The steps of a round
    run over the rows of the set alone, and its kernel matrix mostly fits the cache.

    A set always holds the pair that violates the conditions most, so every round lowers the objective but for rounding.
    Where that gets in the way, and after many rounds, the set is all rows, and there is an end.
    """

    def __init__(self, X, kernel, cache_bytes):
        self.X, self.kernel, self.cache_bytes = X, kernel, cache_bytes

    def certify(self, target, lower, upper, epsilon, tol, beta):
        """Bias, objective and gap of a solution."""
        return self._certify(target, lower, upper, epsilon, tol, beta)[0]

    def solve(self, target, lower, upper, epsilon, tol, max_iter, beta):
        """Optimise from `beta` (feasible), which takes the solution. Returns the certificate."""
        n, tol_now, n_iter = len(self.X), tol, 0
        residual = target - self._function(np.arange(n), np.arange(n), beta)
        rows = np.linspace(0, n - 1, max(_FIRST_SET, n // _FIRST_SHARE)).astype(np.intp)
        n_rounds = n_tightened = 0
        while True:
            left = max_iter - n_iter
            most = left if len(rows) == n else min(left, _STEPS_A_ROW * len(rows))
            before = beta[rows]
            found = self._solve_set(rows, residual, lower, upper, epsilon, tol_now, most, beta)
            n_iter += found.n_iter
            n_rounds += 1
            lost = most < left and found.n_iter >= most
            if lost:
                beta[rows] = before
            # gain of raising and cost of lowering a coefficient; at a bound it cannot be moved
            up = np.where(beta < upper, residual + np.where(beta < 0.0, epsilon, -epsilon), -np.inf)
            low = np.where(beta > lower, residual + np.where(beta > 0.0, -epsilon, epsilon), np.inf)
            done = len(rows) == n or n_iter >= max_iter
            blurred = refresh = not done and (lost or (n_rounds > 1 and found.n_iter == 0))
            if done or not (blurred or up.max() - low.min() > tol_now):
                whole, resolution = self._certify(target, lower, upper, epsilon, tol, beta)
                loose = whole.violation > tol or whole.gap > tol * max(1.0, whole.objective)
                if done or not loose:
                    return whole._replace(n_iter=n_iter)
                # as the machine does: with a large C a small violation may leave a large gap
                n_tightened, tol_now = n_tightened + 1, 0.1 * tol_now
                blurred, refresh = n_tightened > _MOST_TIGHTENED or tol_now < resolution, True
            free = (beta != 0.0) & (beta > lower) & (beta < upper)
            if blurred or n_rounds == _MOST_ROUNDS or (n_rounds == 1 and np.mean(free[rows]) > _MOSTLY_FREE):
                rows, tol_now = np.arange(n), tol
            else:
                rows = self._next(free, up, low, found.bias, n_rounds)
            if refresh:
                residual = target - self._function(np.arange(n), np.arange(n), beta)

    def _certify(self, target, lower, upper, epsilon, tol, beta):
        # each row is computed once: nothing is worth keeping
        machine = Machine(self.X, self.kernel, 0)
        return machine.certify(target, lower, upper, epsilon, tol, beta), machine.resolution()

    def _solve_set(self, rows, residual, lower, upper, epsilon, tol, max_iter, beta):
        before = beta[rows]
        target = residual[rows] + self._function(rows, rows, before)
        now = before.copy()
        machine = Machine(self.X[rows], self.kernel, min(self.cache_bytes, 8 * len(rows) * (len(rows) + 8)))
        found = machine.solve(target, lower[rows], upper[rows], epsilon, tol, max_iter, now)
        beta[rows] = now
        residual -= self._function(slice(None), rows, now - before)
        return found

    def _next(self, free, up, low, bias, n_rounds):
        # a set in which nothing can be moved has no bias, and infinite is as good as any
        off = np.maximum(up - bias, bias - low) if np.isfinite(bias) else np.full(len(free), np.inf)
        off[free] = off[[up.argmax(), low.argmin()]] = np.inf
        # those that are close to a violation too, the more the longer it takes, else they come one after the other
        rows = np.flatnonzero(off > -_MARGIN * n_rounds * max(0.0, up.max() - low.min()))
        most = int(_LARGEST_SHARE * len(free) * (1 + n_rounds / _ROUNDS_TO_GROW))
        most = max(most, 2 * np.count_nonzero(free) + _FIRST_SET // 2)
        return rows if len(rows) <= most else np.sort(np.argpartition(-off, most)[:most])

    def _function(self, at, rows, coefficients):
        """The function that coefficients of some rows make, without a bias, at others."""
        some = coefficients != 0.0
        return decide(self.X[at], self.X[rows][some], coefficients[some][:, None], np.zeros(1), self.kernel)[:, 0]
