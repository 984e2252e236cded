"""Islands on the backends of joblib: what workers gain, what an epoch adds, and what that says of many workers."""

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

GAIN = """Strings up to N = 10, tuned preset: one island in this process beside k islands on k workers, from the first
generation to the first migration, in paired rounds. "gain": networks a second of all of them, divided by those of the
one: at most the number of cores, as 8 workers share them too."""

OVERHEAD = """An epoch of one generation of k islands on two workers, whose networks read a single step, minus the same
work in this process. "fixed" and "an island": the line a + b k through the lower quartiles, as other programs only add
to a time. kB: what travels in an epoch for an island, there and back, and the problem, which a worker is sent once."""

MODEL = """An epoch of k islands on k workers takes the work of one island and a + b k: all is sent and collected by one
process. Efficiency: the share of the work, with the generations of the first table, or ten times as many, and the line
of the second. It says nothing of workers that share a core."""

COUNTS = (2, 4, 8, 16)
WORKERS = (2, 8, 64, 1000)
MEASURED = (2, 8)


def measure(settings: Settings) -> Report:
    gain = Table("Islands on workers of their own beside one island", notes=[GAIN])
    costs = Table("What an epoch adds", notes=[OVERHEAD])
    model = Table("Efficiency that follows, by the number of workers", notes=[MODEL])
    problem = problems.anbncn(4 if settings.quick else 10, problems.gamma_of("tuned"))
    epochs, counts, measured = ((2,), COUNTS[:2], MEASURED[:1]) if settings.quick else ((10, 100), COUNTS, MEASURED)
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
        work: dict[int, float] = {}
        for n in measured:
            with cluster(n), parallel_config(name, n_jobs=n):
                for every in epochs:
                    row = compare(problem, n, every, settings.repeats)
                    gain.rows.append({"backend": name, "workers": n, "migrate_every": every} | row)
                    work.setdefault(every, row["1 island, ms"].low)
        work[10 * epochs[-1]] = 10.0 * work[epochs[-1]]
        for every in work:
            found = {f"{k:,} workers": work[every] / (work[every] + fixed + each * k) for k in WORKERS}
            model.rows.append({"backend": name, "migrate_every": every} | found)
    return Report([gain, costs, model])


def islands(n: int) -> list[ESP]:
    """Populations of the tuned preset, each of a seed of its own."""
    preset = PRESETS["tuned"]
    names = ("weight_range", "mutation_scale", "burst_patience", "subpopulation_size", "n_trials")
    own = {name: preset[name] for name in names if name in preset}
    length = 4 * (problems.N_INPUTS + problems.N_CELLS)
    return [ESP([length] * problems.N_CELLS, **own, random_state=seed) for seed in range(n)]


def compare(problem: Problem, n: int, every: int, repeats: int) -> dict[str, Quartiles]:
    all_of_them = islands(n)
    with archipelago(1, problem, all_of_them[:1]) as here, archipelago(n, problem, all_of_them) as there:
        # all islands in turn are the one: their networks do not take the same time
        calls = {"one": lambda k: here(all_of_them[k % n :][:1], every), "all": lambda _: there(all_of_them, every)}
        times = paired(calls, n * -(-2 * repeats // n))
    one, together = (1e3 * times.wall[name] for name in ("one", "all"))
    return {
        "1 island, ms": Quartiles.of(one), "k islands, ms": Quartiles.of(together),
        "gain": Quartiles.of(n * one / together),
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
