"""Numbers, labels and comments as C writes them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import shown

__all__ = ["SUFFIX", "check_labels", "in_comment", "label", "number", "table"]

# How constants of a type end.
SUFFIX = {"double": "", "float": "f"}

# Bytes of the longest text that every compiler of C99 takes.
_LONGEST = 4095


def number(value: float, kind: str) -> str:
    """The shortest digits that give the number back, as a constant of this type of C."""
    return repr(float(value)) if kind == "double" else f"{np.float32(value)}{SUFFIX[kind]}"


def table(values: FloatArray, kind: str) -> str:
    """Numbers between braces, a row a line."""
    if values.ndim > 1:
        return "{\n" + ",\n".join(table(row, kind) for row in values) + "}"
    return "{" + ", ".join(number(value, kind) for value in values.tolist()) + "}"


def check_labels(labels: NDArray[Any] | None) -> None:
    """That texts of C can hold these classes.

    Raises
    ------
    ValueError
        One has the character that ends a text, or is too long.
    """
    for text in [] if labels is None else labels.tolist():
        if isinstance(text, str) and "\0" in text:
            raise ValueError(f"the label {shown(text)} has the character 0, which ends a text of C")
        if isinstance(text, str) and len(text.encode()) > _LONGEST:
            raise ValueError(f"a label has {len(text.encode())} bytes; texts of C have at most {_LONGEST}")


def label(value: Any) -> str:
    """A class as a constant of C."""
    if isinstance(value, str):
        return '"' + "".join(_character(byte) for byte in value.encode()) + '"'
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    if value == -(2**63):  # which C has no constant for
        return f"(-INT64_C({2**63 - 1}) - 1)"
    return f"INT64_C({value})" if value < 2**63 else f"UINT64_C({value})"


def in_comment(text: str) -> str:
    """A text that neither ends a comment nor seems to begin one, and in which nothing is put in."""
    return re.sub(r"[^\x20-\x7e]|\*(?=/)|/(?=\*)|\?(?=\?)|[\\@]", " ", text)


def _character(byte: int) -> str:
    """A byte of a string; no two question marks stand side by side, which some compilers take for something else."""
    plain = 32 <= byte < 127 and chr(byte) not in '"\\?@'
    return chr(byte) if plain else f"\\{byte:03o}"
