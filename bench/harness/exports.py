"""Random models of every kind that can be exported, and what their exported forms say."""

from __future__ import annotations

import ctypes
import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.export import to_c, to_onnx
from evoke.export.rolling_plan import rolling_plan_of
from evoke.export.rolling_run import forecast
from evoke.forecasting.model import RollingModel
from evoke.lstm import forward

STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wshadow", "-Wdouble-promotion")

Made = tuple[Any, list[np.ndarray]]  # a model, and sequences that it was not trained on


def _settings(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "random_state": int(rng.integers(2**31)), "n_generations": 1, "subpopulation_size": 4, "n_trials": 1,
        "n_cells": int(rng.integers(1, 7)), "cell": str(rng.choice(["lstm", "evolino"])),
        "weight_range": float(10.0 ** rng.uniform(-0.5, 1.2)),
    }  # fmt: skip


def _readout(rng: np.random.Generator) -> dict[str, Any]:
    kernel = str(rng.choice(["rbf", "linear", "poly"]))
    return {
        "readout": str(rng.choice(["svm", "lssvm", "pinv"])), "kernel": kernel, "max_seconds": 20.0,
        "C": float(rng.choice([1.0, 100.0])), "gamma": float(rng.choice([0.1, 1.0])), "validation": "half",
    }  # fmt: skip


def _whole(rng: np.random.Generator) -> dict[str, Any]:
    statistics = np.array(["last", "mean", "std", "max", "min", "positive", "change"])
    own: dict[str, Any] = {
        "n_networks": int(rng.integers(1, 12)), "n_cells": int(rng.integers(1, 4)),
        "pool": tuple(rng.permutation(statistics)[: rng.integers(1, 8)].tolist()),
        "differences": [False, True, (1, 2, 5)][rng.integers(3)], "scale": [None, "standard"][rng.integers(2)],
        "readout": str(rng.choice(["lssvm", "ridge"])), "washout": int(rng.integers(0, 4)),
    }  # fmt: skip
    return own


def _sequences(rng: np.random.Generator, n: int, n_features: int) -> list[np.ndarray]:
    return [rng.normal(size=(length, n_features)) for length in rng.integers(5, 30, size=n)]


def _targets(X: Sequence[np.ndarray], n_classes: int) -> list[np.ndarray]:
    """Labels of steps: in which part of its range a sum of the past is."""
    sums = [np.tanh(x[:, 0].cumsum() * 0.5) for x in X]
    return [np.minimum(((s + 1.0) * n_classes / 2.0).astype(int), n_classes - 1) for s in sums]


def steps(rng: np.random.Generator) -> Made:
    """A classifier of steps: two classes, several, or several outputs."""
    X, Z = (_sequences(rng, n, 2) for n in (12, 6))
    y = _targets(X, int(rng.integers(2, 5)))
    if rng.random() < 0.25:
        y = [np.stack([x[:, 0] > 0.0, x.sum(axis=1) > 0.0], axis=1).astype(int) for x in X]
    model = EvokeClassifier(**_settings(rng) | _readout(rng), washout=int(rng.integers(0, 3)))
    return model.fit(X, y), Z


def values(rng: np.random.Generator) -> Made:
    """A regressor of steps."""
    X, Z = (_sequences(rng, n, 3) for n in (12, 6))
    n_outputs = int(rng.integers(1, 3))
    y = [0.3 * x.cumsum(axis=0)[:, :n_outputs] for x in X]
    return EvokeRegressor(**_settings(rng) | _readout(rng)).fit(X, y), Z


def last(rng: np.random.Generator) -> Made:
    """A classifier of sequences that is read off the last step of one network."""
    X, Z = (_sequences(rng, n, 2) for n in (30, 6))
    labels = np.array([3, -1, 7])[[int(y[-1]) for y in _targets(X, 3)]]
    settings = _settings(rng) | _readout(rng) | {"readout": "svm"}
    return EvokeClassifier(**settings).fit(X, labels), Z


