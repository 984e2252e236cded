"""What each choice does on a^n b^n c^n: one parameter at a time around a preset, on seeds apart from the results'.

python bench/ablation_anbncn.py [--n-max 10] [--seeds 24] [--preset paper] [--only NAME,...] [--long N] [--jobs 2]
                                [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from evoke import show_config, tasks
from evoke.estimators import EvokeClassifier
from evoke.reproduce import PRESETS

FIRST_SEED = 1000  # the table of results uses 0..19
TEST_MAX = 2000

# name -> settings to try; each replaces the preset's values
STUDIES: dict[str, list[dict[str, object]]] = {
    "weights": [
        {"weight_range": w, "mutation_scale": a}
        for w, a in (
            (5, 0.1), (10, 0.3), (20, 1), (50, 1), (50, 3), (100, 3), (100, 10), (200, 10), (200, 30), (500, 50),
        )
    ],
    "evaluations": [
        {"subpopulation_size": n, "n_trials": t} for n, t in ((20, 3), (12, 5), (60, 1), (40, 5), (100, 5))
    ],
    "credit": [{"credit": c} for c in ("best", "mean")],
    "objective": [{"objective": o} for o in ("hinge", "squared", "count")],
    "cell": [{"cell": c} for c in ("lstm", "evolino")],
    "kernel": [{"gamma": g} for g in (0.0625, 0.125, 0.25, 0.5)],
    "C": [{"C": c} for c in (1.0, 100.0, 1e4, 1e6)],
    "burst": [{"burst_patience": b} for b in (3, 5, 10, 20, None)],
    "generations": [{"n_generations": g} for g in (25, 50, 150)],
}  # fmt: skip


def one(settings: dict[str, object], n_max: int, preset: str, long: int | None, seed: int) -> dict[str, Any]:
    """Strings accepted, wrong decisions left in training and validation, whether the long string is accepted."""
    X, y = tasks.anbncn(n_max)
    model = EvokeClassifier(**{**PRESETS[preset], **settings, "random_state": seed}).fit(X, y)
    accepted = tasks.anbncn_accepted(model, TEST_MAX)
    return {
        "seed": seed,
        "accepted": accepted,
        "wrong": sum(int(np.sum(p != t)) for p, t in zip(model.predict(X), y, strict=True)),
        # a run that fails before the cap fails on what is longer
        "long": None if long is None else accepted == TEST_MAX and tasks.anbncn_accepts(model, long),
    }


def head(result: dict[str, Any]) -> list[str]:
    """Title row of the table and the rule below it."""
    last = [] if result["long"] is None else [f"n = {result['long']:,}"]
    columns = ["study", "setting", "mean", "quartiles", f"at {result['test_max']}", "unsolved", *last]
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]


def row(study: dict[str, Any]) -> str:
    """One line of the table. Unsolved: wrong decisions are left on the strings that evolution saw."""
    accepted = [run["accepted"] for run in study["runs"]]
    cells = [
        study["study"],
        ", ".join(f"{name}={value}" for name, value in study["settings"].items()),
        f"{np.mean(accepted):.0f}",
        ", ".join(f"{q:.0f}" for q in np.percentile(accepted, [25, 50, 75])),
        sum(m == TEST_MAX for m in accepted),
        sum(run["wrong"] > 0 for run in study["runs"]),
    ]
    if study["runs"][0]["long"] is not None:
        cells.append(sum(run["long"] for run in study["runs"]))
    return "| " + " | ".join(map(str, cells)) + " |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-max", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--preset", choices=sorted(PRESETS), default="paper")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(STUDIES), help=f"some of {', '.join(STUDIES)}")
    parser.add_argument("--long", type=int, metavar="N", help="also try the single string of this N")
    parser.add_argument("--jobs", type=int, default=2, help="processes; no result depends on it")
    parser.add_argument("--json", metavar="FILE", help="write every run to this file")
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    if unknown := set(names) - set(STUDIES):
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}; known are {', '.join(STUDIES)}")
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    config = show_config("dict")
    result = {
        "preset": options.preset, "n_max": options.n_max, "seeds": [seeds.start, seeds.stop - 1], "test_max": TEST_MAX,
        "long": options.long, "studies": [],
        "config": {name: config[name] for name in ("evoke", "python", "platform", "simd", "packages")},
    }  # fmt: skip
    print(f"Preset {options.preset}, n = 1..{options.n_max}, seeds {seeds.start}..{seeds.stop - 1}, ", end="")
    print(f"strings tested up to {TEST_MAX}.\n", *head(result), sep="\n", flush=True)
    with Parallel(n_jobs=options.jobs) as pool:
        for name in names:
            for settings in STUDIES[name]:
                runs = pool(delayed(one)(settings, options.n_max, options.preset, options.long, k) for k in seeds)
                result["studies"].append({"study": name, "settings": settings, "runs": runs})
                print(row(result["studies"][-1]), flush=True)
                if options.json:
                    with open(options.json, "w") as file:
                        json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
