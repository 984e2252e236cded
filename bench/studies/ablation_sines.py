"""What each choice does on superimposed sines: one parameter at a time, on seeds apart from the results'.

python bench/ablation_sines.py [--waves 2] [--seeds 8] [--preset tuned] [--readout svm] [--only NAME,...] [--jobs 2]
                               [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from evoke import EvokeForecaster, show_config, tasks
from evoke.reproduce import SINES_PRESETS, sines_parameters
from evoke.tasks import SINES_SPLIT

FIRST_SEED = 1000  # the table of results uses 0..19

# name -> settings to try; each replaces the preset's values
STUDIES: dict[str, list[dict[str, Any]]] = {
    "preset": [{}],
    "readout": [{"readout": r} for r in ("svm", "lssvm", "pinv")],
    "cell": [{"cell": c} for c in ("evolino", "lstm")],
    "gate bias": [{"gate_bias": b} for b in ((0.0, 0.0, 0.0), (0.0, 1.5, -1.5))],
    "feedback": [{"feedback_scale": f} for f in (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0)],
    "mutation": [{"mutation_scale": a} for a in (1e-5, 1e-4, 0.001, 0.003, 0.01, 0.1)],
    "weights": [{"weight_range": w} for w in (0.03, 0.1, 0.3, 0.5, 1.0, 3.0)],
    "kernel": [{"gamma": g} for g in (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)],
    "kernel told": [{"validation_mode": "teacher", "gamma": g} for g in (0.25, 0.5, 1.0, 2.0, 4.0)],
    "C": [{"C": c} for c in (10.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14)],
    "epsilon": [{"epsilon": e, "tol": min(1e-3, e)} for e in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)],
    "epsilon told": [
        {"validation_mode": "teacher", "epsilon": e, "tol": min(1e-3, e)} for e in (3e-2, 1e-2, 1e-3, 1e-4)
    ],
    "validation": [{"validation_mode": m} for m in ("teacher", "free")],
    "cells": [{"n_cells": h} for h in (5, 10, 15, 20)],
    "evaluations": [{"subpopulation_size": n, "n_trials": t} for n, t in ((20, 3), (12, 5), (60, 1), (40, 5))],
    "generations": [{"n_generations": g} for g in (25, 50, 150)],
    "burst": [{"burst_patience": b} for b in (3, 5, 10, 20, None)],
}


def one(settings: dict[str, Any], waves: int, preset: str, readout: str, seed: int) -> dict[str, Any]:
    """Squared errors of the free run and one step ahead, and the fitness; None where one is not finite."""
    y = tasks.superimposed_sines(waves, SINES_SPLIT.test_end)
    known, test = np.split(y, [SINES_SPLIT.validation_end])
    parameters = sines_parameters(preset, readout, waves) | settings
    model = EvokeForecaster(**parameters, washout=SINES_SPLIT.washout, random_state=seed)
    result: dict[str, Any] = {"seed": seed, "sse": None, "one_step_sse": None, "fitness": None}
    try:
        model.fit(known)
        result["fitness"] = float(model.best_fitness_)
        result["one_step_sse"] = float(((model.predict_one_step(y)[len(known) :] - test) ** 2).sum())
        result["sse"] = float(((model.generate(len(test)) - test) ** 2).sum())
    except (FloatingPointError, ValueError) as error:
        result["reason"] = str(error)
    return result


def row(study: dict[str, Any]) -> str:
    """One line of the table; a run without an error to show counts with an infinite one."""
    sse = np.array([np.inf if run["sse"] is None else run["sse"] for run in study["runs"]])
    told, fitness = (
        [np.inf if run[name] is None else run[name] for run in study["runs"]] for name in ("one_step_sse", "fitness")
    )
    low, middle, high = (np.percentile(sse, q, method="higher") for q in (25, 50, 75))
    label = ", ".join(f"{name}={value}" for name, value in study["settings"].items())
    numbers = [f"{x:.2g}" for x in (sse.mean(), low, middle, high, sse.max(), np.median(told), np.median(fitness))]
    return "| " + " | ".join([study["study"], label, *numbers, str(int(np.isinf(sse).sum()))]) + " |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waves", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--preset", choices=sorted(SINES_PRESETS), default="tuned")
    parser.add_argument("--readout", choices=sorted(SINES_PRESETS["tuned"]), default="svm")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(STUDIES), help=f"some of {', '.join(STUDIES)}")
    parser.add_argument("--jobs", type=int, default=2, help="processes; no result depends on it")
    parser.add_argument("--json", metavar="FILE", help="write every run to this file")
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    if unknown := set(names) - set(STUDIES):
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}; known are {', '.join(STUDIES)}")
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    config = show_config("dict")
    result: dict[str, Any] = {
        "preset": options.preset, "readout": options.readout, "waves": options.waves,
        "seeds": [seeds.start, seeds.stop - 1], "studies": [],
        "config": {name: config[name] for name in ("evoke", "python", "platform", "simd", "packages")},
    }  # fmt: skip
    print(f"Preset {options.preset}, readout {options.readout}, {options.waves} waves, ", end="")
    print(f"seeds {seeds.start}..{seeds.stop - 1}: squared error of the free run.\n")
    print("| study | setting | mean | low quartile | median | high quartile | worst | one step | fitness | diverged |")
    print("|" + "---|" * 10, flush=True)
    with Parallel(n_jobs=options.jobs) as pool:
        for name in names:
            for settings in STUDIES[name]:
                runs = pool(delayed(one)(settings, options.waves, options.preset, options.readout, k) for k in seeds)
                result["studies"].append({"study": name, "settings": settings, "runs": runs})
                print(row(result["studies"][-1]), flush=True)
                if options.json:
                    with open(options.json, "w") as file:
                        json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
