"""Parameters of an estimator from options: ``-p name=value``."""

from __future__ import annotations

import ast
import difflib
import json
from typing import Any

import click

from evoke.cli.parameter_help import ELSEWHERE
from evoke.estimators.base import check_parameters

__all__ = ["make_estimator", "preset_parameters"]

_SPLITTERS = ("KFold", "StratifiedKFold", "ShuffleSplit", "StratifiedShuffleSplit", "TimeSeriesSplit")


def preset_parameters(task: str, preset: str | None) -> dict[str, Any]:
    """The parameters of a preset for a task.

    Raises
    ------
    click.BadParameter
        One that is not for this task.
    """
    if preset is None:
        return {}
    from evoke.reproduce.presets import PRESETS, SINES_PRESETS

    if preset == "languages":
        if task != "classify":
            raise click.BadParameter(f"languages is for --task classify, not for {task}", param_hint="'--preset'")
        return PRESETS["languages"]
    return {"readout": "svm"} | (SINES_PRESETS[preset]["svm"] if task == "forecast" else PRESETS[preset])


def make_estimator(
    kind: type[Any], settings: tuple[str, ...], preset: dict[str, Any] | None = None, **own: Any
) -> Any:
    """An estimator of this class with the parameters of the user, all of them checked.

    Parameters
    ----------
    kind : class
    settings : tuple of str
        ``name=value`` each.
    preset : dict, optional
        Parameters for which these have no value.
    **own
        Further parameters.

    Raises
    ------
    click.BadParameter
        An unknown name, or a value that the estimator refuses.
    """
    parameters: dict[str, Any] = {}
    known = [name for name in kind().get_params() if name not in ELSEWHERE]
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise _refusal(f"{setting!r} is not of the form name=value")
        if name in ELSEWHERE:
            raise _refusal(f"{name} cannot be set with -p: {ELSEWHERE[name]}")
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}"
            raise _refusal(f"{kind.__name__} has no parameter {name!r}; {hint}")
        if name in parameters:
            raise _refusal(f"{name} is given twice")
        parameters[name] = _splitter(text, own.get("random_state")) if name == "validation" else _value(text)
    estimator = kind(**({} if preset is None else preset) | parameters, **own)
    try:
        check_parameters(estimator)
    except ValueError as error:
        raise _refusal(str(error)) from None
    return estimator


def _value(text: str) -> Any:
    """A literal of JSON or Python; anything else is text."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text


def _splitter(text: str, seed: Any) -> Any:
    """A splitter of scikit-learn, written as it is made in Python; what is no call is a value like any other.

    Where it shuffles, and has no seed of its own, it has that of the model.
    """
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _value(text)
    if not isinstance(call, ast.Call):
        return _value(text)
    name = ast.unparse(call.func)
    if name not in _SPLITTERS:
        raise _refusal(f"validation={text} is not known here; splitters are {', '.join(_SPLITTERS)}")
    from sklearn import model_selection

    try:
        values = [ast.literal_eval(argument) for argument in call.args]
        named = {str(argument.arg): ast.literal_eval(argument.value) for argument in call.keywords}
        splitter = getattr(model_selection, name)(*values, **named)
    except (TypeError, ValueError) as error:
        raise _refusal(f"validation={text} cannot be made: {error}") from None
    if getattr(splitter, "shuffle", hasattr(splitter, "random_state")) and splitter.random_state is None:
        splitter.random_state = seed
    return splitter


def _refusal(reason: str) -> click.BadParameter:
    return click.BadParameter(reason, param_hint="'-p'")
