"""Estimators in files: parameters and what was learned."""

from __future__ import annotations

import copy
import os
import warnings
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from evoke._validation.errors import refusal, shown
from evoke._version import __version__
from evoke.persistence.archive import read_archive, refusing, write_archive
from evoke.persistence.values import Arrays, decode, encode

__all__ = ["Persistent", "load", "savable", "save"]

Class = TypeVar("Class", bound="type[Persistent]")

# The classes that a file can name; they register themselves when their module is imported.
_CLASSES: dict[str, type[Persistent]] = {}


class Persistent(BaseEstimator):
    """An estimator that can be saved, and whose pickles state the version of evoke.

    A subclass lists the names of its learned attributes in ``_fitted``, those with an underscore in front too, and
    extends ``_check_fitted``, which raises an exception unless they fit together. Files need nothing more.
    """

    _fitted: frozenset[str] = frozenset()

    def save(self, path: Any) -> None:
        """Write the model to a file for `evoke.load`.

        The file is an .npz without pickles. It holds the parameters, except for `callbacks`, and what was learned,
        with the state of the evolution: after `load`, ``warm_start`` continues bit for bit. It is written beside `path`
        and then renamed, so that a crash leaves the old file or the new one.

        An estimator of sequences may have an attribute ``metadata_``, a dictionary of the caller's own, which is kept.

        Parameters
        ----------
        path : str, PathLike or file open for writing in binary mode
            Taken as it is, except that ``~`` is expanded: no suffix is added. What an open file holds before its
            position stays, and it is not closed.

        Raises
        ------
        NotFittedError
            The estimator has not learned anything.
        TypeError, ValueError
            A parameter or label that the file cannot hold, a class that is not evoke's own, or something learned that
            was changed since and that `load` would refuse. A file that is there already stays as it is.
        OSError
            The file cannot be written; nothing is left behind.
        """
        save(self, path)

    def _check_fitted(self) -> None:
        """Raise an exception unless the learned attributes fit together."""

    def _state_for_file(self) -> dict[str, Any]:
        """What a file holds of a fitted estimator, by name."""
        return {name: getattr(self, name) for name in self._fitted if hasattr(self, name)}

    def _restore(self, state: dict[str, Any]) -> None:
        """Take in what `_state_for_file` gave; raises an exception for what no estimator can have learned."""
        for name, value in state.items():
            setattr(self, name, value)

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


def savable(cls: Class) -> Class:
    """Let files name a class of evoke's; a subclass of the user's is not registered, as `load` would not know it."""
    _CLASSES[cls.__name__] = cls
    return cls


def save(model: Persistent, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file; see its method of this name."""
    name = type(model).__name__
    if _CLASSES.get(name) is not type(model):
        raise TypeError(f"only evoke's own estimators can be saved, got {type(model)}; pickle can store it")
    model = copy.copy(model)  # which a fit in another thread does not touch
    check_is_fitted(model)
    model._check_fitted()
    arrays: Arrays = {}
    parameters = {key: value for key, value in model.get_params(deep=False).items() if key != "callbacks"}
    fitted = dict(sorted(model._state_for_file().items()))
    try:
        header = {
            "class": name,
            "parameters": {key: encode(value, key, arrays) for key, value in parameters.items()},
            "fitted": {key: encode(value, key, arrays) for key, value in fitted.items()},
        }
        _make(header, dict(arrays))  # what `load` would refuse is not written
    except RecursionError:
        raise ValueError("a list or dict of the model is nested too deeply, or holds itself") from None
    write_archive(path, header, arrays)


def load(path: Any) -> Any:
    """Read an estimator that its method `save` has written.

    Nothing in the file is executed. A file of another version of evoke is read without a warning as long as its format
    is not newer than ours; parameters that it does not hold have their defaults.

    Parameters
    ----------
    path : str, PathLike or file open for reading in binary mode
        Where the file is. An open file is read from its position to its end.

    Returns
    -------
    estimator
        As it was when it was saved, except that `callbacks` is None.

    Raises
    ------
    ModelFileError
        The file is cut, corrupt, of another kind, too large or of a newer format, or what it holds does not fit
        together. The message says which.
    OSError
        There is no such file, or it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import evoke
    >>> X, y = evoke.tasks.anbncn(3)
    >>> model = evoke.EvokeClassifier(n_generations=2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.evk")
    ...     evoke.load(Path(folder) / "model.evk")
    EvokeClassifier(n_generations=2, random_state=0)
    """
    header, arrays = read_archive(path)
    with refusing(getattr(path, "name", path)):
        return _make(header, arrays)


def _make(header: dict[str, Any], arrays: Arrays) -> Persistent:
    """The estimator of which an archive has this header and these arrays, which are used up.

    Raises
    ------
    Exception
        Of some kind, for what no estimator can be.
    """
    for key, kind in (("class", str), ("parameters", dict), ("fitted", dict)):
        if not isinstance(header.get(key), kind):
            raise refusal(f"{key} in the header", f"be a {kind.__name__}", header.get(key))
    if header["class"] not in _CLASSES:
        raise ValueError(f"evoke {__version__} has no estimator {shown(header['class'])}")
    cls = _CLASSES[header["class"]]
    parameters = {key: decode(value, arrays) for key, value in header["parameters"].items()}
    fitted = {key: decode(value, arrays) for key, value in header["fitted"].items()}
    known = {*cls().get_params(deep=False), *cls._fitted} - {"callbacks"}
    unknown = sorted(arrays) + sorted({*parameters, *fitted} - known)
    if unknown:
        raise ValueError(f"it was written by evoke {header.get('evoke')} and has an unknown {shown(unknown[0])}")
    model = cls(**parameters)
    model._restore(fitted)
    model._check_fitted()
    return model
