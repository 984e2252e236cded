"""The check of a certificate, in plain Python: it shares no code with the proof, NumPy or the compiled core.

It reads the model file itself and follows the certificate in intervals. Of a family of strings it finds out for each
case whether what the file says of each loop holds before its first round, and after a round if it held before; of
brackets, whether no bracket leads out of the boxes that the file has. Sums, exp and tanh are bounded in decimal
arithmetic of 40 digits, states in exact fractions. What is taken for granted of the core: double precision rounded to
the nearest number; s(t) = fma(f, s(t-1), i z); logistic and tanh within `arithmetic.ERROR` of the exact values, and
exactly 1 from `ONE_LOGISTIC` and `ONE_TANH` on; sums of n terms within n rounding errors of the sum of their sizes, in
whatever order.
"""

from __future__ import annotations

import json
import struct
import zipfile
from typing import Any

from evoke.certification.checker.arithmetic import CertificateError, demand
from evoke.certification.checker.counts import LANGUAGES, check_counts, followers_of, phases_of
from evoke.certification.checker.depths import BRACKETS, check_depths
from evoke.certification.checker.network import Model

__all__ = ["CertificateError", "check", "claim"]


def claim(certificate: str) -> str:
    """The strings that a certificate is about, by their phases or in words.

    Parameters
    ----------
    certificate : str
        The text that `Certificate.to_json` gave.

    Returns
    -------
    str
        Such as ``anbncn: 1^n 2^n 3^n``, with the symbols by their numbers. Of strings that are not known here it also
        says which outputs must be positive, and no others, after each symbol.
    """
    facts = json.loads(certificate)
    name = facts["language"]
    if name in BRACKETS:
        return f"{name}: {BRACKETS[name]}"
    return f"{name}: {phases_of(facts)}" if name in LANGUAGES else f"{name}: {phases_of(facts)}; {followers_of(facts)}"


def check(certificate: str, model: Any) -> tuple[int, float]:
    """Check a certificate.

    Parameters
    ----------
    certificate : str
        The text that `Certificate.to_json` gave.
    model : str, PathLike or binary file
        The file of the model that it is about.

    Returns
    -------
    up_to : int
        All strings with counts from 1 to this number, or of brackets up to this depth, are accepted.
    margin : float
        The least margin.

    Raises
    ------
    CertificateError
        It does not hold, or cannot be read.
    """
    try:
        return _check(json.loads(certificate), Model(model))
    except CertificateError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, SyntaxError,
            struct.error, zipfile.BadZipFile) as error:  # fmt: skip
        raise CertificateError(f"the certificate or the model cannot be read: {error!r}") from None


def _check(facts: Any, model: Model) -> tuple[int, float]:
    demand(isinstance(facts, dict), "the certificate is no object of JSON")
    demand(facts.get("format") == 1, "the format of the certificate is not known")
    name = facts.get("language")
    demand(isinstance(name, str) and name.isprintable() and 0 < len(name) <= 200, "the strings have no name")
    check_strings = check_depths if facts["language"] in BRACKETS else check_counts
    up_to, margin = check_strings(facts, model)
    return up_to, float(margin)
