"""Islands on the backends of joblib: what two workers gain, what an epoch adds, and what that says of 64 workers."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
from joblib import parallel_config
from scipy.optimize import nnls

from evoke import ESP
from evoke.reproduce import PRESETS
from harness import problems
from harness.clusters import BACKENDS
from harness.core import Problem, archipelago, shrunk
from harness.paired import Quartiles, paired
from harness.report import Report, Settings, Table, installed, skipped

GAIN = """Strings up to N = 10, tuned preset: one island in this process beside two islands on two workers, from the
first generation to the first migration, in paired rounds. "gain": networks a second of the two, divided by those of
the one."""

OVERHEAD = """An epoch of one generation of k islands on two workers, whose networks read a single step, minus the same
work in this process. "fixed" and "an island": the line a + b k through the lower quartiles, as other programs only add
to a time. kB: what travels in an epoch for an island, there and back, and the problem, which a worker is sent once."""

MODEL = """An epoch of k islands on k workers takes the work of one island and a + b k: all is sent and collected by one
process. Efficiency: the share of the work, with the generations of the first table and the line of the second."""

COUNTS = (2, 4, 8, 16)
WORKERS = (2, 8, 64)


def measure(settings: Settings) -> Report:
    gain = Table("Two islands on two workers beside one island", notes=[GAIN])
    costs = Table("What an epoch adds", notes=[OVERHEAD])
    model = Table("Efficiency that follows, by the number of workers", notes=[MODEL])
    problem = problems.anbncn(4 if settings.quick else 10, problems.gamma_of("tuned"))
    epochs, counts = ((2,), COUNTS[:2]) if settings.quick else ((10, 100), COUNTS)
    for name, (cluster, package) in BACKENDS.items():
        if not installed(package):
            gain.notes.append(skipped(name, package))
            continue
        with cluster(), parallel_config(name, n_jobs=2):
            overhead = costs_of(shrunk(problem), counts, settings.repeats)
            fixed, each = line(counts, [overhead[k].low for k in counts])
            costs.rows.append(
                {"backend": name} | {f"{k} islands, ms": overhead[k] for k in counts}
                | {"fixed, ms": fixed, "an island, ms": each} | traffic(problem, epochs[0])
            )  # fmt: skip
            for every in epochs:
                row = compare(problem, every, settings.repeats)
                gain.rows.append({"backend": name, "migrate_every": every} | row)
                work = row["1 island, ms"].low
                found = {f"{k} workers": work / (work + fixed + each * k) for k in WORKERS}
                model.rows.append({"backend": name, "migrate_every": every} | found)
    return Report([gain, costs, model])


def islands(n: int) -> list[ESP]:
    """Populations of the tuned preset, each of a seed of its own."""
    preset = PRESETS["tuned"]
    names = ("weight_range", "mutation_scale", "burst_patience", "subpopulation_size", "n_trials")
    own = {name: preset[name] for name in names if name in preset}
    length = 4 * (problems.N_INPUTS + problems.N_CELLS)
    return [ESP([length] * problems.N_CELLS, **own, random_state=seed) for seed in range(n)]


def compare(problem: Problem, every: int, repeats: int) -> dict[str, Quartiles]:
    two_islands = islands(2)
    with archipelago(1, problem, two_islands[:1]) as here, archipelago(2, problem, two_islands) as there:
        # both islands in turn are the one: their networks do not take the same time
        calls = {"one": lambda k: here(two_islands[k % 2 :][:1], every), "two": lambda _: there(two_islands, every)}
        times = paired(calls, 2 * repeats)
    one, two = (1e3 * times.wall[name] for name in ("one", "two"))
    return {
        "1 island, ms": Quartiles.of(one), "2 islands on 2 workers, ms": Quartiles.of(two),
        "gain": Quartiles.of(2.0 * one / two),
    }  # fmt: skip


def costs_of(problem: Problem, counts: Sequence[int], repeats: int) -> dict[int, Quartiles]:
    """What is added to a generation of so many islands that have next to nothing to do."""
    many, found = islands(max(counts)), {}
    for n in counts:
        with archipelago(1, problem, many[:1]) as here, archipelago(2, problem, many[:n]) as there:
            calls = {"here": lambda _: here(many[:1], 1), "there": lambda _, n=n: there(many[:n], 1)}
            times = paired(calls, repeats)
        found[n] = Quartiles.of(1e3 * (times.wall["there"] - n / 2 * times.wall["here"]))
    return found


def line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """The constant and the slope of the line of least squares, neither of which is negative."""
    constant, slope = nnls(np.stack([np.ones(len(x)), x], axis=1), np.array(y))[0]
    return float(constant), float(slope)


def traffic(problem: Problem, every: int) -> dict[str, float]:
    (island,) = islands(1)
    with archipelago(1, problem, [island]) as here:
        outcome = here([island], every)
    there, back, once = (len(pickle.dumps(sent)) / 1e3 for sent in (island, outcome, problem))
    return {"sent, kB": there, "back, kB": back, "problem, kB": once}
