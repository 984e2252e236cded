"""The study of exported models sees labels that are wrong."""

import shutil

import numpy as np
import pytest

pytest.importorskip("onnxruntime")

from harness.exports import InC, InOnnx
from studies import export

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


@pytest.mark.parametrize("kind", ["classes of steps", "whole sequences", "last step"])
def test_labels_are_those_that_exported_models_say(kind, monkeypatch):
    assert [row["wrong"] for row in export.measured(kind, 1000)] == [0] * 7
    label, batch = InC.label, InOnnx.batch
    monkeypatch.setattr(InC, "label", lambda self, values: int(label(self, values) == 0))

    def swapped(self, Z, state=None):
        found = batch(self, Z, state)
        return found | {"label": np.roll(np.unique(found["label"]), 1)[
            np.unique(found["label"], return_inverse=True)[1].reshape(found["label"].shape)]}  # fmt: skip

    monkeypatch.setattr(InOnnx, "batch", swapped)
    for row in export.measured(kind, 1000):
        assert (row["wrong"] > 0) == (row["form"] != "own")
