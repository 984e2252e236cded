"""The parts of a model as nodes of ONNX: inputs, cells, statistics, readout."""

from __future__ import annotations

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.export.onnx_graph import Graph
from evoke.export.plan import Machine, Plan

__all__ = [
    "activations", "decisions", "gaussian", "network_inputs", "next_cells", "pooled_features", "step_of_series",
]  # fmt: skip

# Numbers of support vectors up to which all differences to them are made; above it squared distances come from
# products, which is less exact and takes less memory.
_MOST_DIFFERENCES = 2**14

# Gates as ONNX orders them in its LSTM operator, from z, input, forget, output.
_ONNX_GATES = [1, 3, 2, 0]


def network_inputs(graph: Graph, plan: Plan, X: str, index: str, lengths: str, parts: dict[str, str]) -> str:
    """What networks read (batch, steps, n), without the last input, 1, where there is one; `before` is put forward."""
    columns = [X]
    if plan.lags:
        kept, F = plan.n_kept, plan.n_features
        rows = graph.add("Concat", graph.reshape(parts["before"], 0, kept, F), X, axis=1)
        step = graph.add("Add", graph.cast(index), parts["t"])  # (batch, steps)
        for lag in plan.lags:
            earlier = graph.add("Slice", rows, graph.whole([kept - lag]), graph.whole([-lag]), graph.whole([1]))
            there = graph.add("Greater", step, graph.constant(lag - 0.5))
            there = graph.add("Unsqueeze", there, graph.whole([2]))
            columns.append(graph.add("Where", there, graph.add("Sub", X, earlier), graph.constant(0.0)))
        last = graph.add("Add", graph.add("Unsqueeze", lengths, graph.whole([1, 2])),
                         graph.whole(np.arange(kept)[np.newaxis, :, np.newaxis]))  # fmt: skip
        parts["before"] = graph.reshape(graph.add("GatherND", rows, last, batch_dims=1), 0, kept * F)
    inputs = columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=2)
    if plan.inputs is None:
        return inputs
    inputs = graph.add("Sub", inputs, graph.constant(plan.inputs.mean))
    return graph.add("Mul", inputs, graph.constant(plan.inputs.inverse))


