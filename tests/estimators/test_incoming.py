"""Iterators of sequences and arrays of Dask: read once, with the bits of sequences in memory."""

import gc

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeRegressor
from evoke.sequences import growing

LANDMARKS = {
    "readout": "landmarks", "n_landmarks": 10, "n_generations": 1, "subpopulation_size": 8, "n_cells": 2,
    "n_networks": 2, "differences": (1, 3), "random_state": 0,
}  # fmt: skip
STEPS = {"n_generations": 1, "subpopulation_size": 8, "n_cells": 2, "random_state": 0}
RNG = np.random.default_rng(0)
X = [RNG.normal(size=(n, 2)) for n in (700, 1, 1200, 30)]
Y = [x[:, 0].cumsum() > 0 for x in X]


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Where files come soon, and of which there is none at the end."""
    monkeypatch.setattr(growing, "IN_MEMORY", 5000)
    monkeypatch.setattr(growing.tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    gc.collect()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("settings", [LANDMARKS, LANDMARKS | {"readout": "ridge"}, STEPS])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_iterators_are_read_as_lists_are(settings, dtype):
    given = [x.astype(dtype) for x in X]
    listed = EvokeClassifier(**settings).fit(given, Y)
    iterated = EvokeClassifier(**settings).fit((x for x in given), iter(Y))
    assert iterated.genome_.tobytes() == listed.genome_.tobytes()
    for method in ("predict", "decision_function", "transform"):
        found, expected = getattr(iterated, method)(iter(given)), getattr(listed, method)(given)
        assert isinstance(found, list) and len(found) == len(expected)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))
    assert iterated.score(iter(given), iter(Y)) == listed.score(given, Y)
    together = EvokeClassifier(**settings).fit_transform(iter(given), Y)
    assert all(np.array_equal(a, b) for a, b in zip(together, listed.transform(given), strict=True))
    framed = iterated.set_output(transform="pandas").transform(iter(given))
    assert [frame.shape for frame in framed] == [(len(x), iterated.transform(given)[0].shape[1]) for x in given]


def test_weights_and_one_target_a_sequence():
    short = [x[:20] for x in np.split(np.concatenate([X[0], X[2]]), 19)]
    labels, weights = np.arange(19) % 2, RNG.random(19)
    listed = EvokeClassifier(**STEPS, n_networks=2).fit(short, labels, sample_weight=weights)
    iterated = EvokeClassifier(**STEPS, n_networks=2).fit(iter(short), labels, sample_weight=iter(weights))
    assert iterated.predict(iter(short)).tolist() == listed.predict(short).tolist()
    assert iterated.genome_.tobytes() == listed.genome_.tobytes()


def test_iterators_of_what_is_held_out():
    settings = STEPS | {"readout": "lssvm"}
    plain = EvokeRegressor(**settings).fit(X[:1], [X[0][:, 0]], X_val=X[3:], y_val=[X[3][:, 0]])
    found = EvokeRegressor(**settings).fit(iter(X[:1]), [X[0][:, 0]], X_val=iter(X[3:]), y_val=iter([X[3][:, 0]]))
    assert found.genome_.tobytes() == plain.genome_.tobytes()


def endless(error):
    yield from X
    yield X[0]
    raise error


@pytest.mark.parametrize("error", [RuntimeError("midway"), KeyboardInterrupt()])
def test_an_iterator_that_ends_midway(error):
    with pytest.raises(type(error)):
        EvokeClassifier(**LANDMARKS).fit(endless(error), Y)


def test_what_iterators_must_give():
    pd = pytest.importorskip("pandas")
    model = EvokeClassifier(**LANDMARKS)
    wrong = X[2].copy()
    wrong[1000, 1] = np.inf
    for given, message in (
        ([X[0], X[1][:, :1]], r"X\[1\] has 1 columns, X\[0\] has 2"),
        ([X[0], X[0][:0]], r"X\[1\] is empty: every sequence needs at least one step"),
        ([X[0], wrong], r"X\[1\] contains NaN or infinity: inf at step 1000, column 1"),
        ([X[0], [["a", "b"]]], r"X\[1\] must hold numbers"),
        ([X[0], pd.DataFrame(X[2])], r"X\[1\] is a DataFrame, but an iterator has to give arrays; evoke.seq"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            model.fit(iter(given), Y[:2])
    with pytest.raises(ValueError, match="y has 2 sequences, X has 4"):
        model.fit(iter(X), iter(Y[:2]))
    used = iter(X)
    model.fit(used, Y)
    with pytest.raises(ValueError, match=r"X is empty: .* an iterator gives its own only once"):
        model.predict(used)
    with pytest.raises(ValueError, match="X has 1 features, but EvokeClassifier is expecting 2 features"):
        model.predict(x[:, :1] for x in X)


@pytest.mark.parametrize("shape, lengths", [((1931, 2), None), ((1931, 2), [700, 1, 1200, 30]), ((193, 10, 2), None)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_arrays_of_dask(shape, lengths, dtype):
    array = pytest.importorskip("dask.array")
    values = (10 * np.concatenate(X)[: shape[0] * (shape[1] if len(shape) == 3 else 1)]).astype(dtype)
    values = np.resize(values, shape)
    y = values[..., 0].cumsum(axis=-1) > 0
    settings = {} if lengths is None else {"lengths": lengths}
    chunked = array.from_array(values, chunks=(100, *shape[1:]))
    plain = EvokeClassifier(**LANDMARKS).fit(values, y, **settings)
    found = EvokeClassifier(**LANDMARKS).fit(chunked, array.from_array(y, chunks=50), **settings)
    assert found.genome_.tobytes() == plain.genome_.tobytes()
    assert found.predict(chunked, **settings).tobytes() == plain.predict(values, **settings).tobytes()
    assert found.transform(chunked, **settings).tobytes() == plain.transform(values, **settings).tobytes()
    assert found.score(chunked, y, **settings) == plain.score(values, y, **settings)


def test_a_table_of_pyarrow_is_one_sequence():
    pyarrow = pytest.importorskip("pyarrow")
    model = EvokeClassifier(**LANDMARKS)
    table = pyarrow.table({"a": X[2][:, 0], "b": X[2][:, 1]})
    found = model.fit(table, pyarrow.array(Y[2])).predict(table)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert found.tolist() == model.fit(X[2], Y[2]).predict(X[2]).tolist()


def test_refused_arrays_and_tables():
    array, frame = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    pd, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    values = np.concatenate(X)
    wrong = values.copy()
    wrong[1500, 1] = np.nan
    chunked = array.from_array(values, chunks=(100, 2))
    table = pyarrow.table({"a": values[:, 0], "b": values[:, 1]})
    for given, message in (
        (array.from_array(wrong, chunks=(100, 2)), r"X contains NaN or infinity: nan at step 1500, column 1"),
        (chunked[chunked[:, 0] > 0], r"X has chunks of unknown size; call X.compute_chunk_sizes\(\) first"),
        (chunked[:, 0], r"X must be a list .* got shape \(1931,\)"),
        (array.from_array(values > 0, chunks=(100, 2)).astype(str), r"X\[0:100\] must hold numbers, got dtype <U5"),
        (frame.from_pandas(pd.DataFrame(values), npartitions=2), r"X is a dask DataFrame; evoke.sequences.from_blocks"),
        (table.to_reader(), r"X is a pyarrow RecordBatchReader; evoke.sequences.from_blocks makes arrays of it"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            EvokeClassifier(**LANDMARKS).fit(given, values[:, 0] > 0)
