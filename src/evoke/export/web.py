"""A model as one web page, which computes what the model does."""

from __future__ import annotations

import html
import json
import os
import re
from importlib.resources import files
from typing import Any

import numpy as np

from evoke._validation.arrays import FloatArray, to_array, to_float
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_path, is_unicode
from evoke._version import __version__
from evoke.export.examples import examples_of
from evoke.export.plan import Plan, Scale, check_range, fitted_of, plan_of
from evoke.export.rolling_plan import RollingPlan, check_rolling_range, rolling_plan_of
from evoke.export.rolling_run import rolling_examples
from evoke.export.rolling_web import rolling_numbers
from evoke.forecasting.model import RollingModel
from evoke.persistence.atomic import replacing

__all__ = ["html_page", "to_html"]

# Steps of an example, and its default of a forecaster that goes on by itself.
_MOST_STEPS, _N_FORECASTS = 5000, 100


def to_html(model: Any, path: Any, *, X: Any = None, symbols: Any = None, title: Any = None) -> None:
    """Write a fitted model as one web page, for people who have no Python.

    The page says what the model is, shows its fitness over the generations, the cells and values along an example that
    can be edited or drawn, and what the model says of it. It computes that itself, in double precision, and needs no
    network and no other file.

    Parameters
    ----------
    model : EvokeClassifier, EvokeRegressor or EvokeForecaster
        A fitted one.
    path : str or PathLike
        Where the file is written, as a whole or not at all; ``~`` is the home folder.
    X : ndarray of shape (n_steps, n_features), optional
        The example: at most 5000 steps of one sequence; of a forecaster, the external inputs that follow the series of
        `fit`. By default 16 random steps, or 100 forecasts.
    symbols : str, optional
        One character for each feature, where a step is a symbol: 1 in its own column and -1 in the others, as from
        `evoke.tasks.Language.encode`. The example is then a text.
    title : str, optional
        The heading. By default the name of the estimator.

    Raises
    ------
    NotFittedError
        The model has not learned anything.
    ValueError
        It has a part that cannot be read step by step, or X or `symbols` do not fit it.
    OSError
        The file cannot be written; what was there stays.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.export import to_html
    >>> X, y = tasks.anbncn(5)
    >>> model = EvokeClassifier(n_generations=2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_html(model, Path(folder) / "model.html", X=X[2], symbols="Sabc")
    """
    check_path(path)
    page = html_page(model, X=X, symbols=symbols, title=title)
    with replacing(os.fspath(path)) as file:
        file.write(page.encode())


def html_page(model: Any, *, X: Any = None, symbols: Any = None, title: Any = None) -> str:
    """The text of the page that `to_html` writes.

    Parameters
    ----------
    model, X, symbols, title
        As in `to_html`.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    ValueError
        As by `to_html`.
    """
    fitted = fitted_of(model)
    plan: Plan | RollingPlan
    if isinstance(fitted, RollingModel):
        plan = rolling_plan_of(fitted, type(model).__name__)
        check_rolling_range(plan, "float64")
    else:
        plan = plan_of(model, "a web page")
        check_range(plan, "float64")
    if title is not None and (not isinstance(title, str) or not title.strip() or not is_unicode(title)):
        raise refusal("title", "be a text", title)
    if symbols is not None and (
        not isinstance(symbols, str) or not symbols or len(symbols) != plan.n_features
        or len(set(symbols)) != len(symbols) or not symbols.isprintable() or any(symbol.isspace() for symbol in symbols)
    ):  # fmt: skip
        raise refusal("symbols", f"be one text of {plan.n_features} different characters without spaces", symbols)
    if isinstance(plan, RollingPlan):
        given, expected, allowed = rolling_examples(model, plan, None, "float64")
        numbers, outputs, fitness = rolling_numbers(plan), [f"value {o + 1}" for o in range(plan.n_outputs)], []
    else:
        given, expected, allowed = examples_of(model, plan, None, "float64")
        numbers, outputs = _numbers(plan), _outputs(plan)
        fitness = [float(record["best_fitness"]) for record in model.history_]
    page = {
        "plan": numbers, "words": plan.in_words() + ".", "facts": _facts(model, plan), "given": given.tolist(),
        "expected": expected.tolist(), "allowed": allowed, "names": _names(plan), "symbols": symbols and list(symbols),
        "outputs": outputs, "fitness": [value if np.isfinite(value) else None for value in fitness],
        "example": _example(plan, X, given, symbols),
    }  # fmt: skip
    # so that no text within ends the element
    text = json.dumps(page, allow_nan=False).replace("<", "\\u003c")
    values = {
        "TITLE": html.escape(title or plan.estimator), "WRITTEN": f"Written by evoke {__version__}", "PAGE": text,
        "MODEL": _part("page_rolling.js" if isinstance(plan, RollingPlan) else "page_model.js"),
        "VIEW": _part("page_view.js"),
    }  # fmt: skip
    return re.sub("@([A-Z]+)@", lambda found: values[found[1]], _part("page.html"))


