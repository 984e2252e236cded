"""Readouts before each origin."""

import numpy as np

from evoke.forecasting.candidates import CAPACITIES, ridge_path

rng = np.random.default_rng(0)


def ridge(F, v, C):
    """Of one readout: features (n_rows, n_features), targets (n_rows, n_outputs)."""
    centre, mean = F.mean(axis=0), v.mean(axis=0)
    penalty = F.shape[1] / C * np.eye(F.shape[1])
    coef = np.linalg.solve((F - centre).T @ (F - centre) + penalty, (F - centre).T @ (v - mean))
    return coef, mean - centre @ coef


def test_ridge_of_all_other_parts_and_of_the_first_rows():
    sizes, ends = [30, 0, 25, 40], [[10, 20], [], [], [7, 33]]
    parts = [(rng.normal(size=(2, n, 5)), rng.normal(size=(n, 3))) for n in sizes]
    coef, intercept = ridge_path(parts, ends)
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
