"""Errors and warnings of the package."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from evoke._validation.errors import ParameterError

__all__ = ["ModelFileError", "NotWrittenWarning", "ParameterError", "SolverWarning", "WorkerLostError"]


class SolverWarning(ConvergenceWarning):
    """The solver that was asked for did not reach the optimum, and another one finished its work."""


class NotWrittenWarning(UserWarning):
    """A file that accompanies a run, such as a checkpoint, could not be written; the run continues without it."""


class ModelFileError(ValueError):
    """A file is not a model file, or it is cut off, corrupt, too large or of a newer format."""


class WorkerLostError(RuntimeError):
    """Workers of a joblib backend died again and again over the same work."""
