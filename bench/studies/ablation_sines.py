"""What each choice does on superimposed sines: one parameter at a time, on seeds the results do not use.

python bench/study.py ablation_sines [--waves 2] [--seeds 8] [--preset tuned] [--readout svm] [--only NAME,...]
                                     [--jobs 2] [--json FILE]
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from evoke import EvokeForecaster, tasks
from evoke.reproduce import SINES_PRESETS, sines_parameters
from evoke.tasks import SINES_SPLIT
from harness import ablation

COLUMNS = [
    "study", "setting", "mean", "low quartile", "median", "high quartile", "worst", "one step", "fitness", "diverged",
]  # fmt: skip

STUDIES: ablation.Studies = {
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
    "evolved": [
        {"C": C, "gamma": gamma} for C in (10.0, "evolve") for gamma in (0.25, "evolve")
    ],
}


def one(settings: dict[str, Any], seed: int, *, waves: int, preset: str, readout: str) -> dict[str, Any]:
    """Squared errors of the series generated and one step ahead, and the fitness; None where one is not finite."""
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


def row(study: dict[str, Any]) -> list[str]:
    """The cells of a study; a run without an error counts as infinite."""
    sse, one_step, fitness = (
        np.array([np.inf if run[name] is None else run[name] for run in study["runs"]])
        for name in ("sse", "one_step_sse", "fitness")
    )
    low, middle, high = (np.percentile(sse, q, method="higher") for q in (25, 50, 75))
    numbers = (sse.mean(), low, middle, high, sse.max(), np.median(one_step), np.median(fitness))
    diverged = str(int(np.isinf(sse).sum()))
    return [study["study"], ablation.label(study["settings"]), *(f"{x:.2g}" for x in numbers), diverged]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waves", type=int, default=2)
    parser.add_argument("--preset", choices=sorted(SINES_PRESETS), default="tuned")
    parser.add_argument("--readout", choices=sorted(SINES_PRESETS["tuned"]), default="svm")
    ablation.add_options(parser, STUDIES, 8)
    options = parser.parse_args(arguments)
    facts = {"preset": options.preset, "readout": options.readout, "waves": options.waves}
    print(f"Preset {options.preset}, readout {options.readout}, {options.waves} waves, ", end="")
    print(f"{options.seeds} seeds: squared error of the series generated.\n")
    ablation.print_head(COLUMNS)
    ablation.run(options, facts, STUDIES, partial(one, **facts), lambda study: ablation.print_line(row(study)))
