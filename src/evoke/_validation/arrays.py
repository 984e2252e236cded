"""What a user brings -> one NumPy array, or an error that names the argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.errors import ParameterError, shown

__all__ = [
    "EXACT", "FloatArray", "IntArray", "check_dimensions", "check_not_empty", "check_shape", "holds_text", "joined",
    "missing", "not_finite", "rounded", "shape_of", "to_array", "to_finite", "to_finite_rows", "to_float", "to_real",
    "to_targets",
]  # fmt: skip

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

EXACT = 2**53  # beyond it float64 does not hold every integer


def to_array(value: Any, name: str) -> NDArray[Any]:
    """The value as one array; sparse matrices, masked values and ragged lists are refused by `name`."""
    if hasattr(value, "toarray"):
        raise TypeError(f"{name} is sparse; sparse input is not supported, pass a dense array")
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked values; every value is needed")
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None


def to_real(value: Any, name: str, kinds: str = "biuf") -> NDArray[Any]:
    """The value as an array of real numbers in the dtype that it has, which must be of these `kinds`."""
    array = to_array(value, name)
    if array.dtype.kind not in kinds and (array.size or array.dtype.kind != "f"):  # an empty list is of float64
        what = "integers" if kinds == "iu" else "real numbers"
        raise ValueError(f"{name} must hold {what}, got dtype {array.dtype}")
    return array


def to_finite(value: Any, name: str) -> NDArray[np.float64]:
    """The value as an array of finite float64."""
    array = to_float(to_array(value, name), name)
    if not np.isfinite(array).all():
        raise not_finite(array, name)
    return array


def not_finite(array: NDArray[Any], name: str, given: NDArray[Any] | None = None) -> ValueError:
    """The error to raise: the array, or what of a `given` one its dtype can hold, is not all finite."""
    given = array if given is None else given
    where = "" if array.dtype == given.dtype else f" in {array.dtype}"
    return ValueError(f"{name} must be finite{where}, got {given[~np.isfinite(array)][0]}")


def check_dimensions(array: NDArray[Any], name: str, numbers: tuple[int, ...]) -> None:
    """As many dimensions as one of the `numbers`."""
    if array.ndim not in numbers:
        raise ValueError(f"{name} must be {' or '.join(f'{n}-D' for n in numbers)}, got shape {array.shape}")


def check_not_empty(rows: NDArray[Any], name: str) -> None:
    """Rows (n, n_columns), at least one of at least one column; in scikit-learn's words, which its checks look for."""
    for n, what in zip(rows.shape, ("sample", "feature"), strict=True):
        if n == 0:
            raise ValueError(f"{name} has 0 {what}(s) (shape={rows.shape}) while a minimum of 1 is required.")


def check_shape(array: NDArray[Any], name: str, shape: tuple[int | None, ...]) -> None:
    """This shape; None stands for any length."""
    if array.ndim != len(shape) or any(m is not None and n != m for n, m in zip(array.shape, shape, strict=True)):
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}")


def _index(index: tuple[int, ...]) -> str:
    return f"index {', '.join(map(str, index))}"


def to_float(
    array: NDArray[Any], name: str, place: Callable[[tuple[int, ...]], str] = _index
) -> NDArray[np.float64]:
    """The array in float64; what are not real numbers is refused by `name`, the value and its `place` in words.

    Text is not a number, whatever it says. Objects may be any numbers: columns of several kinds come as objects.
    """
    if array.dtype.kind == "c":
        raise ParameterError(f"{name} is complex. Complex data not supported")
    if array.dtype.kind not in "biufO" or (array.dtype == object and any(map(_is_text, array.ravel().tolist()))):
        raise ParameterError(f"{name} must hold numbers, got dtype {array.dtype}{_odd(array, place)}")
    try:
        with np.errstate(over="ignore"):  # what float64 cannot hold is found with the other infinities
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        odd = _odd(array, place)
        if "NAType" in str(error) or "NaTType" in str(error):
            raise ParameterError(f"{name} contains missing values{odd}") from None
        if isinstance(error, TypeError):
            raise ParameterError(f"{name} must hold numbers: {error}{odd}") from None
        raise ParameterError(f"{name} must hold numbers, got dtype {array.dtype}{odd}") from None


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, bytes))


