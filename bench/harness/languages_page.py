"""docs/languages.md, from what the study `languages` measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evoke import reproduce, tasks
from harness.data_sets_page import busy, cells
from harness.languages import CHOICES
from harness.report import markdown_table
from harness.results import Results

HEAD = """\
# Formal languages

Networks that learn to say which symbols may follow, from few short strings, all languages with the same settings:
`PRESETS["languages"]`. Written from `docs/results/languages.json`, which has every single run, by

```sh
python bench/study.py languages --report docs    # measures what the file lacks; --page-only measures nothing
evoke reproduce languages --language anbn        # a table of the first kind for one language
```

Do not edit it by hand. It is made of {n_runs} runs with evoke {version}; the preset was chosen with other seeds, from
1000 on. {load}

**What the runs know.** Targets are the symbols that the grammar allows next. Of blocks a run learns from all strings
up to a count, of brackets and words from some that are drawn; the tables say how many. Where `evoke.certify` knows the
language, a run ends with the first network that is right on all of its strings and is
[certified](guide/certificates.md) ({{class}}`evoke.certification.CertifiedStop`). So evolution sees short strings only,
but which of the networks that fit them is kept is decided by a proof about the grammar. No such run has more than
{generations} generations. Other runs have eight searches by CMA-ES side by side, of which the worse half is given up
again and again (`search="cmaes"`, `n_restarts=8`, as many networks as 100 generations of ESP for each that is left).
Readouts learn from the strings of at most 0.6 times the symbols of the longest, networks are judged by all, and the run
ends as soon as the fitness is nearly 0.
"""
LANGUAGES = """\
## All languages

- learnt from: the number of strings, and the symbols of the longest;
- certified: runs whose network is proved to accept every string with counts up to 2^52, or 2^51 with two counts, whose
  sum has to be a number that floating point has; of dyck1 every string of any length that is at most 2^52 deep; "-"
  where no certificate is known;
- accepted: the largest m such that all strings with counts up to m are accepted, tested up to 1000, or 60 with two
  counts; certified ones count as that and are not read one by one;
- drawn: runs that accept all of 200 random strings of 20 to 2000 symbols;
- n = ...: runs that accept the single string with these counts; where that takes more than five million steps that
  cannot be skipped it is not tried, and the run not counted;
- MDLRNN: right test strings of Lan et al. (2022) after 100 and 500 strings drawn from a grammar, by networks that are
  not told which symbols may follow.
"""
FEWEST = """\
## How few strings are enough?

a^n b^n c^n, learnt from the strings with these n.
"""


def write(results: Results, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "languages.md").write_text(page(results), encoding="utf-8")


def page(results: Results) -> str:
    head = HEAD.format(
        n_runs=len(results.runs), version=results.head["machine"]["evoke"], load=busy(results),
        generations=reproduce.PRESETS["languages"]["n_generations"],
    )  # fmt: skip
    parts = [head]
    for name, about, row in (("languages", LANGUAGES, language_row), ("fewest", FEWEST, choice_row)):
        found = cells(results.of(name))
        rows = [row(of, runs) for (of, _method), runs in sorted(found.items(), key=lambda item: order(item[0][0]))]
        if rows:
            parts += [about, markdown_table(rows), ""]
        if name == "languages":
            missing = [each for each in tasks.LANGUAGES if each not in {of for of, _method in found}]
            parts += [f"Not measured: {', '.join(missing)}.", ""] if missing else []
    return "\n".join(parts)


def order(name: str) -> int:
    return [*tasks.LANGUAGES, *CHOICES].index(name)


def language_row(name: str, runs: list[dict[str, Any]]) -> dict[str, str]:
    strings = reproduce.training_strings(name)
    published = reproduce.PUBLISHED_LANGUAGES.get(name)
    shown = "-" if published is None else f"{published[0]:g} %, {published[1]:g} %"
    longest = f"{len(strings)}, {max(map(len, strings))}"
    return {"language": name, "learnt from": longest, **measured(runs), "MDLRNN": shown}


def choice_row(choice: str, runs: list[dict[str, Any]]) -> dict[str, str]:
    return {"n": choice, **measured(runs)}


def measured(runs: list[dict[str, Any]]) -> dict[str, str]:
    accepted = [run["accepted"] for run in runs]
    low, middle, high = np.percentile(accepted, (25, 50, 75))
    known = runs[0]["certified"] is not None
    return {
        "runs": str(len(runs)),
        "certified": str(sum(run["certified"] for run in runs)) if known else "-",
        "accepted, median": f"{middle:g}", "quartiles": f"{low:g} to {high:g}", "worst": str(min(accepted)),
        "drawn": str(sum(run["sampled"] == 1.0 for run in runs)),
        **{f"n = {n:,}": str(sum(run["spot"][str(n)] is True for run in runs)) for n in reproduce.LONG_COUNTS},
        "generations, median": f"{np.median([run['generations'] for run in runs]):g}",
        "seconds, median": f"{np.median([run['seconds'] for run in runs]):.1f}",
    }  # fmt: skip
