"""A whole generation of evolution, from asking for networks to telling their fitness, with one and with two threads."""

from __future__ import annotations

import machine
import problems
from paired import paired
from report import Report, Settings, Table

from evoke import ESP
from evoke.evolution.workers import evaluator
from evoke.reproduce import PRESETS

NOTE = """200 networks of the tuned preset. Wall time, since the threads share the work; two threads need two idle cores
to gain.""".replace("\n", " ")


def run(settings: Settings) -> Report:
    table = Table("A generation, milliseconds of wall time", notes=[NOTE])
    preset = PRESETS["tuned"]
    for n_max in (4,) if settings.quick else (10, 20):
        problem = problems.anbncn(n_max, problems.gamma_of("tuned"))
        length = 4 * (problems.N_INPUTS + problems.N_CELLS)
        engine = ESP([length] * problems.N_CELLS, weight_range=preset["weight_range"],
                     mutation_scale=preset["mutation_scale"], random_state=0)  # fmt: skip

        def generation(evaluate, engine=engine):
            errors = evaluate(engine.ask())
            engine.tell(errors[:, :2].sum(axis=1))

        n_threads = 2 if machine.describe()["cores"] > 1 else 1
        with evaluator(problem, 1, engine.n_networks) as one, evaluator(problem, n_threads, engine.n_networks) as two:
            times = paired({"one": lambda _, e=one: generation(e), "two": lambda _, e=two: generation(e)},
                           settings.repeats)  # fmt: skip
        table.rows.append({
            "N": n_max, "1 thread": times.seconds("one", 1e-3)[0], "2 threads": times.seconds("two", 1e-3)[0],
            "1 thread / 2 threads": times.speedup("one", "two")[0],
            "microseconds a network": times.seconds("one", 1e-6 * engine.n_networks)[0],
        })  # fmt: skip
    return Report([table])