def _odd(array: NDArray[Any], place: Callable[[tuple[int, ...]], str]) -> str:
    """The first value that is not a number, and its place."""
    for index, value in np.ndenumerate(array):
        try:
            if array.dtype.kind in "biufO" and not _is_text(value):
                np.float64(value)
                continue
        except (TypeError, ValueError, OverflowError):
            pass
        return f": {shown(value)}" + (f" at {place(index)}" if index else "")
    return ""


def to_finite_rows(
    array: NDArray[Any], name: str, given: Any, axes: tuple[str, ...], numbers: Sequence[int] | IntArray | None = None
) -> NDArray[np.float64]:
    """Rows (n, n_columns), or several sequences of them, as finite numbers.

    What is odd is named by its place on the axes; of a data frame, which is `given`, by the name of its column too.
    Rows that are a part of others may have their `numbers` there.
    """

    def place(index: tuple[int, ...]) -> str:
        if numbers is not None:
            index = (int(numbers[index[0]]), *index[1:])
        text = ", ".join(f"{axis} {k}" for axis, k in zip(axes[-len(index) :], index, strict=True))
        return f"{text} ({given.columns[index[-1]]!r})" if hasattr(given, "columns") else text

    values = to_float(array, name, place)
    finite = np.isfinite(values)
    if not finite.all():
        odd = tuple(np.argwhere(~finite)[0].tolist())
        value = values[odd]
        if len(odd) == 3:
            odd, name = odd[1:], f"{name}[{odd[0]}]"
        raise ValueError(f"{name} contains NaN or infinity: {value} at {place(odd)}")
    return values


def shape_of(array: NDArray[Any], value: Any) -> str:
    """The shape of the array that a value has become, in words; what has none is named by its type."""
    if array.ndim or isinstance(value, np.ndarray):
        return f"shape {array.shape}"
    return f"{type(value).__name__} {shown(value)}"


def holds_text(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "UST"


def missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Where the array has NaN, or among objects and text None or what else stands for a missing value."""
    if array.dtype.kind in "TO":
        return np.array([_is_missing(value) for value in array.ravel().tolist()], dtype=bool).reshape(array.shape)
    return np.asarray(array != array, dtype=bool)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA says neither yes nor no
        return True


def rounded(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Where an array of floats has whole numbers so large that others may have been rounded to the same."""
    return np.asarray(np.isfinite(array) & (np.abs(array) >= 2 / np.finfo(array.dtype).eps), dtype=bool)


def joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Arrays of targets one after the other, so that no two targets become one."""
    values = np.concatenate(parts)
    integers = [part for part in parts if part.dtype.kind in "biu"]
    if values.dtype.kind == "f" and (
        len(integers) == len(parts) or any(((part > EXACT) | (part < -EXACT)).any() for part in integers)
    ):
        # as floats, some integers of 64 bits that differ would be one
        values = np.concatenate([part.astype(object) for part in parts])
    return values


def _is_truth(kind: type[Any]) -> bool:
    return issubclass(kind, (bool, np.bool_))


def to_targets(value: Any, name: str) -> NDArray[Any]:
    """The value as an array in which no two targets have become one."""
    array = to_array(value, name)
    if array.dtype == object and array.ndim == 1:
        value = array.tolist()
    if isinstance(value, (list, tuple)) and array.ndim == 1:
        types = set(map(type, value))
        if len(types) > 1 and any(map(_is_truth, types)) and any(
            issubclass(kind, Number) and not _is_truth(kind) for kind in types
        ):  # True equals 1, but is not the same label
            raise ValueError(f"{name} mixes True or False with numbers: {sorted(kind.__name__ for kind in types)}")
        if holds_text(array):
            if not any(all(issubclass(kind, text) for kind in types) for text in (str, bytes)):
                objects = np.array(value, dtype=object)
                if missing(objects).any():  # which text would hide
                    return objects
                raise ValueError(f"{name} mixes text with other labels: {sorted(kind.__name__ for kind in types)}")
            for text in value:
                if text[-1:] in ("\0", b"\0"):
                    raise ValueError(f"{name} has {text!r}, which NumPy cannot tell from text without the last NUL")
        elif (
            array.dtype.kind == "f"
            and any(issubclass(kind, Integral) for kind in types)
            and any(isinstance(number, Integral) and abs(int(number)) > EXACT for number in value)
        ):
            return np.array(value, dtype=object)
    return array
