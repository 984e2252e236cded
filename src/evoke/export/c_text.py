"""Numbers, labels and comments as C writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import shown
from evoke._version import __version__

__all__ = ["MOST_NAMED", "PRECISIONS", "SUFFIX", "Terms", "check_labels", "in_comment", "label", "number", "table"]

# The types of C of cells and of the readout.
PRECISIONS = {"float64": ("double", "double"), "float32": ("float", "float"), "mixed": ("float", "double")}

# Columns that a comment names, at most.
MOST_NAMED = 20

# How constants of a type end.
SUFFIX = {"double": "", "float": "f"}

# How far the exp of a type reaches.
_FAR = {"double": "708.0", "float": "87.0f"}

# Bytes of the longest text that every compiler of C99 takes.
_LONGEST = 4095


@dataclass(frozen=True)
class Terms:
    """What pieces of a file have in common.

    Attributes
    ----------
    name : str
        With which names begin.
    real, value : {"double", "float"}
        Types of cells and of the readout.
    """

    name: str
    real: str
    value: str

    def fill(self, text: str, **values: str) -> str:
        """Text with values between signs @, and numbers in the precision of the file."""
        values |= {
            "n": self.name, "N": self.name.upper(), "REAL": self.real, "VALUE": self.value,
            "PRECISION": self.real if self.real == self.value else f"{self.real} and the readout in {self.value}",
            "EXP": "@n@_" if self.real == self.value else "@n@_value_",
            "FAR": _FAR[self.real], "VALUE_FAR": _FAR[self.value], "VERSION": __version__,
        }  # fmt: skip
        for _ in range(2):  # one of the values has one in it
            text = re.sub(r"@([A-Za-z_]+)@", lambda found: values.get(found[1], found[0]), text)
        return re.sub(r"@(\d+)(v?)@", lambda found: f"{found[1]}.0{SUFFIX[self.type_of(found[2] == 'v')]}", text)

    def type_of(self, of_readout: bool) -> str:
        """The type of C of cells, or of the readout."""
        return self.value if of_readout else self.real

    def array(self, declared: str, values: FloatArray, *, of_readout: bool = True) -> str:
        """A table of constants, by its name and shape."""
        kind = "value" if of_readout else "real"
        return f"static const @n@_{kind} {declared} = {table(values, self.type_of(of_readout))};\n"


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
