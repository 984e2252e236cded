"""Statistics of a sequence's activations, and least-squares machines judged by leaving out each point in turn."""
import numpy as np


def pooled(phi, pool):
    """Features (n_features,) of activations (n_steps, n_cells), statistic after statistic."""
    n = len(phi)
    change = np.abs(np.diff(phi, axis=0)).mean(axis=0) if n > 1 else np.zeros(phi.shape[1])
    thirds = [phi[k * n // 3 : max((k + 1) * n // 3, k * n // 3 + 1)].mean(axis=0) for k in range(3)]
    table = {
        "last": phi[-1], "mean": phi.mean(axis=0), "std": phi.std(axis=0), "max": phi.max(axis=0),
        "min": phi.min(axis=0), "positive": (phi > 0).mean(axis=0), "change": change, "thirds": np.concatenate(thirds),
    }  # fmt: skip
    return np.concatenate([table[name] for name in pool])


def standardised(features):
    """Features (n, n_features) less their mean and divided by their deviation; those that do not vary become zero."""
    deviation = features.std(axis=0)
    varies = deviation > 1e-12 * np.abs(features).max(axis=0)
    return (features - features.mean(axis=0)) * np.where(varies, 1 / np.where(varies, deviation, 1), 0)


def machine(K, y, ridge):
    """Coefficients and bias of a least-squares support vector machine."""
    n = len(K)
    bordered = np.ones((n + 1, n + 1))
    bordered[:n, :n] = K + np.diag(ridge)
    bordered[n, n] = 0
    solution = np.linalg.solve(bordered, np.append(y, 0))
    return solution[:n], solution[n]


def leave_one_out(K, y, ridge):
    """Decisions (n,) of machines that are each trained without the point which they decide."""
    decisions = np.empty(len(K))
    for i in range(len(K)):
        others = np.delete(np.arange(len(K)), i)
        coef, bias = machine(K[np.ix_(others, others)], y[others], ridge[others])
        decisions[i] = K[i, others] @ coef + bias
    return decisions


def kernel_matrix(features, kernel, width):
    """The kernel over the rows, in units of the mean squared distance, or of the mean product of a row with itself."""
    if kernel == "linear":
        products = features @ features.T
        return products / (np.trace(products) / len(features) or 1)
    distances = ((features[:, None] - features) ** 2).sum(axis=-1)
    mean = distances[np.triu_indices(len(features), 1)].mean()
    return np.exp(-width / (mean or 1) * distances)


def leave_out_blocks(K, y, ridge, block):
    """Decisions (n,) of machines that are each trained without the points of one block, which they decide."""
    decisions = np.empty(len(K))
    for number in np.unique(block):
        out, others = np.flatnonzero(block == number), np.flatnonzero(block != number)
        coef, bias = machine(K[np.ix_(others, others)], y[others], ridge[others])
        decisions[out] = K[np.ix_(out, others)] @ coef + bias
    return decisions
