"""docs/data_sets.md and its figures, from what the studies `sets` and `calibration` measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness import calibration_chapter, forecasts, memory_sets, ranks
from harness.calibration import PROBABILITIES
from harness.class_methods import MEMORY_SETS, NEW_SPLITS, REAL_SETS
from harness.narma import NARMA
from harness.report import markdown_table, skipped
from harness.results import Part, Results

OURS = "evoke"
SMALL = 0.005  # differences in accuracy that the list of sets where another wins passes over
MOST_LEFT_OUT = 2  # sets that a method may be left out of and still be ranked
RANKS, RELIABILITY, MEMORY = "data-sets-ranks.png", "data-sets-reliability.png", "data-sets-memory.png"
LABELS, SPLITS, CALIBRATION, TASKS = "classification", "new splits", "calibration", "memory"
STEPS, SERIES = "narma", "forecasts"
PARTS = {
    LABELS: REAL_SETS, SPLITS: NEW_SPLITS, CALIBRATION: PROBABILITIES, TASKS: MEMORY_SETS, STEPS: NARMA,
    SERIES: forecasts.FORECASTS,
}  # fmt: skip

HEAD = """\
# Data sets and other methods

evoke with its defaults, and what else one would try, on sets that nothing was tuned to. Written from
`docs/results/sets.json` and `docs/results/calibration.json`, which have every single run, by

```sh
pip install '.[bench]'
python bench/study.py sets --report docs    # measures what the file lacks; --page-only measures nothing
python bench/study.py calibration --report docs
```

Do not edit it by hand. It is made of {n_runs} runs. Methods that depend on chance ran with {seeds}; the tables show
means. The search for settings counts as part of fitting. Everything ran in one thread on {machine}.

{load}

[Real data](real_data.md) asks another question about two of these sets: what can be reached with settings that are
searched for on the training data.
"""

ABOUT_LABELS = """\
## One label per sequence

Accuracy on the usual test sets (`bench/harness/class_sets.py`): UCR and UEA archives, and scikit-learn's digits, which
are read row by row or pixel by pixel. MiniRocket, Hydra, QUANT and nearest neighbours with dynamic time warping are
aeon's. The SVM reads each sequence resampled to 10 to 300 steps, the echo state network has 300 units; both choose
their settings by cross-validation. The gradient LSTM has 64 cells and 300 steps of Adam, the same everywhere.
"""
PADDED_NOTE = "\\* Lengths differ in this set, and the method read the archive's edition that is padded to equal ones."

ABOUT_RANKS = """\
### Ranks

After Demšar (2006), over {sets}. 1 is the best. Friedman's test that all are equally good: p = {friedman:.2g}. The last
column has Wilcoxon's signed-rank test of evoke against the method with Holm's correction; with so few sets only large
and steady differences can be significant.
"""
ABOUT_SPLITS = """\
### Other splits of these sets

The usual test sets are one split of a few hundred sequences each. Here every seed draws the training part anew from all
sequences of a set, with as many of each class; means of {n_seeds} seeds. Wilcoxon's signed-rank test of evoke against
each method over all these runs, in pairs: {tests}.
"""
ABOUT_TASKS = """\
## Memory

A label per sequence, {n_train} sequences to learn from, other data for each seed (`bench/harness/memory_sets.py`). The
number in the name is the lag: the steps between what must be remembered and where it is needed. In "flag" the first
step is the label; in "latch" it is the last of several pulses; in "marked signs" it is the product of two signs that a
second channel marks. Guessing gives 0.5, and 0.25 in temporal order.

evoke's readout sees statistics over all steps, such as the largest and the mean activation, beside the last one. What a
cell saw once is in them without being remembered. So the flag does not need memory here; the latch and temporal order
do.
"""
ABOUT_STEPS = """\
## A value at every step: NARMA-10

Root mean square error over the deviation of the values (`bench/harness/narma.py`), 1,000 steps to learn from and 1,000
to be tested on; less is better. The lags of the defaults were chosen with the first seeds of this task in view, beside
four tasks of classification.
"""
ABOUT_SERIES = """\
## Forecasts

