"""The one exception for an argument that cannot be what it is, and its one wording."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

__all__ = ["ParameterError", "refusal", "shown"]

_MOST_SHOWN = 50  # characters of a value in a message

_SHORT = reprlib.Repr()  # looks at no more of a value than it shows
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = _MOST_SHOWN


class ParameterError(ValueError, TypeError):
    """An argument has a value, or is of a type, that it cannot have; the message has its name and the value.

    It is a ValueError and a TypeError at once, as is scikit-learn's own error for parameters, so that code which
    catches either need not know where one ends and the other begins.
    """


# Its home for users. It is defined here because `evoke.exceptions` needs scikit-learn, whose import takes longer than
# that of all modules which check an argument.
ParameterError.__module__ = "evoke.exceptions"


def shown(value: Any) -> str:
    """The value as a message shows it: on one line, of about 50 characters, a scalar of NumPy as the number it is."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufcSU":
        value = value.item()
    if isinstance(value, int) and value.bit_length() > 2000:  # thousands of digits have no repr
        return f"an integer of {value.bit_length()} bits"
    try:
        text = " ".join(_SHORT.repr(value).splitlines())
    except Exception:  # of a class of somebody else
        text = f"{type(value).__name__} without a repr"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def refusal(name: str, demand: str, value: Any) -> ParameterError:
    """The error to raise: `name` must do what is demanded, but has this value."""
    return ParameterError(f"{name} must {demand}, got {shown(value)}")
