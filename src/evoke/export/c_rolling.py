"""A forecaster with rolling origins as one C99 file."""

from __future__ import annotations

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.export.c_parts import EXP, LOGISTIC_AND_TANH
from evoke.export.c_rolling_parts import (
    ADD,
    EXP_OF_VALUES,
    FUNCTIONS,
    HEAD,
    MEMBERS,
    NAIVE,
    RUNS,
    STEP,
)
from evoke.export.c_self_test import self_test
from evoke.export.c_text import MOST_NAMED, Terms, in_comment, number
from evoke.export.plan import Machine
from evoke.export.rolling_plan import Member, RollingPlan
from evoke.forecasting.reach import LEAVES, MOST_GROWTH

__all__ = ["rolling_source"]

# What the growth of a range may be in single precision, as a logarithm: products with ranges stay finite.
_MOST_GROWTH = {"double": MOST_GROWTH, "float": 60.0}


def rolling_source(
    plan: RollingPlan, terms: Terms, given: FloatArray, expected: FloatArray, allowed: float
) -> str:
    """The whole file; the expected values (n_steps, n_outputs) are those beside the external inputs given."""
    return _Writer(plan, terms).source(given, expected, allowed)


class _Writer:
    def __init__(self, plan: RollingPlan, terms: Terms):
        self._plan, self._terms = plan, terms
        # rings of values: the last ones, those that differences are taken of, the season
        lags = sorted({lag for member in plan.members for lag in member.lags})
        self._rings = [plan.n_before, *lags, *([len(plan.season)] if len(plan.season) else [])]
        self._ring_of = {lag: 1 + k for k, lag in enumerate(lags)}
        self._kinds = {machine.kernel for member in plan.members for group in member.machines for machine in group}
        self._grows = bool((plan.rate > 0.0).any())
        self._logs = any(member.log for member in plan.members)

    def source(self, given: FloatArray, expected: FloatArray, allowed: float) -> str:
        """The whole file."""
        plan, terms = self._plan, self._terms
        pieces = [self._head(), *self._functions(), self._tables()]
        if plan.members:
            pieces += [MEMBERS, self._members(), self._member_functions()]
        pieces += [ADD, self._step()]
        width = max(1, plan.n_features)
        padded = np.zeros((len(given), width))
        padded[:, : plan.n_features] = given
        pieces.append(self_test(terms, "resume", padded, expected, allowed))
        return terms.fill("".join([*pieces, "#endif\n"]), **self._sizes())

    def _sizes(self) -> dict[str, str]:
        plan = self._plan
        return {
            "N_NETWORKS": str(len(plan.genomes)), "N_CELLS": str(plan.n_cells), "N_JOINED": str(plan.n_joined),
            "N_READ": str(plan.n_read), "N_NETWORK_INPUTS": str(plan.n_inputs), "N_BEFORE": str(plan.n_before),
            "N_JUDGED": str(plan.n_judged), "N_RINGS": str(len(self._rings)), "N_MEMBERS": str(len(plan.members)),
        }  # fmt: skip

    def _head(self) -> str:
        plan, lines, state = self._plan, [], ""
        if plan.names and len(plan.names) <= MOST_NAMED:
            lines.append(f"x: {', '.join(map(in_comment, plan.names))}.")
        if not plan.n_features:
            lines.append("There are no external inputs: x is not read and may be a null pointer.")
        lines.append("It reads its own forecasts. To begin anew, resume.")
        if plan.members:
            n_cells = sum(m.n_runs * m.n_readouts for m in plan.members) * plan.n_joined * 2 * plan.n_cells
            n_kept = sum(m.n_runs * m.n_readouts * self._n_kept(m) for m in plan.members)
            state = f"    @n@_real cells[{n_cells}]; /* of all runs: states and outputs */\n"
            state += f"    @n@_value kept[{n_kept}]; /* the last values of all runs */\n"
        return self._terms.fill(
            HEAD, WORDS=plan.in_words(), USE="".join(f" * {line}\n" for line in lines), STATE=state,
            N_INPUTS=str(plan.n_features), N_OUTPUTS=str(plan.n_outputs),
        )  # fmt: skip

    def _n_kept(self, member: Member) -> int:
        """Values that each readout of a run keeps."""
        return (self._plan.n_before + sum(member.lags)) * self._plan.n_outputs

    def _functions(self) -> list[str]:
        """Those of numbers, where they are needed."""
        real, value, pieces = self._terms.real, self._terms.value, []
        of_values = self._logs or self._grows or "rbf" in self._kinds
        if self._plan.members:
            pieces.append(EXP[real])
        if of_values and not (self._plan.members and real == value):
            text = EXP[value]
            if real != value:
                text = text.replace("@n@_parts", "@n@_value_parts").replace("@n@_exp_parts", "@n@_value_exp_parts")
            pieces.append(text)
        if self._plan.members:
            pieces.append(LOGISTIC_AND_TANH)
        return [*pieces, EXP_OF_VALUES] if of_values else pieces

    # ------------------------------------------------------------------ numbers

    def _tables(self) -> str:
        plan, array = self._plan, self._terms.array
        text = f"\nstatic const uint32_t ring_sizes[@N_RINGS@] = {{{', '.join(f'{n}u' for n in self._rings)}}};\n"
        if plan.members:
            text += array("weights[@N_NETWORKS@][@N_CELLS@]" f"[{plan.genomes.shape[2]}]", plan.genomes,
                          of_readout=False)  # fmt: skip
            if plan.n_features:
                text += array("input_mean[@N@_N_INPUTS]", plan.inputs.mean, of_readout=False)
                text += array("input_inverse[@N@_N_INPUTS]", plan.inputs.inverse, of_readout=False)
        text += array("naive[2][@N@_N_OUTPUTS]", np.stack([plan.last, plan.mean]))
        if len(plan.season):
            text += array(f"season[{len(plan.season)}][@N@_N_OUTPUTS]", plan.season)
        text += array(f"naive_weights[{len(plan.naive)}][@N_JUDGED@][@N@_N_OUTPUTS]", plan.naive)
        reach = LEAVES * (plan.high - plan.low)
        if self._grows:
            text += array("ends[2][@N@_N_OUTPUTS]", np.stack([plan.low, plan.high]))
            text += array("reach[@N@_N_OUTPUTS]", reach) + array("rate[@N@_N_OUTPUTS]", plan.rate)
        else:
            text += array("bounds[2][@N@_N_OUTPUTS]", np.stack([plan.low - reach, plan.high + reach]))
        return text + array("factors[2][@N@_N_OUTPUTS]", plan.factors)

    def _members(self) -> str:
        """The tables of the members, and then the members."""
        plan, array = self._plan, self._terms.array
        shared: dict[bytes, str] = {}  # landmarks that several machines have
        text, rows = "\n", []
        for k, member in enumerate(plan.members):
            machines = [self._machine(f"{k}_{m}_{run}", machine, shared)
                        for m, group in enumerate(member.machines) for run, machine in enumerate(group)]  # fmt: skip
            text += "".join(tables for tables, _ in machines)
            text += f"static const @n@_machine machines_{k}[{len(machines)}] = {{\n"
            text += ",\n".join(f"    {{{row}}}" for _, row in machines) + "};\n"
            states = member.states[: member.n_readouts * plan.n_joined]
            text += array(f"cells_{k}[{states.size}]", states.ravel(), of_readout=False)
            kept = np.concatenate([part.ravel() for part in (member.before, *member.stages)])
            text += array(f"kept_{k}[{len(kept)}]", kept)
            text += array(f"shares_{k}[{member.weights.size}]", member.weights.ravel())
            for name in ("mean", "deviation", "low", "high"):
                text += array(f"{name}_{k}[@N@_N_OUTPUTS]", getattr(member, name))
            stages, scale = "0", "0"
            if member.lags:
                rings = ", ".join(str(self._ring_of[lag]) for lag in member.lags)
                text += f"static const int stages_{k}[{len(member.lags)}] = {{{rings}}};\n"
                stages = f"stages_{k}"
            if member.features:
                both = np.concatenate([part for each in member.features for part in (each.mean, each.inverse)])
                text += array(f"scale_{k}[{len(both)}]", both)
                scale = f"scale_{k}"
            rows.append(
                f"    {{{member.n_readouts}, {member.n_runs}, {int(member.log)}, {len(member.lags)}, {stages}, "
                f"mean_{k}, deviation_{k}, low_{k}, high_{k}, {scale}, machines_{k}, shares_{k}, cells_{k}, kept_{k}, "
                f"{len(kept)}}}"
            )
        return text + "static const @n@_member members[@N_MEMBERS@] = {\n" + ",\n".join(rows) + "};\n"

    def _machine(self, name: str, machine: Machine, shared: dict[bytes, str]) -> tuple[str, str]:
        """Tables of a machine, and its own row."""
        array = self._terms.array
        text = array(f"coef_{name}[{machine.coef.size}]", machine.coef.ravel())
        text += array(f"intercept_{name}[@N@_N_OUTPUTS]", machine.intercept)
        if machine.kernel == "linear":
            return text, f"coef_{name}, intercept_{name}, 0, 0, {number(0.0, self._terms.value)}"
        key = machine.vectors.tobytes()
        if key not in shared:
            shared[key] = f"vectors_{name}"
            text += array(f"vectors_{name}[{machine.vectors.size}]", machine.vectors.ravel())
        gamma = number(machine.gamma, self._terms.value)
        return text, f"coef_{name}, intercept_{name}, {shared[key]}, {len(machine.vectors)}, {gamma}"

    # ------------------------------------------------------------------ code

    def _member_functions(self) -> str:
        plan, lstm = self._plan, self._plan.cell == "lstm"
        linear, rbf = RUNS["linear"], RUNS["rbf"]
        say = linear
        if "rbf" in self._kinds:
            say = rbf
            if "linear" in self._kinds:
                say = f"    if (machine->vectors) {{\n{_indented(rbf)}        return;\n    }}\n{linear}"
        return self._terms.fill(
            FUNCTIONS, SAY=say, Z="@n@_tanh(net[0])" if lstm else "net[0]",
            PHI="@n@_logistic(net[3]) * @n@_tanh(s[h])" if lstm else "@n@_tanh(@n@_logistic(net[3]) * s[h])",
            HALF=number(0.5, self._terms.value), N_LAGS=str(len(plan.lags)), LAGS=_listed(plan.lags),
            N_READOUT_LAGS=str(len(plan.readout_lags)), READOUT_LAGS=_listed(plan.readout_lags),
            BESIDE=RUNS["beside"] if plan.n_features else "", SCALED=RUNS["scaled"] if "rbf" in self._kinds else "",
            LAST=RUNS["last"] if "rbf" in self._kinds else "", UNLOG=RUNS["unlog"] if self._logs else "",
        )  # fmt: skip

    def _step(self) -> str:
        plan, declared = self._plan, ""
        external = "    (void)x;\n"
        if plan.members:
            most = max(member.n_readouts for member in plan.members)
            declared = f"    @n@_value said[Q][{most}], *kept = state->kept;\n    @n@_real *cells = state->cells;\n"
            external += "    const @n@_real external[1] = {@1@};\n"
            if plan.n_features:
                external = """\
    @n@_real external[@N@_N_INPUTS + 1];
    for (int k = 0; k < @N@_N_INPUTS; k++)
        external[k] = (x[k] - input_mean[k]) * input_inverse[k];
    external[@N@_N_INPUTS] = @1@;
"""
        if self._grows:
            most_growth = number(_MOST_GROWTH[self._terms.value], self._terms.value)
            declared += f"""\
    const @n@_value more = (@n@_value)(state->t < {plan.n_known}u ? state->t + 1u : {plan.n_known}u);
"""
            reach = f"""\
        const @n@_value rise = more * rate[o] < {most_growth} ? more * rate[o] : {most_growth};
        const @n@_value far = reach[o] * @n@_exp(rise);
        sums[o].low = ends[0][o] - far;
        sums[o].high = ends[1][o] + far;
"""
        else:
            reach = "        sums[o].low = bounds[0][o];\n        sums[o].high = bounds[1][o];\n"
        naive = NAIVE
        if len(plan.season):
            place = len(self._rings) - 1
            naive = naive.rstrip("\n") + f"""
    for (int o = 0; o < Q; o++)
        @n@_add(&sums[o], naive_weights[2][at][o], season[state->place[{place}]][o]);
"""
        return self._terms.fill(
            STEP, RESUME=RUNS["resume"].lstrip("\n") if plan.members else "", EXTERNAL=external, DECLARED=declared,
            REACH=reach, RUNS=RUNS["step"] if plan.members else "", NAIVE=naive,
        )  # fmt: skip


def _indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


def _listed(lags: tuple[int, ...]) -> str:
    return ", ".join(f"{lag}u" for lag in lags)
