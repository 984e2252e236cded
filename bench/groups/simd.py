"""Evaluations on each instruction set, in processes of their own, because a process has only one."""

from __future__ import annotations

import json

from harness import core, programs
from harness.paired import Quartiles
from harness.report import Report, Settings, Table

# argv: N, origin, number of networks. Prints the processor time of an evaluation in seconds and a digest of the errors.
PROGRAM = """
import hashlib, json, sys
from harness import problems
from harness.core import evaluate
from harness.paired import paired
n_max, origin, size = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
problem, genomes = problems.anbncn(n_max, problems.gamma_of(origin)), problems.networks(n_max, origin)[:size]
times = paired({"evoke": lambda _: evaluate(problem, genomes)}, 3)
print(json.dumps([times.seconds("evoke", size)[1].median, hashlib.sha256(evaluate(problem, genomes)).hexdigest()[:12]]))
"""


def measure(settings: Settings) -> Report:
    names = core.instruction_sets()[: 1 if settings.quick else None]
    title = "Instruction sets: milliseconds of processor time per evaluation"
    table = Table(title, notes=["One process per instruction set, in turn."])
    for n_max, origin in ((4, "paper"),) if settings.quick else ((10, "paper"), (10, "tuned")):
        taken = {name: [] for name in names}
        digests = {}
        for _ in range(1 if settings.quick else min(settings.repeats, 5)):
            for name in names:
                seconds, digests[name] = measure_one(name, n_max, origin, 8 if settings.quick else 200)
                taken[name].append(1e3 * seconds)
        for name in names:
            table.rows.append({
                "problem": f"N={n_max}, {origin}", "instruction set": name, "ms": Quartiles.of(taken[name]),
                "errors": digests[name],
            })  # fmt: skip
    return Report([table])


def measure_one(name: str, n_max: int, origin: str, size: int) -> tuple[float, str]:
    (line,) = programs.printed(PROGRAM, str(n_max), origin, str(size), EVOKE_SIMD=name)
    return tuple(json.loads(line))