def landmarks(rng: np.random.Generator) -> Made:
    """Many networks whose steps one machine on landmarks reads."""
    X, Z = (_sequences(rng, n, 2) for n in (70, 6))
    settings = _settings(rng) | {"n_landmarks": int(rng.integers(4, 40)), "n_cells": 2, "n_generations": 2}
    settings["differences"] = (1, 3) if rng.random() < 0.5 else False
    if rng.random() < 0.5:
        y = [x[:, 0].cumsum() for x in X]
        return EvokeRegressor(readout="landmarks", **settings).fit(X, y), Z
    return EvokeClassifier(readout="landmarks", **settings).fit(X, _targets(X, int(rng.integers(2, 4)))), Z


def whole(rng: np.random.Generator) -> Made:
    """A classifier of whole sequences by statistics of many networks."""
    X, Z = (_sequences(rng, n, 2) for n in (30, 6))
    names = np.array(["left", 'mid"dle\\', "gauche à côté"])[: rng.integers(2, 4)]
    labels = names[[int(y[-1]) for y in _targets(X, len(names))]]
    labels[: len(names)] = names
    return EvokeClassifier(**_settings(rng) | _whole(rng)).fit(X, labels), Z


def whole_values(rng: np.random.Generator) -> Made:
    """A regressor of whole sequences."""
    X, Z = (_sequences(rng, n, 2) for n in (30, 6))
    return EvokeRegressor(**_settings(rng) | _whole(rng)).fit(X, [x[:, 0].sum() for x in X]), Z


def series(rng: np.random.Generator) -> Made:
    """A forecaster of one network; the sequences are its external inputs and values of the step before."""
    t, external = np.arange(150), rng.normal(size=(150, int(rng.integers(0, 3))))
    y = np.stack([np.sin(0.2 * t), np.cos(0.31 * t)], axis=1)[:, : rng.integers(1, 3)]
    y = y + 0.3 * external.sum(axis=1, keepdims=True)
    settings = _settings(rng) | _readout(rng) | {"washout": 20}
    model = EvokeForecaster(**settings).fit(y, X=external if external.shape[1] else None)
    before = np.concatenate([np.zeros((1, y.shape[1])), y[:-1]])
    return model, [np.concatenate([external, before], axis=1)[:40]]


def rolling(rng: np.random.Generator) -> Made:
    """A forecaster with rolling origins; the sequence has the external inputs of the steps that are forecast."""
    n, q, n_external = int(rng.integers(80, 160)), int(rng.integers(1, 3)), int(rng.integers(0, 3))
    t, external = np.arange(n), rng.normal(size=(n, n_external))
    y = np.stack([3.0 + np.sin(np.pi * t / 6) + 0.02 * t, 2.0 + np.cos(0.3 * t)], axis=1)[:, :q]
    y = y + 0.2 * external.sum(axis=1, keepdims=True) + 0.1 * rng.normal(size=y.shape)
    settings: dict[str, Any] = {
        "n_networks": 4 * int(rng.integers(1, 4)), "n_cells": int(rng.integers(1, 7)),
        "season": [None, 4, 12][rng.integers(3)], "cell": str(rng.choice(["lstm", "evolino"])),
        "random_state": int(rng.integers(2**31)),
    }  # fmt: skip
    if rng.random() < 0.3:
        settings |= {"readout": "landmarks", "n_landmarks": 20}
    model, several = EvokeForecaster(**settings), rng.random() < 0.3
    X = external if n_external else None
    model.fit([y, 2.0 * y[:60]] if several else y, X=X if X is None or not several else [X, X[:60]])
    return model, [rng.normal(size=(40, n_external))]


KINDS: dict[str, Callable[[np.random.Generator], Made]] = {
    "classes of steps": steps, "values of steps": values, "last step": last, "landmarks": landmarks,
    "whole sequences": whole, "values of sequences": whole_values, "series": series,
    "rolling origins": rolling,
}  # fmt: skip


def is_rolling(model: Any) -> bool:
    """Whether it forecasts by many free runs."""
    return isinstance(model.fitted_, RollingModel)


