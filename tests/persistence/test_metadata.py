"""Metadata of any shape: kept as they are, or refused by name; what they say of columns is read or the reason said."""

import io
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import evoke
from evoke import EvokeClassifier

X = [np.random.default_rng(0).normal(size=(length, 2)) for length in (4, 5, 6)]
MODEL = EvokeClassifier(n_cells=2, n_generations=1, subpopulation_size=4, n_trials=1, random_state=0).fit(
    X, [x[:, 0] > 0 for x in X]
)

LEAVES = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8)
    | arrays.arrays(st.sampled_from(["f8", "i4", "U3", "S2", "?"]), arrays.array_shapes(max_dims=2, max_side=3))
    | st.sampled_from([np.float32(1.5), np.int64(3), np.array(["a", None, 2], dtype=object), np.str_("x")])
)  # fmt: skip
KEYS = st.text(max_size=5) | st.integers() | st.tuples(st.integers(), st.text(max_size=2))
HELD = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=12,
)
# What no file holds, as long as it is not in a place of its own.
NOT_HELD = st.sampled_from([object(), {1}, b"bytes", 1j, range(3), np.datetime64("2020-01-01"), print, np.array(1j)])


def same(a, b):
    """Of the same types with the same contents; NaN is NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (np.ndarray, np.generic)) and a.dtype != object:
        return a.dtype == b.dtype and np.shape(a) == np.shape(b) and a.tobytes() == b.tobytes()
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and all(map(same, a, b))
    return a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


def there_and_back(metadata):
    file = io.BytesIO()
    MODEL.metadata_ = metadata
    try:
        MODEL.save(file)
    finally:
        del MODEL.metadata_
    return evoke.load(io.BytesIO(file.getvalue())).metadata_


@given(st.dictionaries(KEYS, HELD, max_size=5))
def test_metadata_come_back_as_they_were(metadata):
    assert same(there_and_back(metadata), metadata)


@given(KEYS, NOT_HELD, st.sampled_from([lambda x: x, lambda x: [1, x], lambda x: {"a": (x,)}, lambda x: [[{3: x}]]]))
def test_what_no_file_holds_is_refused_by_name(key, value, within):
    with pytest.raises(TypeError, match=r"metadata_\.[\s\S]* which a model file cannot hold"):
        there_and_back({key: within(value)})


def test_what_is_nested_too_deeply_is_refused():
    deep, itself = [], {}
    itself["again"] = [itself]
    for _ in range(5000):
        deep = [deep]
    for metadata in ({"deep": deep}, itself):
        with pytest.raises(ValueError, match="nested too deeply, or holds itself"):
            there_and_back(metadata)


COLUMNS = {"targets": ["side"], "features": ["p", "q"], "sequence": None, "time": None, "per_sequence": False,
           "booleans": []}  # fmt: skip


@given(st.fixed_dictionaries({}, optional={
    name: st.just(content) | HELD | st.lists(st.sampled_from(["side", "p", "q", "t"]), max_size=3)
    for name, content in {**COLUMNS, "more": 1}.items()
}) | HELD)  # fmt: skip
def test_columns_are_read_or_the_reason_is_said(columns):
    pytest.importorskip("click")
    from evoke.cli.model import columns_of

    said = SimpleNamespace(fitted_=MODEL.fitted_, n_features_in_=2, metadata_={"columns": columns})
    found, reason = columns_of(said)
    assert (found is None) == bool(reason)
    if isinstance(columns, dict) and same(columns, COLUMNS):
        assert found is not None
