"""Instructions of three fixed workloads of the core, counted by callgrind, beside the numbers that are kept.

    python bench/instructions.py [--update] [--build DIR]

The count repeats exactly where compiler and flags are the same, on a machine however busy. It may not move by more than
3 % without a word: `--update` writes the new numbers to bench/instructions.json, to be explained in the commit. With
another compiler than the one named there, the numbers are printed and nothing is judged. Needs valgrind, a processor
with AVX2 and what builds the C core; without the first two it says so and does nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "bench" / "instructions.json"
WORKLOADS = ("forward", "machine", "cholesky")
TOLERANCE = 0.03


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="keep the numbers counted now")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "instructions", help="where the core is built")
    options = parser.parse_args(arguments)
    if reason := obstacle():
        print(f"Skipped: {reason}.")
        return 0
    program, compiler = build(options.build)
    counts = {name: count(program, name) - count(program, "nothing") for name in WORKLOADS}
    if options.update:
        KEPT.write_text(json.dumps({"compiler": compiler, "instructions": counts}, indent=1) + "\n", encoding="utf-8")
    return judge(counts, compiler, json.loads(KEPT.read_text(encoding="utf-8")))


def judge(counts: dict[str, int], compiler: str, kept: dict) -> int:
    """Print the counts beside those that are kept; 1 where one moved too far."""
    moved = {name: counts[name] / kept["instructions"][name] - 1.0 for name in counts}
    for name, value in counts.items():
        print(f"{name}: {value:,} instructions, kept {kept['instructions'][name]:,} ({moved[name]:+.2%})")
    if compiler != kept["compiler"]:
        print(f"Not judged: compiled by {compiler}, the numbers kept are those of {kept['compiler']}.")
        return 0
    return int(any(abs(change) > TOLERANCE for change in moved.values()))


def obstacle() -> str:
    """Why nothing can be counted here, or nothing."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        flags = ""
    return "" if re.search(r"\bavx2\b", flags) else "this processor has no AVX2"


def build(folder: Path) -> tuple[Path, str]:
    """The program and the compiler's name with its major version."""
    fresh = [] if not (folder / "build.ninja").exists() else ["--reconfigure"]
    quiet = {"check": True, "capture_output": True, "text": True, "cwd": ROOT}
    setup = subprocess.run(
        ["meson", "setup", *fresh, str(folder), "-Dcore_only=true", "-Dtests=true", "-Dbuildtype=release"], **quiet
    )
    subprocess.run(["meson", "compile", "-C", str(folder), "instructions"], **quiet)
    name, number = re.search(r"C compiler for the host machine: [^(]*\((\w+) (\d+)", setup.stdout).groups()
    return next(folder.rglob("instructions")), f"{name} {number}"


def count(program: Path, workload: str) -> int:
    """Instructions of the whole program."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}", str(program), workload, "avx2"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


if __name__ == "__main__":
    sys.exit(main())