def _part(name: str) -> str:
    return files("evoke.export").joinpath(name).read_text(encoding="utf-8")


def _numbers(plan: Plan) -> dict[str, Any]:
    """A plan as page_model.js reads it."""
    machine = plan.machine
    return {
        "genomes": plan.genomes.tolist(), "cell": plan.cell, "gate_bias": list(plan.gate_bias),
        "n_features": plan.n_features, "lags": list(plan.lags), "inputs": _scale(plan.inputs), "pool": list(plan.pool),
        "washout": plan.washout, "read": _scale(plan.read), "per_sequence": plan.per_sequence,
        "labels": None if plan.labels is None else [str(label) for label in plan.labels.tolist()],
        "multilabel": plan.multilabel, "feedback_scale": plan.feedback_scale,
        "end": None if plan.end is None else plan.end.tolist(),
        "last": None if plan.last is None else np.ravel(plan.last).tolist(),
        "machine": {
            "kernel": machine.kernel, "gamma": float(machine.gamma), "coef0": float(machine.coef0),
            "degree": int(machine.degree), "vectors": machine.vectors.tolist(), "coef": machine.coef.tolist(),
            "intercept": machine.intercept.tolist(),
        },
    }  # fmt: skip


def _scale(scale: Scale | None) -> dict[str, Any] | None:
    if scale is None:
        return None
    limit = float(scale.limit) if np.isfinite(scale.limit) else None
    return {"mean": scale.mean.tolist(), "inverse": scale.inverse.tolist(), "limit": limit}


def _names(plan: Plan | RollingPlan) -> list[str]:
    return plan.names or [f"x{k + 1}" for k in range(plan.n_features)]


def _outputs(plan: Plan) -> list[str]:
    """What the values of the readout are called."""
    if plan.labels is not None and plan.n_outputs == len(plan.labels):
        return [str(label) for label in plan.labels.tolist()]
    if plan.labels is not None and not plan.multilabel:
        return [f"{plan.labels[1]} where above 0"]
    return [f"value {o + 1}" for o in range(plan.n_outputs)]


def _facts(model: Any, plan: Plan | RollingPlan) -> list[tuple[str, str]]:
    """What a person may want to know of it, in words."""
    facts = [("model", " ".join(repr(model).split()))]
    if plan.names:
        facts.append(("features", ", ".join(plan.names)))
    if isinstance(plan, RollingPlan):
        return facts
    if plan.labels is not None and not plan.multilabel:
        facts.append(("classes", ", ".join(str(label) for label in plan.labels.tolist())))
    facts.append(("evolution", f"{len(model.history_)} generations, {model.n_evaluations_} networks"))
    return [*facts, ("fitness", f"{model.best_fitness_:.6g}")]


def _example(plan: Plan | RollingPlan, X: Any, given: Any, symbols: str | None) -> list[list[float]]:
    """Steps (n, n_features) with which the page begins."""
    if X is None:
        if symbols is not None:
            return _one_hot(np.arange(plan.n_features), plan.n_features)
        if not plan.n_features:
            return [[]] * _N_FORECASTS
        return _listed(given[:, : plan.n_features])
    rows = to_float(to_array(X, "X"), "X")
    if (
        rows.ndim != 2 or rows.shape[1] != plan.n_features or not 0 < len(rows) <= _MOST_STEPS
        or not np.isfinite(rows).all()
    ):  # fmt: skip
        raise refusal("X", f"be finite numbers of shape (n_steps, {plan.n_features}), at most {_MOST_STEPS} steps", X)
    if symbols is not None and not np.array_equal(rows, _one_hot(rows.argmax(axis=1), plan.n_features)):
        raise refusal("X", "have 1 in the column of its symbol and -1 in the others, as there are symbols", X)
    return _listed(rows)


def _one_hot(symbols: Any, n: int) -> list[list[float]]:
    return _listed(np.where(np.arange(n) == symbols[:, np.newaxis], 1.0, -1.0))


def _listed(rows: FloatArray) -> list[list[float]]:
    listed: list[list[float]] = rows.tolist()
    return listed
