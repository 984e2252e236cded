"""How small do certified networks of a^n b^n c^n get?

    python bench/study.py simplify [--runs 20] [--seed 0] [--language anbncn] [--json FILE]

Each run trains a tuned network on strings up to n = 10 and simplifies it. Prints the runs, the quartiles of what is
left over those whose certificate reaches 2^52, and the smallest network of them. `--from FILE` prints what a file has.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from evoke import EvokeClassifier, simplify, tasks
from evoke.reproduce import PRESETS, training_strings
from harness.machine import describe
from harness.report import markdown_table

PARTS = ("n_cells", "n_weights", "largest_weight", "n_support", "n_coefficients")
NAMES = ("cells", "weights", "largest weight", "support vectors", "coefficients of the readout")


def one(name: str, seed: int, n_max: int) -> dict[str, Any]:
    X, y = tasks.language(name).encode(training_strings(name, n_max))
    preset = "tuned" if name == "anbncn" else "languages"
    more = {} if preset == "tuned" else {"X_val": X, "y_val": y}
    model = EvokeClassifier(**PRESETS[preset], random_state=seed).fit(X, y, **more)
    begin = time.perf_counter()
    small = simplify(model, name, n_max=n_max)
    readout = small.model.readout_
    return {
        "seed": seed, "before": asdict(small.before), "after": asdict(small.after),
        "seconds": time.perf_counter() - begin, "up_to": small.certificate.up_to,
        "margin": small.certificate.margin, "tried": small.n_tried, "proofs": small.n_proofs,
        "genome": small.model.genome_.tolist(),
        "readout": [readout.dual_coef.tolist(), readout.intercept.tolist()] if small.after.kernel == "linear" else None,
    }  # fmt: skip


def size_of(run: dict[str, Any]) -> tuple[float, ...]:
    """To compare networks by: cells, then weights, then numbers of the readout."""
    after = run["after"]
    return after["n_cells"], after["n_weights"], after["n_coefficients"], after["largest_weight"]


def shown(runs: list[dict[str, Any]]) -> str:
    """The tables of the study in Markdown."""
    rows = [
        [run["seed"], *(f"{run['before'][part]:g} to {run['after'][part]:g}" for part in PARTS),
         run["after"]["kernel"], f"{run['margin']:.2g}", power(run["up_to"]), f"{run['seconds']:.0f}"]
        for run in runs
    ]  # fmt: skip
    text = table(["seed", *NAMES, "kernel", "margin", "certified up to", "seconds"], rows)
    whole = [run for run in runs if run["up_to"] == 2**52]
    if not whole:
        return text
    quartiles = [
        [name, *(" / ".join(f"{q:g}" for q in np.percentile([run[when][part] for run in whole], (25, 50, 75)))
                 for when in ("before", "after"))]
        for name, part in zip(NAMES, PARTS, strict=True)
    ]  # fmt: skip
    linear = sum(run["after"]["kernel"] == "linear" for run in whole)
    best = min(whole, key=size_of)
    gates = ("cell input", "input gate", "forget gate", "output gate")
    weights = np.reshape(best["genome"], (best["after"]["n_cells"], 4, -1))
    smallest = [
        [h, gates[g], *(f"{w:g}" for w in weights[h, g])] for h in range(len(weights)) for g in range(4)
        if weights[h, g].any()
    ]  # fmt: skip
    n_inputs = weights.shape[2] - len(weights)
    sources = [*(f"input {k}" for k in range(n_inputs)), *(f"cell {h}" for h in range(len(weights)))]
    return "\n\n".join([
        text,
        f"{len(whole)} of {len(runs)} runs are certified up to 2^52 in the end; {linear} of these have a linear "
        "readout in the end. Quartiles of these runs:",
        table(["", "before", "after"], quartiles),
        f"The smallest is that of seed {best['seed']}. Its weights, but for gates without any:",
        table(["cell", "gate", *sources], smallest),
    ])  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return markdown_table([dict(zip(head, row, strict=True)) for row in rows])


def power(up_to: int) -> str:
    return "2^52" if up_to == 2**52 else str(up_to)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--language", default="anbncn")
    parser.add_argument("--n-max", type=int, default=10)
    parser.add_argument("--json", metavar="FILE", help="write all runs to this file, after each of them")
    parser.add_argument("--from", metavar="FILE", dest="source", help="print what this file has")
    options = parser.parse_args(arguments)
    if options.source:
        runs = json.loads(Path(options.source).read_text(encoding="utf-8"))["runs"]
    else:
        runs = []
        for seed in range(options.seed, options.seed + options.runs):
            runs.append(one(options.language, seed, options.n_max))
            print(f"seed {seed}: {runs[-1]['after']}", file=sys.stderr, flush=True)
            if options.json:
                record = {"language": options.language, "n_max": options.n_max, "machine": describe(), "runs": runs}
                Path(options.json).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(shown(runs))
