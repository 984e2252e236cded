"""Support vector machines in plain NumPy: the definition that the compiled solver is measured against.

The quadratic programme in signed coefficients beta, with K the Gram matrix of n training points:

    minimise  1/2 beta' K beta - target' beta + epsilon |beta|_1
    subject   sum(beta) = 0,  lower <= beta <= upper   (lower <= 0 <= upper)

C-SVC: target = labels of +-1, epsilon = 0, box [0, C] for +1 and [-C, 0] for -1, so that beta = y alpha.
epsilon-SVR: target = values, box [-C, C], so that beta = alpha - alpha*.
The function learned is f(x) = sum_i beta_i K(x_i, x) + bias.
"""
import itertools

import numpy as np


def kernel(x, z, kind, gamma=1.0, coef0=0.0, degree=3):
    """Kernel matrix (n, m) between the rows of x (n, d) and of z (m, d)."""
    if kind == "rbf":
        return np.exp(-gamma * ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2))
    product = x @ z.T
    return product if kind == "linear" else (gamma * product + coef0) ** degree


def decide(K, beta, bias):
    """Decision values (n,) from the kernel matrix (n, m) against the training points and beta (m,)."""
    return K @ beta + bias


def dual_objective(K, beta, target, epsilon=0.0):
    """The maximised dual: the negative of the programme's objective."""
    return target @ beta - 0.5 * beta @ K @ beta - epsilon * np.abs(beta).sum()


def primal_objective(K, beta, bias, target, lower, upper, epsilon=0.0):
    """1/2 |w|^2 plus the loss of every point: upper_i above the tube, -lower_i below it."""
    r = target - decide(K, beta, bias)
    loss = upper * np.maximum(0.0, r - epsilon) - lower * np.maximum(0.0, -r - epsilon)
    return 0.5 * beta @ K @ beta + loss.sum()


def duality_gap(K, beta, bias, target, lower, upper, epsilon=0.0):
    """Primal minus dual objective: not negative for a feasible beta and any bias, zero only at the optimum."""
    return primal_objective(K, beta, bias, target, lower, upper, epsilon) - dual_objective(K, beta, target, epsilon)


def gains(K, beta, target, lower, upper, epsilon=0.0):
    """Slopes of the dual for raising each beta_i (-inf at its upper bound) and for lowering it (+inf at its lower)."""
    r = target - K @ beta
    up = np.where(beta < upper, r - np.where(beta < 0.0, -epsilon, epsilon), -np.inf)
    low = np.where(beta > lower, r - np.where(beta > 0.0, epsilon, -epsilon), np.inf)
    return up, low


def violation(K, beta, target, lower, upper, epsilon=0.0):
    """Largest violation of the optimality conditions by a pair that sum(beta) = 0 allows to move (LIBSVM's rule)."""
    up, low = gains(K, beta, target, lower, upper, epsilon)
    return max(0.0, up.max() - low.min())


def bias(K, beta, target, lower, upper, epsilon=0.0):
    """Mean multiplier of the free points (neither 0 nor at a bound); without any, the middle of the allowed interval.

    Where one end of that interval is open (a single class), the bias is its other end."""
    up, low = gains(K, beta, target, lower, upper, epsilon)
    free = (beta != 0.0) & (beta > lower) & (beta < upper)
    if free.any():
        return up[free].mean()
    if np.isinf(up.max()):
        return low.min()
    if np.isinf(low.min()):
        return up.max()
    return 0.5 * (up.max() + low.min())


def polish(K, beta, target, lower, upper, epsilon=0.0):
    """The exact optimum on the active set of beta: free points keep their signs, the others stay where they are.

    LIBSVM keeps kernel values in single precision, which moves decisions by 1e-4; its active set is right mostly."""
    slack = 1e-6 * np.maximum(upper, -lower)
    for bound in (lower, 0.0, upper):
        beta = np.where(np.abs(beta - bound) <= slack, bound, beta)
    free = (beta != 0.0) & (beta > lower) & (beta < upper)
    m = int(free.sum())
    if m > 0:
        system = np.ones((m + 1, m + 1))
        system[:m, :m] = K[np.ix_(free, free)]
        system[m, m] = 0.0
        fixed = np.where(free, 0.0, beta)
        right = np.append((target - K @ fixed - epsilon * np.sign(beta))[free], -fixed.sum())
        beta = fixed
        beta[free] = np.linalg.lstsq(system, right, rcond=None)[0][:m]
    return beta


def solve(K, target, lower, upper, epsilon=0.0):
    """beta of tiny programmes (n <= 6) by trying every active set; the best feasible stationary point is the optimum.

    Each variable is fixed at lower, zero or upper, or is free and negative, or free and positive; a linear system gives
    the free ones and the multiplier of sum(beta) = 0."""
    n = len(target)
    if n > 6:
        raise ValueError(f"n = {n} is too large to enumerate")
    best, best_value = np.zeros(n), 0.0
    slack = 1e-9 * max(1.0, upper.max(), -lower.min())
    choices = [
        [(value, 0) for value in sorted({lower[i], 0.0, upper[i]})]
        + [(None, sign) for sign in (-1, 1) if (lower[i] < 0.0 if sign < 0 else upper[i] > 0.0)]
        for i in range(n)
    ]
    for active in itertools.product(*choices):
        free = np.array([value is None for value, _ in active])
        sign = np.array([sign for _, sign in active], dtype=float)
        beta = np.array([0.0 if value is None else value for value, _ in active])
        m = int(free.sum())
        if m > 0:
            system = np.ones((m + 1, m + 1))
            system[:m, :m] = K[np.ix_(free, free)]
            system[m, m] = 0.0
            right = np.append(target[free] - epsilon * sign[free] - K[free] @ beta, -beta.sum())
            beta[free] = np.linalg.lstsq(system, right, rcond=None)[0][:m]
        if abs(beta.sum()) > slack or (beta < lower - slack).any() or (beta > upper + slack).any():
            continue
        beta = np.clip(beta, lower, upper)
        value = dual_objective(K, beta, target, epsilon)
        if value > best_value:
            best, best_value = beta, value
    return best
