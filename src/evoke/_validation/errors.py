"""The one exception for an argument that cannot be what it is, and its one wording."""

from __future__ import annotations

import re
import reprlib
import sys
from typing import Any

__all__ = ["ParameterError", "counted", "in_one_line", "printable", "refusal", "shown"]

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
    numpy = sys.modules.get("numpy")  # not imported here: the help of the command line needs this module, and no arrays
    if numpy is not None and isinstance(value, numpy.generic) and value.dtype.kind in "biufcSU":
        value = value.item()
    if isinstance(value, int) and value.bit_length() > 2000:  # thousands of digits have no repr
        return f"an integer of {value.bit_length()} bits"
    try:
        text = " ".join(_SHORT.repr(value).splitlines())
    except Exception:  # of a class of somebody else
        text = f"{type(value).__name__} without a repr"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


# Control characters but for line ends and tabs, those that end lines or turn the direction of text, half pairs.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def counted(n: int, noun: str) -> str:
    """A number of things, in words."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def printable(text: str) -> str:
    """The text with escapes in place of characters that a terminal obeys: files can hold any."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def in_one_line(text: str) -> str:
    """A name out of a file as it is, unless it is long or a terminal would obey it."""
    name = printable(text)
    return name if len(name) <= _MOST_SHOWN and name.isprintable() else shown(text)


def refusal(name: str, demand: str, value: Any) -> ParameterError:
    """The error to raise: `name` must do what is demanded, but has this value."""
    return ParameterError(f"{name} must {demand}, got {shown(value)}")
