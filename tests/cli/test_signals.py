"""Signals that end a process: evoke fit writes the best network so far."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from evoke import load
from evoke.callbacks import Checkpoint
from helpers.commands import OnTerminal, assert_clean, csv, evoke

NAMES = ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGPWR",
         "SIGIO"]  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_ignored():
    """What `nohup` or a shell's background has ignored would be ignored in the processes that are started here too."""
    ignored = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    ignored = [number for number in ignored if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture
def endless(tmp_path):
    """Arguments of a fit that never ends by itself."""
    rng = np.random.default_rng(0)
    path = csv(tmp_path, "y,x\n" + "".join(f"{k % 2},{rng.normal()}\n" for k in range(40)))
    return ["fit", path, "--target", "y", "--task", "classify", "-p", "n_generations=1000000", "-p", "n_cells=2",
            "-p", "subpopulation_size=4", "--checkpoint", tmp_path / "run.evk",
            "-o", tmp_path / "model.evk"]  # fmt: skip


def start(arguments, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "evoke", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, **more,
    )  # fmt: skip


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.mark.parametrize("name", NAMES)
def test_a_signal_ends_the_run_and_saves_it(endless, tmp_path, name):
    if not hasattr(signal, name):
        pytest.skip(f"this system has no {name}")
    process = start(endless)
    wait_for(tmp_path / "run.evk", process)
    for _ in range(2):  # a second one does not end the saving
        process.send_signal(getattr(signal, name))
    _, stderr = process.communicate()
    assert process.returncode == 130
    assert "Error: interrupted after" in stderr and "the best network so far was written to" in stderr
    assert len(load(tmp_path / "model.evk").history_) >= 10
    assert_clean(tmp_path, "table.csv", "run.evk", "model.evk")


@pytest.mark.parametrize("has_checkpoint", [True, False])
def test_after_ctrl_c_it_says_how_to_go_on(endless, tmp_path, has_checkpoint):
    """And that command, with an end, gives the bits of a run that was never interrupted."""
    k = endless.index("--checkpoint")
    arguments = endless if has_checkpoint else [*endless[:k], *endless[k + 2 :]]
    terminal = OnTerminal(*arguments)
    terminal.wait_for(r"fitness \d")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.finish()[0] == 130
    lines = terminal.shown.replace("\r\n", "\n")
    words = shlex.split(re.search(r"Note: to go on: (.*)", lines)[1])
    out = tmp_path / ("model.evk" if has_checkpoint else "model-2.evk")
    assert words[:3] == ["evoke", "fit", str(tmp_path / "table.csv")]
    assert words[words.index("--checkpoint") + 1] == str(tmp_path / ("run.evk" if has_checkpoint else "model.evk"))
    assert words[words.index("-o") + 1] == str(out)
    done = len(load(tmp_path / "model.evk").history_)
    ended = [word.replace("n_generations=1000000", f"n_generations={done + 2}") for word in words]
    assert evoke(*ended[1:]).returncode == 0
    whole = [word.replace("n_generations=1000000", f"n_generations={done + 2}") for word in map(str, arguments)]
    whole = [word.replace("run.evk", "fresh.evk").replace("model.evk", "whole.evk") for word in whole]
    assert evoke(*whole).returncode == 0
    assert out.read_bytes() == (tmp_path / "whole.evk").read_bytes()


def test_nohup_is_respected(endless, tmp_path):
    process = start(endless, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_for(tmp_path / "run.evk", process)
    process.send_signal(signal.SIGHUP)
    done = os.stat(tmp_path / "run.evk").st_mtime_ns
    while os.stat(tmp_path / "run.evk").st_mtime_ns == done:  # it runs on
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 130


def test_a_terminal_that_closes(endless, tmp_path):
    terminal = OnTerminal(*endless)
    terminal.wait_for("generations")
    wait_for(tmp_path / "run.evk", terminal.process)
    os.close(terminal.master)
    terminal.process.send_signal(signal.SIGHUP)  # as its shell does
    terminal.process.communicate()
    assert load(tmp_path / "model.evk").history_ and terminal.process.returncode == 130


def test_a_parent_that_dies(endless, tmp_path):
    """Whoever has started the command and read its output has gone: the run goes on, and is saved at its end."""
    arguments = [word if word != "n_generations=1000000" else "n_generations=30" for word in endless]
    code = ("import subprocess, sys; subprocess.Popen([sys.executable, '-m', 'evoke', *sys.argv[1:]], "
            "stdout=subprocess.PIPE, stderr=subprocess.PIPE)")  # fmt: skip
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "model.evk").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(load(tmp_path / "model.evk").history_) == 30


@pytest.mark.parametrize("kind", [OSError, ValueError, MemoryError])
def test_an_error_on_the_way_does_not_cost_the_network(here, endless, tmp_path, monkeypatch, kind):
    def watch(_self, _run):
        def fail(record, _esp):
            if record["generation"] == 3:
                raise kind("all lost")

        return nullcontext(fail)

    monkeypatch.setattr(Checkpoint, "watch", watch)
    done = here(*endless)
    assert done.returncode == 1
    note, error = done.stderr.splitlines()
    assert note.startswith("Note: about ") and note.endswith(" to go, to the end of generation 1000000.")
    assert error == (f"Error: all lost; ended after 3 generations; the best network so far was written to "
                     f"{tmp_path / 'model.evk'}")  # fmt: skip
    assert len(load(tmp_path / "model.evk").history_) == 3


def test_a_model_that_cannot_be_written_is_in_the_checkpoint(here, endless, tmp_path, monkeypatch):
    arguments = [word if word != "n_generations=1000000" else "n_generations=10" for word in endless]
    real = Checkpoint.watch

    def full(descriptor):
        raise OSError(28, "No space left on device")

    @contextmanager
    def watch(self, run):
        with real(self, run) as function:
            yield function
        monkeypatch.setattr(os, "fsync", full)

    monkeypatch.setattr(Checkpoint, "watch", watch)
    done = here(*arguments)
    assert done.returncode == 1
    kept = f"the run so far is in {tmp_path / 'run.evk'}\n"
    assert done.stderr.endswith(f"Error: cannot write {tmp_path / 'model.evk'}: No space left on device; {kept}")
