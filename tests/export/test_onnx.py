"""ONNX: what onnxruntime says is what the model says, of whole batches and in pieces."""

import json

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnx

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, tasks
from evoke.export import to_onnx
from harness.exports import KINDS, InOnnx, coefficients, in_single, said

SEQUENCES = [kind for kind in KINDS if kind not in ("series", "rolling origins")]
SMALL = {"n_generations": 1, "n_cells": 2, "subpopulation_size": 4, "random_state": 0}


def worst(found, wanted):
    """The largest difference in the last rows that both have."""
    return max(np.abs(a[-len(b) :] - b[-len(a) :]).max() for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_the_model(kind, seed, tmp_path):
    model, Z = KINDS[kind](np.random.default_rng(seed))
    wanted, scale = said(model, Z), 1.0 + coefficients(model)
    assert worst(InOnnx(model, tmp_path).read(Z), wanted) < 1e-14 * scale < 1e-9
    single = worst(in_single(model, Z), wanted)
    assert worst(InOnnx(model, tmp_path, "mixed").read(Z), wanted) < 20 * single + 1e-6


@pytest.mark.parametrize("kind", SEQUENCES)
def test_labels_and_predictions_are_in_the_graph(kind, tmp_path):
    model, Z = KINDS[kind](np.random.default_rng(2))
    found, wanted = InOnnx(model, tmp_path).batch(Z), model.predict(Z)
    if hasattr(model, "classes_"):
        label = found["label"]
        assert label.dtype.kind == ("i" if model.classes_.dtype.kind == "i" else "O")
        pairs = [(label, wanted)] if not isinstance(wanted, list) else zip(label, wanted, strict=True)
        assert all(one[: len(other)].tolist() == other.tolist() for one, other in pairs)
    elif isinstance(wanted, list):
        assert all(np.allclose(one[: len(other)], other, rtol=0, atol=1e-9)
                   for one, other in zip(found["prediction"], wanted, strict=True))  # fmt: skip
    else:
        np.testing.assert_allclose(found["prediction"], wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "mixed"])
@pytest.mark.parametrize("kind", SEQUENCES)
def test_ragged_pieces_by_their_states(kind, dtype, tmp_path):
    rng = np.random.default_rng(3)
    model, Z = KINDS[kind](rng)
    exported = InOnnx(model, tmp_path, dtype, stateful=True)
    state, begin, pieces = exported.zero(len(Z)), [0] * len(Z), [[] for _ in Z]
    name = "decision_function" if "decision_function" in exported.names else "prediction"
    per_sequence = model.fitted_.per_sequence
    last = [None] * len(Z)
    while any(b < len(z) for b, z in zip(begin, Z, strict=True)):
        n = [int(min(rng.integers(0, 8), len(z) - b)) for b, z in zip(begin, Z, strict=True)]
        found = exported.batch([z[b : b + k] for z, b, k in zip(Z, begin, n, strict=True)], state)
        state = found["state_out"]
        for i, k in enumerate(n):
            begin[i] += k
            if per_sequence and k:
                last[i] = np.atleast_1d(found[name][i])[np.newaxis]
            elif k:
                pieces[i].append(found[name][i, :k].reshape(k, -1))
    read = last if per_sequence else [np.concatenate(parts) for parts in pieces]
    wanted = [z[-1:] for z in said(model, Z)] if per_sequence else said(model, Z)
    tolerance = 1e-9 if dtype == "float64" else 20 * worst(in_single(model, Z), wanted) + 1e-6
    assert worst(read, wanted) < tolerance


