"""What accompanies a run does not cost the run: files that cannot be written any more, terminals that have gone."""

import errno
import io
import os
import shutil
import sys
import warnings

import pytest

from evoke import load
from evoke.callbacks import Checkpoint, HistoryLog, Progress
from evoke.exceptions import NotWrittenWarning
from helpers.watched import CLASSES, X, assert_same_model, read_log, tiny

CODES = [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES, errno.ESTALE]


class Sometimes:
    """A callback after whose generations from `first` to `last` writing fails with this code."""

    def __init__(self, monkeypatch, name, code, first, last=10**9):
        self.there, self.code, self.first, self.last = False, code, first, last
        module, function = name.rsplit(".", 1)
        real = getattr(sys.modules[module], function) if module != "builtins" else open

        def sometimes(*arguments, **more):
            if self.there and not (module == "builtins" and "r" in [*arguments, "r"][1]):
                raise OSError(self.code, os.strerror(self.code))
            return real(*arguments, **more)

        monkeypatch.setattr(name, sometimes)

    def __call__(self, record, _esp):
        self.there = self.first <= record["generation"] <= self.last


@pytest.mark.parametrize("code", CODES)
def test_a_checkpoint_that_fails_does_not_end_the_run(tmp_path, monkeypatch, code):
    path, straight = tmp_path / "a.evk", tiny().fit(X, CLASSES)
    failing = Sometimes(monkeypatch, "os.fsync", code, 3)
    with pytest.warns(NotWrittenWarning, match=rf"a\.evk' could not be written: {os.strerror(code)}; the run contin"):
        model = tiny(failing, Checkpoint(path, every=1)).fit(X, CLASSES)
    assert_same_model(model, straight)
    assert len(load(path).history_) == 2  # the last that was complete
    assert list(tmp_path.iterdir()) == [path]


def test_it_is_tried_again(tmp_path, monkeypatch):
    path, straight = tmp_path / "a.evk", tiny().fit(X, CLASSES)
    with pytest.warns(NotWrittenWarning):
        model = tiny(Sometimes(monkeypatch, "os.fsync", errno.ENOSPC, 2, 3), Checkpoint(path, every=2)).fit(X, CLASSES)
    assert_same_model(model, straight)
    assert_same_model(load(path), straight)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_log_that_fails_is_made_good(tmp_path, monkeypatch, name):
    path, straight = tmp_path / name, tiny().fit(X, CLASSES)
    failing = Sometimes(monkeypatch, "builtins.open", errno.ENOSPC, 2, 4)
    with pytest.warns(NotWrittenWarning, match=r"a\..*' could not be written: No space left on device"):
        model = tiny(failing, HistoryLog(path)).fit(X, CLASSES)
    assert_same_model(model, straight)
    assert read_log(path) == straight.history_


@pytest.mark.parametrize("kind, name", [(Checkpoint, "a.evk"), (HistoryLog, "a.csv")])
@pytest.mark.parametrize("comes_back", [False, True])
def test_a_folder_that_goes(tmp_path, kind, name, comes_back):
    folder, straight = tmp_path / "folder", tiny().fit(X, CLASSES)
    folder.mkdir()

    def move(record, _esp):
        if record["generation"] == 2:
            shutil.rmtree(folder)
        if record["generation"] == 4 and comes_back:
            folder.mkdir()

    watching = kind(folder / name, **({"every": 1} if kind is Checkpoint else {}))
    with pytest.warns(NotWrittenWarning, match=rf"{name}' could not be written: No such file or directory"):
        model = tiny(move, watching).fit(X, CLASSES)
    assert_same_model(model, straight)
    if comes_back:
        found = read_log(folder / name) if kind is HistoryLog else load(folder / name).history_
        assert found == straight.history_


def test_a_checkpoint_that_is_spoilt_on_the_way_stays_as_it_is(tmp_path):
    path, straight = tmp_path / "a.evk", tiny().fit(X, CLASSES)

    def spoil(record, _esp):
        if record["generation"] == 3:
            path.write_bytes(b"spoilt")

    with pytest.warns(NotWrittenWarning, match=r"a\.evk' could not be written: .*a\.evk' is no model file"):
        model = tiny(spoil, Checkpoint(path, every=1)).fit(X, CLASSES)
    assert_same_model(model, straight)
    assert path.read_bytes() == b"spoilt"


def test_file_systems_that_cannot_sync_are_written_to(tmp_path, monkeypatch):
    path = tmp_path / "a.evk"
    Sometimes(monkeypatch, "os.fsync", errno.EINVAL, 0).there = True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tiny(Checkpoint(path)).fit(X, CLASSES)
    assert_same_model(load(path), model)


class Gone(io.StringIO):
    """A stderr whose terminal has gone."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal

    def write(self, text):
        raise OSError(errno.EIO, "Input/output error")

    flush = write


@pytest.mark.parametrize("watching, verbose", [([Progress()], False), ([], True)])
@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_terminal_that_has_gone_does_not_end_the_run(monkeypatch, watching, verbose, is_terminal):
    pytest.importorskip("rich")
    straight = tiny().fit(X, CLASSES)
    monkeypatch.setattr("evoke.callbacks.progress.SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(sys, "stderr", Gone(is_terminal))
    assert_same_model(tiny(*watching, verbose=verbose).fit(X, CLASSES), straight)