{horizon} steps ahead from {n_origins} origins a series (`bench/harness/forecasts.py`). Mean absolute error over the
mean absolute change from the season before, or the step before where there is no season (MASE); less is better. All
methods know the length of the season. SARIMAX is pmdarima's `auto_arima`, ETS the best of statsmodels' models by AICc.
"""
ABOUT_BOUNDS = "### Share of the true values within the 90 % intervals\n"


def write(results: Results, parts: Mapping[str, Part], folder: Path) -> None:
    """Write data_sets.md and figures/data-sets-*.png; without matplotlib or aeon not those figures that need them."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    scores, methods = ranked(results.of(LABELS), parts[LABELS])
    for name, package, draw in (
        (RANKS, "aeon", lambda path: ranks.draw(np.array(list(scores.values())), methods, path)),
        (RELIABILITY, "matplotlib", lambda path: calibration_chapter.draw(results.of(CALIBRATION), path)),
        (MEMORY, "matplotlib", lambda path: draw_memory(results.of(TASKS), path)),
    ):
        try:
            draw(folder / "figures" / name)
        except ImportError:
            print(skipped(name, package))
    (folder / "data_sets.md").write_text(page(results, parts), encoding="utf-8")


def page(results: Results, parts: Mapping[str, Part]) -> str:
    chapters = {
        LABELS: labels, SPLITS: new_splits, CALIBRATION: probabilities, TASKS: tasks, STEPS: steps, SERIES: series,
    }  # fmt: skip
    found = []
    for name, chapter in chapters.items():
        if runs := results.of(name):
            n_seeds = parts[name].n_seeds or results.head["seeds"]
            found += [chapter(runs, parts[name]), *fewer(runs, parts[name], n_seeds)]
    return "\n".join([head(results), *found])


def fewer(runs: list[dict[str, Any]], part: Part, n_seeds: int) -> list[str]:
    """A note on what has been measured with fewer seeds than it should be."""
    found = [
        f"{method} on {name} ({len(made)})" for (name, method), made in cells(runs).items()
        if len(made) < n_seeds and part.methods[method].seeded and "left_out" not in made[0]
    ]  # fmt: skip
    return [f"Measured with fewer seeds, whose number is in brackets: {'; '.join(found)}.\n"] if found else []


def head(results: Results) -> str:
    about, n_seeds = results.head["machine"], results.head["seeds"]
    packages = [
        f"{name} {about[name]}"
        for name in ("evoke", "python", "numpy", "scikit-learn", "aeon", "torch", "statsmodels", "pmdarima")
        if name in about
    ]
    return HEAD.format(
        n_runs=len(results.runs),
        seeds="one seed" if n_seeds == 1 else f"seeds 0 to {n_seeds - 1}",
        machine=f"{about['processor']}, {about['cores']} cores", load=f"{busy(results)} {', '.join(packages)}.",
    )  # fmt: skip


def busy(results: Results) -> str:
    """Whether the machine had other work while it measured."""
    load, cores = max(run.get("load", 0.0) for run in results.runs), results.head["machine"]["cores"]
    if load > cores:
        return f"Other programs ran beside it (load up to {load:.1f} on {cores} cores), so seconds are too many."
    return f"The load of the machine was at most {load:.1f}."


# ---------------------------------------------------------------- tables