def said(model: Any, Z: list[np.ndarray]) -> list[np.ndarray]:
    """What a stream of the model says after each step of each sequence."""
    if is_rolling(model):
        return [model.generate(len(z), X=z if z.shape[1] else None).reshape(len(z), -1) for z in Z]
    found = []
    for z in Z:
        reader = model.stream()
        if isinstance(model, EvokeForecaster):
            n = z.shape[1] - model.fitted_.n_outputs
            found.append(np.stack([reader.step(row[n:], row[:n] if n else None) for row in z]))
        else:
            say = reader.decision_function if hasattr(model, "classes_") else reader.predict
            found.append(np.asarray(say(z)).reshape(len(z), -1))
    return found


def in_single(model: Any, Z: list[np.ndarray]) -> list[np.ndarray]:
    """The same with the forward pass in single precision, and all else in double; of sequences after the last step."""
    if is_rolling(model):
        plan = rolling_plan_of(model.fitted_, "EvokeForecaster")
        return [forecast(plan, z, np.float32, np.float64) for z in Z]
    fitted, genomes = model.fitted_, model.genome_.reshape(-1, *model.genome_.shape[-2:])
    if isinstance(model, EvokeForecaster):
        n = Z[0].shape[1] - fitted.n_outputs
        inputs = [z * np.where(np.arange(z.shape[1]) < n, 1.0, fitted.feedback_scale) for z in Z]
    else:
        sequences = fitted.read(Z)
        if fitted.pooling is not None:
            network = type(fitted.network)(genomes.astype(np.float32), fitted.network.cell, fitted.network.gate_bias)
            return list(replace(fitted, network=network).decide(sequences)[:, np.newaxis])
        inputs = np.split(fitted.inputs(sequences).rows, sequences.offsets[1:-1])
    own = {"cell": fitted.network.cell, "gate_bias": fitted.network.gate_bias, "dtype": np.float32}
    phi = [np.concatenate(parts, axis=1).astype(np.float64)
           for parts in zip(*(forward(genome, inputs, **own) for genome in genomes), strict=True)]  # fmt: skip
    if getattr(fitted, "scaling", None) is not None:
        phi = [fitted.scaling.apply(part) for part in phi]
    decided = [fitted.readout.decide(part) for part in phi]
    return [part[-1:] for part in decided] if getattr(fitted, "per_sequence", False) else decided


def coefficients(model: Any) -> float:
    """The sum of the sizes of all coefficients of an output, the largest: what rounding errors are relative to."""
    if is_rolling(model):  # in the unit of the series
        plan = rolling_plan_of(model.fitted_, "EvokeForecaster")
        sums = [np.abs(one.coef).sum() for member in plan.members for group in member.machines for one in group]
        return float(np.ldexp(1.0, plan.exponent.max()) * max(sums, default=1.0))
    return float(np.abs(model.readout_.dual_coef).sum(axis=0).max(initial=0.0))


