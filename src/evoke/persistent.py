"""What an estimator needs to be saved, in files and in pickles, and checks of what a file brings back."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from evoke import _svm
from evoke._version import __version__

__all__ = ["Persistent", "check_feature_names", "check_flags", "check_kernel", "check_labels", "check_values"]


class Persistent(BaseEstimator):
    """An estimator that can be saved, and whose pickles state the version of evoke.

    A subclass lists the names of its learned attributes in ``_fitted``, those with an underscore in front too, and
    extends ``_check_fitted``, which raises an exception unless they fit together. Files need nothing more.
    """

    _fitted: frozenset[str] = frozenset()

    def save(self, path):
        """Write the model to a file for `evoke.load`.

        The file is an .npz without pickles. It holds the parameters, except for `callbacks`, and what was learned,
        with the state of the evolution: after `load`, ``warm_start`` goes on bit for bit. It is written beside `path`
        and then renamed, so that a crash leaves the old file or the new one.

        An estimator of sequences may have an attribute ``metadata_``, a dictionary of the caller's: it is kept too.

        Parameters
        ----------
        path : str or PathLike
            Taken as it is: no suffix is added.

        Raises
        ------
        NotFittedError
            The estimator has not learned anything.
        TypeError, ValueError
            A parameter or label that the file cannot hold, or a class that is not evoke's own.
        OSError
            The file cannot be written; nothing is left behind.
        """
        from evoke.persistence import save  # which knows all estimators

        save(self, path)

    def _check_fitted(self) -> None:
        """Raise an exception unless the learned attributes fit together."""

    def __getstate__(self):
        return {**super().__getstate__(), "_evoke_version": __version__}

    def __setstate__(self, state):
        version = state.get("_evoke_version", "unknown")
        if version != __version__:
            warnings.warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"{__version__} of evoke",
                    original_sklearn_version=f"{version} of evoke",
                ),
                stacklevel=2,
            )
        super().__setstate__({name: value for name, value in state.items() if name != "_evoke_version"})


def check_values(name: str, array: Any, shape: tuple[int | None, ...]) -> None:
    """Finite float64; None stands for any length."""
    if not (isinstance(array, np.ndarray) and array.dtype == np.float64):
        raise ValueError(f"{name} must be an array of float64, got {array!r:.50}")
    if array.ndim != len(shape) or any(m is not None and n != m for n, m in zip(array.shape, shape, strict=True)):
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")


def check_labels(classes: Any, n: int | None = None) -> None:
    """Labels of `n` classes, or of at least two."""
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1):
        raise ValueError(f"classes_ must be an array of labels, got {classes!r:.50}")
    if len(classes) != n if n is not None else len(classes) < 2:
        raise ValueError(f"classes_ must have {n if n is not None else 'at least two'} labels, got {len(classes)}")


def check_feature_names(names: Any, n: int) -> None:
    """Names of `n` features."""
    if not (isinstance(names, np.ndarray) and names.ndim == 1 and all(isinstance(name, str) for name in names)):
        raise ValueError(f"feature_names_in_ must be an array of text, got {names!r:.50}")
    if len(names) != n:
        raise ValueError(f"feature_names_in_ must have {n} names, got {len(names)}")


def check_flags(**flags: Any) -> None:
    for name, value in flags.items():
        if type(value) is not bool:
            raise ValueError(f"{name} must be True or False, got {value!r:.50}")


def check_kernel(kernel: Any, gamma: Any, coef0: Any, degree: Any) -> None:
    """A kernel as the core takes it."""
    if kernel not in _svm.KERNELS:
        raise ValueError(f"kernel must be one of {_svm.KERNELS}, got {kernel!r}")
    if type(gamma) is not float or not 0 < gamma < math.inf:
        raise ValueError(f"gamma must be a positive finite number, got {gamma!r}")
    if type(coef0) is not float or not math.isfinite(coef0):
        raise ValueError(f"coef0 must be a finite number, got {coef0!r}")
    if type(degree) is not int or not 0 <= degree < 2**31:
        raise ValueError(f"degree must be an integer from 0 to 2**31 - 1, got {degree!r}")