def cells(runs: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The runs by (set, method)."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for run in runs:
        found.setdefault((run["set"], run["method"]), []).append(run)
    return found


def mean(runs: list[dict[str, Any]] | None, key: str) -> float | None:
    """None where nothing was measured or the method was left out."""
    if not runs or any(run.get(key) is None for run in runs):
        return None
    return float(np.mean([run[key] for run in runs]))


def table(
    runs: list[dict[str, Any]], part: Part, key: str, digits: int, best: Callable[..., float] | None = None
) -> list[dict[str, str]]:
    """A row for each set and a column for each method; the best means are bold, as shown."""
    found, rows = cells(runs), []
    for name in part.sets:
        means = {method: mean(found.get((name, method)), key) for method in part.methods}
        known = [round(m, digits) for m in means.values() if m is not None]
        if not known:
            continue
        top = best(known) if best else None
        row = {"set": name}
        for method, value in means.items():
            row[method] = "-" if value is None else f"{value:.{digits}f}"
            if value is not None and round(value, digits) == top:
                row[method] = f"**{row[method]}**"
            if any(run.get("padded") for run in found.get((name, method), ())):
                row[method] += " \\*"
        rows.append(row)
    return rows


def reasons(runs: list[dict[str, Any]]) -> str:
    """Why methods were left out, one sentence for each method and reason."""
    why: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        if "left_out" in run and run["set"] not in why.setdefault((run["method"], run["left_out"]), []):
            why[run["method"], run["left_out"]].append(run["set"])
    lines = (f"- {method} is left out of {'; '.join(sets)}: {reason}." for (method, reason), sets in why.items())
    return "\n".join(lines)


def listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


# ---------------------------------------------------------------- chapters


def labels(runs: list[dict[str, Any]], part: Part) -> str:
    accuracy = table(runs, part, "accuracy", 3, max)
    lines = [ABOUT_LABELS, markdown_table([*accuracy, mean_row(runs, part)]), ""]
    if any("\\*" in cell for row in accuracy for cell in row.values()):
        lines += [PADDED_NOTE, ""]
    lines += [reasons(runs), "", "### Where another method is ahead\n", ahead(runs, part), ""]
    lines += ["### Seconds to fit, and to predict the test set\n", markdown_table(seconds(runs, part)), ""]
    scores, methods = ranked(runs, part)
    if len(scores) > 1 and OURS in methods:
        lines += [rank_chapter(scores, methods)]
    return "\n".join(lines)


def mean_row(runs: list[dict[str, Any]], part: Part) -> dict[str, str]:
    """Means over the sets that are ranked."""
    found, row = cells(runs), {}
    for method in part.methods:
        means = [mean(found.get((name, method)), "accuracy") for name in compared(runs, part)]
        row[method] = "-" if None in means or not means else f"{np.mean(means):.3f}"
    return {"set": f"mean of the {len(compared(runs, part))} sets that are ranked"} | row


def ahead(runs: list[dict[str, Any]], part: Part) -> str:
    found, lines = cells(runs), []
    for name in part.sets:
        ours = mean(found.get((name, OURS)), "accuracy")
        others = {method: mean(found.get((name, method)), "accuracy") for method in part.methods if method != OURS}
        better = {
            method: value for method, value in others.items()
            if ours is not None and value is not None and value > ours + SMALL
        }  # fmt: skip
        if better:
            by = ", ".join(f"{m} by {v - ours:.3f}" for m, v in sorted(better.items(), key=lambda item: -item[1]))
            lines.append(f"- {name}: {by}")
    return "\n".join(lines) or f"Nowhere by more than {SMALL}."


def seconds(runs: list[dict[str, Any]], part: Part) -> list[dict[str, str]]:
    found, rows = cells(runs), []
    for name in part.sets:
        row = {"set": name}
        for method in part.methods:
            fit, predict = (mean(found.get((name, method)), key) for key in ("fit", "predict"))
            row[method] = "-" if fit is None else f"{short(fit)}, {short(predict)}"
        if set(row.values()) > {name, "-"} or "-" not in row.values():
            rows.append(row)
    return rows


def short(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 10.0 else f"{seconds:.2g}"


def ranked(runs: list[dict[str, Any]], part: Part) -> tuple[dict[str, list[float]], list[str]]:
    """Accuracies by set, and the methods that are compared."""
    found = cells(runs)
    methods = compared_methods(runs, part)
    scores = {
        name: [mean(found.get((name, method)), "accuracy") for method in methods] for name in compared(runs, part)
    }
    return scores, methods


def compared_methods(runs: list[dict[str, Any]], part: Part) -> list[str]:
    """Those left out of few sets."""
    found = cells(runs)
    missing = {m: sum(mean(found.get((s, m)), "accuracy") is None for s in part.sets) for m in part.methods}
    return [method for method in part.methods if missing[method] <= MOST_LEFT_OUT]


def compared(runs: list[dict[str, Any]], part: Part) -> list[str]:
    """The sets that all those methods read."""
    found, methods = cells(runs), compared_methods(runs, part)
    return [s for s in part.sets if all(mean(found.get((s, m)), "accuracy") is not None for m in methods)]


def rank_chapter(scores: dict[str, list[float]], methods: list[str]) -> str:
    values = np.array(list(scores.values()))
    mean_of, p = ranks.mean_ranks(values), ranks.against(values, methods.index(OURS))
    rows = [
        {"method": methods[k], "mean rank": f"{mean_of[k]:.2f}", "mean accuracy": f"{values[:, k].mean():.3f}",
         "p against evoke": "-" if np.isnan(p[k]) else f"{p[k]:.2g}"}
        for k in np.argsort(mean_of, kind="stable")
    ]  # fmt: skip
    about = ABOUT_RANKS.format(sets=listed(scores), friedman=ranks.friedman(values))
    figure = f"""![Mean ranks; methods that a bar joins do not differ significantly](figures/{RANKS})

The farther right a method stands, the better it is on average. Methods that a bar joins cannot be told apart by these
sets.
"""
    return "\n".join([about, markdown_table(rows), "", figure])


def new_splits(runs: list[dict[str, Any]], part: Part) -> str:
    found, tests = cells(runs), []
    for method in part.methods:
        pairs = [
            (ours["accuracy"], theirs["accuracy"])
            for name in part.sets for ours in found.get((name, OURS), ()) for theirs in found.get((name, method), ())
            if method != OURS and ours["seed"] == theirs["seed"]
        ]  # fmt: skip
        if pairs:
            more = np.subtract(*np.transpose(pairs))
            tests.append(
                f"{method} {more.mean():+.3f} (better in {(more > 0).sum()}, worse in {(more < 0).sum()} "
                f"of {len(more)}, p = {ranks.signed_rank(more):.2g})"
            )
    about = ABOUT_SPLITS.format(n_seeds=part.n_seeds, tests="; ".join(tests))
    return "\n".join([about, markdown_table([*table(runs, part, "accuracy", 3, max), mean_row(runs, part)]), ""])


def probabilities(runs: list[dict[str, Any]], part: Part) -> str:
    return calibration_chapter.chapter(runs, part, f"figures/{RELIABILITY}")


def tasks(runs: list[dict[str, Any]], part: Part) -> str:
    about = ABOUT_TASKS.format(n_train=memory_sets.N_TRAIN)
    fit = [{"set": row.pop("set")} | row for row in table(runs, part, "fit", 1)]
    figure = f"""![Accuracy by lag](figures/{MEMORY})

A line that stays at the top remembers over every lag; one that falls to the dotted line, which is guessing, has
forgotten.
"""
    return "\n".join([
        about, markdown_table(table(runs, part, "accuracy", 3, max)), "", figure, reasons(runs), "",
        "### Seconds to fit\n", markdown_table(fit), "",
    ])  # fmt: skip


def steps(runs: list[dict[str, Any]], part: Part) -> str:
    by_method: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        by_method.setdefault(run["method"], []).append(run)
    rows = [
        {"method": method, "NRMSE": f"{mean(by_method[method], 'nrmse'):.3f}",
         "best and worst": "{:.3f}, {:.3f}".format(*extremes(by_method[method], "nrmse")),
         "seconds": short(mean(by_method[method], "seconds"))}
        for method in part.methods if method in by_method
    ]  # fmt: skip
    return "\n".join([ABOUT_STEPS, markdown_table(rows), ""])


def extremes(runs: list[dict[str, Any]], key: str) -> tuple[float, float]:
    values = [run[key] for run in runs]
    return min(values), max(values)


def series(runs: list[dict[str, Any]], part: Part) -> str:
    about = ABOUT_SERIES.format(horizon=forecasts.HORIZON, n_origins=forecasts.N_ORIGINS)
    away = sum(run["ran_away"] for run in runs if run["method"] == OURS)
    n = sum(len(run["origins"]) for run in runs if run["method"] == OURS)
    note = f"{away} of {n} forecasts of evoke ran away from the data by more than ten times their range.\n" if n else ""
    mase = table(runs, part, "mase", 2, min)
    return "\n".join([
        about, markdown_table([*mase, summary_row(runs, part, "mase", "median", np.median, 2)]), "", note, ABOUT_BOUNDS,
        markdown_table([*table(runs, part, "covered", 2), summary_row(runs, part, "covered", "mean", np.mean, 2)]), "",
        "### Seconds to fit and forecast, from one origin\n", markdown_table(table(runs, part, "seconds", 2)), "",
    ])  # fmt: skip


def summary_row(
    runs: list[dict[str, Any]], part: Part, key: str, name: str, function: Callable[..., float], digits: int
) -> dict[str, str]:
    found, row = cells(runs), {"set": name}
    for method in part.methods:
        means = [mean(found.get((s, method)), key) for s in part.sets]
        row[method] = "-" if None in means else f"{function(means):.{digits}f}"
    return row


# ---------------------------------------------------------------- figures


def draw_memory(runs: list[dict[str, Any]], path: Path) -> None:
    """Accuracy by lag, a panel for each task: means, a point for each seed, and a dotted line for guessing."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 2.9), layout="constrained")
    panels = figure.subplots(1, len(memory_sets.TASKS), sharey=True)
    lines = {}
    for panel, kind in zip(panels, memory_sets.TASKS, strict=True):
        for k, method in enumerate(dict.fromkeys(run["method"] for run in runs)):
            shown = [r for r in runs if r["method"] == method and r["set"].split(", ")[0] == kind and "accuracy" in r]
            points: dict[int, list[float]] = {}
            for run in shown:
                points.setdefault(int(run["set"].split(", ")[1]), []).append(run["accuracy"])
            lags = sorted(points)
            (line,) = panel.plot(lags, [np.mean(points[lag]) for lag in lags], color=f"C{k}", marker="o", markersize=4)
            lines[method] = line
            for lag in lags:
                panel.plot([lag] * len(points[lag]), points[lag], ".", color=f"C{k}", markersize=3, alpha=0.5)
        panel.axhline(0.25 if kind == "temporal order" else 0.5, color="gray", linestyle=":")  # guessing
        panel.set(xscale="log", xlim=(7, 1400), title=kind, xlabel="lag, steps")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("accuracy")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=len(lines))
    figure.savefig(path, dpi=100, metadata={"Software": None})
