"""A thousand changed model files and some tables, from seeds; what looks for them finds what is planted."""

import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

for package in ("click", "rich", "pandas", "pyarrow"):
    pytest.importorskip(package)
if not sys.platform.startswith("linux"):
    pytest.skip("reads /proc", allow_module_level=True)

TOOLS = Path(__file__).parents[2] / "tools"


def run(*arguments):
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": f"{TOOLS}{os.pathsep}{Path(__file__).parent}"},
    )  # fmt: skip


def fuzz(kind, seed, cases, folder):
    state = folder / "state.json"
    done = run(TOOLS / "fuzz.py", kind, "--seed", seed, "--cases", cases, "--state", state)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(state.read_text())
    assert (found["next"], found["faults"]) == (cases, [])
    return found["outcomes"]


@pytest.mark.parametrize("seed", range(4))
def test_changed_model_files_are_refused_or_of_use(seed, tmp_path):
    outcomes = fuzz("models", seed, 250, tmp_path)
    assert set(outcomes) == {"refused", "used"}
    assert min(outcomes.values()) > 25


@pytest.mark.parametrize("seed", range(2))
def test_tables_are_read_or_refused(seed, tmp_path):
    outcomes = fuzz("tables", seed, 60, tmp_path)
    assert sum(outcomes.values()) == 60
    assert outcomes["predict: done"] > 5 < outcomes["fit: refused"]


# ---------------------------------------------------------------- what is planted

PLANTED = """
import json, sys
from test_fuzz import planted
from fuzzing import runner
runner.MOST_SECONDS, runner.MOST_BYTES = 2, 2**26
print(json.dumps(runner.run(planted, seed=7, first=0, end=8, say=lambda at: None)))
"""


def planted(seed, number):
    if number == 1:
        raise KeyError("one")
    if number == 2:
        ctypes.string_at(0)
    if number == 4:
        time.sleep(60)
    if number == 5:
        bytearray(os.urandom(1)) * 2**27
    return "fine"


def test_what_is_planted_is_found():
    done = run("-c", PLANTED)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["next"], found["outcomes"]) == (8, {"fine": 4})
    faults = {fault["case"]: fault["fault"] for fault in found["faults"]}
    assert list(faults) == [1, 2, 4, 5]
    assert faults[1].startswith("KeyError: 'one' (test_fuzz.py:")
    assert "SIGSEGV" in faults[2]
    assert "no end within 2 seconds" in faults[4]
    assert "bytes" in faults[5]


def test_it_continues_where_it_was_and_repeats_one_case(tmp_path):
    state = tmp_path / "state.json"
    fault = {"case": 3, "fault": "KeyError: one that was fixed since"}
    state.write_text(json.dumps({"next": 5, "outcomes": {"refused": 4}, "faults": [fault], "seconds": 1.0}))
    done = run(TOOLS / "fuzz.py", "models", "--cases", 6, "--state", state, "--json", tmp_path / "results.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cases 5 to 5" in done.stdout
    record = json.loads((tmp_path / "results.json").read_text())["models"]
    assert (record["cases"], record["seed"], sum(record["outcomes"].values())) == (6, 0, 6)
    assert (record["faults"], record["fixed"], json.loads(state.read_text())["next"]) == ([], 1, 6)
    assert run(TOOLS / "fuzz.py", "models", "--case", 5).stdout in ("refused\n", "used\n")
