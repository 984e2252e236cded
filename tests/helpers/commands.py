"""Running the command line, and what every command is held to."""

import os
import pty
import re
import signal
import subprocess
import sys
from io import StringIO

import numpy as np

# Parameters of a fit that takes no time, in Python and as options.
SMALL = {"n_generations": 2, "n_cells": 2, "subpopulation_size": 8}
QUICK = [word for name, value in SMALL.items() for word in ("-p", f"{name}={value}")]

# Experiments that take no time, and one that never ends.
FEW_STRINGS = ["reproduce", "anbncn", "--runs", "1", "--generations", "2", "--test-max", "20"]
ENDLESS = ["reproduce", "anbncn", "--runs", "100000", "--generations", "100000", "--test-max", "20"]


def evoke(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "evoke", *map(str, arguments)],
        env=os.environ | environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def assert_one_line(done, status, *words):
    """Ended with `status` and one line of explanation, no traceback."""
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert lines[-1].startswith("Error: ")
    if status == 1:
        assert len(lines) == 1
    for word in words:
        assert word in lines[-1]


def assert_scored(done, measure="accuracy"):
    """Predicted from a table with targets: nothing but the score is on stderr."""
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(rf"Note: {measure} \S+ on \d+ \w+ \(.*\)\n", done.stderr)


def assert_clean(folder, *names):
    """Only these files, no temporary one left."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


class OnTerminal:
    """The command with stderr on a terminal."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        # A test run in the background has SIGINT ignored, and would hand that down.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "evoke", *map(str, arguments)],
            env=os.environ | {"TERM": "xterm", "COLUMNS": "120"}, stdout=subprocess.PIPE, stderr=slave,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        signal.signal(signal.SIGINT, before)
        os.close(slave)
        self.shown = ""

    def read(self):
        try:
            piece = os.read(self.master, 65536).decode(errors="replace")
        except OSError:  # what Linux says when the other end is closed
            piece = ""
        self.shown += piece
        return piece

    def wait_for(self, pattern):
        while not re.search(pattern, self.shown):
            assert self.read(), f"ended without {pattern!r}: {self.shown}"

    def finish(self):
        while self.read():
            pass
        stdout = self.process.stdout.read().decode()
        self.process.stdout.close()
        os.close(self.master)
        return self.process.wait(), stdout


def table(text):
    """A table of stdout, as text, which `floats` reads without rounding."""
    import pandas as pd

    return pd.read_csv(StringIO(text), dtype=str)


def floats(column):
    return column.to_numpy(dtype=np.float64)


def walks(frame, *columns):
    """These columns of each walk."""
    return [part[list(columns)] for _, part in frame.groupby("walk", sort=False)]


def csv(folder, text, name="table.csv"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name
