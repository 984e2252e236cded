"""Models in files: parameters and what was learned, as JSON and arrays, without pickle."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import os
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from evoke._version import __version__
from evoke.archive import read_archive, refusing, write_archive
from evoke.esp import ESP
from evoke.persistent import Persistent
from evoke.readouts import FittedReadout

__all__ = ["decode", "encode", "load", "read_archive", "save", "write_archive"]

Arrays = dict[str, NDArray[Any]]

# The classes that a file can name, and where they are
_HOMES = {
    "EvokeClassifier": "evoke.classifier",
    "EvokeForecaster": "evoke.forecaster",
    "EvokeRegressor": "evoke.regressor",
    "LSSVC": "evoke.svm",
    "LSSVR": "evoke.svm",
    "SVC": "evoke.svm",
    "SVR": "evoke.svm",
}
# Those of NumPy and the largest position in the buffer that some of them have: they do not check it.
_BIT_GENERATORS: dict[str, dict[str, int]] = {
    "MT19937": {"pos": 624}, "PCG64": {}, "PCG64DXSM": {}, "Philox": {"buffer_pos": 4}, "SFC64": {},
}  # fmt: skip
_MOST_POOL = 1024  # of a SeedSequence, whose work grows with its square


def save(model: Persistent, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file; see its method of this name."""
    name = type(model).__name__
    if name not in _HOMES or type(model) is not _class(name):
        raise TypeError(f"only evoke's own estimators can be saved, got {type(model)}; pickle can store it")
    model = copy.copy(model)  # which a fit in another thread does not touch
    check_is_fitted(model, ["readout_", "intercept_"], all_or_any=any)
    model._check_fitted()
    arrays: Arrays = {}
    parameters = {key: value for key, value in model.get_params(deep=False).items() if key != "callbacks"}
    fitted = {key: getattr(model, key) for key in sorted(model._fitted) if hasattr(model, key)}
    header = {
        "class": name,
        "parameters": {key: encode(value, key, arrays) for key, value in parameters.items()},
        "fitted": {key: encode(value, key, arrays) for key, value in fitted.items()},
    }
    write_archive(path, header, arrays)


