"""A whole evolution as the paper counts it: 50 generations, here of 200 networks each."""

from __future__ import annotations

import problems
from paired import paired
from report import Report, Settings, Table

from evoke import EvokeClassifier, tasks


def run(settings: Settings) -> Report:
    n_max, n_generations = (4, 2) if settings.quick else (10, 50)
    X, y = tasks.anbncn(n_max)
    table = Table(
        f"`EvokeClassifier.fit`, N={n_max}, {n_generations} generations, {200 * n_generations} evaluations, one core",
        notes=["A different seed in each round."],
    )
    for name, preset in problems.PRESETS.items():

        def fit(seed, preset=preset):
            EvokeClassifier(**preset, n_generations=n_generations, random_state=seed).fit(X, y)

        times = paired({"fit": fit}, min(settings.repeats, 10))
        wall, cpu = times.seconds("fit")
        table.rows.append({"preset": name, "seconds": wall, "seconds of processor": cpu})
    return Report([table])
