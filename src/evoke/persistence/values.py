"""Values as JSON and arrays, without pickle; classes register what a file holds of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import NDArray

from evoke._validation.errors import shown

__all__ = ["decode", "encode", "register"]

Arrays = dict[str, NDArray[Any]]

# Those of NumPy and the largest position in the buffer that some of them have: they do not check it.
_BIT_GENERATORS: dict[str, dict[str, int]] = {
    "MT19937": {"pos": 624}, "PCG64": {}, "PCG64DXSM": {}, "Philox": {"buffer_pos": 4}, "SFC64": {},
}  # fmt: skip
_MOST_POOL = 1024  # of a SeedSequence, whose work grows with its square

# Splitters of scikit-learn, whose parameters are attributes. They are known by name: their module takes long to import.
_SPLITTERS = {
    "GroupKFold", "GroupShuffleSplit", "KFold", "LeaveOneGroupOut", "LeaveOneOut", "LeavePGroupsOut", "LeavePOut",
    "PredefinedSplit", "ShuffleSplit", "StratifiedGroupKFold", "StratifiedKFold", "StratifiedShuffleSplit",
    "TimeSeriesSplit",
}  # fmt: skip

# Classes that a file may hold: what it says of an object, by name of the class, and how it is made again.
_STATES: dict[type, Callable[[Any], dict[str, Any]]] = {}
_MADE: dict[str, Callable[[dict[str, Any]], Any]] = {}


def register(
    cls: type, state: Callable[[Any], dict[str, Any]], make: Callable[[dict[str, Any]], Any]
) -> None:
    """Have files hold objects of a class.

    Parameters
    ----------
    cls : type
        Its name stands in the file.
    state : callable
        Object -> dict of values that a file can hold.
    make : callable
        Such a dict -> object; raises an exception of some kind for a state that no object can have.
    """
    _STATES[cls], _MADE[cls.__name__] = state, make


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
    if kind.__module__.startswith("sklearn.model_selection.") and kind.__name__ in _SPLITTERS:
        parameters = {key: getattr(value, key) for key in inspect.signature(kind).parameters}
        return {"splitter": [kind.__name__, part("splitter", parameters)]}
    if kind in _STATES:
        return {kind.__name__: {key: part(key, content) for key, content in _STATES[kind](value).items()}}
    raise TypeError(f"{name} is {shown(value)} of {kind}, which a model file cannot hold")


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
        raise ValueError(f"{{kind: content}} is expected, got {shown(list(value))}")
    (kind, content), = value.items()
    if kind == "table" or kind in _MADE:
        content = {key: decode(element, arrays) for key, element in content.items()}
    elif kind in ("scalar", "array"):
        content = arrays.pop(content)
    elif kind != "float":
        content = decode(content, arrays)
    made: Any = _MADE.get(kind) or _MAKERS[kind]
    return made(content)


def _table(columns: dict[str, NDArray[Any]]) -> list[dict[str, Any]]:
    for key, column in columns.items():
        if column.ndim != 1 or column.dtype.kind not in "bif":
            raise ValueError(f"{key} of a table must be a column of numbers, got {column.dtype} of {column.shape}")
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _objects(elements: list[Any]) -> NDArray[Any]:
    array = np.empty(len(elements), dtype=object)
    for k, element in enumerate(elements):  # a tuple stays an element
        array[k] = element
    return array


def _strings(elements: list[str]) -> NDArray[Any]:
    if type(elements) is not list or any(type(element) is not str for element in elements):
        raise ValueError(f"strings must be a list of text, got {shown(elements)}")
    return np.array(elements, dtype=np.dtypes.StringDType())


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


def _splitter(state: list[Any]) -> Any:
    name, parameters = state
    if name not in _SPLITTERS:
        raise ValueError(f"there is no splitter {shown(name)}")
    return getattr(import_module("sklearn.model_selection"), name)(**parameters)


def _random_state(state: dict[str, Any]) -> RandomState:
    random_state = RandomState(_bit_generator(state))
    random_state.set_state(state)
    return random_state


_MAKERS = {
    "float": {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}.__getitem__,
    "table": _table,
    "tuple": tuple,
    "dict": dict,
    "scalar": lambda array: array[()],
    "array": lambda array: array,
    "objects": _objects,
    "strings": _strings,
    "SeedSequence": _seed_sequence,
    "Generator": lambda state: Generator(_bit_generator(state)),
    "RandomState": _random_state,
    "splitter": _splitter,
}
