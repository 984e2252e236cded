"""docs/evolution_pays.md and its figure, from what the study `evolution` measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from harness import ranks
from harness.data_sets_page import busy, cells, mean, table
from harness.evolving import BUDGETS, DRAWN, EVOLVED, GENERATIONS, NOISE, TASKS, UNCHOSEN
from harness.report import markdown_table
from harness.results import Part, Results

FIGURE = "evolution-pays.png"

HEAD = """\
# Does evolution pay on whole sequences?

With one target per sequence, evoke's defaults draw 400 networks at random and join the best 100: one generation. Here
they are compared with as many that evolved, in {generations} generations with Cauchy noise of scale {noise}. Both ways
judge the same number of networks, which takes the same time. Written from `docs/results/evolution.json`, which has
every single run, by

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
ABOUT_WHY = """\
## Why

Each network is judged by leave-one-out on the training part, and evolution does what it should: it finds networks that
are better at that. In the figure almost all sets lie to the right of zero. On the test part little of it is left. The
training parts have {smallest} to {largest} sequences, on which many networks make no error at all or the same two;
which of them is best there says little about which is best on others.

The last column of the first table shows how little: networks that are not chosen at all, the first 100 that are drawn,
lose {lost:.3f} in the mean of the sets against the best 100 of 400. Joining many networks is what makes the difference,
and those of an evolved population resemble one another.

![Differences by set in accuracy by leave-one-out and in accuracy on the test part]({figure})
"""


def write(results: Results, part: Part, folder: Path) -> None:
    """Write the page and figures/evolution-pays.png."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    draw(results.runs, part, folder / "figures" / FIGURE)
    (folder / "evolution_pays.md").write_text(page(results, part), encoding="utf-8")


def page(results: Results, part: Part) -> str:
    runs, about = results.runs, results.head["machine"]
    head = HEAD.format(
        generations=GENERATIONS, noise=NOISE, n_runs=len(runs), n_seeds=results.head["seeds"],
        load=busy(results), version=about["evoke"],
    )  # fmt: skip
    measured = sets_of(runs, part)
    rows = table(runs, part, "accuracy", 3, max)
    sizes = [next(run["n_train"] for run in runs if run["set"] == name) for name in measured if name not in TASKS]
    unchosen, default = (
        np.mean([mean(cells(runs)[name, method], "accuracy") for name in measured if name not in TASKS])
        for method in (UNCHOSEN, next(iter(part.methods)))
    )
    about_differences = ABOUT_DIFFERENCES.format(n_sets=len(sizes), n_tasks=len(measured) - len(sizes))
    why = ABOUT_WHY.format(
        smallest=min(sizes), largest=max(sizes), lost=default - unchosen, figure=f"figures/{FIGURE}"
    )
    return "\n".join([
        head, markdown_table([*rows, means(runs, part)]), "", "### Seconds to fit\n",
        markdown_table(table(runs, part, "fit", 2)), "", about_differences,
        markdown_table([compared(runs, measured, of) for of in BUDGETS]), "", why,
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


def draw(runs: list[dict[str, Any]], part: Part, path: Path) -> None:
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(6.4, 4.4), layout="constrained")).subplots()
    names = sets_of(runs, part)
    for k, (of, mark) in enumerate(zip(BUDGETS, "os^", strict=True)):
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
