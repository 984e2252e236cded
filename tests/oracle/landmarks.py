"""Machines on landmarks in plain NumPy: the definition that the sums of products are measured against.

f(x) = b + sum over j of c_j K(z_j, x) minimises sum over i of w_i (f(x_i) - y_i)^2 + c'K(z, z)c / C.
"""
import numpy as np

from oracle.svm import kernel


def objective(K, gram, coef, intercept, targets, weights, C):
    """What is minimised, for each output, from the kernel values (n, m) of the rows at the landmarks."""
    errors = K @ coef + intercept - targets
    return weights @ errors**2 + np.einsum("jo,jk,ko->o", coef, gram, coef) / C


def solve(K, gram, targets, weights, C, rcond=None):
    """Coefficients (m, n_outputs) and constants (n_outputs,): least squares of rows and of the roots of the penalty."""
    values, vectors = np.linalg.eigh(gram)
    penalty = np.sqrt(np.maximum(values, 0.0) / C)[:, np.newaxis] * vectors.T
    roots = np.sqrt(weights)[:, np.newaxis]
    m = len(gram)
    system = np.block([[roots * K, roots], [penalty, np.zeros((m, 1))]])
    right = np.vstack([roots * targets, np.zeros((m, targets.shape[1]))])
    found = np.linalg.lstsq(system, right, rcond=rcond)[0]
    return found[:m], found[m]


def sums(x, landmarks, targets, weights, *parameters):
    """Products, summed over the rows, of the columns [K(z_1, x), ..., K(z_m, x), 1, y_1, ..., y_o]."""
    columns = np.column_stack([kernel(x, landmarks, *parameters), np.ones(len(x)), targets])
    return (columns * weights[:, np.newaxis]).T @ columns


def pivots(x, m, tol, *parameters):
    """Rows, each the one that the rows before it leave the most of; the kernel matrix is had whole."""
    left = kernel(x, x, *parameters)
    first, chosen = left.diagonal().max(), []
    while len(chosen) < min(m, len(x)):
        diagonal = left.diagonal().copy()
        diagonal[chosen] = 0.0
        best = int(diagonal.argmax())
        if not diagonal[best] > tol * first:
            break
        chosen.append(best)
        left = left - np.outer(left[:, best], left[best]) / left[best, best]
    return chosen


def spread(x, m, draws):
    """Rows by greedy k-means++; draws (m, tries) pick the tries."""
    distances = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    chosen = [int(draws[0, 0] * len(x))]
    while len(chosen) < min(m, len(x)):
        nearest = distances[chosen].min(axis=0)
        sums = np.cumsum(nearest)
        if not sums[-1] > 0.0:
            break
        tries = np.searchsorted(sums, draws[len(chosen)] * sums[-1], side="right")
        chosen.append(int(min(tries, key=lambda row: np.minimum(nearest, distances[row]).sum())))
    return chosen


def best_pair(phi, train, held_out, widths, capacities, n_landmarks, relative, scaled):
    """The least squared error of a network's activations phi (n_rows, n_cells) on held-out points, as `LandmarkGrid`.

    train, held_out: (rows, weights, targets (n_outputs, n_points))."""
    x, judged = phi[train[0]], phi[held_out[0]]
    if scaled:
        deviation = x.std(axis=0)
        x, judged = ((part - x.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0) for part in (x, judged))
    n, m = len(x), min(len(x), n_landmarks)
    landmarks = x[(2 * np.arange(m) + 1) * n // (2 * m)]
    i, j = np.triu_indices(m, 1)
    mean = ((landmarks[i] - landmarks[j]) ** 2).sum(axis=1).mean() if relative and m > 1 else 1.0
    errors = []
    for width in widths:
        parameters = "rbf", width / mean if mean > 0.0 else width
        K, gram = kernel(x, landmarks, *parameters), kernel(landmarks, landmarks, *parameters)
        for C in capacities:
            coef, intercept = solve(K, gram, train[2].T, train[1], C)
            decisions = kernel(judged, landmarks, *parameters) @ coef + intercept
            errors.append(float(held_out[1] @ ((decisions - held_out[2].T) ** 2).sum(axis=1)))
    return min(errors)
