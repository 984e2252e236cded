"""What each choice does on a^n b^n c^n: one parameter at a time around a preset, on seeds apart from the results'.

python bench/ablation_anbncn.py [--n-max 10] [--seeds 24] [--preset paper] [--only NAME,...] [--jobs 2]
"""

from __future__ import annotations

import argparse

import numpy as np
from joblib import Parallel, delayed

from evoke import tasks
from evoke.estimators import EvokeClassifier
from evoke.reproduce import PRESETS

FIRST_SEED = 1000  # the table of results uses 0..19
TEST_MAX = 2000

# name -> settings to try; each replaces the preset's values
STUDIES: dict[str, list[dict[str, object]]] = {
    "weights": [
        {"weight_range": w, "mutation_scale": a}
        for w, a in ((5, 0.1), (10, 0.3), (20, 1), (50, 3), (100, 10), (200, 30), (500, 50))
    ],
    "evaluations": [{"subpopulation_size": n, "n_trials": t} for n, t in ((20, 3), (12, 5), (60, 1), (40, 5), (100, 5))],
    "credit": [{"credit": c} for c in ("best", "mean")],
    "objective": [{"objective": o} for o in ("hinge", "squared", "count")],
    "cell": [{"cell": c} for c in ("lstm", "evolino")],
    "kernel": [{"gamma": g} for g in (0.0625, 0.125, 0.25, 0.5)],
    "C": [{"C": c} for c in (1.0, 100.0, 1e4, 1e6)],
    "burst": [{"burst_patience": b} for b in (3, 5, 10, 20, None)],
    "generations": [{"n_generations": g} for g in (25, 50, 150)],
}


def one(settings: dict[str, object], n_max: int, preset: str, seed: int) -> tuple[int, int]:
    """Strings accepted, and wrong decisions left in training and validation."""
    X, y = tasks.anbncn(n_max)
    model = EvokeClassifier(**{**PRESETS[preset], **settings, "random_state": seed}).fit(X, y)
    wrong = sum(int(np.sum(p != t)) for p, t in zip(model.predict(X), y, strict=True))
    return tasks.anbncn_accepted(model, TEST_MAX), wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n-max", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--preset", choices=sorted(PRESETS), default="paper")
    parser.add_argument("--only", default=",".join(STUDIES))
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + arguments.seeds)
    print(f"Preset {arguments.preset}, n = 1..{arguments.n_max}, seeds {seeds.start}..{seeds.stop - 1}, ", end="")
    print(f"strings tested up to {TEST_MAX}.\n")
    print("| study | setting | mean accepted | quartiles | at the cap | unsolved |\n|---|---|---|---|---|---|")
    with Parallel(n_jobs=arguments.jobs) as pool:
        for name in arguments.only.split(","):
            for settings in STUDIES[name]:
                runs = pool(delayed(one)(settings, arguments.n_max, arguments.preset, seed) for seed in seeds)
                accepted = np.array([run[0] for run in runs])
                unsolved = sum(run[1] > 0 for run in runs)
                quartiles = ", ".join(f"{q:.0f}" for q in np.percentile(accepted, [25, 50, 75]))
                label = ", ".join(f"{key}={value}" for key, value in settings.items())
                cap = int((accepted == TEST_MAX).sum())
                print(
                    f"| {name} | {label} | {accepted.mean():.0f} | {quartiles} | {cap} | {unsolved} |", flush=True
                )


if __name__ == "__main__":
    main()
