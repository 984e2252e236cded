"""Search for inputs that do harm: model files, tables, calls of the C core, made from seeds.

python tools/fuzz.py models --cases 100000            changed model files, with checksums that are right
python tools/fuzz.py tables --cases 10000             CSV and Parquet through evoke fit and evoke predict
python tools/fuzz.py core --cases 100000              the C core under the sanitizers; needs meson, ninja and a compiler
python tools/fuzz.py models --seed 0 --case 417       one case again, with its traceback

What was done is kept in build/fuzz, or in --state FILE, and the same command continues there, after it has tried the
faults of before again; --fresh begins anew.
--json FILE adds counts and faults to a file of results. Exit status 1 where there is a fault. Case k of a seed is the
same whatever the number of cases. Needs Linux.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from fuzzing.runner import MOST_FAULTS, run

ROOT = Path(__file__).parents[1]
KINDS = ("models", "tables", "core")
CTEST = ROOT / "build" / "ctest-address,undefined"
PROGRAM = CTEST / "csrc" / "tests" / "test_random"
_PIECE, _BLOCK = 2000, 500  # cases of the C core, and others, between two notes of what was done


def case_of(kind: str) -> Callable[[int, int], str]:
    """What runs one case; imports what it needs."""
    os.environ |= {"OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
    module = importlib.import_module(f"fuzzing.{kind}")
    module.prepare()
    return module.case


def build_core() -> None:
    """Build the C core and its random calls under the sanitizers, and run a few."""
    werror = "true" if os.environ.get("CI") else "false"  # as `make ctest` has it, which builds there too
    done = subprocess.run(["sh", str(ROOT / "tools" / "ctest.sh"), str(CTEST), "address,undefined", werror, "random"])
    if done.returncode != 0:
        sys.exit("the C core cannot be built, or its short test failed")


def run_core(*, seed: int, first: int, end: int, say: Callable[[int], None]) -> dict[str, Any]:
    """As `fuzzing.runner.run`, for cases of the C core: csrc/tests/test_random.c says what they are."""
    n = min(_PIECE, end - first)
    ran = subprocess.run(
        [PROGRAM, str(n), str(seed), str(first)], capture_output=True, text=True,
        env=os.environ | {"UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"},
    )  # fmt: skip
    say(first + n)
    if ran.returncode == 0:
        return {"next": first + n, "outcomes": {"passed": n}, "faults": []}
    which = re.search(r"seed \d+, case (\d+)", ran.stderr)
    fault = {"case": int(which[1]) if which else first, "fault": ran.stderr[:4000] or f"status {ran.returncode}"}
    return {"next": first + n, "outcomes": {}, "faults": [fault]}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="run this one here and let it fail")
    parser.add_argument("--fresh", action="store_true", help="forget what was done before")
    parser.add_argument("--state", type=Path, help="a file of its own for what was done")
    parser.add_argument("--json", type=Path, help="a file of results to which this run is added")
    options = parser.parse_args(arguments)
    kind, seed = options.kind, options.seed
    if options.case is not None and kind == "core":
        return subprocess.run([PROGRAM, "1", str(seed), str(options.case)]).returncode
    if options.case is not None:
        print(case_of(kind)(seed, options.case))
        return 0

    kept = options.state or ROOT / "build" / "fuzz" / f"{kind}-{seed}.json"
    state: dict[str, Any] = {"next": 0, "outcomes": {}, "faults": [], "fixed": 0, "seconds": 0.0}
    if kept.exists() and not options.fresh:
        state |= json.loads(kept.read_text())
    print(f"{kind}, seed {seed}: cases {state['next']} to {options.cases - 1}", flush=True)
    began, before = time.monotonic(), state["seconds"]

    def say(at: int) -> None:
        print(f"  {at} of {options.cases}, {time.monotonic() - began:.0f} s", flush=True)

    def keep() -> None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(state, indent=1))

    if kind == "core" and (state["next"] < options.cases or state["faults"]):
        build_core()
    for fault in list(state["faults"]):  # of before: those that are none any more have been fixed
        again: dict[str, Any] = {"seed": seed, "first": fault["case"], "end": fault["case"] + 1, "say": lambda at: None}
        found = run_core(**again) if kind == "core" else run(case_of(kind), **again)
        if not found["faults"]:
            state["faults"].remove(fault)
            state["fixed"] += 1
            state["outcomes"] = dict(Counter(state["outcomes"]) + Counter(found["outcomes"]))
    keep()
    while state["next"] < options.cases and len(state["faults"]) < MOST_FAULTS:
        todo: dict[str, Any] = {"seed": seed, "first": state["next"], "end": options.cases, "say": say}
        if kind == "core":
            found = run_core(**todo)
        else:
            found = run(case_of(kind), **todo | {"end": min(state["next"] + _BLOCK, options.cases)})
        state = {
            "next": found["next"], "outcomes": dict(Counter(state["outcomes"]) + Counter(found["outcomes"])),
            "faults": state["faults"] + found["faults"], "fixed": state["fixed"],
            "seconds": before + time.monotonic() - began,
        }  # fmt: skip
        keep()
    for fault in state["faults"]:
        print(f"FAULT, python tools/fuzz.py {kind} --seed {seed} --case {fault['case']}\n  {fault['fault']}")
    print(f"{state['next']} cases, {len(state['faults'])} faults; {state['outcomes']}")
    if options.json is not None:
        add_to(options.json, kind, seed, state)
    return int(bool(state["faults"]))


def add_to(path: Path, kind: str, seed: int, state: dict[str, Any]) -> None:
    """Put the counts of a run into a file of results, in the place of the last one of its kind."""
    import evoke

    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    record[kind] = {
        "seed": seed, "cases": state["next"], "outcomes": state["outcomes"], "faults": state["faults"],
        "fixed": state["fixed"], "seconds": round(state["seconds"], 1), "date": date.today().isoformat(),
    }  # fmt: skip
    record["config"] = evoke.show_config(mode="dict")
    record["config"].pop("thundersvm", None)  # the path of its library
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
