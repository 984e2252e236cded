"""Forward passes of populations: what they read, and the candidates that compute them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from evoke import tasks
from evoke.lstm import forward
from harness import problems, reference
from harness.report import installed

EVOKE = "evoke"
PRECISIONS = ("float64", "float32")
N_NETWORKS = 40


def data(quick: bool) -> dict[str, list[np.ndarray]]:
    """Sequences by the words that describe them."""
    n_max, n_steps = (2, 20) if quick else (10, 700)
    strings = tasks.anbncn(n_max)[0]
    sines = [0.3 * tasks.superimposed_sines(2, n_steps)[:, None]]
    return {f"{sum(map(len, strings))} steps of {n_max} strings": strings, f"{n_steps} steps of the sines": sines}


def networks(size: int, n_inputs: int, n_cells: int) -> np.ndarray:
    """Genomes (size, n_cells, 4 (n_inputs + n_cells)), uniform between -1 and 1."""
    return np.random.default_rng(0).uniform(-1.0, 1.0, (size, n_cells, 4 * (n_inputs + n_cells)))


def name_in(precision: str) -> str:
    """The name of evoke as a candidate in this precision."""
    return f"{EVOKE}, {precision}"


def make_candidates(genomes: np.ndarray, X: Sequence[np.ndarray]) -> dict[str, Callable[[int], Any]]:
    bias = problems.GATE_BIAS
    candidates = {name_in(precision): evoke_in(genomes, X, precision) for precision in PRECISIONS}
    candidates |= {
        "NumPy, one network at a time": lambda _: [
            np.array([reference.forward(genome, x, bias) for genome in genomes]) for x in X
        ],
        "NumPy, all networks at once": lambda _: [reference.forward_population(genomes, x, bias) for x in X],
    }
    if installed("torch"):
        for precision in PRECISIONS:
            theirs = torch_candidates(genomes, X, precision)
            candidates |= {f"PyTorch, {form}, {precision}": call for form, call in theirs.items()}
    return candidates


def evoke_in(genomes: np.ndarray, X: Sequence[np.ndarray], precision: str) -> Callable[[int], Any]:
    genomes, X = genomes.astype(precision), [x.astype(precision) for x in X]
    return lambda _: forward(genomes, X, dtype=precision)


def torch_candidates(
    genomes: np.ndarray, X: Sequence[np.ndarray], precision: str
) -> dict[str, Callable[[int], Any]]:
    """Functions that give activations (n_networks, n_sequences, longest, H)."""
    import torch

    from harness import torch_lstm

    dtype = getattr(torch, precision)
    x = torch_lstm.padded(X, dtype)
    layers = [torch_lstm.layer(genome, problems.GATE_BIAS, dtype) for genome in genomes]
    wide = cache(lambda: torch_lstm.block_diagonal(genomes, problems.GATE_BIAS, dtype))  # large, and not always wanted
    arranged = torch_lstm.arranged(genomes, problems.GATE_BIAS, dtype)

    @torch.no_grad()
    def apart(_):
        return torch.stack([layer(x)[0] for layer in layers])

    @torch.no_grad()
    def together(_):
        return wide()(x)[0].reshape(*x.shape[:2], len(genomes), -1).permute(2, 0, 1, 3)

    return {
        "nn.LSTM for each network": apart,
        "nn.LSTM, block-diagonal": together,
        "loop over the steps, bmm": lambda _: torch_lstm.population(*arranged, x),
    }
