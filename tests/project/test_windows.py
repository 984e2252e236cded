"""What Windows lacks or refuses, on any system: `helpers.windows` has the rules."""

import errno
import os
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from evoke import EvokeClassifier, load, tasks
from evoke.cli import errors
from evoke.persistence.atomic import replacing
from helpers.commands import QUICK
from helpers.windows import COMMAND, on_windows


def in_use(winerror):
    error = PermissionError(errno.EACCES, "Access is denied")
    error.winerror = winerror
    return error


class Replacing:
    """`os.replace` of a file that another program has open for the first few times."""

    def __init__(self, times, winerror):
        self.times, self.winerror, self.asked = times, winerror, 0
        self.replace = os.replace

    def __call__(self, source, target):
        self.asked += 1
        if self.asked <= self.times:
            raise in_use(self.winerror)
        self.replace(source, target)


@pytest.fixture
def waits(monkeypatch):
    seconds = []
    monkeypatch.setattr(time, "sleep", seconds.append)
    return seconds


@pytest.mark.parametrize("winerror", [5, 32])
def test_a_file_that_is_open_for_a_moment_is_replaced(tmp_path, monkeypatch, waits, winerror):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", Replacing(3, winerror))
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert len(waits) == 3
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_stays_open_is_named_with_the_reason(tmp_path, monkeypatch, waits):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", Replacing(1000, 32))
    with pytest.raises(PermissionError, match="another program has it open") as error, replacing(path) as file:
        file.write(b"new")
    assert error.value.filename == str(path)
    assert 0.5 < sum(waits) < 2.0
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("winerror", [None, 87])
def test_other_refusals_are_not_waited_for(tmp_path, monkeypatch, waits, winerror):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", replace := Replacing(1000, winerror))
    with pytest.raises(PermissionError, match="Access is denied"), replacing(path) as file:
        file.write(b"new")
    assert replace.asked == 1
    assert waits == []


def test_no_temporary_file_of_a_read_only_one_is_left(tmp_path, monkeypatch, waits):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(stat.S_IREAD)
    unlink = os.unlink

    def unlink_writable(name, **kwargs):
        if not os.stat(name).st_mode & stat.S_IWRITE:
            raise in_use(5)
        unlink(name, **kwargs)

    monkeypatch.setattr(os, "replace", Replacing(1000, 5))
    monkeypatch.setattr(os, "unlink", unlink_writable)
    with pytest.raises(PermissionError, match="or it is read-only"), replacing(path) as file:
        file.write(b"new")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("platform, words", [("win32", None), ("linux", "cannot write to stdout")])
def test_a_closed_pipe(monkeypatch, platform, words):
    """Windows calls it an invalid argument."""

    def closed(*_args, **_kwargs):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(errors.click, "echo", closed)
    monkeypatch.setattr(os, "dup2", lambda *_: None)
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(SystemExit if words is None else errors.click.ClickException, match=words):
        errors.print_text("text")


def test_the_library(tmp_path):
    """Also without ThunderSVM: the only thing that is missing then is the solver of that name."""
    done = on_windows(
        """
        import numpy as np
        import pytest
        import evoke
        from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, tasks
        from evoke.callbacks import Checkpoint, HistoryLog
        from evoke.sequences import growing
        from evoke.svm import SVC

        folder = sys.argv[1]
        X, y = tasks.anbncn(4)
        small = dict(n_cells=2, subpopulation_size=8, random_state=0)
        def path(name):
            return os.path.join(folder, name)
        callbacks = [Checkpoint(path("run.evk"), every=1), HistoryLog(path("run.csv"))]
        EvokeClassifier(n_generations=2, callbacks=callbacks, n_jobs=2, **small).fit(X, y)
        model = EvokeClassifier(n_generations=4, callbacks=callbacks, **small).fit(X, y)  # goes on from the file
        assert len(model.history_) == 4
        model.save(path("model.evk"))
        model.save(path("model.evk"))  # replaces it
        evoke.load(path("model.evk"))
        EvokeClassifier(n_generations=1, callbacks=[Checkpoint(path("run.evk"), resume=False)], **small).fit(X, y)
        EvokeForecaster(n_generations=1, **small).fit(tasks.superimposed_sines(2, 60)).generate(3)
        EvokeRegressor(random_state=0, n_generations=1, n_cells=2).fit([np.eye(3)] * 4, [np.arange(3.0)] * 4)

        growing.IN_MEMORY = 0
        with growing.GrowingRows(folder) as rows:
            rows.add(np.ones((4, 2), np.float32))
            rows.add(np.full((3, 2), 2.0))
            found = rows.array()
        assert found.sum() == 20.0 and found.dtype == np.float64

        os.chmod(path("model.evk"), 0o400)
        with pytest.raises(PermissionError, match="or it is read-only"):
            model.save(path("model.evk"))
        os.chmod(path("model.evk"), 0o600)
        for solver in ("auto", "native"):
            SVC(solver=solver).fit(np.eye(4), [0, 1, 0, 1])
        with pytest.raises(RuntimeError, match="libthundersvm"):
            SVC(solver="thundersvm").fit(np.eye(4), [0, 1, 0, 1])
        evoke.show_config()
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(os.listdir(tmp_path)) == ["model.evk", "run.csv", "run.evk"]
    lines = (tmp_path / "run.csv").read_bytes()
    assert lines.count(b"\n") == 5
    assert b"\r" not in lines
    expected = EvokeClassifier(n_generations=4, n_cells=2, subpopulation_size=8, random_state=0).fit(*tasks.anbncn(4))
    np.testing.assert_array_equal(load(tmp_path / "model.evk").genome_, expected.genome_)


def test_the_command_line(tmp_path):
    pd = pytest.importorskip("pandas")
    steps = np.random.default_rng(0).choice([-1.0, 1.0], size=40)
    side = np.where(steps.cumsum() > 0, "右", "left é")  # the first is not in the code page
    data, model = tmp_path / "data.csv", tmp_path / "model.evk"
    pd.DataFrame({"step": steps, "side": side}).to_csv(data, index=False, lineterminator="\r\n")
    done = on_windows(COMMAND, "fit", data, "--target", "side", "--features", "step", *QUICK, "-o", model)
    assert done.returncode == 0, done.stderr.decode()

    here = [sys.executable, "-m", "evoke", "predict", model]
    utf8 = os.environ | {"PYTHONIOENCODING": "utf-8"}
    expected = subprocess.run([*here, data], env=utf8, capture_output=True, check=True).stdout
    assert "右".encode() in expected
    given = data.read_bytes()
    for arguments, text in ([data], b""), (["/dev/stdin"], given):
        done = on_windows(COMMAND, "predict", model, *arguments, given=text)
        assert done.returncode == 0, done.stderr.decode()
        assert done.stdout == expected  # the bytes that go into a file, too
    assert on_windows(COMMAND, "predict", model, data, "-o", tmp_path / "out.csv").returncode == 0
    assert (tmp_path / "out.csv").read_bytes() == expected
    done = on_windows(COMMAND, "info", model)
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "model.evk", "out.csv"]


def test_text_that_the_code_page_lacks_is_written_as_numbers(tmp_path):
    pytest.importorskip("pandas")
    table, model = tmp_path / "table.csv", tmp_path / "右.evk"
    table.write_text("step,右\n" + "1,2\n-1,3\n" * 20, encoding="utf-8")
    done = on_windows(COMMAND, "fit", table, "--target", "右", "--task", "regress", *QUICK, "-o", model)
    assert done.returncode == 0, done.stderr.decode()
    assert "\\u53f3.evk" in done.stdout.decode("cp1252")
    assert model.exists()
