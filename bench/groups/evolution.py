"""A whole evolution: one run of the experiment on a^n b^n c^n."""

from __future__ import annotations

from evoke import EvokeClassifier, tasks
from evoke.reproduce import PRESETS
from harness.paired import paired
from harness.report import Report, Settings, Table


def measure(settings: Settings) -> Report:
    n_max, n_generations = (4, 2) if settings.quick else (10, 50)
    X, y = tasks.anbncn(n_max)
    table = Table(
        f"`EvokeClassifier.fit`, N={n_max}, {n_generations} generations, one core",
        notes=["A different seed in each round."],
    )
    for name, preset in PRESETS.items():
        parameters = preset | {"n_generations": n_generations}
        n_evaluations = EvokeClassifier(**parameters, random_state=0).fit(X, y).n_evaluations_

        def fit(seed, parameters=parameters):
            EvokeClassifier(**parameters, random_state=seed).fit(X, y)

        times = paired({"fit": fit}, min(settings.repeats, 10))
        wall, cpu = times.seconds("fit")
        table.rows.append({
            "preset": name, "evaluations": n_evaluations, "seconds": wall, "seconds (processor)": cpu,
        })  # fmt: skip
    return Report([table])
