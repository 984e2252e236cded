"""The backends of joblib: what they add to a generation, and what two workers gain. Dask and Ray where installed."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from dataclasses import replace

import numpy as np
import problems
from joblib import parallel_config
from paired import Quartiles, paired
from report import Report, Settings, Table

from evoke.evolution.problem import Points, Problem
from evoke.evolution.workers import evaluator
from evoke.sequences.containers import as_sequences
from evoke.sequences.prefixes import share_prefixes

NOTE = """Wall time of a generation of 200 networks of the tuned preset's first population. Overhead: what a generation
takes on two workers whose networks read a single step, less the time of that in this process. 1 worker is this
process with every backend.""".replace("\n", " ")

SIZES = """A generation of the same 200 networks on problems of one step that bring so many megabytes of rows along:
every slice takes its problem with it.""".replace("\n", " ")


@contextlib.contextmanager
def dask():
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        yield


@contextlib.contextmanager
def ray():
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
    import ray
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    register_ray()
    yield
    ray.shutdown()


# The cluster of a backend, and the package that it needs.
BACKENDS = {
    "threading": (contextlib.nullcontext, "joblib"),
    "loky": (contextlib.nullcontext, "joblib"),
    "dask": (dask, "distributed"),
    "ray": (ray, "ray"),
}


def cheap(problem: Problem, n_rows: int = 0) -> Problem:
    """The problem with one step that is worth evaluating, and so many rows more that nobody looks at."""
    runs = share_prefixes(as_sequences([problem.runs.rows[:1]]))
    runs = replace(runs, rows=np.concatenate([runs.rows, np.zeros((n_rows, problem.n_inputs))]))
    points = Points(np.zeros(1, dtype=np.int64), np.ones(1), np.ones((len(problem.train.targets), 1)))
    return replace(problem, runs=runs, train=points, validation=points)


def run(settings: Settings) -> Report:
    scaling = Table("Backends with two workers beside one", notes=[NOTE])
    sizes = Table("Overhead by the size of the problem, ms", notes=[SIZES])
    sent = {mb: cheap(problems.anbncn(4, 1.0), round(mb * 1e6 / 32)) for mb in ((0,) if settings.quick else (0, 1, 8))}
    for name, (cluster, package) in BACKENDS.items():
        if importlib.util.find_spec(package) is None:
            scaling.notes.append(f"Skipped: {name}, as {package} is not installed.")
            continue
        with cluster(), parallel_config(name, n_jobs=2):
            for n_max in (4,) if settings.quick else (10, 20):
                problem = problems.anbncn(n_max, problems.gamma_of("tuned"))
                genomes = problems.networks(n_max, "tuned")
                scaling.rows.append({"backend": name, "N": n_max} | compare(problem, genomes, settings.repeats))
            own = {f"{mb} MB": overhead(problem, genomes, settings.repeats) for mb, problem in sent.items()}
            sizes.rows.append({"backend": name} | own)
    return Report([scaling, sizes])


def compare(problem: Problem, genomes: problems.FloatArray, repeats: int) -> dict[str, Quartiles]:
    with evaluator(problem, 1, len(genomes)) as one, evaluator(problem, 2, len(genomes)) as two:
        times = paired({"one": lambda _: one(genomes), "two": lambda _: two(genomes)}, repeats)
    return {
        "1 worker, ms": Quartiles.of(1e3 * times.wall["one"]),
        "2 workers, ms": Quartiles.of(1e3 * times.wall["two"]),
        "1 / 2": times.speedup("one", "two")[0],
        "overhead, ms": overhead(cheap(problem), genomes, repeats),
    }


def overhead(problem: Problem, genomes: problems.FloatArray, repeats: int) -> Quartiles:
    with evaluator(problem, 1, len(genomes)) as one, evaluator(problem, 2, len(genomes)) as two:
        times = paired({"one": lambda _: one(genomes), "two": lambda _: two(genomes)}, repeats)
    return Quartiles.of(1e3 * (times.wall["two"] - times.wall["one"]))
