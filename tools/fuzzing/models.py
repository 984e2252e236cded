"""Model files whose contents were changed, with checksums that are right again: refused, or of use."""

from __future__ import annotations

import copy
import functools
import io
import json
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import evoke
from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, ModelFileError, tasks
from evoke.persistence.archive import read_archive
from evoke.svm import LSSVC, LSSVR, SVC, SVR, LandmarkLSSVC, LandmarkLSSVR, LandmarkSVC
from fuzzing.runner import Unclear

__all__ = ["MODELS", "case", "changed", "prepare"]

Arrays = dict[str, np.ndarray[Any, Any]]
Edit = Callable[[np.random.Generator, Any, Arrays], None]

TINY: dict[str, Any] = dict(n_cells=2, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
_RNG = np.random.default_rng(7)
X = [_RNG.normal(size=(length, 2)) for length in (3, 7, 4, 6)]
ROWS = np.concatenate(X)
PRODUCTS = ROWS @ ROWS.T
VALUES = [np.cumsum(x[:, 0]) for x in X]
SIDES = [x[:, 0] > 0 for x in X]
WORDS = np.array(["a", "b", "c", "b"])
SERIES = tasks.superimposed_sines(2, 60)


def _classifier(y: Any = WORDS, **parameters: Any) -> Any:
    return EvokeClassifier(**{**TINY, **parameters}).fit(X, y)


def _regressor(**parameters: Any) -> Any:
    return EvokeRegressor(**{**TINY, **parameters}).fit(X, VALUES)


def _forecaster(y: Any = SERIES, **parameters: Any) -> Any:
    return EvokeForecaster(**{**TINY, "n_cells": 3, **parameters}).fit(y)


def _rolling(y: Any, **parameters: Any) -> Any:
    return EvokeForecaster(n_cells=3, validation="rolling", n_networks=2, random_state=0, **parameters).fit(y)


def _with_metadata() -> Any:
    model = _classifier(SIDES, validation=0.5, random_state=np.random.default_rng(1))
    model.metadata_ = {"columns": {"targets": ["side"], "features": ["p", "q"], "sequence": None, "time": None,
                                   "per_sequence": False, "booleans": []}, 3: (1.5, None, {"note": "x"})}  # fmt: skip
    return model


# One of every kind that a file may hold.
MODELS: dict[str, Callable[[], Any]] = {
    "steps": _with_metadata,
    "words": lambda: _classifier(random_state=np.random.SeedSequence(2), readout="lssvm", pool="last"),
    "pooled": lambda: _classifier(pool=("mean", "max", "thirds"), readout="ridge", scale="standard"),
    "several networks": lambda: _classifier(n_networks=2),
    "indicators": lambda: _classifier([np.stack([s, ~s], axis=1) for s in SIDES], readout="pinv"),
    "evolved": lambda: _classifier(SIDES, readout="svm", C="evolve", gamma="evolve"),
    "cmaes": lambda: _classifier(SIDES, search="cmaes"),
    "islands": lambda: _classifier(SIDES, n_islands=2, migrate_every=1),
    "landmarks": lambda: _classifier(SIDES, readout="landmarks"),
    "single": lambda: _regressor(dtype="float32", random_state=np.random.RandomState(3)),
    "linear": lambda: _regressor(readout="ridge", cell="evolino"),
    "landmarks of values": lambda: _regressor(readout="landmarks", n_networks=2),
    "series": lambda: _forecaster(),
    "series of a network": lambda: _forecaster(readout="svm", cell="lstm"),
    "rolling": lambda: _rolling(SERIES),
    "logarithms": lambda: _rolling(np.exp(SERIES), log=True, difference=(1,), season=4),
    "SVC": lambda: SVC().fit(ROWS, np.array(["a", "b", "c", "d"], dtype=object)[np.arange(20) % 4]),
    "SVR": lambda: SVR(kernel="poly", degree=2).fit(ROWS, ROWS[:, 0]),
    "LSSVC": lambda: LSSVC(probability=True).fit(ROWS, np.arange(20) % 3),
    "LSSVR": lambda: LSSVR(gamma=np.float32(0.5)).fit(ROWS, ROWS),
    "precomputed": lambda: SVC(kernel="precomputed").fit(PRODUCTS, np.arange(20) % 2),
    "least squares, precomputed": lambda: LSSVR(kernel="precomputed").fit(PRODUCTS, ROWS[:, 0]),
    "names": lambda: EvokeClassifier(**TINY).fit([pd.DataFrame(x, columns=["p", "q"]) for x in X], SIDES),
    "LandmarkLSSVC": lambda: LandmarkLSSVC(n_landmarks=5, random_state=0, probability=True).fit(
        ROWS, np.arange(20) % 2
    ),
    "LandmarkLSSVR": lambda: LandmarkLSSVR(n_landmarks=5, random_state=0).fit(ROWS, ROWS),
    "LandmarkSVC": lambda: LandmarkSVC(n_landmarks=5, random_state=0).fit(ROWS, np.arange(20) % 3),
}  # fmt: skip


@functools.lru_cache(maxsize=1)
def _files() -> list[tuple[str, Arrays]]:
    """Headers as text, which is copied soonest, and arrays."""
    found = []
    for make in MODELS.values():
        file = io.BytesIO()
        make().save(file)
        header, arrays = read_archive(io.BytesIO(file.getvalue()))
        found.append((json.dumps(header), arrays))
    return found


def prepare() -> None:
    """Make what all cases have in common."""
    _files()


# ---------------------------------------------------------------- changes of the header

LEAVES = [
    None, True, False, -1, 0, 1, 2, 3, 2**31, 2**62, 2**63, 10**30, -(10**30), 0.5, -0.5, 1e308, 5e-324, "", "x", "rbf",
    "auto", "\ud800", "\0", [], [1, 2], [[]], {}, {"float": "nan"}, {"float": "inf"}, {"float": "1"}, {"tuple": [1]},
    {"tuple": 1}, {"dict": [[1]]}, {"dict": [[[], 1]]}, {"dict": []}, {"array": "genome_"}, {"scalar": "genome_"},
    {"array": []}, {"ESP": {}}, {"unknown": 1}, {"objects": [1, {"tuple": [2]}]}, {"strings": ["a", 3]}, {"table": {}},
    {"strings": "ab"}, {"table": {"a": 1}}, {"SeedSequence": {"dict": [["pool_size", 10**9]]}}, {"Generator": {}},
    {"splitter": ["KFold", {"dict": [["n_splits", 3]]}]}, {"splitter": ["KFold", {"dict": [["n_splits", "x"]]}]},
    {"splitter": ["os", {"dict": []}]}, {"a": 1, "b": 2}, {"FittedReadout": {}}, {"RandomState": {"dict": []}},
]  # fmt: skip


def _places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every part of a tree but the whole."""
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield (*path, key)
        yield from _places(tree[key], (*path, key))


def _place(rng: np.random.Generator, tree: Any) -> tuple[Any, Any]:
    """A part, as its holder and its key in there."""
    places = list(_places(tree))
    *path, key = places[rng.integers(len(places))]
    for step in path:
        tree = tree[step]
    return tree, key


def _leaf(rng: np.random.Generator) -> Any:
    return copy.deepcopy(LEAVES[rng.integers(len(LEAVES))])


def _nudged(rng: np.random.Generator, value: Any) -> Any:
    """Another value of the same kind, or nearly so."""
    if isinstance(value, bool):
        return [not value, int(value)][rng.integers(2)]
    if isinstance(value, (int, float)):
        others = [value + 1, value - 1, -value, value * 2, value * 1000, 0, float(value) + 0.5, str(value), [value]]
        return others[rng.integers(len(others))]
    if isinstance(value, str):
        others = [value + "_", value[:-1], value[1:], value.upper(), value * 2, list(value)]
        return others[rng.integers(len(others))]
    if isinstance(value, list):
        others = [value[:-1], value[1:], value * 2, value[::-1], {"tuple": value}, [value]]
        return copy.deepcopy(others[rng.integers(len(others))])
    return [value, value] if rng.random() < 0.5 else {"tuple": [value]}


def _remove(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    holder, key = _place(rng, header)
    del holder[key]


def _replace(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    holder, key = _place(rng, header)
    holder[key] = _leaf(rng)


def _nudge(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    holder, key = _place(rng, header)
    holder[key] = _nudged(rng, holder[key])


def _graft(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    """A part of this file, or of another with its arrays, in the place of a part."""
    other, more = header, arrays
    if rng.random() < 0.5:
        text, more = _files()[rng.integers(len(_files()))]
        other = json.loads(text)
    source, name = _place(rng, other)
    holder, key = _place(rng, header)
    holder[key] = copy.deepcopy(source[name])
    for found in {name for name in more if f'"{name}"' in json.dumps(holder[key])} - {*arrays}:
        arrays[found] = more[found]


def _swap(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    first, key = _place(rng, header)
    second, other = _place(rng, header)
    value = copy.deepcopy(first[key])
    first[key] = copy.deepcopy(second[other])
    if other in second if isinstance(second, dict) else other < len(second):
        second[other] = value


def _rename(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    holder, key = _place(rng, header)
    if isinstance(holder, dict):
        names = ["x", "", "fit", "__class__", "n_cells", "_esp", "array", "tuple", "genome_", key + "_", "callbacks"]
        holder[names[rng.integers(len(names))]] = holder.pop(key) if rng.random() < 0.7 else _leaf(rng)
    else:
        holder.insert(int(rng.integers(len(holder) + 1)), _leaf(rng))


# ---------------------------------------------------------------- changes of the arrays

NUMBERS = [np.nan, np.inf, -np.inf, -1, 0, -0.0, 1, 2, 1e300, -1e300, 5e-324, 2**31 - 1, 2**31, 2**53, 2**62, -(2**63)]
DTYPES = ["<f8", ">f8", "<f4", "<f2", "<i8", ">i4", "|i1", "|u1", "<u8", "|b1", "<U3", "|S2", "<U0"]


def _any_name(rng: np.random.Generator, arrays: Arrays) -> str:
    return list(arrays)[rng.integers(len(arrays))]


def _values(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    name = _any_name(rng, arrays)
    array = np.array(arrays[name])
    if array.size and array.dtype.kind in "biuf":
        at = rng.integers(array.size, size=1 if rng.random() < 0.7 else array.size)
        value = NUMBERS[rng.integers(len(NUMBERS))]
        if array.dtype.kind != "f" and not 0 <= value < 2**7:
            value = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1
        array.reshape(-1)[at] = value
    elif array.size:
        array.reshape(-1)[rng.integers(array.size)] = "x"
    arrays[name] = array


def _shape(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    name = _any_name(rng, arrays)
    array = arrays[name]
    flat = array.reshape(-1)
    others = [array[None], array[..., None], array.T, flat, flat[:-1], np.concatenate([flat, flat]), flat[:0],
              array[:-1] if array.ndim else flat, array[..., 1:] if array.ndim else flat, np.repeat(array, 2, axis=-1),
              np.zeros((2**40, 0)), flat[:1].reshape(()) if flat.size else flat]  # fmt: skip
    arrays[name] = np.ascontiguousarray(others[rng.integers(len(others))])


def _dtype(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    name = _any_name(rng, arrays)
    with np.errstate(all="ignore"):
        dtype = DTYPES[rng.integers(len(DTYPES))]
        try:
            arrays[name] = np.asarray(arrays[name].astype(dtype))
        except (ValueError, OverflowError):
            arrays[name] = np.zeros(arrays[name].shape, dtype)


def _order(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    name = _any_name(rng, arrays)
    array = np.array(arrays[name])
    flat = array.reshape(-1)
    flat[:] = [np.sort(flat), flat[::-1], rng.permutation(flat), np.roll(flat, 1)][rng.integers(4)]
    arrays[name] = array


def _exchange(rng: np.random.Generator, header: Any, arrays: Arrays) -> None:
    a, b = _any_name(rng, arrays), _any_name(rng, arrays)
    if rng.random() < 0.2:
        del arrays[a]
    else:
        arrays[a], arrays[b] = arrays[b], arrays[a if rng.random() < 0.5 else b]


EDITS: list[Edit] = [
    _remove, _replace, _nudge, _nudge, _graft, _swap, _rename, _values, _values, _shape, _dtype, _order, _exchange,
]  # fmt: skip


# ---------------------------------------------------------------- files


def _packed(rng: np.random.Generator, header: Any, arrays: Arrays) -> bytes:
    """An archive with right checksums; now and then some bytes of an entry are others."""
    members = {"header.json": json.dumps(header).encode()}
    for name, array in arrays.items():
        file = io.BytesIO()
        np.lib.format.write_array(file, array, version=(1, 0), allow_pickle=False)
        members[f"{name}.npy"] = file.getvalue()
    if rng.random() < 0.2:
        name = list(members)[rng.integers(len(members))]
        content = bytearray(members[name])
        for _ in range(rng.integers(1, 4)):
            most = min(len(content), 128) if rng.random() < 0.5 else len(content)  # where the head of an array is
            content[rng.integers(most)] = rng.integers(256)
        members[name] = bytes(content)
    names = list(members)
    if rng.random() < 0.1:
        rng.shuffle(names)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name.replace("\0", "0")), members[name])
    return file.getvalue()


def changed(seed: int, number: int) -> bytes:
    """The file of a case."""
    rng = np.random.default_rng([seed, number])
    text, arrays = _files()[rng.integers(len(_files()))]
    header, arrays = json.loads(text), dict(arrays)
    for _ in range(min(rng.geometric(0.6), 5)):
        if header and arrays:
            EDITS[rng.integers(len(EDITS))](rng, header, arrays)
    return _packed(rng, header, arrays)


def _use(model: Any) -> None:
    """What a model is for."""
    repr(model)
    if isinstance(model, EvokeForecaster):
        _or_clearly_not(lambda: model.generate(3))
        _or_clearly_not(lambda: model.generate(2, return_interval=0.9))
        _or_clearly_not(lambda: model.predict_one_step(SERIES))
    elif isinstance(model, (EvokeClassifier, EvokeRegressor)):
        for name in ("predict", "transform", "decision_function", "predict_proba"):
            if hasattr(model, name):
                _or_clearly_not(lambda name=name: getattr(model, name)(X))
        if model.n_features_in_ == 2:
            _or_clearly_not(lambda: model.stream().step([0.0, 1.0]))
    else:
        for name in ("predict", "decision_function", "predict_proba"):
            if hasattr(model, name):
                rows = PRODUCTS if model.n_features_in_ == len(PRODUCTS) else ROWS
                _or_clearly_not(lambda name=name, rows=rows: getattr(model, name)(rows))
    random_state = getattr(model, "random_state", None)
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        random_state.uniform(size=1000)


def _or_clearly_not(call: Callable[[], Any]) -> None:
    """Errors of the model, which its own code or scikit-learn's checks raise, are allowed; all others are faults."""
    try:
        call()
    except (ValueError, FloatingPointError, AttributeError) as error:
        file = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
        if not {"evoke", "sklearn"} & {*file.parts}:
            raise
        if isinstance(error, AttributeError) and "predict_proba" not in str(error):
            raise


def case(seed: int, number: int) -> str:
    """Load and use the file of a case: "refused", or "used" with whatever it says then.

    Raises
    ------
    Exception
        It is neither refused by `ModelFileError` nor of use.
    """
    content = changed(seed, number)
    try:
        model = evoke.load(io.BytesIO(content))
    except ModelFileError as error:
        if isinstance(error.__cause__, (MemoryError, RecursionError)) and len(content) < 10**6:
            raise Unclear(f"{error}") from error
        return "refused"
    file, again = io.BytesIO(), io.BytesIO()
    model.save(file)
    evoke.load(io.BytesIO(file.getvalue())).save(again)
    if file.getvalue() != again.getvalue():
        raise Unclear("what was saved is another model once it is loaded")
    _use(model)
    return "used"
