"""A model as one C99 file."""

from __future__ import annotations

import os
import re
from typing import Any

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_choice, check_path
from evoke.export.c_parts import EXP, HEAD, LOGISTIC_AND_TANH, POOL, PROBABILITIES, ROOT, STEP
from evoke.export.c_readout import decide, read, scale
from evoke.export.c_rolling import rolling_source
from evoke.export.c_self_test import self_test
from evoke.export.c_text import MOST_NAMED, PRECISIONS, Terms, check_labels, in_comment, label, number, table
from evoke.export.examples import examples_of
from evoke.export.plan import Plan, check_range, fitted_of, plan_of
from evoke.export.rolling_plan import check_rolling_range, rolling_plan_of
from evoke.export.rolling_run import rolling_examples
from evoke.forecasting.model import RollingModel
from evoke.persistence.atomic import replacing

__all__ = ["PRECISIONS", "c_source", "to_c"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_KEPT = {"last": (), "mean": ("mean",), "std": ("mean", "squares"), "max": ("max",), "min": ("min",),
         "positive": ("positive",), "change": ("change",)}  # fmt: skip


def to_c(model: Any, path: Any, *, dtype: str = "float64", name: str = "evoke", X: Any = None) -> None:
    """Write a fitted model to one C99 file, which needs no library.

    It reads step by step, as `stream` does, and remembers what it must in a struct of the caller's. With one target a
    sequence its values are those of the steps so far.

    Parameters
    ----------
    model : EvokeClassifier, EvokeRegressor or EvokeForecaster
        A fitted one.
    path : str or PathLike
        Where the file is written, as a whole or not at all; ``~`` is the home folder.
    dtype : {"float64", "float32", "mixed"}, default="float64"
        Its precision: double, float, or "mixed": the cells in float, the readout in double. Coefficients of readouts
        may be large, and then their sums are not exact in float.
    name : str, default="evoke"
        With which its names begin: small letters, digits and underscores. Programs with several models need several.
    X : ndarray of shape (n_steps, n_features), optional
        Steps on which the file can test itself; of a forecaster the last values stand after the external inputs. By
        default 16 random ones.

    Raises
    ------
    NotFittedError
        The model has not learned anything.
    ValueError
        It has a part that cannot be read step by step, or X has other features.
    OSError
        The file cannot be written; what was there stays.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.export import to_c
    >>> model = EvokeClassifier(n_generations=2, random_state=0).fit(*tasks.anbncn(5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_c(model, Path(folder) / "model.c")
    """
    check_path(path)
    source = c_source(model, dtype=dtype, name=name, X=X)
    with replacing(os.fspath(path)) as file:
        file.write(source.encode())


def c_source(model: Any, *, dtype: str = "float64", name: str = "evoke", X: Any = None) -> str:
    """The text of the file that `to_c` writes.

    Parameters
    ----------
    model, dtype, name, X
        As in `to_c`.

    Returns
    -------
    str
        A C99 source.

    Raises
    ------
    ValueError
        As by `to_c`.
    """
    check_choice("dtype", dtype, tuple(PRECISIONS))
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise refusal("name", "begin with a small letter and have at most 31 of a to z, 0 to 9 and _", name)
    fitted = fitted_of(model)
    if isinstance(fitted, RollingModel):
        rolling = rolling_plan_of(fitted, type(model).__name__)
        check_rolling_range(rolling, dtype)
        return rolling_source(rolling, Terms(name, *PRECISIONS[dtype]), *rolling_examples(model, rolling, X, dtype))
    plan = plan_of(model, "a C file")
    check_range(plan, dtype)
    check_labels(plan.labels)
    given, expected, allowed = examples_of(model, plan, X, dtype)
    return _Writer(plan, dtype, name).source(given, expected, allowed)


class _Writer:
    def __init__(self, plan: Plan, dtype: str, name: str):
        self._plan = plan
        self._real, self._value = PRECISIONS[dtype]
        self._terms = Terms(name, self._real, self._value)
        self._kept = [part for part in POOL if any(part in _KEPT[statistic] for statistic in plan.pool)]
        self._counts = bool(plan.lags or plan.pool)

    def source(self, given: FloatArray, expected: FloatArray, allowed: float) -> str:
        """The whole file; the expected values (n_steps, n_outputs) are those for the steps given."""
        plan = self._plan
        pieces = [
            self._head(), EXP[self._real], self._exp_of_readout(), LOGISTIC_AND_TANH,
            ROOT[self._real] if "std" in plan.pool else "", self._tables(), self._step(), self._more(),
            self_test(self._terms, "reset", given, expected, allowed), "#endif\n",
        ]  # fmt: skip
        return self._fill("".join(pieces))

    def _fill(self, text: str, **values: str) -> str:
        return self._terms.fill(text, **values)

    def _exp_of_readout(self) -> str:
        """One of its own, where the readout has a Gaussian kernel and another precision than the cells."""
        needed = self._plan.machine.kernel == "rbf" or self._plan.slope is not None
        if not needed or self._real == self._value:
            return ""
        text = EXP[self._value].replace("@n@_parts", "@n@_value_parts")
        return text.replace("@n@_exp_parts", "@n@_value_exp_parts")

    # ------------------------------------------------------------------ declarations

    def _head(self) -> str:
        plan = self._plan
        state = "".join(f"    @n@_real {part}[@N@_N_NETWORKS][@N@_N_CELLS]; /* of outputs so far */\n"
                        for part in self._kept)  # fmt: skip
        if plan.lags:
            state += f"    @n@_real before[{plan.n_kept}][@N@_N_INPUTS]; /* the last steps, in a ring */\n"
        if self._counts:
            state += "    uint32_t t; /* steps so far, at most 2^32 - 1 */\n"
        if plan.lags:
            state += "    uint32_t place; /* of the next step in the ring */\n"
        return self._fill(
            HEAD, WORDS=plan.in_words(), USE=self._use(), N_INPUTS=str(plan.n_given), N_OUTPUTS=str(plan.n_outputs),
            N_NETWORKS=str(plan.n_networks), N_CELLS=str(plan.n_cells), N_READ=str(plan.n_read),
            MORE_SIZES=f",\n    @N@_N_CLASSES = {len(plan.labels)}" if self._has_labels else "", MORE_STATE=state,
            STEP_WORDS=self._step_words(), MORE_DECLARATIONS=self._declarations(),
        )  # fmt: skip

    @property
    def _has_labels(self) -> bool:
        return self._plan.labels is not None and not self._plan.multilabel

    def _use(self) -> str:
        plan, lines = self._plan, []
        if plan.names and len(plan.names) <= MOST_NAMED:
            lines.append(f"x: {', '.join(map(in_comment, plan.names))}{', ...' * (plan.last is not None)}.")
        if self._has_labels:
            lines.append("@n@_labels[@n@_label(values)] is the class.")
        elif plan.multilabel:
            lines.append("An output says yes where its value is above 0.")
        if plan.feedback_scale is not None:
            if plan.n_features:
                lines.append(f"x: {plan.n_features} external inputs of the step, then the values of the step before.")
            else:
                lines.append("x: the values of the step before, 0 before the first.")
            lines.append("To go on, give it the values that it said. @n@_resume goes on after the series of fit.")
        if plan.per_sequence:
            lines.append("The values are those for a sequence that ends with this step.")
        return "".join(f" * {line}\n" for line in lines)

    def _step_words(self) -> str:
        return "Reads a step of finite numbers. Where values is not a null pointer, the values after it are put there."

    def _declarations(self) -> str:
        text = ""
        if self._has_labels:
            text += f"""
/* The classes, and the number of the one that values speak for. */
extern {self._label_type()}@n@_labels[@N@_N_CLASSES];
int @n@_label(const @n@_value *values);
"""
        if self._plan.slope is not None:
            what = "a yes of each output" if self._plan.multilabel else "the classes"
            text += f"""
/* Probabilities of {what} from values. */
void @n@_probabilities(const @n@_value *values, @n@_value probabilities[{self._plan.n_probabilities}]);
"""
        if self._plan.feedback_scale is not None:
            text += """
/* The state after the series of fit, and the last values of it: the next x. */
void @n@_resume(@n@_state *state, @n@_real *last);
"""
        return text

    # ------------------------------------------------------------------ numbers

    def _tables(self) -> str:
        plan, machine = self._plan, self._plan.machine
        text = self._array("weights[@N@_N_NETWORKS][@N@_N_CELLS]"
                           f"[{plan.genomes.shape[2]}]", plan.genomes)  # fmt: skip
        for name, own in ("input", plan.inputs), ("read", plan.read):
            if own is not None:
                kind = "value" if name == "read" else "real"
                text += self._array(f"{name}_mean[{len(own.mean)}]", own.mean, kind)
                text += self._array(f"{name}_inverse[{len(own.mean)}]", own.inverse, kind)
        if machine.kernel != "linear":
            text += self._array(f"vectors[{len(machine.vectors)}][@N@_N_READ]", machine.vectors, "value")
        text += self._array(f"coef[{len(machine.coef)}][@N@_N_OUTPUTS]", machine.coef, "value")
        return "\n" + text + self._array("intercept[@N@_N_OUTPUTS]", machine.intercept, "value")

    def _array(self, declared: str, values: FloatArray, kind: str = "real") -> str:
        return self._terms.array(declared, values, of_readout=kind == "value")

    def _table(self, values: FloatArray) -> str:
        return table(values, self._real)

    def _number(self, value: float) -> str:
        return number(value, self._real)

    # ------------------------------------------------------------------ code

    def _step(self) -> str:
        plan = self._plan
        biases = ", ".join(["@0@", *(self._number(bias) for bias in plan.gate_bias)])
        lstm = plan.cell == "lstm"
        z = "@n@_tanh(net[0])" if lstm else "net[0]"
        phi = "@n@_logistic(net[3]) * @n@_tanh(s)" if lstm else "@n@_tanh(@n@_logistic(net[3]) * s)"
        cell = f"""\
            s = @n@_logistic(net[2]) * state->s[n][h] + @n@_logistic(net[1]) * {z};
            state->s[n][h] = s;
            phi[h] = {phi};
"""
        pool = "".join(POOL[part] for part in self._kept)
        if "mean" in self._kept:
            pool = "            const @n@_real deviation = phi[h] - state->mean[n][h];\n" + pool
        if pool:
            pool = "            {\n" + re.sub("^", "    ", pool, flags=re.MULTILINE).rstrip(" ") + "            }\n"
        return self._fill(
            STEP, I=str(plan.n_inputs), PREPARE=self._prepare(), BIASES=biases, CELL=cell, POOL=pool,
            COUNT="    state->t += state->t < UINT32_MAX;\n" if self._counts else "", READ=read(plan),
            SCALE=scale(plan, self._value), DECIDE=decide(plan.machine, self._value),
        )  # fmt: skip

    def _prepare(self) -> str:
        """From x to the inputs of the networks."""
        plan = self._plan
        text = ""
        if any(part in self._kept for part in POOL):
            washout = plan.washout
            since = f"state->t < {washout}u ? state->t : state->t - {washout}u" if washout else "state->t"
            text += f"    const uint32_t since = {since}; /* the washout counts as long as there is nothing else */\n"
            text += "    const int first = since == 0;\n"
            if "mean" in self._kept or {"std", "positive", "change"} & set(plan.pool):
                text += "    const @n@_real count = (@n@_real)since + @1@;\n"
        if plan.feedback_scale is not None:
            F, factor = plan.n_features, self._number(plan.feedback_scale)
            return text + f"""\
    for (int k = 0; k < @N@_N_INPUTS; k++)
        u[k] = k < {F} ? x[k] : {factor} * x[k];
"""
        if plan.inputs is None:
            return text + "    for (int k = 0; k < I; k++)\n        u[k] = x[k];\n"
        if plan.lags:
            kept, n = plan.n_kept, len(plan.lags)
            text += f"""\
    static const uint32_t lags[{n}] = {{{", ".join(f"{lag}u" for lag in plan.lags)}}};
    for (int k = 0; k < @N@_N_INPUTS; k++) {{
        u[k] = x[k];
        for (int j = 0; j < {n}; j++) /* changes since earlier steps */
            u[(j + 1) * @N@_N_INPUTS + k] =
                state->t < lags[j] ? @0@ : x[k] - state->before[(state->place + {kept}u - lags[j]) % {kept}u][k];
    }}
    for (int k = 0; k < @N@_N_INPUTS; k++)
        state->before[state->place][k] = x[k];
    state->place = (state->place + 1u) % {kept}u;
"""
        else:
            text += "    for (int k = 0; k < @N@_N_INPUTS; k++)\n        u[k] = x[k];\n"
        return text + """\
    for (int k = 0; k < I - 1; k++)
        u[k] = (u[k] - input_mean[k]) * input_inverse[k];
    u[I - 1] = @1@;
"""

    # ------------------------------------------------------------------ labels, the end of a series

    def _label_type(self) -> str:
        kind = self._plan.labels.dtype.kind
        return {"b": "const int ", "i": "const int64_t ", "u": "const uint64_t ", "f": "const double "}.get(
            kind, "const char *const "
        )

    def _more(self) -> str:
        plan, text = self._plan, ""
        if self._has_labels:
            labels = ", ".join(map(label, plan.labels.tolist()))
            several = """\
    int best = 0;
    for (int k = 1; k < @N@_N_CLASSES; k++)
        if (values[k] > values[best])
            best = k;
    return best;
"""
            text += f"""
{self._label_type()}@n@_labels[@N@_N_CLASSES] = {{{labels}}};

int @n@_label(const @n@_value *values)
{{
{"    return values[0] > @0v@;" + chr(10) if plan.n_outputs == 1 else several}}}
"""
        if plan.slope is not None:
            way = "several" if plan.multilabel else "two" if plan.n_outputs == 1 else "exclusive"
            pieces = [PROBABILITIES["exp"], "" if way == "exclusive" else PROBABILITIES["yes"], f"""
void @n@_probabilities(const @n@_value *values, @n@_value probabilities[{plan.n_probabilities}])
{{{PROBABILITIES[way]}}}
"""]  # fmt: skip
            text += self._fill("".join(pieces), SLOPE=number(plan.slope, self._value))
        if plan.end is not None and plan.last is not None:
            text += f"""
void @n@_resume(@n@_state *state, @n@_real *last)
{{
    static const @n@_real end[2][@N@_N_CELLS] = {self._table(plan.end)};
    static const @n@_real values[@N@_N_OUTPUTS] = {self._table(plan.last)};
    @n@_reset(state);
    for (int h = 0; h < @N@_N_CELLS; h++) {{
        state->s[0][h] = end[0][h];
        state->phi[0][h] = end[1][h];
    }}
    for (int o = 0; o < @N@_N_OUTPUTS; o++)
        last[o] = values[o];
}}
"""
        return text
