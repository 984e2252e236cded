"""Methods compared over several sets after Demšar (2006): mean ranks and tests of significance.

Scores are arrays (n_sets, n_methods), and more is better.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

LEVEL = 0.05


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """1 is the best; methods that are equally good on a set share the mean of their ranks."""
    return stats.rankdata(-scores, axis=1).mean(axis=0)


def friedman(scores: np.ndarray) -> float:
    """The p-value of the test that all methods are equally good."""
    return float(stats.friedmanchisquare(*scores.T).pvalue)


def against(scores: np.ndarray, k: int) -> np.ndarray:
    """p-values of Wilcoxon's signed-rank test of method k against every other, corrected; NaN at k itself."""
    others = [j for j in range(scores.shape[1]) if j != k]
    p = np.full(scores.shape[1], np.nan)
    p[others] = holm(np.array([signed_rank(scores[:, k] - scores[:, j]) for j in others]))
    return p


def signed_rank(differences: np.ndarray) -> float:
    return float(stats.wilcoxon(differences, zero_method="zsplit").pvalue) if differences.any() else 1.0


def holm(p: np.ndarray) -> np.ndarray:
    """The smallest times their number, the next times one less, and so on, never less than one before."""
    order = np.argsort(p)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return corrected


def draw(scores: np.ndarray, methods: list[str], path: Path) -> None:
    """aeon's critical-difference plot: methods that a bar joins do not differ by Wilcoxon's test at Holm's level."""
    from aeon.visualisation import plot_critical_difference

    figure, _ = plot_critical_difference(scores, methods, test="wilcoxon", correction="holm", alpha=LEVEL, width=8)
    figure.savefig(path, dpi=100, bbox_inches="tight", metadata={"Software": None})
