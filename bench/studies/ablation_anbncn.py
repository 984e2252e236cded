"""What each choice does on a^n b^n c^n: one parameter at a time around a preset, on seeds the results do not use.

python bench/study.py ablation_anbncn [--n-max 10] [--seeds 24] [--preset paper] [--only NAME,...] [--long N]
                                      [--jobs 2] [--json FILE]
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from evoke import EvokeClassifier, tasks
from evoke.reproduce import PRESETS
from harness import ablation

TEST_MAX = 2000

STUDIES: ablation.Studies = {
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
    "evolved": [
        {"C": C, "gamma": gamma} for C in (100.0, "evolve") for gamma in (0.25, "evolve")
    ],
    "generations": [{"n_generations": g} for g in (25, 50, 150)],
}  # fmt: skip


def one(
    settings: dict[str, Any], seed: int, *, n_max: int, preset: str, longest: int | None
) -> dict[str, Any]:
    """Strings accepted, wrong decisions left in training and validation, whether the longest string is accepted."""
    X, y = tasks.anbncn(n_max)
    model = EvokeClassifier(**{**PRESETS[preset], **settings, "random_state": seed}).fit(X, y)
    accepted = tasks.anbncn_accepted(model, TEST_MAX)
    return {
        "seed": seed,
        "accepted": accepted,
        "wrong": sum(int(np.sum(p != t)) for p, t in zip(model.predict(X), y, strict=True)),
        # a run that fails before the cap also fails on what is longer
        "long": None if longest is None else accepted == TEST_MAX and tasks.anbncn_accepts(model, longest),
    }


def row(study: dict[str, Any]) -> list[Any]:
    """The cells of a study. Unsolved: wrong decisions are left on the strings that evolution saw."""
    accepted = [run["accepted"] for run in study["runs"]]
    cells = [
        study["study"],
        ablation.label(study["settings"]),
        f"{np.mean(accepted):.0f}",
        ", ".join(f"{q:.0f}" for q in np.percentile(accepted, [25, 50, 75])),
        sum(m == TEST_MAX for m in accepted),
        sum(run["wrong"] > 0 for run in study["runs"]),
    ]
    if study["runs"][0]["long"] is not None:
        cells.append(sum(run["long"] for run in study["runs"]))
    return cells


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-max", type=int, default=10)
    parser.add_argument("--preset", choices=sorted(PRESETS), default="paper")
    parser.add_argument("--long", type=int, metavar="N", help="also try the single string of this N")
    ablation.add_options(parser, STUDIES, 24)
    options = parser.parse_args(arguments)
    print(f"Preset {options.preset}, n = 1..{options.n_max}, {options.seeds} seeds, strings tested up to {TEST_MAX}.\n")
    last = [] if options.long is None else [f"n = {options.long:,}"]
    ablation.print_head(["study", "setting", "mean", "quartiles", f"at {TEST_MAX}", "unsolved", *last])
    ablation.run(
        options,
        {"preset": options.preset, "n_max": options.n_max, "test_max": TEST_MAX, "long": options.long},
        STUDIES,
        partial(one, n_max=options.n_max, preset=options.preset, longest=options.long),
        lambda study: ablation.print_line(row(study)),
    )
