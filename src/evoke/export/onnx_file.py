"""A model as a graph of ONNX."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from evoke._validation.parameters import check_choice, check_flag, check_path
from evoke._version import __version__
from evoke.export.onnx_graph import Graph, onnx_package
from evoke.export.onnx_parts import activations, decisions, network_inputs, pooled_features, step_of_series
from evoke.export.onnx_rolling import rolling_graph
from evoke.export.plan import Plan, check_range, fitted_of, plan_of
from evoke.export.rolling_plan import RollingPlan, check_rolling_range, rolling_plan_of
from evoke.forecasting.model import RollingModel
from evoke.persistence.atomic import replacing

__all__ = ["to_onnx"]


def to_onnx(model: Any, path: Any, *, dtype: str = "float64", stateful: bool = False) -> None:
    """Write a fitted model to an ONNX file. It takes the package ``onnx``, ``pip install '.[export]'`` in a checkout.

    Inputs of a classifier or a regressor are `X` (batch, steps, features) and `lengths` (batch,), the number of steps
    of each sequence: what follows after them has no part in anything. Outputs are `label`, `decision_function` and,
    where the model has them, `probabilities`; or `prediction`. They are for each step, or for each sequence where the
    model was trained so. With `stateful` there are also `state` (batch, n) and `state_out`: the first piece of a
    sequence is read with zeros, each other one with what the piece before has left.

    A forecaster reads one step of its feedback loop: `y` (batch, n_outputs), the values of the step before, and `x`
    (batch, n_features) if it has external inputs, and always `state`. `prediction` is the next `y`. State and values at
    the end of the series of `fit` are in the metadata of the file, as JSON: `evoke.end_state` and `evoke.end_y`.

    Parameters
    ----------
    model : EvokeClassifier, EvokeRegressor or EvokeForecaster
        A fitted one.
    path : str or PathLike
        Where the file is written, as a whole or not at all; ``~`` is the home folder.
    dtype : {"float64", "float32", "mixed"}, default="float64"
        Its precision; "mixed" is float32 but for the readout, whose coefficients may be large. Cells are a loop (Scan)
        of plain operators; in single precision those of ``cell="lstm"`` are the LSTM operator, which ONNX runtimes make
        fast, and which knows no double. A model whose `pool` has "positive" keeps the loop: gates that are nearly
        closed are zero to the operator.
    stateful : bool, default=False
        Whether states are given and returned.

    Raises
    ------
    ImportError
        The package onnx is not installed.
    NotFittedError
        The model has not learned anything.
    ValueError
        It has a part that cannot be read step by step.
    OSError
        The file cannot be written; what was there stays.
    """
    check_path(path)
    check_choice("dtype", dtype, ("float64", "float32", "mixed"))
    check_flag("stateful", stateful)
    fitted = fitted_of(model)
    plan: Plan | RollingPlan
    if isinstance(fitted, RollingModel):
        plan = rolling_plan_of(fitted, type(model).__name__)
        check_rolling_range(plan, dtype)
    else:
        plan = plan_of(model, "an ONNX file")
        check_range(plan, dtype)
    onnx_package()
    graph = Graph(np.dtype(np.float64 if dtype == "float64" else np.float32), "evoke")
    readout = np.dtype(np.float32 if dtype == "float32" else np.float64)
    properties: dict[str, str] = {}
    if isinstance(plan, RollingPlan):
        properties = rolling_graph(graph, plan, readout)
    elif plan.feedback_scale is not None:
        properties = _series(graph, plan, readout)
    else:
        _sequences(graph, plan, readout, stateful)
    made = graph.model(__version__, plan.in_words(), properties).SerializeToString()
    with replacing(os.fspath(path)) as file:
        file.write(made)


def _series(graph: Graph, plan: Plan, readout: np.dtype[Any]) -> dict[str, str]:
    """The graph of a step of a feedback loop."""
    n = 2 * plan.n_cells
    y = graph.input("y", ["batch", plan.n_outputs])
    given = graph.add("Mul", y, graph.constant(plan.feedback_scale))
    if plan.n_features:
        given = graph.add("Concat", graph.input("x", ["batch", plan.n_features]), given, axis=1)
    state = graph.input("state", ["batch", n])
    phi, after = step_of_series(graph, plan, given, state)
    real = graph.real
    graph.output(decisions(graph, plan, graph.turned(phi, readout)), "prediction", ["batch", plan.n_outputs])
    graph.output(after, "state_out", ["batch", n], real)
    assert plan.end is not None and plan.last is not None
    return {"evoke.end_state": json.dumps(plan.end.ravel().tolist()), "evoke.end_y": json.dumps(plan.last.tolist())}


def _sequences(graph: Graph, plan: Plan, readout: np.dtype[Any], stateful: bool) -> None:
    """The graph of sequences, in pieces or as wholes."""
    X = graph.input("X", ["batch", "steps", plan.n_features])
    lengths = graph.input("lengths", ["batch"], np.int64)
    sizes = _state_sizes(plan)
    names, total = list(sizes), sum(sizes.values())
    if stateful:
        state = graph.input("state", ["batch", total])
    else:
        shape = graph.add("Concat", graph.size(X, 0), graph.whole([total]), axis=0)
        state = graph.add("Expand", graph.constant(0.0), shape)
    parts = dict(zip(names, graph.parts(state, list(sizes.values()), 1), strict=True))

    index = graph.add("Range", graph.whole(0), graph.add("Squeeze", graph.size(X, 1), graph.whole([0])), graph.whole(1))
    counted = graph.add("Less", index, graph.add("Unsqueeze", lengths, graph.whole([1])))  # (batch, steps)
    inputs = network_inputs(graph, plan, X, index, lengths, parts)
    before = parts["phi"]
    phi = activations(graph, plan, inputs, counted, lengths, parts)  # (steps, networks, batch, cells)
    if plan.pool:
        read = pooled_features(graph, plan, phi, before, counted, parts)
    elif plan.per_sequence:
        read = parts["phi"]
    else:
        read = graph.reshape(graph.add("Transpose", phi, perm=[2, 0, 1, 3]), 0, 0, plan.n_networks * plan.n_cells)
    if "t" in parts:
        parts["t"] = graph.add("Add", parts["t"], graph.cast(graph.add("Unsqueeze", lengths, graph.whole([1]))))
    real, after = graph.real, graph.add("Concat", *(parts[name] for name in names), axis=1) if stateful else None
    _answers(graph, plan, decisions(graph, plan, graph.turned(read, readout)))
    if after is not None:
        graph.output(after, "state_out", ["batch", total], real)


def _state_sizes(plan: Plan) -> dict[str, int]:
    """What a state holds, and how many numbers each part has."""
    n = plan.n_networks * plan.n_cells
    sizes = {"s": n, "phi": n}
    if plan.lags:
        sizes["before"] = plan.n_kept * plan.n_features
    if plan.lags or plan.pool:
        sizes["t"] = 1
    kept = {"mean": ["mean"], "std": ["mean", "squares"]}
    for statistic in plan.pool:
        sizes |= {part: n for part in kept.get(statistic, [statistic]) if part != "last"}
    return sizes


def _answers(graph: Graph, plan: Plan, values: str) -> None:
    """Outputs from decision values."""
    shape: list[Any] = ["batch"] if plan.per_sequence else ["batch", "steps"]
    whole = values
    if plan.flat:
        values = graph.add("Squeeze", values, graph.whole([-1]))
    own = shape if plan.flat else [*shape, plan.n_outputs]
    if plan.labels is None:
        graph.output(values, "prediction", own)
        return
    yes = graph.cast(graph.add("Greater", values, graph.constant(0.0)), np.int64)
    if plan.multilabel:
        graph.output(yes, "label", own, np.int64)
    else:
        table, kind = graph.labels(plan.labels)
        which = yes if plan.flat else graph.add("ArgMax", whole, axis=-1, keepdims=0)
        graph.output(graph.add("Gather", table, which), "label", shape, kind)
    graph.output(values, "decision_function", own)
    if plan.slope is not None:
        graph.output(_probabilities(graph, plan, whole), "probabilities", [*shape, plan.n_probabilities])


def _probabilities(graph: Graph, plan: Plan, values: str) -> str:
    """Those of the classes, or of a yes of each output, from decision values (..., n_outputs)."""
    assert plan.slope is not None
    values = graph.add("Mul", values, graph.constant(plan.slope))
    if plan.multilabel:
        return graph.add("Sigmoid", values)
    if plan.n_outputs == 1:
        values = graph.add("Concat", graph.add("Mul", values, graph.constant(0.0)), values, axis=-1)
    return graph.add("Softmax", values, axis=-1)
