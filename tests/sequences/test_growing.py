"""Rows that grow into a temporary file."""

import errno
import gc

import numpy as np
import pytest

from evoke.sequences import growing
from evoke.sequences.growing import GrowingRows


@pytest.fixture(params=[2**26, 1000], ids=["in memory", "in a file"])
def limit(request, monkeypatch):
    monkeypatch.setattr(growing, "IN_MEMORY", request.param)
    return request.param


@pytest.mark.parametrize("dtypes", ["ff", "dd", "fd", "df", "fffd"])
def test_rows_are_those_that_were_added(limit, dtypes, tmp_path):
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(n, 3)).astype(dtype) for n, dtype in zip([100, 0, 7, 500], dtypes, strict=False)]
    with GrowingRows(tmp_path) as rows:
        for block in blocks:
            given = block.copy()
            rows.add(given)
            given[:] = np.nan  # it is the caller's
        found = rows.array()
    expected = np.concatenate(blocks)
    assert found.dtype == expected.dtype and np.array_equal(found, expected) and len(rows) == len(expected)
    assert isinstance(found, np.memmap) == (expected.nbytes > limit)
    assert not list(tmp_path.iterdir())
    del rows
    gc.collect()
    assert np.array_equal(found, expected)  # the file lives as long as the array
    if isinstance(found, np.memmap):
        with pytest.raises(ValueError, match="read-only"):
            found[0, 0] = 1.0


def test_a_folder_without_room(monkeypatch, tmp_path):
    class Full:
        def close(self):
            pass

        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(growing, "IN_MEMORY", 1000)
    monkeypatch.setattr(growing.tempfile, "TemporaryFile", lambda **_: Full())
    message = f"No space left on device: a temporary file for 2240 bytes of rows in {tmp_path}; take another folder"
    with GrowingRows(tmp_path) as rows:
        rows.add(np.zeros((10, 4)))
        with pytest.raises(OSError, match=message) as error:
            rows.add(np.zeros((60, 4)))
    assert error.value.errno == errno.ENOSPC
