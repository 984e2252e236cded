"""docs/searches.md, from what the study `searches` measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from harness import ranks
from harness.data_sets_page import busy, cells
from harness.report import markdown_table
from harness.results import Results
from harness.searches import BUDGETS, LIMIT, METHODS, MOST_STRINGS, N_STEPS, TASKS

LEVEL = 0.05  # of p, for a difference that is said in words

HEAD = """\
# Which search finds the better networks?

Networks are searched by Enforced SubPopulations by default; `search="cmaes"` has CMA-ES do it
([guide](guide/evolution.md#the-search)). Here both stand beside a plain local search and networks that are only drawn,
each with the same numbers of networks. Written from `docs/results/searches.json`, which has every single run, by

```sh
python bench/study.py searches --report docs    # measures what the file lacks; --page-only measures nothing
```

Do not edit it by hand. It is made of {n_runs} runs, {n_seeds} of each cell, with evoke {version}.
{load}

- ESP: the default search with the parameters of each task, from networks that are drawn evenly from `weight_range`.
- CMA-ES: {{class}}`evoke.CMAES`, which begins with the deviation of such networks; here all have more than 100 weights,
  so it learns a diagonal.
- local: 100 networks that are drawn; then normal noise on all weights of the best so far, 20 networks at a time, more
  noise after each success.
- random: networks that are drawn.

The tasks: two superimposed sines, continued in a free run, and a^n b^n c^n with n up to 10, both with the preset
`tuned`; whether a leaky sum of noise is positive at each of {n_steps} steps, and NARMA-10 on {n_steps} steps, both with
the defaults of the estimators. The networks of the budgets are counted to the nearest whole generation.

## In short

With {most:,} networks the fitness of CMA-ES (p < {level})

- is lower than that of ESP on {ahead};
- is higher on {behind}.

The default is ESP all the same. It is the paper's, and the results of the presets are recorded with it. A generation of
CMA-ES has few networks, so that callbacks and checkpoints would count something else than `n_generations`. And on nine
more tasks with targets at each step, which neither search was tuned to, CMA-ES is ahead on some and behind on others
(`python bench/study.py step_tasks`): behind on linear ones. Where steps have targets and no preset was made for them,
try `search="cmaes"` too.
"""

FITNESS = """\
## Fitness

Medians of the fitness, which is the error on training and validation part and what all searches minimise. The last two
columns compare CMA-ES with ESP, seed by seed: in how many runs it is lower, and p of Wilcoxon's signed-rank test over
the logarithms.
"""
ERRORS = """\
## Error on the test part

Medians of the error on steps that were not used for the search:

{errors}
"""
STRINGS = """\
## Networks until the strings are learned

Networks judged until the best one accepts all strings up to n = {limit:,}. A search ends with {most:,} networks.
"""


def write(results: Results, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "searches.md").write_text(page(results), encoding="utf-8")


def page(results: Results) -> str:
    runs, about = results.runs, results.head["machine"]
    ahead, behind = (some(names) for names in decided(runs))
    head = HEAD.format(
        n_runs=len(runs), n_seeds=results.head["seeds"], load=busy(results), version=about["evoke"], n_steps=N_STEPS,
        most=BUDGETS[-1], ahead=ahead, behind=behind, level=LEVEL,
    )  # fmt: skip
    errors = "\n".join(f"- {name}: {task.error}" for name, task in TASKS.items() if task.most != MOST_STRINGS)
    return "\n".join([
        head, FITNESS, markdown_table(table(runs, "fitness", TASKS)), "",
        ERRORS.format(errors=errors),
        markdown_table(table(runs, "error", [name for name in TASKS if TASKS[name].most != MOST_STRINGS])), "",
        STRINGS.format(limit=LIMIT, most=MOST_STRINGS), markdown_table(strings(runs)), "",
    ])  # fmt: skip


def decided(runs: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The tasks on which CMA-ES is ahead of ESP at the largest budget, and those on which it is behind."""
    found = cells(runs)
    ahead: list[str] = []
    behind: list[str] = []
    for name in TASKS:
        esp, cmaes = (values(found[name, method], "fitness", -1) for method in ("ESP", "CMA-ES"))
        if p_value(cmaes, esp) < LEVEL:
            (ahead if np.median(cmaes) < np.median(esp) else behind).append(name)
    return ahead, behind


def some(names: list[str]) -> str:
    return "none" if not names else ", ".join(f"*{name}*" for name in names)


def values(runs: list[dict[str, Any]], key: str, k: int) -> np.ndarray:
    """What was measured at budget number k, in the order of seeds; infinite where there was no finite error."""
    measured = [run[key][k] for run in sorted(runs, key=lambda run: run["seed"])]
    return np.array([np.inf if value is None else value for value in measured])


def table(runs: list[dict[str, Any]], key: str, names: Any) -> list[dict[str, str]]:
    """A row for each task and budget, with the least median in bold and CMA-ES compared with ESP."""
    found, rows = cells(runs), []
    for name in names:
        for k, budget in enumerate(BUDGETS):
            medians = {method: float(np.median(values(found[name, method], key, k))) for method in METHODS}
            least = min(medians.values())
            shown = {m: f"**{v:.3g}**" if v == least else f"{v:.3g}" for m, v in medians.items()}
            esp, cmaes = (values(found[name, method], key, k) for method in ("ESP", "CMA-ES"))
            rows.append({
                "task": name, "networks": f"{budget:,}", **shown,
                "CMA-ES lower": f"{(cmaes < esp).sum()} of {len(esp)}", "p": f"{p_value(cmaes, esp):.2g}",
            })  # fmt: skip
    return rows


def p_value(a: np.ndarray, b: np.ndarray) -> float:
    """That of the signed-rank test of logarithms; what is zero or infinite counts as very small or large."""
    smaller, larger = (np.log(np.clip(values, 1e-300, 1e300)) for values in (a, b))
    return ranks.signed_rank(smaller - larger)


def strings(runs: list[dict[str, Any]]) -> list[dict[str, str]]:
    """A row for each search: quartiles of the networks it needed, and how often they were not enough."""
    found, rows = cells(runs), []
    for method in METHODS:
        needed = np.array([run["networks"] or np.inf for run in found["a^n b^n c^n", method]])
        quartiles = np.percentile(needed, (25, 50, 75), method="higher")
        shown = (f"{q:,.0f}" if np.isfinite(q) else f"> {MOST_STRINGS:,}" for q in quartiles)
        names = ("low quartile", "median", "high quartile")
        failed = f"{np.isinf(needed).sum()} of {len(needed)}"
        rows.append({"search": method, **dict(zip(names, shown, strict=True)), "not learned": failed})
    return rows