def load(path):
    """Read an estimator that its method `save` has written.

    Nothing in the file is executed. A file of another version of evoke is read without a warning as long as its format
    is not newer than ours; parameters that it does not hold have their defaults.

    Parameters
    ----------
    path : str or PathLike
        Where the file is.

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
    with refusing(path):
        if header.get("class") not in _HOMES:
            raise ValueError(f"evoke {__version__} has no estimator {header.get('class')!r}")
        cls = _class(header["class"])
        parameters = {key: decode(value, arrays) for key, value in header["parameters"].items()}
        fitted = {key: decode(value, arrays) for key, value in header["fitted"].items()}
        known = {*cls().get_params(deep=False), *cls._fitted} - {"callbacks"}
        unknown = sorted(arrays) + sorted({*parameters, *fitted} - known)
        if unknown:
            raise ValueError(f"it was written by evoke {header.get('evoke')} and has an unknown {unknown[0]!r}")
        model = cls(**parameters)
        model.__dict__.update(fitted)
        model._check_fitted()
    return model


def _class(name: str) -> type[Persistent]:
    return getattr(importlib.import_module(_HOMES[name]), name)


# ---------------------------------------------------------------- values as JSON and arrays


def encode(value: Any, name: str, arrays: Arrays) -> Any:
    """What JSON can hold of a value, its arrays being put into `arrays` under names that begin with `name`.

    None, bool, int, str, finite floats and lists are themselves; all else becomes ``{kind: content}``.

    Raises
    ------
    TypeError
        A type that `decode` could not bring back as it was.
    """
    kind = type(value)

    def part(key: Any, content: Any) -> Any:
        return encode(content, f"{name}.{key}", arrays)

    def array(content: Any) -> str:
        arrays[name] = np.asarray(content)
        return name

    if value is None or kind in (bool, int, str) or (kind is float and np.isfinite(value)):
        return value
    if kind is float:
        return {"float": str(value)}
    if kind is list:
        columns = _columns(value)
        if columns:
            return {"table": {key: part(key, column) for key, column in columns.items()}}
        return [part(k, element) for k, element in enumerate(value)]
    if kind is tuple:
        return {"tuple": part("tuple", list(value))}
    if kind is dict:
        return {"dict": [[part(f"{k}-key", key), part(k, content)] for k, (key, content) in enumerate(value.items())]}
    if isinstance(value, np.generic) and value.dtype.kind in "biufUS":
        return {"scalar": array(value)}
    if kind is np.ndarray and value.dtype.kind in "biufUS":
        return {"array": array(value)}
    if kind is np.ndarray and value.ndim == 1 and value.dtype == object:
        return {"objects": part("objects", list(value))}
    if kind is np.ndarray and value.ndim == 1 and value.dtype == np.dtypes.StringDType():
        return {"strings": value.tolist()}
    if kind is SeedSequence and value.pool_size <= _MOST_POOL:
        return {"SeedSequence": part("state", value.state)}
    if kind is Generator and type(value.bit_generator).__name__ in _BIT_GENERATORS:
        return {"Generator": part("state", value.bit_generator.state)}
    if kind is RandomState:
        return {"RandomState": part("state", value.get_state(legacy=False))}
    if kind is FittedReadout:
        return {"FittedReadout": {field.name: part(field.name, getattr(value, field.name))
                                  for field in dataclasses.fields(value)}}  # fmt: skip
    if kind is ESP:
        state = {**value.state_dict(), "asked": 0}  # who asks again gets the same
        return {"ESP": {key: part(key, content) for key, content in state.items()}}
    raise TypeError(f"{name} is {value!r} of {kind}, which a model file cannot hold")


def _columns(records: list[Any]) -> dict[str, NDArray[Any]]:
    """Arrays by key of dicts that all have the same keys and under each of them numbers of one type; else nothing."""
    first = records[0] if records else None
    if type(first) is not dict or any(type(record) is not dict or list(record) != list(first) for record in records):
        return {}
    columns = {key: [record[key] for record in records] for key in first}
    for key, column in columns.items():
        types = set(map(type, column))
        if type(key) is not str or not (types == {bool} or types == {float} or types == {int}):
            return {}
        if types == {int} and not -(2**63) <= min(column) <= max(column) < 2**63:
            return {}
    return {key: np.array(column) for key, column in columns.items()}


def decode(value: Any, arrays: Arrays) -> Any:
    """The value that `encode` was given. Its arrays are taken out of `arrays`.

    Raises
    ------
    Exception
        Of some kind, for what `encode` does not make.
    """
    if isinstance(value, list):
        return [decode(element, arrays) for element in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError(f"{{kind: content}} is expected, got {list(value)}")
    (kind, content), = value.items()
    if kind in ("table", "FittedReadout", "ESP"):
        content = {key: decode(element, arrays) for key, element in content.items()}
    elif kind in ("scalar", "array"):
        content = arrays.pop(content)
    elif kind != "float":
        content = decode(content, arrays)
    return _MAKERS[kind](content)


def _table(columns: dict[str, NDArray[Any]]) -> list[dict[str, Any]]:
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _objects(elements: list[Any]) -> NDArray[Any]:
    array = np.empty(len(elements), dtype=object)
    for k, element in enumerate(elements):  # a tuple stays an element
        array[k] = element
    return array


def _seed_sequence(state: dict[str, Any]) -> SeedSequence:
    if not state["pool_size"] <= _MOST_POOL:
        raise ValueError(f"pool_size of a SeedSequence is {state['pool_size']}")
    return SeedSequence(**state)


def _bit_generator(state: dict[str, Any]) -> Any:
    name = state["bit_generator"]
    for part in (state, state["state"]):
        if not all(0 <= part.get(position, 0) <= most for position, most in _BIT_GENERATORS[name].items()):
            raise ValueError(f"the position of {name} in its buffer is out of range")
    bit_generator = getattr(np.random, name)(0)
    bit_generator.state = {key: content for key, content in state.items() if key not in ("has_gauss", "gauss")}
    return bit_generator


def _random_state(state: dict[str, Any]) -> RandomState:
    random_state = RandomState(_bit_generator(state))
    random_state.set_state(state)
    return random_state


def _esp(state: dict[str, Any]) -> ESP:
    lengths = state["lengths"].tolist()
    if state["weights"].size != sum(lengths) * state["subpopulation_size"] or state["asked"] != 0:
        raise ValueError("the populations of ESP are not of the size that is stated")  # before room is made for them
    names = ("subpopulation_size", "n_trials", "mutation_scale", "burst_patience", "burst_scale", "credit")
    weight_range = state["weight_range"].tolist()
    esp = ESP(lengths, weight_range=weight_range, random_state=0, **{name: state[name] for name in names})
    esp.load_state_dict(state)
    return esp


_MAKERS = {
    "float": {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}.__getitem__,
    "table": _table,
    "tuple": tuple,
    "dict": dict,
    "scalar": lambda array: array[()],
    "array": lambda array: array,
    "objects": _objects,
    "strings": lambda elements: np.array(elements, dtype=np.dtypes.StringDType()),
    "SeedSequence": _seed_sequence,
    "Generator": lambda state: Generator(_bit_generator(state)),
    "RandomState": _random_state,
    "FittedReadout": lambda fields: FittedReadout(**fields),
    "ESP": _esp,
}
