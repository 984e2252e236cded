"""A label at each of many steps: `EvokeClassifier` as it comes, beside an LSTM trained by gradient in the same time.

    python bench/study.py long_steps [--json FILE] [--steps 1000,10000,100000] [--seeds 3] [--sums NAME;...]
                                     [--methods NAME;...]

Inputs are three columns of noise; the label says whether a sum over the past is positive: of the first column,
forgetting by a factor of 0.97 or 0.99 a step; of the last 20 steps; of the first column where the second is positive.
Accuracy is that on 50,000 other steps. "evoke, least squares" is `readout="ridge"`. The LSTM has 32 cells and PyTorch,
and learns by truncated backpropagation (100 steps to read, 100 that count, Adam, batches of 64 pieces) for as many
seconds of processor time as evoke took with the same seed, so it has to be measured after it. Prints a table: medians,
and in brackets the least and the most. Times are those of the processor, in seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.signal import lfilter

from evoke import EvokeClassifier
from harness.machine import describe
from harness.report import markdown_table

N_TEST, N_CELLS, PIECE, LEAD, BATCH, RATE = 50_000, 32, 200, 100, 64, 1e-2

SUMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "forgets by 0.97": lambda X: lfilter([1.0], [1.0, -0.97], X[:, 0]),
    "forgets by 0.99": lambda X: lfilter([1.0], [1.0, -0.99], X[:, 0]),
    "20 steps": lambda X: lfilter(np.ones(20), [1.0], X[:, 0]),
    "where positive": lambda X: lfilter([1.0], [1.0, -0.9], X[:, 0] * (X[:, 1] > 0)),
}
METHODS = ("evoke", "evoke, least squares", "gradient LSTM")


def data(name: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, (SUMS[name](X) > 0.0).astype(int)


def gradient_lstm(X: np.ndarray, y: np.ndarray, seed: int, seconds: float) -> Callable[[np.ndarray], np.ndarray]:
    """The trained network as a function from steps to labels."""
    import torch  # not everybody has it
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    n = max(1, len(X) // PIECE)
    pieces = torch.tensor(X[: n * PIECE].reshape(n, -1, 3), dtype=torch.float32)
    wanted = torch.tensor(y[: n * PIECE].reshape(n, -1), dtype=torch.float32)
    lstm, linear = nn.LSTM(3, N_CELLS, batch_first=True), nn.Linear(N_CELLS, 1)
    optimiser = torch.optim.Adam([*lstm.parameters(), *linear.parameters()], RATE)
    begin = time.process_time()
    while (spent := time.process_time() - begin) < seconds:
        for group in optimiser.param_groups:
            group["lr"] = RATE * (1.0 - spent / seconds) + 1e-4
        batch = torch.randint(0, n, (BATCH,))
        said = linear(lstm(pieces[batch])[0])[..., 0]
        loss = nn.functional.binary_cross_entropy_with_logits(said[:, LEAD:], wanted[batch][:, LEAD:])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def predict(X: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            said = linear(lstm(torch.tensor(X[None], dtype=torch.float32))[0])[0, :, 0]
        return (said > 0.0).numpy().astype(int)

    return predict


def measured(method: str, name: str, n: int, seed: int, seconds: float) -> dict[str, float]:
    """Accuracy and time of a method; the LSTM has so many seconds."""
    X, y = data(name, n, seed)
    rows, true = data(name, N_TEST, 1000 + seed)
    begin = time.process_time()
    if method == "gradient LSTM":
        predict = gradient_lstm(X, y, seed, seconds)
    else:
        settings: dict[str, Any] = {} if method == "evoke" else {"readout": "ridge"}
        predict = EvokeClassifier(random_state=seed, n_jobs=2, **settings).fit(X, y).predict
    seconds = time.process_time() - begin
    return {"accuracy": float((predict(rows) == true).mean()), "seconds": seconds}


def shown(values: list[float], digits: str) -> str:
    return f"{np.median(values):{digits}} ({min(values):{digits}} to {max(values):{digits}})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write all figures to this file")
    parser.add_argument("--steps", default="1000,10000,100000", help="to learn from")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sums", default=";".join(SUMS), help="by name, with semicolons")
    parser.add_argument("--methods", default=";".join(METHODS), help="by name, with semicolons")
    options = parser.parse_args(arguments)
    rows, kept = [], []
    for n in map(int, options.steps.split(",")):
        for name in options.sums.split(";"):
            row = {"sum": name, "steps": f"{n:,}"}
            budget: list[float] = []
            for method in options.methods.split(";"):
                found = [
                    measured(method, name, n, seed, budget[seed] if budget else 10.0) for seed in range(options.seeds)
                ]
                budget = budget or [one["seconds"] for one in found]
                kept += [{"sum": name, "steps": n, "method": method, "seed": seed} | one
                         for seed, one in enumerate(found)]  # fmt: skip
                row[method] = shown([one["accuracy"] for one in found], ".3f")
                row[f"{method}, s"] = f"{np.median([one['seconds'] for one in found]):.3g}"
            rows.append(row)
            print(*row.values(), sep="  ", file=sys.stderr, flush=True)
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump({"machine": describe(), "runs": kept}, file, indent=1)
    print(markdown_table(rows))
