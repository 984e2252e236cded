"""docs/evolution_pays.md and its figure, from what the study `evolution` measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from harness import ranks
from harness.data_sets_page import busy, cells, mean, table
from harness.evolving import BUDGETS, DRAWN, EVOLVED, GENERATIONS, TASKS, UNCHOSEN
from harness.report import markdown_table
from harness.results import Part, Results

FIGURE = "evolution-pays.png"

# Splits that were measured, and looked at, before the others.
N_SEEN = 10
DEFAULT = f"{next(iter(BUDGETS))}, {EVOLVED}"

HEAD = """\
# Does evolution pay on whole sequences?

With one target per sequence, evoke's defaults judge 800 networks, in {generations} generations of 200, and join the
best 100. Here these are compared with the best 100 of 800 that are all drawn at random, and the best one with the best
one. Both ways judge the same number of networks. That takes the same time; where the seconds below differ, other
programs ran. Written from
`docs/results/evolution.json`, which has every single run, by

```sh
pip install '.[bench]'
python bench/study.py evolution --report docs    # measures what the file lacks; --page-only measures nothing
```

Do not edit it by hand. It is made of {n_runs} runs, {n_seeds} of each cell. Every seed splits the sequences of a set
anew, at random and by class, into parts of the usual sizes, so these are not the accuracies of the usual test sets; the
tasks of memory draw other sequences. {load} evoke {version}.

## Accuracy

Means on the test parts.
"""
ABOUT_DIFFERENCES = """\
## Evolved less drawn

Differences in accuracy on the same split, over all {n_sets} sets of sequences (`test`) and over the {n_tasks} tasks of
memory (`memory`). "better, worse": in how many runs. p is that of Wilcoxon's signed-rank test over all runs. The column
`left out` has the differences in the accuracy by leave-one-out on the training part, by which networks are chosen.
"""
ABOUT_LATER = """\
The first {n_seen} splits had been looked at before the others were measured. In the others alone the networks of the
default gain {gain:+.4f} ({better} better, {worse} worse of {n}, p = {p:.2g}).
"""
ABOUT_CHOICE = """\
The last column of the first table has networks that are not chosen at all, the first 100 that are drawn: {lost:+.3f} in
the mean of the sets against the default. So most of the accuracy comes from reading many networks at once, whichever
they are. The figure shows what evolution gains by leave-one-out, where it chooses, and on the test part.

![Differences by set in accuracy by leave-one-out and in accuracy on the test part]({figure})

Right of the middle evolution found networks that leave-one-out calls better; above it they are better on the test part
too. On the dotted line both say the same.

## What the search does differently here

Cells begin with few of the lags of `differences`, and noise on all weights connects them to all. In trials that helped
on long, periodic sequences and did harm on marked signs. So every other mutated copy keeps its missing connections
(`keep_zeros` of {{class}}`evoke.ESP`).
"""


def write(results: Results, part: Part, folder: Path) -> None:
    """Write the page and figures/evolution-pays.png."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    draw(results.runs, part, folder / "figures" / FIGURE)
    (folder / "evolution_pays.md").write_text(page(results, part), encoding="utf-8")


def page(results: Results, part: Part) -> str:
    runs, about = results.runs, results.head["machine"]
    head = HEAD.format(
        generations=GENERATIONS, n_runs=len(runs), n_seeds=results.head["seeds"],
        load=busy(results), version=about["evoke"],
    )  # fmt: skip
    measured = sets_of(runs, part)
    rows = table(runs, part, "accuracy", 3, max)
    n_sets = sum(name not in TASKS for name in measured)
    unchosen, default = (
        np.mean([mean(cells(runs)[name, method], "accuracy") for name in measured if name not in TASKS])
        for method in (UNCHOSEN, DEFAULT)
    )
    about_differences = ABOUT_DIFFERENCES.format(n_sets=n_sets, n_tasks=len(measured) - n_sets)
    choice = ABOUT_CHOICE.format(lost=unchosen - default, figure=f"figures/{FIGURE}")
    return "\n".join([
        head, markdown_table([*rows, means(runs, part)]), "", "### Seconds to fit\n",
        markdown_table(table(runs, part, "fit", 2)), "", about_differences,
        markdown_table([compared(runs, measured, of) for of in BUDGETS]), "", later(runs, measured), choice,
    ])  # fmt: skip


