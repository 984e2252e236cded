"""Ridge readouts before each origin."""

import numpy as np
import pytest

from evoke.forecasting.reader import OutOfTime
from evoke.forecasting.ridge import CAPACITIES, ridge_path

rng = np.random.default_rng(0)


def ridge(F, v, C):
    """Of one readout: features (n_rows, n_features), targets (n_rows, n_outputs)."""
    centre, mean = F.mean(axis=0), v.mean(axis=0)
    penalty = F.shape[1] / C * np.eye(F.shape[1])
    coef = np.linalg.solve((F - centre).T @ (F - centre) + penalty, (F - centre).T @ (v - mean))
    return coef, mean - centre @ coef


class Rows:
    """Features and targets, some rows at a time."""

    def __init__(self, F, v, size=None):
        self.F, self.v, self.size = F, v, size or max(1, len(v))

    def blocks(self, _until):
        for k in range(0, len(self.v), self.size):
            yield self.F[:, k : k + self.size], self.v[k : k + self.size]


@pytest.mark.parametrize("size", [None, 1, 8])
def test_ridge_of_all_other_parts_and_of_the_first_rows(size):
    sizes, ends = [30, 0, 25, 40], [[10, 20], [], [], [7, 33]]
    parts = [(rng.normal(size=(2, n, 5)), rng.normal(size=(n, 3))) for n in sizes]
    coef, intercept = ridge_path([Rows(*part, size) for part in parts], ends)
    assert coef.shape == (2, 5, len(CAPACITIES), 5, 3) and intercept.shape == (2, 5, len(CAPACITIES), 3)
    learned = [(k, end) for k, stops in enumerate(ends) for end in stops]
    for j, (own, end) in enumerate([*learned, (3, 40)]):
        rows = [slice(end if k == own else None) for k in range(4)]
        v = np.concatenate([v[r] for (_, v), r in zip(parts, rows, strict=True)])
        for m in range(2):
            F = np.concatenate([F[m, r] for (F, _), r in zip(parts, rows, strict=True)])
            for c, C in enumerate(CAPACITIES[:7]):
                wanted = ridge(F, v, C)
                np.testing.assert_allclose(coef[m, j, c], wanted[0], rtol=1e-8, atol=1e-11)
                np.testing.assert_allclose(intercept[m, j, c], wanted[1], rtol=1e-8, atol=1e-11)


def test_many_features_cost_no_more_than_the_rows(monkeypatch):
    """Where features outnumber steps, no decomposition is of features by features, nor of all ends at once."""
    sizes = []
    decompose = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda X, **how: sizes.append(X.shape) or decompose(X, **how))
    F, v = rng.normal(size=(2, 30, 200)), rng.normal(size=(30, 1))
    coef, intercept = ridge_path([Rows(F, v)], [[1, 2, 12, 25]])
    assert max(shape[0] for shape in sizes) == 29 and {len(shape) for shape in sizes} == {2} and len(sizes) == 10
    for j, end in enumerate([2, 12, 25, 30], 1):
        for c, C in enumerate(CAPACITIES[:6]):
            wanted = ridge(F[1, :end], v[:end], C)
            np.testing.assert_allclose(coef[1, j, c], wanted[0], rtol=1e-7, atol=1e-10)
            np.testing.assert_allclose(intercept[1, j, c], wanted[1], rtol=1e-7, atol=1e-10)
    np.testing.assert_array_equal(coef[:, 0], 0.0)  # one row says nothing but its value
    np.testing.assert_allclose(intercept[:, 0], v[0, 0])


def test_time_that_is_up_is_heeded():
    parts = [Rows(rng.normal(size=(1, 9, 3)), rng.normal(size=(9, 1)))]
    with pytest.raises(OutOfTime):
        ridge_path(parts, [[4]], until=0.0)
