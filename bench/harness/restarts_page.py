"""docs/restarts.md, from what the study `restarts` measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from harness.data_sets_page import busy, cells
from harness.report import markdown_table
from harness.restarts import BUDGETS, COUNTS, LAG, N_TEST, N_TRAIN, TASKS
from harness.results import Results
from harness.searches import LIMIT
from harness.searches_page import LEVEL, p_value

PAGE = """\
# Do restarts pay?

One search against 2, 4 and 8 from different seeds of which the worse half is given up again and again
(`n_restarts`, [guide](guide/evolution.md#restarts)), on as many networks in all: the last one of eight has had 40 % of
the generations of the one alone. Written from `docs/results/restarts.json`, which has every single run, by

```sh
python bench/study.py restarts --report docs    # measures what the file lacks; --page-only measures nothing
```

Do not edit it by hand. It is made of {n_runs} runs, {n_seeds} of each cell, with evoke {version}.
{load}

The tasks: two superimposed sines, continued in a free run, and a^n b^n c^n with n up to 10, both with the preset
`tuned`; and whether the first of {lag} steps was +1 or -1, noise after it, on {n_train} sequences.

## In short

{n_cells} comparisons with one search on as many networks, by fitness and with p < {level}; the numbers are those of the
searches, and the generations those of ESP alone.

Several are better:

{ahead}

Several are worse:

{behind}

So the default is one search. It has a remedy of its own where it is stuck: ESP bursts, and CMA-ES starts anew. Restarts
are for workers that would have nothing to do otherwise, as several searches take no longer than one then.

## Medians

The fitness, which is the error on training and validation part, and the error on the test part: the SSE of the free
run, strings up to n = {limit:,} that are not accepted, and the share of wrong decisions on {n_test} new sequences. The
last columns compare the fitness with that of one search, seed by seed: in how many runs it is lower, and p of
Wilcoxon's signed-rank test over the logarithms. Networks: the mean of what was judged.

{table}
"""

SEARCHES = {"esp": "ESP", "cmaes": "CMA-ES"}


def write(results: Results, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "restarts.md").write_text(page(results), encoding="utf-8")


def page(results: Results) -> str:
    rows, ahead, behind = table(results.runs)
    return PAGE.format(
        n_runs=len(results.runs), n_seeds=results.head["seeds"], load=busy(results), lag=LAG, n_train=N_TRAIN,
        n_test=N_TEST, limit=LIMIT, level=LEVEL, n_cells=sum(row["restarts"] > 1 for row in rows),
        version=results.head["machine"]["evoke"], ahead=items(ahead), behind=items(behind), table=markdown_table(rows),
    )  # fmt: skip


def items(cases: dict[str, list[int]]) -> str:
    """Lines of a list."""
    return "\n".join(f"- {name}: {', '.join(map(str, numbers))}" for name, numbers in cases.items()) or "- none"


def table(runs: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, list[int]], dict[str, list[int]]]:
    """A row for each task, search, budget and number of restarts; where these were better, and where worse."""
    found, rows = cells(runs), []
    ahead: dict[str, list[int]] = {}
    behind: dict[str, list[int]] = {}
    for name in TASKS:
        for search, title in SEARCHES.items():
            for budget in BUDGETS:
                one = values(found[name, f"{search}, 1, {budget}"], "fitness")
                for n in COUNTS:
                    mine = found[name, f"{search}, {n}, {budget}"]
                    fitness = values(mine, "fitness")
                    p = p_value(fitness, one)
                    if p < LEVEL:
                        lower = (fitness < one).sum() > (fitness > one).sum()
                        (ahead if lower else behind).setdefault(f"{name}, {title}, {budget} generations", []).append(n)
                    rows.append({
                        "task": name, "search": title, "restarts": n,
                        "networks": f"{np.mean([run['networks'] for run in mine]):,.0f}",
                        "fitness": f"{np.median(fitness):.3g}", "test": f"{np.median(values(mine, 'error')):.3g}",
                        "fitness lower": "" if n == 1 else f"{(fitness < one).sum()} of {len(one)}",
                        "p": "" if n == 1 else f"{p:.2g}",
                    })  # fmt: skip
    return rows, ahead, behind


def values(runs: list[dict[str, Any]], key: str) -> np.ndarray:
    """What was measured, in the order of seeds; infinite where it was not finite."""
    measured = [run[key] for run in sorted(runs, key=lambda run: run["seed"])]
    return np.array([np.inf if value is None else value for value in measured])
