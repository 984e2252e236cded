"""A whole generation, from asking for networks to telling their fitness, with one and with two threads."""

from __future__ import annotations

from evoke import ESP
from evoke.reproduce import PRESETS
from harness import machine, problems
from harness.core import evaluator
from harness.paired import paired
from harness.report import Report, Settings, Table

NOTE = "200 networks of the tuned preset. Wall time, since the threads share the work; a gain needs two idle cores."


def measure(settings: Settings) -> Report:
    table = Table("One generation, milliseconds of wall time", notes=[NOTE])
    preset = PRESETS["tuned"]
    for n_max in (4,) if settings.quick else (10, 20):
        problem = problems.anbncn(n_max, problems.gamma_of("tuned"))
        length = 4 * (problems.N_INPUTS + problems.N_CELLS)
        engine = ESP([length] * problems.N_CELLS, weight_range=preset["weight_range"],
                     mutation_scale=preset["mutation_scale"], random_state=0)  # fmt: skip

        def generation(evaluate, engine=engine, problem=problem):
            errors = evaluate(problem, engine.ask())
            engine.tell(errors[:, :2].sum(axis=1))

        n_threads = 2 if machine.describe()["cores"] > 1 else 1
        with evaluator(1, engine.n_networks) as one, evaluator(n_threads, engine.n_networks) as two:
            times = paired({"one": lambda _, e=one: generation(e), "two": lambda _, e=two: generation(e)},
                           settings.repeats)  # fmt: skip
        table.rows.append({
            "N": n_max, "1 thread": times.seconds("one", 1e-3)[0], "2 threads": times.seconds("two", 1e-3)[0],
            "1 thread / 2 threads": times.speedup("one", "two")[0],
            "microseconds per network": times.seconds("one", 1e-6 * engine.n_networks)[0],
        })  # fmt: skip
    return Report([table])
