"""Steps without end: arrays in files, and streams, are read in memory that does not grow with them."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeRegressor
from evoke.evolution.problem import Objective
from evoke.evolution.sampling import SampledProblem
from evoke.readouts import LandmarkReadout
from evoke.sequences.containers import as_sequences
from evoke.sequences.preparation import Preparation

SMALL = {
    "readout": "landmarks", "n_landmarks": 10, "n_generations": 1, "subpopulation_size": 8, "n_cells": 2,
    "n_networks": 2, "differences": (1, 3), "random_state": 0,
}  # fmt: skip


@pytest.fixture
def map_of(tmp_path):
    def made(array, name="X"):
        np.save(tmp_path / f"{name}.npy", array)
        return np.load(tmp_path / f"{name}.npy", mmap_mode="r")

    return made


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape, lengths", [((9000, 2), None), ((9000, 2), [5000, 1, 3000, 999]), ((900, 10, 2), None)])
def test_maps_are_read_as_arrays_are(map_of, dtype, shape, lengths):
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    y = X[..., 0].cumsum(axis=-1) > 0
    settings = {} if lengths is None else {"lengths": lengths}
    on_disk = map_of(X)
    plain = EvokeClassifier(**SMALL).fit(X.astype(np.float64), y, **settings)
    mapped = EvokeClassifier(**SMALL).fit(on_disk, map_of(y, "y"), **settings)
    assert mapped.genome_.tobytes() == plain.genome_.tobytes()
    for method in ("predict", "decision_function", "transform"):
        found, expected = (
            getattr(model, method)(values, **settings)
            for model, values in ((mapped, on_disk), (plain, X.astype(np.float64)))
        )
        assert found.tobytes() == expected.tobytes() and found.shape == expected.shape
    assert mapped.score(on_disk, y, **settings) == plain.score(X, y, **settings)
    if len(shape) == 2 and lengths is None:  # blocks are what a stream reads
        assert plain.stream().transform(X).tobytes() == plain.transform(X).tobytes()


@pytest.mark.parametrize("n_columns", [2, 20])
def test_means_of_blocks_are_those_of_the_whole(n_columns):
    rows = np.random.default_rng(0).lognormal(size=(10_000, n_columns))
    lengths = [1, 4095, 4097, 7, 1800]
    X = as_sequences(rows, lengths)
    made = Preparation.of(X, lags=(1, 5), scaled=True)
    columns = replace(made, mean=np.zeros_like(made.mean), inverse=np.ones_like(made.inverse)).columns(X)
    unit = np.ldexp(1.0, np.frexp(np.abs(columns).max(axis=0))[1] - 1)
    assert made.mean.tobytes() == ((columns / unit).mean(axis=0) * unit).tobytes()
    assert np.allclose(made.inverse, 1.0 / columns.std(axis=0), rtol=1e-12)
    blocks = list(made.blocks(X, 1000))
    assert np.concatenate([part for _, part in blocks]).tobytes() == made.apply(X).rows.tobytes()


@pytest.mark.parametrize("lags", [(), (1,), (3, 50)])
@pytest.mark.parametrize("n_samples", [64, 700, 10**6])
def test_samples_have_the_inputs_of_the_whole(lags, n_samples):
    rng = np.random.default_rng(0)
    X = as_sequences(rng.normal(size=(5000, 2)).astype(np.float32), [3000, 1, 40, 1959], view=True)
    preparation = Preparation.of(X, lags=lags, scaled=True)
    targets, weights = np.arange(5000.0)[:, None], (rng.random(5000) > 0.2).astype(float)
    problem = SampledProblem(
        X, preparation, targets, weights, "lstm", (1.0, -1.0, 1.0), LandmarkReadout(), Objective("squared"), n_samples,
        entropy=0,
    )  # fmt: skip
    whole = preparation.apply(X.copied()).rows
    for generation in range(4):
        sample = problem.at(generation)
        begin, end, parent, slot = sample.segments.table
        assert (parent == -1).all() and (slot == -1).all() and begin[0] == 0 and end[-1] == len(sample.segments.rows)
        for first, last in zip(begin, end, strict=True):
            piece = sample.segments.rows[first:last]
            place = np.flatnonzero((whole == piece[-1]).all(axis=1))
            assert any(whole[k + 1 - len(piece) : k + 1].tobytes() == piece.tobytes() for k in place)


def test_a_fit_copies_no_rows(map_of):
    X = np.random.default_rng(0).normal(size=(300_000, 30)).astype(np.float32)
    y = X[:, 0].cumsum() > 0
    on_disk = map_of(X)
    settings = SMALL | {"fit_samples": 1000}
    EvokeClassifier(**settings).fit(X[:3000], y[:3000])  # what is imported and made once
    tracemalloc.start()
    EvokeClassifier(**settings).fit(on_disk, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * on_disk.nbytes  # their inputs alone would be 300_000 * 91 * 8 bytes


def test_other_ways_to_read_copy_the_rows():
    X = np.random.default_rng(0).normal(size=(500, 2))
    y = X[:, 0] > 0
    model = EvokeClassifier(n_generations=1, subpopulation_size=4, random_state=0)
    given = model._read(X, y, None, None, None, None, None, None)
    assert not np.may_share_memory(given.data.X.rows, X)
    assert np.may_share_memory(model.set_params(**SMALL)._read(X, y, *[None] * 6).data.X.rows, X)


def test_predictions_and_scores_copy_no_rows(map_of):
    X = np.random.default_rng(0).normal(size=(200_000, 30)).astype(np.float32)
    y = X[:, 0].astype(np.float64)
    model = EvokeRegressor(**SMALL).fit(X[:2000], y[:2000])
    on_disk = map_of(X)
    for ask in (lambda: model.predict(on_disk), lambda: model.score(on_disk, y)):
        ask()
        tracemalloc.start()
        ask()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < on_disk.nbytes


def test_what_is_not_finite_in_a_map(map_of):
    X = np.zeros((70_000, 2), dtype=np.float32)
    model = EvokeRegressor(**SMALL).fit(np.random.default_rng(0).normal(size=(2000, 2)), np.arange(2000.0))
    X[69_000, 1] = np.nan
    with pytest.raises(ValueError, match="X contains NaN or infinity: nan at step 69000, column 1"):
        model.predict(map_of(X))
    with pytest.raises(ValueError, match=r"X\[6900\] contains NaN or infinity: nan at step 0, column 1"):
        model.predict(map_of(X.reshape(7000, 10, 2)))


def test_a_stream_needs_the_memory_of_a_piece():
    rng = np.random.default_rng(0)
    model = EvokeRegressor(**SMALL).fit(rng.normal(size=(2000, 2)), np.arange(2000.0))
    piece, peaks = rng.normal(size=(1000, 2)), []
    reader = model.stream()
    reader.predict(piece)
    for n_pieces in (2, 100):
        tracemalloc.start()
        for _ in range(n_pieces):
            reader.predict(piece)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
