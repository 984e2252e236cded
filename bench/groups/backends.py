"""The backends of joblib, and Dask and Ray where installed: what they add to a generation, what two workers gain."""

from __future__ import annotations

from joblib import parallel_config

from harness import problems
from harness.clusters import BACKENDS
from harness.core import FloatArray, Problem, evaluator, shrunk
from harness.paired import Quartiles, paired
from harness.report import Report, Settings, Table, installed, skipped

NOTE = """Wall time of one generation: the 200 networks of the tuned preset's first population. Overhead: the time of a
generation whose networks read a single step on two workers, minus the same in this process. "1 worker" is this process,
whatever the backend."""

SIZES = """A generation of the same 200 networks on problems of a single step that carry so many megabytes of rows:
every slice of the generation is sent together with its problem."""


def measure(settings: Settings) -> Report:
    scaling = Table("Two workers beside one, by backend", notes=[NOTE])
    sizes = Table("Overhead by the size of the problem, ms", notes=[SIZES])
    sent = {mb: shrunk(problems.anbncn(4, 1.0), round(mb * 1e6 / 32)) for mb in ((0,) if settings.quick else (0, 1, 8))}
    for name, (cluster, package) in BACKENDS.items():
        if not installed(package):
            scaling.notes.append(skipped(name, package))
            continue
        with cluster(), parallel_config(name, n_jobs=2):
            for n_max in (4,) if settings.quick else (10, 20):
                problem = problems.anbncn(n_max, problems.gamma_of("tuned"))
                genomes = problems.networks(n_max, "tuned")
                scaling.rows.append({"backend": name, "N": n_max} | compare(problem, genomes, settings.repeats))
            own = {f"{mb} MB": overhead(problem, genomes, settings.repeats) for mb, problem in sent.items()}
            sizes.rows.append({"backend": name} | own)
    return Report([scaling, sizes])


def compare(problem: Problem, genomes: FloatArray, repeats: int) -> dict[str, Quartiles]:
    with evaluator(1, len(genomes)) as one, evaluator(2, len(genomes)) as two:
        times = paired({"one": lambda _: one(problem, genomes), "two": lambda _: two(problem, genomes)}, repeats)
    return {
        "1 worker, ms": Quartiles.of(1e3 * times.wall["one"]),
        "2 workers, ms": Quartiles.of(1e3 * times.wall["two"]),
        "1 / 2": times.speedup("one", "two")[0],
        "overhead, ms": overhead(shrunk(problem), genomes, repeats),
    }


def overhead(problem: Problem, genomes: FloatArray, repeats: int) -> Quartiles:
    with evaluator(1, len(genomes)) as one, evaluator(2, len(genomes)) as two:
        times = paired({"one": lambda _: one(problem, genomes), "two": lambda _: two(problem, genomes)}, repeats)
    return Quartiles.of(1e3 * (times.wall["two"] - times.wall["one"]))
