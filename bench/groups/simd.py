"""Evaluations on each instruction set, in processes of their own, because a process has only one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from paired import Quartiles
from report import Report, Settings, Table

from evoke._core import dispatch

# argv: N, origin, number of networks. Prints the seconds of processor time of an evaluation and a digest of the errors.
PROGRAM = """
import hashlib, json, sys
import problems
from evoke.evolution.evaluation import evaluate
from paired import paired
n_max, origin, size = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
problem, genomes = problems.anbncn(n_max, problems.gamma_of(origin)), problems.networks(n_max, origin)[:size]
times = paired({"evoke": lambda _: evaluate(problem, genomes)}, 3)
print(json.dumps([times.seconds("evoke", size)[1].median, hashlib.sha256(evaluate(problem, genomes)).hexdigest()[:12]]))
"""


def run(settings: Settings) -> Report:
    names = dispatch.supported()[: 1 if settings.quick else None]
    table = Table("Instruction sets: milliseconds of processor time an evaluation", notes=["Processes in turn."])
    for n_max, origin in ((4, "paper"),) if settings.quick else ((10, "paper"), (10, "tuned")):
        taken = {name: [] for name in names}
        digests = {}
        for _ in range(1 if settings.quick else min(settings.repeats, 5)):
            for name in names:
                seconds, digests[name] = measure(name, n_max, origin, 8 if settings.quick else 200)
                taken[name].append(1e3 * seconds)
        for name in names:
            table.rows.append({
                "problem": f"N={n_max}, {origin}", "instruction set": name, "ms": Quartiles.of(taken[name]),
                "errors": digests[name],
            })  # fmt: skip
    return Report([table])


def measure(name: str, n_max: int, origin: str, size: int) -> tuple[float, str]:
    environment = os.environ | {"EVOKE_SIMD": name, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", PROGRAM, str(n_max), origin, str(size)]
    return tuple(json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout))