class InC:
    """A model as a C file, compiled into a library.

    Parameters
    ----------
    model : estimator
    folder : Path
        Where both files go.
    dtype : {"float64", "float32", "mixed"}
    compiler : sequence of str
    """

    def __init__(
        self, model: Any, folder: Path, dtype: str = "float64", compiler: Sequence[str] = ("gcc", *STRICT, "-O1")
    ):
        self.source, library = folder / f"model_{dtype}.c", folder / f"model_{dtype}_{id(model)}.so"
        to_c(model, self.source, dtype=dtype)
        subprocess.run([*compiler, "-fPIC", "-shared", str(self.source), "-o", str(library)], check=True)
        self._library = ctypes.CDLL(str(library))
        self._dtype = np.dtype(np.float64 if dtype == "float64" else np.float32)
        self._readout = np.dtype(np.float32 if dtype == "float32" else np.float64)
        self._n_outputs, self._rolls = model.fitted_.n_outputs, is_rolling(model)
        self.state_size = self._library.evoke_state_size()
        self._state = ctypes.create_string_buffer(self.state_size + 16)

    def _pointer(self, array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    @property
    def _place(self) -> ctypes.c_void_p:
        return ctypes.c_void_p((ctypes.addressof(self._state) + 15) // 16 * 16)

    def reset(self) -> None:
        """To the beginning: the zero state, or with rolling origins the end of the series of `fit`."""
        (self._library.evoke_resume if self._rolls else self._library.evoke_reset)(self._place)

    def resume(self) -> np.ndarray:
        """Go on after the series of `fit`: its last values."""
        values = np.empty(self._n_outputs, self._dtype)
        self._library.evoke_resume(self._place, self._pointer(values))
        return values

    def step(self, x: np.ndarray) -> np.ndarray:
        given, values = np.ascontiguousarray(x, self._dtype), np.empty(self._n_outputs, self._readout)
        self._library.evoke_step(self._place, self._pointer(given), self._pointer(values))
        return values

    def count(self, n: int) -> None:
        """Pretend that so many steps were read, by a model with changes alone, whose state ends in two such numbers."""
        ctypes.c_uint32.from_address(self._place.value + self.state_size - 8).value = n

    def label(self, values: np.ndarray) -> int:
        """The number of the class."""
        return int(self._library.evoke_label(self._pointer(values)))

    def probabilities(self, values: np.ndarray, n: int) -> np.ndarray:
        """Those of n classes or outputs."""
        found = np.empty(n, self._readout)
        self._library.evoke_probabilities(self._pointer(np.ascontiguousarray(values)), self._pointer(found))
        return found

    def read(self, z: np.ndarray) -> np.ndarray:
        """Values after each step of a sequence."""
        self.reset()
        return np.stack([self.step(x) for x in z])


class InOnnx:
    """A model as ONNX, run by onnxruntime."""

    def __init__(self, model: Any, folder: Path, dtype: str = "float64", *, stateful: bool = False):
        import onnxruntime  # not everybody has it

        path = folder / f"model_{dtype}_{stateful}.onnx"
        to_onnx(model, path, dtype=dtype, stateful=stateful)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._dtype = np.dtype(np.float64 if dtype == "float64" else np.float32)
        self._readout = np.dtype(np.float32 if dtype == "float32" else np.float64)
        self._n_features, self._rolls = model.n_features_in_, is_rolling(model)
        self.names = [output.name for output in self.session.get_outputs()]

    def zero(self, n: int) -> np.ndarray:
        """States of n sequences that begin."""
        shape = next(given.shape for given in self.session.get_inputs() if given.name == "state")
        return np.zeros((n, shape[1]), self._dtype)

    def batch(self, Z: Sequence[np.ndarray], state: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """All outputs for sequences of any lengths at once; what stands after their ends is no number."""
        lengths = np.array([len(z) for z in Z], dtype=np.int64)
        X = np.full((len(Z), max(1, lengths.max()), Z[0].shape[1]), np.nan, self._dtype)
        for row, z in zip(X, Z, strict=True):
            row[: len(z)] = z
        given = {"X": X, "lengths": lengths} | ({} if state is None else {"state": state})
        return dict(zip(self.names, self.session.run(None, given), strict=True))

    def step(self, x: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of a forecaster: its values and state after a step (n_external + n_outputs,)."""
        n = self._n_features
        given = {"state": state} if self._rolls else {"y": x[np.newaxis, n:].astype(self._dtype), "state": state}
        if n:
            given["x"] = x[np.newaxis, :n].astype(self._dtype)
        values, state = self.session.run(["prediction", "state_out"], given)
        return values[0], state

    def resumed(self) -> np.ndarray:
        """The state of a forecaster after the series of `fit`."""
        end = json.loads(self.session.get_modelmeta().custom_metadata_map["evoke.end_state"])
        return np.array([end], self._readout if self._rolls else self._dtype)

    def read(self, Z: list[np.ndarray]) -> list[np.ndarray]:
        """Values after each step; of sequences with one target after the last."""
        if "state_out" in self.names and "label" not in self.names and len(self.session.get_inputs()[0].shape) == 2:
            found = []
            for z in Z:
                state, rows = self.resumed() if self._rolls else self.zero(1), []
                for x in z:
                    values, state = self.step(x, state)
                    rows.append(values)
                found.append(np.stack(rows))
            return found
        all_ = self.batch(Z)
        values = all_["decision_function" if "decision_function" in all_ else "prediction"]
        whole = self.session.get_outputs()[0].shape[1:2] != ["steps"]
        return [row.reshape(1, -1) if whole else row[: len(z)].reshape(len(z), -1)
                for row, z in zip(values, Z, strict=True)]  # fmt: skip
