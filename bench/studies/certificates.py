"""Is there a wrong certificate? Models with changed weights, and strings at the edge of what is proved for them.

    python bench/study.py certificates [--models 1000] [--seed 0] [--json FILE]

Weights of networks that were trained on a^n b^n, a^n b^2n, a^n b^n c^n or balanced brackets get noise of any size, some
of them are changed or made smaller, or all are made smaller. Each model is certified for all counts, or depths, it can
be, up to 2^52. It must then accept the strings with that count, one and two less, and three random ones below it, as
far as they can be read: one with more than two million steps that cannot be skipped is left out. Of brackets it must
also accept long random strings of small depths. One in ten certificates is also given to the independent checker.
Prints how many were certified how far, and the wrong ones, of which there should be none.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evoke import EvokeClassifier, certify, tasks
from evoke.certification.checker import check
from evoke.reproduce import PRESETS, training_strings
from harness.machine import describe

LANGUAGES, MOST_READ = ("anbn", "anb2n", "anbncn", "dyck1"), 2_000_000
# Brackets of random strings, how deep they are, and how likely one is opened.
N_BRACKETS, WALKS = 2000, ((1, 0.5), (2, 0.5), (3, 0.5), (8, 0.5), (30, 0.6), (300, 0.6))


def trained(name: str, seed: int) -> EvokeClassifier:
    X, y = tasks.language(name).encode(training_strings(name, 10))
    return EvokeClassifier(**PRESETS["languages"], random_state=seed).fit(X, y, X_val=X, y_val=y)


def spoilt(rng: np.random.Generator, genome: np.ndarray) -> np.ndarray:
    """Other weights."""
    genome, kind = genome.copy(), rng.integers(4)
    some = rng.integers(genome.size, size=rng.integers(1, 8))
    if kind == 0:
        genome *= 1 + 10.0 ** rng.uniform(-14, -0.3) * rng.standard_normal(genome.shape)
    elif kind == 1:
        genome *= 10.0 ** rng.uniform(-2, 0)
    elif kind == 2:
        genome.flat[some] += rng.standard_normal(len(some)) * 10.0 ** rng.uniform(-3, 3)
    else:
        genome.flat[some] *= 10.0 ** rng.uniform(-3, 0)
    return genome


def with_weights(model: EvokeClassifier, genome: np.ndarray) -> EvokeClassifier:
    other, network = copy.copy(model), model.fitted_.network
    other.fitted_ = replace(model.fitted_, network=type(network)(genome, network.cell, network.gate_bias))
    return other


def counts_to_read(rng: np.random.Generator, up_to: int) -> list[int]:
    """The edge of what is proved, and some counts below it, small ones too."""
    below = (2.0 ** rng.uniform(0.0, np.log2(up_to + 1), 3)).astype(np.int64).tolist()
    return sorted({n for n in (up_to, up_to - 1, up_to - 2, *below) if 1 <= n <= up_to})


def brackets(rng: np.random.Generator, deepest: int, p: float) -> str:
    """Balanced brackets, at most so deep."""
    string, depth = "", 0
    while len(string) + depth < N_BRACKETS:
        opened = depth == 0 or (depth < deepest and rng.random() < p)
        string, depth = string + ")("[opened], depth + (1 if opened else -1)
    return string + ")" * depth


def accepts_walks(rng: np.random.Generator, model: EvokeClassifier, up_to: int) -> bool:
    """Whether a model accepts random brackets up to some depth."""
    strings = [brackets(rng, min(deepest, up_to), p) for deepest, p in WALKS]
    X, y = tasks.language("dyck1").encode(strings)
    return all(np.array_equal(decisions > 0, legal > 0)
               for decisions, legal in zip(model.decision_function(X), y, strict=True))  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first model")
    parser.add_argument("--json", metavar="FILE", help="write all models to this file")
    options = parser.parse_args(arguments)
    parents = [(name, trained(name, seed)) for name in LANGUAGES for seed in range(3)]
    kept: list[dict[str, Any]] = []
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.models):
            rng = np.random.default_rng(seed)
            name, parent = parents[seed % len(parents)]
            model = with_weights(parent, spoilt(rng, parent.genome_))
            certificate, language = certify(model, name), tasks.language(name)
            tried = counts_to_read(rng, certificate.up_to)
            accepted = [language.accepts(model, (n,), MOST_READ) for n in tried]
            if name == "dyck1" and certificate.up_to > 0:
                accepted.append(accepts_walks(rng, model, certificate.up_to))
            kept.append({
                "seed": seed, "language": name, "up_to": certificate.up_to, "read": tried, "accepted": accepted,
                "checked": None,
            })  # fmt: skip
            if seed % 10 == 0 and certificate.up_to > 0:
                path = Path(folder, "model.evk")
                model.save(path)
                kept[-1]["checked"] = check(certificate.to_json(), path)[0] == certificate.up_to
            if seed % 100 == 99:
                print(f"{len(kept)} models, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    wrong = [one for one in kept if False in one["accepted"] or one["checked"] is False]
    read = sum(answer is not None for one in kept for answer in one["accepted"])
    reached = Counter(min(52, int(np.log2(one["up_to"]))) if one["up_to"] else -1 for one in kept)
    checked, partly = sum(one["checked"] is True for one in kept), len(kept) - reached[52] - reached[-1]
    print(f"{len(kept)} models, {read} strings read, {checked} certificates checked.")
    print(f"Certified to 2^52: {reached[52]}; to less: {partly}; not at all: {reached[-1]}.")
    print(f"Wrong: {len(wrong)} {wrong or ''}")
    if options.json:
        models = ",\n  ".join(map(json.dumps, kept))  # one a line
        text = f'{{\n "machine": {json.dumps(describe())},\n "models": [\n  {models}\n ]\n}}\n'
        Path(options.json).write_text(text, encoding="utf-8")
