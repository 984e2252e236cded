"""Errors and warnings of the package."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

__all__ = ["SolverWarning"]


class SolverWarning(ConvergenceWarning):
    """The solver that was asked for did not reach the optimum, and another one finished its work."""
