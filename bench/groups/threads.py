"""Two threads beside one."""

from __future__ import annotations

from evoke import EvokeClassifier, tasks
from evoke.reproduce import PRESETS
from harness import machine
from harness.paired import paired
from harness.report import Report, Settings, Table, Target

NOTE = """Wall time, and what two threads cost in processor time. The ratio of the wall times means something only if
two cores are idle; see the load of the machine."""


def measure(settings: Settings) -> Report:
    table = Table("`EvokeClassifier.fit` with `n_jobs=2` beside `n_jobs=1`", notes=[NOTE])
    report = Report([table])
    if machine.describe()["cores"] < 2:
        table.notes.append("Skipped: there is only one core.")
        return report
    for n_max, n_generations in ((4, 1),) if settings.quick else ((10, 20), (20, 8)):
        X, y = tasks.anbncn(n_max)

        def fit(n_jobs, X=X, y=y, n_generations=n_generations):
            parameters = PRESETS["tuned"] | {"n_generations": n_generations, "random_state": 0}
            return EvokeClassifier(**parameters, n_jobs=n_jobs).fit(X, y)

        times = paired({"one": lambda _: fit(1), "two": lambda _: fit(2)}, settings.repeats)
        ratio = times.speedup("one", "two")[0]
        table.rows.append({
            "N": n_max, "generations": n_generations, "n_jobs=1, s": times.seconds("one")[0],
            "n_jobs=2, s": times.seconds("two")[0], "ratio": ratio,
            "processor time, one / two": times.speedup("one", "two")[1],
        })  # fmt: skip
        report.targets.append(Target.at_least(f"n_jobs=1 / n_jobs=2, N={n_max}", 1.8, ratio.median))
    return report
