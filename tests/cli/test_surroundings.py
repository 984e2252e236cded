"""The command line where readers of its output go away, and where no temporary folder is."""

import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd

from evoke.cli import cli
from helpers.commands import QUICK

COMMAND = [sys.executable, "-m", "evoke"]


@pytest.mark.skipif(os.name == "nt", reason="a pipe of a shell")
def test_a_reader_that_goes_away_needs_no_word(frame, model, tmp_path):
    path = tmp_path / "many.csv"
    frame = frame.drop(columns="side")  # a table with the targets is scored
    parts = [frame.assign(walk=f"{k:04d} " + frame["walk"]) for k in range(500)]
    pd.concat(parts).to_csv(path, index=False)  # more than a pipe holds
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, "predict", model, path], **pipes) as process:
        assert process.stdout.readline().startswith(b"walk")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_without_a_temporary_folder(data, model, tmp_path):
    nowhere = {**os.environ, "TMPDIR": str(tmp_path / "nowhere"), "TEMP": str(tmp_path / "nowhere"),
               "TMP": str(tmp_path / "nowhere")}  # fmt: skip
    fit = ["fit", data, "--target", "side", "--task", "classify", "--sequence", "walk", "--features", "step", *QUICK]
    without = tmp_path / "without.csv"  # a table with the targets is scored
    pd.read_csv(data).drop(columns="side").to_csv(without, index=False)
    for arguments in ([*fit, "-o", tmp_path / "other.evk"], ["predict", model, without, "-o", tmp_path / "out.csv"]):
        done = subprocess.run([*COMMAND, *map(str, arguments)], env=nowhere, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "other.evk").read_bytes() == model.read_bytes()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timers of signals")
@pytest.mark.parametrize("seconds", [1e-3, 0.03, 0.1])
def test_ctrl_c_within_the_first_tenth_of_a_second(here, data, tmp_path, seconds):
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    out = tmp_path / "model.evk"
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        done = here("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", "-p", "n_cells=2",
                    "-p", "n_generations=1000000", "-o", out)  # fmt: skip
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert done.returncode == 130
    assert "interrupted" in done.stderr and "Traceback" not in done.stderr
    assert out.exists() == ("was written to" in done.stderr)


@pytest.mark.parametrize("moment", ["parse_args", "get_command", "resolve_command"])
def test_ctrl_c_before_the_command_has_begun(here, monkeypatch, moment):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, moment, interrupt)
    done = here("info", "model.evk")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Error: interrupted\n")
