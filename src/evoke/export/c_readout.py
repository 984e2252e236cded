"""The readout of a C file."""

from __future__ import annotations

import numpy as np

from evoke._core import pooled
from evoke.export.c_text import number
from evoke.export.plan import Machine, Plan

__all__ = ["decide", "read", "scale"]

_COLUMN = {
    "last": "state->phi[n][h]", "mean": "state->mean[n][h]", "std": "@n@_root(state->squares[n][h] / count)",
    "max": "state->max[n][h]", "min": "state->min[n][h]", "positive": "state->positive[n][h] / count",
    "change": "count > @1@ ? state->change[n][h] / (count - @1@) : state->change[n][h]",
}  # fmt: skip


def read(plan: Plan) -> str:
    """From what is remembered to what the readout reads."""
    columns = [_COLUMN[statistic] for statistic in plan.pool] or [_COLUMN["last"]]
    assert len(columns) == (pooled.n_pooled(plan.pool) if plan.pool else 1)
    text = "    for (int n = 0; n < @N@_N_NETWORKS; n++)\n        for (int h = 0; h < H; h++) {\n"
    text += f"            @n@_value *read = state->read + n * {len(columns)} * H + h;\n"
    text += "".join(f"            read[{f} * H] = (@n@_value)({column});\n" for f, column in enumerate(columns))
    return text + "        }\n"


def scale(plan: Plan, kind: str) -> str:
    """From what the readout reads to the same, scaled; in C of this type."""
    if plan.read is None:
        return ""
    text = "    for (int k = 0; k < @N@_N_READ; k++) {\n"
    text += "        const @n@_value scaled = (state->read[k] - read_mean[k]) * read_inverse[k];\n"
    if np.isfinite(plan.read.limit):
        limit = number(float(plan.read.limit), kind)
        text += f"        state->read[k] = scaled > {limit} ? {limit} : scaled < -{limit} ? -{limit} : scaled;\n"
    else:
        text += "        state->read[k] = scaled;\n"
    return text + "    }\n"


def decide(machine: Machine, kind: str) -> str:
    """From what the readout reads to the values; in C of this type."""
    begin = "    for (int o = 0; o < @N@_N_OUTPUTS; o++)\n        values[o] = intercept[o];\n"
    if machine.kernel == "linear":
        return begin + """\
    for (int k = 0; k < @N@_N_READ; k++)
        for (int o = 0; o < @N@_N_OUTPUTS; o++)
            values[o] += state->read[k] * coef[k][o];
"""
    if machine.kernel == "rbf":
        term = """\
            const @n@_value difference = state->read[k] - vectors[j][k];
            sum += difference * difference;
"""
        finish = f"""\
        sum *= {number(machine.gamma, kind)};
        if (sum > @VALUE_FAR@)
            continue;
        e = @EXP@exp_parts(-sum);
        value = e.two_n * (@1v@ + e.rest);
"""
        declared = "        @n@_value sum = @0v@, value;\n        @EXP@parts e;\n"
    else:
        term = "            sum += state->read[k] * vectors[j][k];\n"
        finish = f"""\
        sum = {number(machine.gamma, kind)} * sum + {number(machine.coef0, kind)};
        for (int power = 0; power < {machine.degree}; power++)
            value *= sum;
"""
        declared = "        @n@_value sum = @0v@, value = @1v@;\n"
    return begin + f"""\
    for (int j = 0; j < {len(machine.vectors)}; j++) {{ /* support vectors */
{declared}        for (int k = 0; k < @N@_N_READ; k++) {{
{term}        }}
{finish}        for (int o = 0; o < @N@_N_OUTPUTS; o++)
            values[o] += value * coef[j][o];
    }}
"""
