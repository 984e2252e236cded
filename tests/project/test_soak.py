"""A round of `tools/soak.py`, and what it says where something is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("reads /proc", allow_module_level=True)
sys.path.append(str(Path(__file__).parents[2] / "tools"))

import soak

TOOLS = Path(soak.__file__).parent

BEGIN = """
import json, pathlib, random, sys, tempfile
import numpy as np
import soak  # noqa: E402 - from the folder of tools

def found(works, rounds=60):
    with tempfile.TemporaryDirectory() as folder:
        work = soak.Soak(pathlib.Path(folder), 0)
        plant()
        work.counts["rounds"] = 1  # without processes of joblib
        try:
            for _ in range(rounds):
                getattr(work, works)()
        except (soak.Fault, FileNotFoundError, ValueError) as error:
            print(json.dumps(str(error)))
"""

OTHER_BITS = """
def plant():
    real = soak.fitted
    soak.fitted = lambda seed, *callbacks: real(seed + 1, *callbacks)
"""

HALF_A_FILE = """
def plant():
    def save(self, path):
        content = pathlib.Path(path).with_name("0.evk").read_bytes()
        with open(path, "wb", buffering=0) as file:
            for k in range(0, len(content), 100):
                file.write(content[k : k + 100])
    soak.EvokeClassifier.save = save
"""

NO_CHECKPOINT = """
def plant():
    soak.Checkpoint = lambda path, every: lambda record, esp: None
"""

NOTHING_KEPT = """
def plant():
    real = soak.EvokeClassifier.save
    def save(self, path):
        if self.n_generations > 100:
            self = soak.fitted(self.random_state)
        real(self, path)
    soak.EvokeClassifier.save = save
    soak.Soak._pause = lambda self: soak.time.sleep(1.0)
"""


def run(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(TOOLS)},
    )  # fmt: skip


@pytest.mark.slow
def test_rounds_without_a_fault(tmp_path):
    done = run(TOOLS / "soak.py", "--hours", "0", "--json", tmp_path / "soak.json")
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((tmp_path / "soak.json").read_text())
    assert (record["faults"], record["counts"]["rounds"]) == ([], 2)
    assert record["megabytes"]["growth after the warm-up"] <= soak.MOST_GROWTH
    assert {name: record["counts"][name] for name in (
        "fits in threads", "fits in processes", "refits", "kills of saves", "runs continued", "interrupts"
    )} == {"fits in threads": 6, "fits in processes": 4, "refits": 8, "kills of saves": 8, "runs continued": 6,
           "interrupts": 2}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("plant, works, words", [
    (OTHER_BITS, "fits", "a fit of the same seed has other bits"),
    (OTHER_BITS, "checkpoints", "a run that was killed ends with other bits"),
    (HALF_A_FILE, "saves", "a file is half-written"), (NO_CHECKPOINT, "checkpoints", "run.evk"),
    (NOTHING_KEPT, "interrupts", "was done, the file has 12"),
], ids=["bits of a fit", "bits of a run", "half a file", "no checkpoint", "nothing kept"])  # fmt: skip
def test_what_is_lost_is_said(plant, works, words):
    done = run("-c", f"{BEGIN}{plant}\nfound({works!r})")
    assert done.returncode == 0, done.stderr
    assert words in done.stdout


@pytest.mark.parametrize("sizes, grown", [
    ([100.0, 100.5, 101.0], 1.0), ([150.0, *[100.0] * 20], 0.0), ([100.0] * 10 + [107.0] + [100.0] * 9, 7.0),
    ([9.0], 0.0),
])  # fmt: skip
def test_growth_counts_from_the_warm_up_on(sizes, grown):
    assert soak.growth(sizes) == grown