@pytest.mark.parametrize("n_columns", [0, 2])
def test_a_forecaster_feeds_on_its_output(n_columns, tmp_path):
    external = np.random.default_rng(0).normal(size=(170, n_columns))
    y = tasks.superimposed_sines(2, 170) + external.sum(axis=1)
    known, ahead = (external[:150], external[150:]) if n_columns else (None, None)
    model = EvokeForecaster(**SMALL, washout=20, validation="half", readout="lssvm", C=10.0).fit(y[:150], X=known)
    exported = InOnnx(model, tmp_path)
    metadata = exported.session.get_modelmeta().custom_metadata_map
    state, value = (np.array([json.loads(metadata[f"evoke.{name}"])]) for name in ("end_state", "end_y"))
    value, found = value[0], []
    for t in range(20):
        value, state = exported.step(np.concatenate([external[150 + t], value]), state)
        found.append(value)
    wanted = model.generate(20, X=ahead) if n_columns else model.generate(20)
    np.testing.assert_allclose(np.ravel(found), np.ravel(wanted), rtol=0, atol=1e-9)


def test_gates_that_are_nearly_closed_count_as_positive(tmp_path):
    X = [np.random.default_rng(k).normal(size=(9, 2)) for k in range(8)]
    settings = {"pool": ("positive", "mean"), "gate_bias": (0.0, 0.0, -45.0), "weight_range": 2.0, "scale": None}
    model = EvokeRegressor(**SMALL, **settings, n_networks=2, differences=False).fit(X, [x[:, 0].sum() for x in X])
    assert np.abs(model.transform(X)[0]).max() < 1e-15
    for dtype, tolerance in ("float64", 1e-12), ("mixed", 1e-4):
        found = InOnnx(model, tmp_path, dtype).batch(X)["prediction"]
        np.testing.assert_allclose(found, model.predict(X), rtol=0, atol=tolerance)


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_probabilities(n_classes, tmp_path):
    X = [np.random.default_rng(k).normal(size=(9, 2)) for k in range(12)]
    labels = np.array([[[1, 0]], [[0, 1]], [[1, 1]]] * 4) if n_classes is None else [k % n_classes for k in range(12)]
    model = EvokeClassifier(**SMALL, n_networks=3).fit(X, labels)
    found = InOnnx(model, tmp_path).batch(X)["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "labels",
    [[True, False], [0.5, 1.5], [2**24 + 1.0, 2.0**24], [2**40, -1], [-(2**63), 5], [2**64 - 1, 2**63], ["a", "ß"]],
)
def test_types_of_labels(labels, dtype, tmp_path):
    X = [np.random.default_rng(k).normal(size=(9, 2)) for k in range(8)]
    model = EvokeClassifier(**SMALL, n_networks=2).fit(X, labels * 4)
    found = InOnnx(model, tmp_path, dtype).batch(X)["label"]
    assert found.tolist() == model.predict(X).tolist()


def test_cells_are_the_operator_in_single_precision_only(tmp_path):
    X, y = tasks.anbncn(3)
    kinds = {}
    for cell in ("lstm", "evolino"):
        model = EvokeClassifier(**SMALL, cell=cell).fit(X, y)
        for dtype in ("float64", "float32"):
            to_onnx(model, tmp_path / "model.onnx", dtype=dtype)
            made = onnx.load(tmp_path / "model.onnx")
            assert (made.ir_version, made.opset_import[0].version, made.producer_name) == (7, 13, "evoke")
            kinds[cell, dtype] = {node.op_type for node in made.graph.node} & {"LSTM", "Scan"}
    assert kinds == {
        ("lstm", "float64"): {"Scan"}, ("lstm", "float32"): {"LSTM"},
        ("evolino", "float64"): {"Scan"}, ("evolino", "float32"): {"Scan"},
    }  # fmt: skip


def test_many_support_vectors_of_many_features(tmp_path):
    X = [np.random.default_rng(k).normal(size=(9, 2)) for k in range(90)]
    model = EvokeRegressor(**SMALL | {"subpopulation_size": 20}, n_networks=20).fit(X, [x[:, 0].sum() for x in X])
    assert model.readout_.support_vectors.size > 2**14
    np.testing.assert_allclose(InOnnx(model, tmp_path).batch(X)["prediction"], model.predict(X), rtol=0, atol=1e-9)


def test_the_same_model_gives_the_same_file(tmp_path):
    X, y = tasks.anbncn(3)
    model = EvokeClassifier(**SMALL).fit(X, y)
    for name in ("a.onnx", "b.onnx"):
        to_onnx(model, tmp_path / name, stateful=True)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