def weights_of(plan: Plan) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights from inputs (n, I, 4, H) and cells (n, H, 4, H), and biases (n, 4, H); an input that is 1 is a bias."""
    n, H, n_inputs = plan.n_networks, plan.n_cells, plan.n_inputs
    weights = plan.genomes.reshape(n, H, 4, n_inputs + H).transpose(0, 3, 2, 1)
    bias = np.broadcast_to(np.array([0.0, *plan.gate_bias])[:, np.newaxis], (n, 4, H))
    if plan.inputs is None:
        return weights[:, :n_inputs], weights[:, n_inputs:], bias
    return weights[:, : n_inputs - 1], weights[:, n_inputs:], bias + weights[:, n_inputs - 1]


def activations(graph: Graph, plan: Plan, inputs: str, counted: str, lengths: str, parts: dict[str, str]) -> str:
    """Those of all cells (steps, networks, batch, cells); `s` and `phi` are put forward."""
    rows = graph.add("Transpose", inputs, perm=[1, 0, 2])
    # the operator's gates are not exact where they are nearly closed, of which "positive" makes much
    if graph.real == np.float32 and plan.cell == "lstm" and "positive" not in plan.pool:
        return _by_operator(graph, plan, rows, lengths, parts)
    n, H = plan.n_networks, plan.n_cells
    from_inputs, from_cells, bias = weights_of(plan)
    n_inputs = from_inputs.shape[1]
    table = graph.constant(from_inputs.transpose(1, 0, 2, 3).reshape(n_inputs, n * 4 * H))
    nets = graph.add("Add", graph.add("MatMul", rows, table), graph.constant(bias.reshape(-1)))
    nets = graph.add("Transpose", graph.reshape(nets, 0, 0, n, 4 * H), perm=[0, 2, 1, 3])
    body = Graph(graph.real, "cells")
    s, phi = (body.input(name, [n, None, H]) for name in ("cells_s", "cells_phi"))
    net, here = body.input("cells_net", [n, None, 4 * H]), body.input("cells_here", [None, 1], np.bool_)
    s_now, phi_now = next_cells(body, plan.cell, net, s, phi, from_cells)
    phi_now = body.add("Where", here, phi_now, phi)
    body.output(body.add("Where", here, s_now, s), "cells_s_out", [n, None, H])
    body.output(phi_now, "cells_phi_out", [n, None, H])
    body.output(phi_now, "cells_phi_kept", [n, None, H])
    states = [by_network(graph, plan, parts[name]) for name in ("s", "phi")]
    found = graph.scan(body, states, [nets, columns_of(graph, counted)], 1)
    parts["s"], parts["phi"] = (by_sequence(graph, plan, end) for end in found[:2])
    return found[2]


def next_cells(graph: Graph, cell: str, net: str, s: str, phi: str, from_cells: FloatArray) -> tuple[str, str]:
    """States and outputs (networks, batch, cells) after a step, from sums over its inputs and those before."""
    n, H = from_cells.shape[:2]
    recurrent = graph.add("MatMul", phi, graph.constant(from_cells.reshape(n, H, 4 * H)))
    z, gates = graph.parts(graph.add("Add", net, recurrent), [H, 3 * H], 2)
    # runtimes make Sigmoid 0 from -18 or -37 on, but a statistic may count what is above it, and units make it larger
    one = graph.constant(1.0)
    gates = graph.add("Div", one, graph.add("Add", one, graph.add("Exp", graph.add("Neg", gates))))
    i, f, o = graph.parts(gates, [H] * 3, 2)
    if cell == "lstm":
        z = graph.add("Tanh", z)
    s = graph.add("Add", graph.add("Mul", i, z), graph.add("Mul", f, s))
    if cell == "lstm":
        return s, graph.add("Mul", o, graph.add("Tanh", s))
    return s, graph.add("Tanh", graph.add("Mul", o, s))


def _by_operator(graph: Graph, plan: Plan, rows: str, lengths: str, parts: dict[str, str]) -> str:
    """The LSTM operator, whose cells are those of all networks."""
    n, H = plan.n_networks, plan.n_cells
    from_inputs, from_cells, bias = (part[..., _ONNX_GATES, :] for part in weights_of(plan))
    W = from_inputs.transpose(2, 0, 3, 1).reshape(1, 4 * n * H, -1)
    R = np.zeros((4, n, H, n, H))
    for k in range(n):
        R[:, k, :, k] = from_cells[k].transpose(1, 2, 0)
    B = np.concatenate([bias.transpose(1, 0, 2).reshape(1, -1), np.zeros((1, 4 * n * H))], axis=1)
    first = [graph.add("Unsqueeze", parts[name], graph.whole([0])) for name in ("phi", "s")]
    Y, phi, s = graph.several(
        "LSTM", 3, rows, graph.constant(W), graph.constant(R.reshape(1, 4 * n * H, n * H)), graph.constant(B),
        graph.cast(lengths, np.int32), *first, hidden_size=n * H,
    )  # fmt: skip
    some = graph.add("Unsqueeze", graph.add("Greater", lengths, graph.whole(0)), graph.whole([1]))
    for name, end in ("phi", phi), ("s", s):  # of a sequence without steps the operator forgets the state
        parts[name] = graph.add("Where", some, graph.add("Squeeze", end, graph.whole([0])), parts[name])
    Y = graph.reshape(graph.add("Squeeze", Y, graph.whole([1])), 0, 0, n, H)
    return graph.add("Transpose", Y, perm=[0, 2, 1, 3])


def step_of_series(graph: Graph, plan: Plan, given: str, state: str) -> tuple[str, str]:
    """Activations (batch, cells) and the state after a step of one network."""
    H = plan.n_cells
    from_inputs, from_cells, bias = weights_of(plan)
    net = graph.add("MatMul", given, graph.constant(from_inputs[0].reshape(-1, 4 * H)))
    net = graph.add("Unsqueeze", graph.add("Add", net, graph.constant(bias.reshape(-1))), graph.whole([0]))
    s, phi = (by_network(graph, plan, part) for part in graph.parts(state, [H, H], 1))
    s, phi = (by_sequence(graph, plan, now) for now in next_cells(graph, plan.cell, net, s, phi, from_cells))
    return phi, graph.add("Concat", s, phi, axis=1)


def by_network(graph: Graph, plan: Plan, value: str) -> str:
    """From (batch, networks * cells) to (networks, batch, cells)."""
    return graph.add("Transpose", graph.reshape(value, 0, plan.n_networks, plan.n_cells), perm=[1, 0, 2])


def by_sequence(graph: Graph, plan: Plan, value: str) -> str:
    """The way back."""
    value = graph.add("Transpose", value, perm=[1, 0, 2])
    return graph.reshape(value, 0, plan.n_networks * plan.n_cells)


def columns_of(graph: Graph, counted: str) -> str:
    """Which steps count, (steps, batch, 1)."""
    return graph.add("Unsqueeze", graph.add("Transpose", counted, perm=[1, 0]), graph.whole([2]))


# ------------------------------------------------------------------ statistics


def pooled_features(graph: Graph, plan: Plan, phi: str, before: str, counted: str, parts: dict[str, str]) -> str:
    """The statistics (batch, n_features) after the last step; what is kept of them is put forward."""
    n, H = plan.n_networks, plan.n_cells
    kept = [name for name in parts if name not in ("s", "phi", "before", "t")]
    if kept:
        body = Graph(graph.real, "pool")
        t, old_phi = body.input("pool_t", [None, 1]), body.input("pool_before", [n, None, H])
        old = {name: body.input(f"pool_{name}", [n, None, H]) for name in kept}
        now, here = body.input("pool_phi", [n, None, H]), body.input("pool_here", [None, 1], np.bool_)
        body.output(body.add("Add", t, body.cast(here)), "pool_t_out", [None, 1])
        body.output(body.add("Where", here, now, old_phi), "pool_before_out", [n, None, H])
        for name, value in _followed(body, plan, t, old_phi, now, old).items():
            body.output(body.add("Where", here, value, old[name]), f"pool_{name}_out", [n, None, H])
        states = [parts["t"], *(by_network(graph, plan, part) for part in (before, *(parts[name] for name in kept)))]
        found = graph.scan(body, states, [phi, columns_of(graph, counted)], 0)
        parts |= {name: by_sequence(graph, plan, end) for name, end in zip(kept, found[2:], strict=True)}
        t_end = found[0]
    else:
        t_end = parts["t"]
    count = _since(graph, plan, graph.add("Sub", t_end, graph.constant(1.0)), 1.0)
    columns = []
    for statistic in plan.pool:
        value = parts["phi"] if statistic == "last" else parts["squares" if statistic == "std" else statistic]
        if statistic in ("std", "positive"):
            value = graph.add("Div", value, count)
        if statistic == "std":
            value = graph.add("Sqrt", value)
        if statistic == "change":
            changes = graph.add("Max", graph.add("Sub", count, graph.constant(1.0)), graph.constant(1.0))
            value = graph.add("Div", value, changes)
        columns.append(graph.add("Unsqueeze", graph.reshape(value, 0, n, H), graph.whole([2])))
    return graph.reshape(graph.add("Concat", *columns, axis=2), 0, len(columns) * n * H)


def _since(graph: Graph, plan: Plan, t: str, more: float) -> str:
    """Steps since the washout, or since the beginning as long as it lasts, and so many more."""
    if plan.washout:
        after = graph.add("Sub", t, graph.constant(float(plan.washout)))
        over = graph.add("Greater", after, graph.constant(-0.5))
        t = graph.add("Where", over, after, t)
    return graph.add("Add", t, graph.constant(more))


def _followed(body: Graph, plan: Plan, t: str, before: str, now: str, old: dict[str, str]) -> dict[str, str]:
    """What is kept of the statistics, after one more step."""
    zero = body.constant(0.0)
    count = _since(body, plan, t, 1.0)
    first = body.add("Less", count, body.constant(1.5))
    nothing, found = body.add("Mul", now, zero), {}
    if "mean" in old:
        deviation = body.add("Sub", now, old["mean"])
        mean = body.add("Add", old["mean"], body.add("Div", deviation, count))
        found["mean"] = body.add("Where", first, now, mean)
    if "squares" in old:
        more = body.add("Mul", deviation, body.add("Sub", now, found["mean"]))
        found["squares"] = body.add("Where", first, nothing, body.add("Add", old["squares"], more))
    for name, kind in ("max", "Max"), ("min", "Min"):
        if name in old:
            found[name] = body.add("Where", first, now, body.add(kind, now, old[name]))
    if "positive" in old:
        yes = body.cast(body.add("Greater", now, zero))
        found["positive"] = body.add("Where", first, yes, body.add("Add", old["positive"], yes))
    if "change" in old:
        size = body.add("Abs", body.add("Sub", now, before))
        found["change"] = body.add("Where", first, nothing, body.add("Add", old["change"], size))
    return {name: found[name] for name in old}


# ------------------------------------------------------------------ the readout


def decisions(graph: Graph, plan: Plan, read: str) -> str:
    """Decision values (..., n_outputs) from what the readout reads (..., n_read)."""
    machine = plan.machine
    if plan.read is not None:
        read = graph.add("Sub", read, graph.constant(plan.read.mean))
        read = graph.add("Mul", read, graph.constant(plan.read.inverse))
        if np.isfinite(plan.read.limit):
            limit = float(plan.read.limit)
            read = graph.add("Clip", read, graph.constant(-limit), graph.constant(limit))
    if machine.kernel == "rbf":
        read = gaussian(graph, machine, read)
    elif machine.kernel == "poly":
        products = graph.add("MatMul", read, graph.constant(machine.vectors.T))
        base = graph.add("Mul", products, graph.constant(machine.gamma))
        base = graph.add("Add", base, graph.constant(machine.coef0))
        read = graph.add("Pow", base, graph.constant(float(machine.degree)))
    sums = graph.add("MatMul", read, graph.constant(machine.coef))
    return graph.add("Add", sums, graph.constant(machine.intercept))


def gaussian(graph: Graph, machine: Machine, read: str) -> str:
    """Values (..., n_support) of the Gaussian kernel."""
    vectors = machine.vectors
    if vectors.size <= _MOST_DIFFERENCES:
        difference = graph.add("Sub", graph.add("Unsqueeze", read, graph.whole([-2])), graph.constant(vectors))
        distances = graph.add("ReduceSum", graph.add("Mul", difference, difference), graph.whole([-1]), keepdims=0)
    else:
        centre = vectors.mean(axis=0)
        vectors = vectors - centre
        read = graph.add("Sub", read, graph.constant(centre))
        own = graph.add("ReduceSum", graph.add("Mul", read, read), graph.whole([-1]), keepdims=1)
        products = graph.add("MatMul", read, graph.constant(2.0 * vectors.T))
        distances = graph.add("Sub", graph.add("Add", own, graph.constant((vectors**2).sum(axis=1))), products)
    return graph.add("Exp", graph.add("Mul", distances, graph.constant(-machine.gamma)))
