"""A forecaster with rolling origins as a graph of ONNX: one step, with all that is remembered as a state."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.export.onnx_graph import Graph
from evoke.export.onnx_parts import gaussian, next_cells
from evoke.export.rolling_plan import Member, RollingPlan
from evoke.forecasting.reach import LEAVES, MOST_GROWTH

__all__ = ["rolling_graph"]

# What the growth of a range may be in single precision, as a logarithm: products with ranges stay finite.
_MOST_GROWTH = {8: MOST_GROWTH, 4: 60.0}


def rolling_graph(graph: Graph, plan: RollingPlan, readout: np.dtype[Any]) -> dict[str, str]:
    """Nodes of one step; returns what the metadata of the file say of the end of the series of `fit`."""
    return _Writer(graph, plan, readout).write()


class _Writer:
    """Cells have the precision of the graph, states and all else that of the readout.

    Shapes are (batch, runs, readouts, ...); rings of values are pushed along by one each step.
    """

    def __init__(self, graph: Graph, plan: RollingPlan, readout: np.dtype[Any]):
        self._graph, self._plan, self._cells, self._values = graph, plan, graph.real, readout
        graph.real = readout

    def write(self) -> dict[str, str]:
        graph, plan = self._graph, self._plan
        end = self._end()
        sizes = [part.size for part in end]
        n = sum(sizes)
        if plan.n_features:
            graph.real = self._cells
            x = graph.input("x", ["batch", plan.n_features])
            x = graph.add("Sub", x, graph.constant(plan.inputs.mean))
            self._external = graph.add("Mul", x, graph.constant(plan.inputs.inverse))
            graph.real = self._values
        state = graph.input("state", ["batch", n])
        parts = graph.parts(state, sizes, 1) if len(sizes) > 1 else [state]
        t, after, paths = parts[0], [], []
        for member in plan.members:
            here, parts = parts[1 : 3 + len(member.lags)], [t, *parts[3 + len(member.lags) :]]
            path, changed = self._member(member, here)
            paths.append(path)
            after += changed
        paths.append(self._beside(t, np.stack([plan.last, plan.mean])))
        if len(plan.season):
            season = graph.reshape(parts[1], 0, *plan.season.shape)
            now = self._slice(season, 0, 1, 1)
            paths.append(now)
            after.append(graph.reshape(self._pushed(season, now, len(plan.season), 1), 0, plan.season.size))
        values = self._mean(t, paths)
        after.insert(0, graph.add("Add", t, graph.constant(1.0)))
        graph.output(values, "prediction", ["batch", plan.n_outputs])
        graph.output(graph.add("Concat", *after, axis=1), "state_out", ["batch", n])
        return {"evoke.end_state": json.dumps(np.concatenate([part.ravel() for part in end]).tolist())}

    def _end(self) -> list[FloatArray]:
        """The parts of the state at the end of the series of `fit`: steps, those of the members, the season."""
        parts = [np.zeros(1)]
        for member in self._plan.members:
            n = member.n_readouts * self._plan.n_joined
            parts.append(np.repeat(member.states[:n][None], member.n_runs, axis=0))
            for kept in (member.before, *member.stages):
                parts.append(np.broadcast_to(kept, (member.n_runs, member.n_readouts, *kept.shape)))
        return [*parts, self._plan.season] if len(self._plan.season) else parts

    # ------------------------------------------------------------------ one member

    def _member(self, member: Member, parts: list[str]) -> tuple[str, list[str]]:
        """Values (batch, runs, n_outputs) of its runs after a step, and its parts of the state."""
        graph, plan = self._graph, self._plan
        runs, M, L, Q = member.n_runs, member.n_readouts, plan.n_before, plan.n_outputs
        last = graph.reshape(parts[1], 0, runs, M, L, Q)
        beside = self._external_of(runs, M, self._values) if plan.n_features else None
        phi, cells = self._networks(member, parts[0], last)
        read = graph.add("Concat", phi, self._lagged(last, plan.readout_lags, runs, M), *([beside] if beside else []),
                         axis=3)  # fmt: skip
        now = self._said(member, read)
        if member.adds_last:
            now = graph.add("Add", now, graph.reshape(self._slice(last, L - 1, L, 3), 0, runs, M, Q))
        now = self._held(now, graph.constant(member.low), graph.constant(member.high))
        after = [cells, self._flat(self._pushed(last, self._row(now), L, 3), runs * M * L * Q)]
        level = graph.add("Mul", now, graph.constant(member.deviation))
        level = graph.add("Add", level, graph.constant(member.mean))
        stages = []
        for lag, part in reversed(list(zip(member.lags, parts[2:], strict=True))):  # the last difference first
            stage = graph.reshape(part, 0, runs, M, lag, Q)
            level = graph.add("Add", level, graph.reshape(self._slice(stage, 0, 1, 3), 0, runs, M, Q))
            stages.append(self._flat(self._pushed(stage, self._row(level), lag, 3), runs * M * lag * Q))
        if member.log:
            level = graph.add("Exp", level)
        return self._median(level, M), after + stages[::-1]

    def _networks(self, member: Member, part: str, last: str) -> tuple[str, str]:
        """Activations (batch, runs, readouts, n_joined * n_cells) after a step, and the part of the state."""
        graph, plan = self._graph, self._plan
        runs, M, J, H = member.n_runs, member.n_readouts, plan.n_joined, plan.n_cells
        n, n_inputs = M * J, plan.n_inputs
        inputs = self._lagged(last, plan.lags, runs, M)
        graph.real = self._cells
        inputs = graph.cast(inputs)
        if plan.n_features:
            inputs = graph.add("Concat", inputs, self._external_of(runs, M, self._cells), axis=3)
        weights = plan.genomes[:n].reshape(n, H, 4, n_inputs + H).transpose(0, 3, 2, 1)  # (n, inputs and cells, 4, H)
        inputs = graph.add("Transpose", inputs, perm=[2, 0, 1, 3])
        inputs = graph.reshape(inputs, M, 1, -1, n_inputs - 1)  # batch and runs become one
        table = graph.constant(weights[:, : n_inputs - 1].reshape(M, J, n_inputs - 1, 4 * H))
        nets = graph.reshape(graph.add("MatMul", inputs, table), n, -1, 4 * H)
        nets = graph.add("Add", nets, graph.constant(weights[:, n_inputs - 1].reshape(n, 1, 4 * H)))
        cells = graph.add("Transpose", graph.reshape(graph.cast(part), 0, runs, n, 2, H), perm=[3, 2, 0, 1, 4])
        s, phi = (graph.reshape(each, n, -1, H) for each in graph.parts(cells, [1, 1], 0))
        s, phi = next_cells(graph, plan.cell, nets, s, phi, weights[:, n_inputs:])
        both = graph.add("Concat", *(graph.reshape(each, 1, n, -1, runs, H) for each in (s, phi)), axis=0)
        both = graph.add("Transpose", both, perm=[2, 3, 1, 0, 4])
        phi = graph.reshape(graph.add("Transpose", phi, perm=[1, 0, 2]), -1, runs, M, J * H)
        graph.real = self._values
        return graph.cast(phi), graph.cast(self._flat(both, runs * n * 2 * H))

    def _said(self, member: Member, read: str) -> str:
        """What the machines say (batch, runs, readouts, n_outputs)."""
        graph, runs, M, Q = self._graph, member.n_runs, member.n_readouts, self._plan.n_outputs
        if not member.features:
            coef = np.stack([[group[run].coef for group in member.machines] for run in range(runs)])
            intercept = np.stack([[group[run].intercept for group in member.machines] for run in range(runs)])
            sums = graph.add("MatMul", graph.add("Unsqueeze", read, graph.whole([3])), graph.constant(coef))
            return graph.add("Add", graph.reshape(sums, 0, runs, M, Q), graph.constant(intercept))
        read = graph.add("Sub", read, graph.constant(np.stack([scale.mean for scale in member.features])))
        read = graph.add("Mul", read, graph.constant(np.stack([scale.inverse for scale in member.features])))
        said = []
        for run in range(runs):
            for m, group in enumerate(member.machines):
                machine = group[run]
                row = graph.reshape(self._slice(self._slice(read, run, run + 1, 1), m, m + 1, 2), 0, self._plan.n_read)
                if machine.kernel == "rbf":
                    row = gaussian(graph, machine, row)
                sums = graph.add("MatMul", row, graph.constant(machine.coef))
                said.append(graph.add("Add", sums, graph.constant(machine.intercept)))
        return graph.reshape(graph.add("Concat", *said, axis=1), 0, runs, M, Q)

    def _median(self, values: str, n: int) -> str:
        """Of values (batch, runs, n, n_outputs) over the n."""
        graph, half = self._graph, n // 2 + 1
        largest, _ = graph.several("TopK", 2, values, graph.whole([half]), axis=2, largest=1, sorted=1)
        if n % 2:
            middle = self._slice(largest, half - 1, half, 2)
        else:
            pair = self._slice(largest, half - 2, half, 2)
            middle = graph.add("ReduceMean", pair, axes=[2], keepdims=1)
        return graph.add("Squeeze", middle, graph.whole([2]))

    # ------------------------------------------------------------------ the mean of all

    def _mean(self, t: str, paths: list[str]) -> str:
        """The weighted mean (batch, n_outputs) of paths (batch, n, n_outputs)."""
        graph, plan = self._graph, self._plan
        weights = np.concatenate([*(member.weights for member in plan.members), plan.naive])
        at = graph.cast(graph.add("Min", t, graph.constant(float(plan.n_judged - 1))), np.int64)
        at = graph.add("Squeeze", at, graph.whole([1]))
        share = graph.add("Gather", graph.constant(weights.transpose(1, 0, 2)), at, axis=0)
        reach = LEAVES * (plan.high - plan.low)
        if (plan.rate > 0.0).any():
            more = graph.add("Min", graph.add("Add", t, graph.constant(1.0)), graph.constant(float(plan.n_known)))
            rise = graph.add("Min", graph.add("Mul", more, graph.constant(plan.rate)),
                             graph.constant(_MOST_GROWTH[self._values.itemsize]))  # fmt: skip
            far = graph.add("Mul", graph.add("Exp", rise), graph.constant(reach))
            far = graph.add("Unsqueeze", far, graph.whole([1]))
            low = graph.add("Sub", graph.constant(plan.low), far)
            high = graph.add("Add", graph.constant(plan.high), far)
        else:
            low, high = (self._beside(t, bound[None]) for bound in (plan.low - reach, plan.high + reach))
        held = self._held(graph.add("Concat", *paths, axis=1), low, high)
        used = graph.add("Greater", share, graph.constant(0.0))
        total = graph.add("ReduceSum", graph.add("Mul", share, held), graph.whole([1]), keepdims=0)
        least = graph.add("ReduceMin", graph.add("Where", used, held, high), axes=[1], keepdims=0)
        largest = graph.add("ReduceMax", graph.add("Where", used, held, low), axes=[1], keepdims=0)
        values = self._held(total, least, largest)  # weights sum to 1 but for rounding
        for factor in plan.factors:
            values = graph.add("Mul", values, graph.constant(factor))
        return values

    # ------------------------------------------------------------------ pieces

    def _external_of(self, runs: int, M: int, real: np.dtype[Any]) -> str:
        """External inputs (batch, runs, M, n_features) in a precision."""
        graph = self._graph
        before, graph.real = graph.real, real
        rows = graph.add("Unsqueeze", graph.cast(self._external), graph.whole([1, 2]))
        rows = graph.add("Add", rows, graph.constant(np.zeros((1, runs, M, 1))))
        graph.real = before
        return rows

    def _beside(self, t: str, rows: FloatArray) -> str:
        """Constant rows (n, n_outputs) for each of the batch."""
        graph = self._graph
        nothing = graph.add("Unsqueeze", graph.add("Mul", t, graph.constant(0.0)), graph.whole([2]))
        return graph.add("Add", nothing, graph.constant(rows[None]))

    def _lagged(self, last: str, lags: tuple[int, ...], runs: int, M: int) -> str:
        """The last values at some lags (batch, runs, M, n_lags * n_outputs)."""
        graph, plan = self._graph, self._plan
        found = graph.add("Gather", last, graph.whole([plan.n_before - lag for lag in lags]), axis=3)
        return graph.reshape(found, 0, runs, M, len(lags) * plan.n_outputs)

    def _slice(self, value: str, begin: int, end: int, axis: int) -> str:
        whole = self._graph.whole
        return self._graph.add("Slice", value, whole([begin]), whole([end]), whole([axis]))

    def _row(self, value: str) -> str:
        """As a row of a ring."""
        return self._graph.add("Unsqueeze", value, self._graph.whole([3]))

    def _pushed(self, ring: str, value: str, n: int, axis: int) -> str:
        """A ring of n values without the first and with another one at the end."""
        return value if n == 1 else self._graph.add("Concat", self._slice(ring, 1, n, axis), value, axis=axis)

    def _flat(self, value: str, n: int) -> str:
        return self._graph.reshape(value, -1, n)

    def _held(self, value: str, low: str, high: str) -> str:
        return self._graph.add("Max", self._graph.add("Min", value, high), low)