def sets_of(runs: list[dict[str, Any]], part: Part) -> list[str]:
    """Those that all methods were tried on, in the order of the part."""
    found = cells(runs)
    return [name for name in part.sets if all((name, method) in found for method in part.methods)]


def means(runs: list[dict[str, Any]], part: Part) -> dict[str, str]:
    """The row of means over the sets of sequences."""
    found, names = cells(runs), [name for name in sets_of(runs, part) if name not in TASKS]
    row = {"set": f"mean of {len(names)} sets"}
    return row | {
        method: f"{np.mean([mean(found[name, method], 'accuracy') for name in names]):.4f}" for method in part.methods
    }


def differences(runs: list[dict[str, Any]], names: list[str], of: str, key: str) -> np.ndarray:
    """Evolved less drawn, a row for each set and a column for each seed that both have."""
    found = cells(runs)
    rows = []
    for name in names:
        drawn, evolved = ({run["seed"]: run[key] for run in found[name, f"{of}, {way}"]} for way in (DRAWN, EVOLVED))
        rows.append([evolved[seed] - drawn[seed] for seed in sorted(drawn.keys() & evolved.keys())])
    return np.array(rows)


def compared(runs: list[dict[str, Any]], names: list[str], of: str) -> dict[str, str]:
    row = {"networks": of}
    sets = [name for name in names if name not in TASKS]
    for title, some, key in (
        ("test", sets, "accuracy"), ("left out", sets, "loo"), ("memory", [n for n in names if n in TASKS], "accuracy")
    ):  # fmt: skip
        found = differences(runs, some, of, key)
        row[title] = f"{found.mean():+.4f}"
        if key == "accuracy":
            row[f"{title}: better, worse"] = f"{(found > 0).sum()}, {(found < 0).sum()} of {found.size}"
            row[f"{title}: p"] = f"{ranks.signed_rank(found.ravel()):.2g}"
    return row


def later(runs: list[dict[str, Any]], names: list[str]) -> str:
    """What the splits say that were measured after the first were known."""
    sets = [name for name in names if name not in TASKS]
    found = differences(runs, sets, next(iter(BUDGETS)), "accuracy")[:, N_SEEN:]
    if found.size == 0:
        return ""
    return ABOUT_LATER.format(
        n_seen=N_SEEN, gain=found.mean(), better=(found > 0).sum(), worse=(found < 0).sum(), n=found.size,
        p=ranks.signed_rank(found.ravel()),
    )  # fmt: skip


def draw(runs: list[dict[str, Any]], part: Part, path: Path) -> None:
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(6.4, 4.4), layout="constrained")).subplots()
    names = sets_of(runs, part)
    for k, (of, mark) in enumerate(zip(BUDGETS, "os", strict=True)):
        left_out, test = (differences(runs, names, of, key).mean(axis=1) for key in ("loo", "accuracy"))
        axes.scatter(left_out, test, marker=mark, color=f"C{k}", label=of)
        far = np.abs(test) > 0.02
        for x, y, name in zip(left_out[far], test[far], np.array(names)[far], strict=True):
            axes.annotate(name, (x, y), xytext=(4, 4), textcoords="offset points", fontsize=7)
    axes.axhline(0.0, color="gray", lw=0.8)
    axes.axvline(0.0, color="gray", lw=0.8)
    axes.axline((0, 0), slope=1, ls=":", color="gray")
    axes.set(xlabel="evolved less drawn, by leave-one-out", ylabel="evolved less drawn, on the test part")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=100, metadata={"Software": None})
