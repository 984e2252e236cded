"""Long tables that are read block by block: pandas, pyarrow, Dask and Ray."""

import os

import numpy as np
import pandas as pd
import pytest

from evoke.sequences import from_blocks, from_frame, growing

RNG = np.random.default_rng(0)
WHO = np.repeat(["b", "a", "c"], [40, 1, 59])
TABLE = pd.DataFrame({
    "who": WHO, "x": RNG.normal(size=100), "label": np.where(RNG.random(100) > 0.5, "up", "down"), "n": np.arange(100),
    "value": RNG.normal(size=100),
})  # fmt: skip


def cut(table, *ends):
    return [table.iloc[first:end] for first, end in zip([0, *ends], [*ends, len(table)], strict=True)]


@pytest.mark.parametrize("ends", [(), (40, 41), (10, 20, 30, 60), (0, 0, 50, 100), tuple(range(1, 100))])
@pytest.mark.parametrize("target", [None, "label", ["value"], ["n", "value"]])
@pytest.mark.parametrize("limit", [2**26, 100])
def test_blocks_are_the_whole_table(ends, target, limit, monkeypatch):
    monkeypatch.setattr(growing, "IN_MEMORY", limit)
    table = TABLE.drop(columns=["label"]) if target != "label" else TABLE
    X, *y, lengths = from_blocks(iter(cut(table, *ends)), "who", target)
    frames = from_frame(table, "who", target)
    frames, targets = (frames, []) if target is None else ([*frames[0]], [*frames[1]])
    assert X.dtype == np.float64 and np.array_equal(X, np.concatenate(frames))
    assert lengths.dtype == np.int64 and lengths.tolist() == [40, 1, 59]
    if target is not None:
        assert np.array_equal(y[0], np.concatenate(targets))
    assert isinstance(X, np.memmap) == (limit < X.nbytes)


def test_a_table_without_sequences_is_one():
    X, y, lengths = from_blocks(cut(TABLE.drop(columns="who"), 30), target="label")
    assert X.shape == (100, 3) and lengths.tolist() == [100] and y.tolist() == TABLE["label"].tolist()


def test_single_precision_and_kinds_of_pandas():
    narrow = TABLE[["x", "value"]].astype(np.float32)
    X, lengths = from_blocks([narrow])
    assert X.dtype == np.float32 and np.array_equal(X, narrow.to_numpy())
    kinds = TABLE[["x", "n"]].astype({"x": "Float64", "n": "Int64"})
    X, lengths = from_blocks(cut(kinds.assign(yes=TABLE["x"] > 0), 20))
    assert X.dtype == np.float64
    assert np.array_equal(X, np.column_stack([TABLE["x"], TABLE["n"], TABLE["x"] > 0]))


def changed(place, **columns):
    parts = cut(TABLE, 30, 60)
    parts[place] = parts[place].assign(**columns)
    return parts


@pytest.mark.parametrize(("blocks", "arguments", "message"), [
    (3, {}, r"blocks must be an iterable of data frames or a table, got 3"),
    ("text", {}, r"blocks\[0\] must be a pandas.DataFrame or a pyarrow.Table, got str"),
    ([TABLE, 1], {"sequence": "who", "target": "label"}, r"blocks\[1\] must be a pandas.DataFrame .* got int"),
    ([], {}, r"blocks have no rows"),
    ([TABLE.iloc[:0]], {"sequence": "who"}, r"blocks have no rows"),
    (changed(2, more=1), {"sequence": "who", "target": "label"},
     r"blocks\[2\] has columns \['who', 'x', 'label', 'n', 'value', 'more'\], blocks\[0\] has \['who', 'x',"),
    ([TABLE], {"sequence": "whom"}, r"blocks\[0\] has no columns \['whom'\]"),
    ([TABLE], {"sequence": "who"}, r"blocks\[0\] has features that are not numeric, \['label'\]"),
    (changed(1, x="text"), {"sequence": "who", "target": "label"},
     r"blocks\[1\] has features that are not numeric, \['x'\]"),
    (changed(1, x=np.where(np.arange(30) == 4, np.nan, 0.0)), {"sequence": "who", "target": "label"},
     r"blocks\[1\] has missing values in columns \['x'\], rows 34; every step"),
    (changed(1, x=np.where(np.arange(30) == 4, np.inf, 0.0)), {"sequence": "who", "target": "label"},
     r"blocks\[1\] contains NaN or infinity: inf at row 34, column 0 \('x'\)"),
    (changed(1, label=1), {"sequence": "who", "target": "label"},
     r"blocks\[1\] has target 'label' of dtype int64, and of dtype (str|object) in blocks before"),
    (changed(2, who=["c"] * 20 + ["a"] + ["c"] * 19), {"sequence": "who", "target": "label"},
     r"blocks\[2\] has sequence 'a' in row 80, after rows of other sequences; the rows .* sort the table by 'who'"),
    (changed(2, who=["c"] * 20 + ["d"] + ["c"] * 19), {"sequence": "who", "target": "label"},
     r"blocks\[2\] has sequence 'c' in row 81"),
    ([TABLE], {"target": "label", "directory": "no/such/folder"}, r"directory must be a folder, got 'no/such/folder'"),
    ([TABLE], {"target": "label", "directory": 3}, r"directory must be a folder, got 3"),
])  # fmt: skip
def test_refused_blocks(blocks, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        from_blocks(blocks, **arguments)


def test_a_generator_that_fails_or_is_interrupted_leaves_no_file(monkeypatch, tmp_path):
    monkeypatch.setattr(growing, "IN_MEMORY", 100)

    def blocks(error):
        yield from cut(TABLE, 30)
        raise error

    for error in (RuntimeError("midway"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            from_blocks(blocks(error), "who", "label", directory=tmp_path)
        assert not list(tmp_path.iterdir())


def check(found):
    X, y, lengths = found
    assert np.array_equal(X, TABLE[["x", "n", "value"]].to_numpy())
    assert y.tolist() == TABLE["label"].tolist() and lengths.tolist() == [40, 1, 59]


def test_tables_of_pyarrow(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import dataset, parquet

    table = pyarrow.Table.from_pandas(TABLE)
    path = tmp_path / "table.parquet"
    parquet.write_table(table, path, row_group_size=30)
    batches = table.to_batches(max_chunksize=33)
    for blocks in (
        table, batches[0:], pyarrow.Table.from_batches(batches).to_reader(), parquet.ParquetFile(path),
        dataset.dataset(path), [table.slice(0, 50), table.slice(50)],
    ):  # fmt: skip
        check(from_blocks(blocks, "who", "label"))
    assert from_blocks(table.to_batches()[0].select(["x"]))[0].shape == (100, 1)


@pytest.mark.distributed
@pytest.mark.xdist_group("distributed")
def test_tables_of_dask():
    pytest.importorskip("dask")
    import dask.dataframe

    check(from_blocks(dask.dataframe.from_pandas(TABLE, npartitions=7, sort=False), "who", "label"))


@pytest.mark.distributed
@pytest.mark.xdist_group("distributed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray[.]")  # Ray calls its own old names, and those of pandas
def test_data_sets_of_ray():
    pytest.importorskip("ray")
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
    import ray.data

    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        data = ray.data.from_pandas(cut(TABLE, 30, 60, 61))
        check(from_blocks(data, "who", "label"))
        assert not data.context.execution_options.preserve_order
    finally:
        ray.shutdown()
