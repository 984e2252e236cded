"""One exact leave-one-out evaluation: forward pass, pooled statistics, 12 pairs of C and gamma."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness import leave_one_out as task
from harness import operations
from harness.leave_one_out import EVOKE, HALF, PLAIN
from harness.paired import paired
from harness.report import Report, Settings, Table, Target

SIZE = 8  # networks per round: a block of the core
WHOLE, GRID, READ = "evaluation", "grid alone", "forward pass and statistics"
WANTED = 50.0
NOTE = f"""{task.STEPS} steps and {task.INPUTS} columns, {task.CLASSES} classes, {task.CELLS} cells pooled by
{len(task.POOL)} statistics, {len(task.WIDTHS)} kernel widths with {len(task.CAPACITIES)} values of C each.
"{PLAIN}" reads all sequences at once, "{HALF}" leaves the reading to `evoke.lstm.forward`; both invert every bordered
matrix by LAPACK. All give the same losses, which is checked before they are timed."""
PARTS_NOTE = """The parts are timed by calls of their own, the grid one network after the other. Operations counted: the
steps of the cells; distances, exponential functions, and for each pair the factor and its inverse. Not counted: the
statistics and the losses."""


def measure(settings: Settings) -> Report:
    n = 20 if settings.quick else task.N
    speed = Table(f"Evaluations of networks on {n} sequences, milliseconds a network", notes=[NOTE])
    share = Table("Parts of it in evoke", notes=[PARTS_NOTE])
    report = Report([speed, share])
    for what, calls in make_candidates(n).items():
        check(calls)
        times = paired({name: lambda _, call=call: call() for name, call in calls.items()}, settings.repeats)
        row = {"": what, EVOKE: times.seconds(EVOKE, SIZE / 1e3)[1]}
        for other in (HALF, PLAIN):
            row[other], row[f"{other} / evoke"] = "-", "-"
            if other in calls:
                row[other], ratio = times.seconds(other, SIZE / 1e3)[1], times.speedup(other, EVOKE)[1]
                row[f"{other} / evoke"] = ratio
                if what == WHOLE:
                    report.targets.append(Target.at_least(f"{other} / evoke, leave-one-out", WANTED, ratio.median))
        speed.rows.append(row)
    parts = make_parts(n)
    times = paired({name: call for name, (call, _) in parts.items()}, settings.repeats)
    for name, (_, flops) in parts.items():
        taken = times.seconds(name, SIZE)[1]
        millions, limit = f"{flops / 1e6:.1f}", settings.of_flops(flops, taken.median)
        share.rows.append({
            "part": name, "ms": times.seconds(name, SIZE / 1e3)[1], "operations, 10^6": millions, "of the limit": limit,
        })  # fmt: skip
    return report


def make_candidates(n: int) -> dict[str, dict[str, Callable[[], np.ndarray]]]:
    """Functions that give the losses (SIZE,), by what they compute and by who computes it."""
    X, targets = task.data(n)
    genomes, problem = task.genomes(SIZE), task.problem_of(X, targets)
    features = [task.pooled(task.activations(genome, X)) for genome in genomes]
    evaluators = task.evaluators(X, targets)
    return {
        WHOLE: {name: lambda evaluate=evaluate: evaluate(genomes) for name, evaluate in evaluators.items()},
        GRID: {
            EVOKE: lambda: np.array([problem.choose(f) for f in features]),
            PLAIN: lambda: np.array([task.choose(f, targets) for f in features]),
        },
    }


def check(calls: dict[str, Callable[[], np.ndarray]]) -> None:
    """That all candidates give the same losses."""
    expected = calls[EVOKE]()
    for name, call in calls.items():
        np.testing.assert_allclose(call(), expected, rtol=1e-8, err_msg=name)


def make_parts(n: int) -> dict[str, tuple[Callable[[int], object], float]]:
    """What to time of evoke, for all networks, and the operations that it takes for one."""
    X, targets = task.data(n)
    genomes, problem = task.genomes(SIZE), task.problem_of(X, targets)
    features = list(problem.features(genomes))
    read = n * task.STEPS * operations.lstm(task.INPUTS, task.CELLS)
    grid = operations.leave_one_out_grid(n, features[0].shape[1], task.CLASSES, len(task.WIDTHS), len(task.CAPACITIES))
    return {
        READ: (lambda _: problem.features(genomes), read),
        GRID: (lambda _: [problem.choose(f) for f in features], grid),
        WHOLE: (lambda _: problem.evaluate(genomes), read + grid),
    }
