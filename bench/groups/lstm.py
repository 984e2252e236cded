"""The forward pass of a population beside NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import operations
import problems
import reference
from paired import paired
from report import Report, Settings, Table, Target, installed, skipped

from evoke import tasks
from evoke.lstm import forward

EVOKE = "evoke"
PRECISIONS = ("float64", "float32")
N_NETWORKS = 40
NOTE = """PyTorch's `nn.LSTM` has the same cell. It cannot give every sequence other weights, so a population is one
layer a network, one layer with block-diagonal weights, or a loop over the steps with batched products (`bmm`). Strings
are padded and run at a time. PyTorch runs without gradients. Both are timed in double precision, in which evoke evolves
networks, and in single, the default of PyTorch; the data have that precision beforehand. NumPy computes in
double.""".replace("\n", " ")


def run(settings: Settings) -> Report:
    report = Report()
    size = 8 if settings.quick else N_NETWORKS
    if not installed("torch"):
        report.tables.append(Table("PyTorch", notes=[skipped("the forward pass in PyTorch", "torch")]))
    for where, X in data(settings.quick).items():
        n_steps, n_inputs = sum(map(len, X)), X[0].shape[1]
        for n_cells in (5,) if settings.quick else (5, 10):
            genomes = networks(size, n_inputs, n_cells)
            candidates = make_candidates(genomes, X)
            times = paired(candidates, min(settings.repeats, 5))
            table = Table(f"Activations of {size} networks of {n_cells} cells on {where}", notes=[NOTE])
            flops = size * n_steps * operations.lstm(n_inputs, n_cells)
            for name in candidates:
                cpu = times.seconds(name, 1e-3)[1]
                double = not name.endswith("float32")
                table.rows.append({
                    "": name, "ms": cpu, "other / evoke": times.speedup(name, ours(name))[1],
                    "of the limit": settings.of_flops(flops, 1e-3 * cpu.median) if double else "-",
                })  # fmt: skip
            report.tables.append(table)
            report.targets += targets(f"{where}, {n_cells} cells", times, flops / settings.flops)
    return report


def ours(name: str) -> str:
    """The candidate of evoke in the precision of this one."""
    return f"{EVOKE}, {PRECISIONS[name.endswith('float32')]}"


def targets(where: str, times: Any, least: float) -> list[Target]:
    share = least / times.seconds(ours("float64"))[1].median
    found = [Target.at_least(f"share of the limit, forward pass on {where}", 0.3, share)]
    for precision in PRECISIONS:
        theirs = [name for name in times.cpu if name.startswith("PyTorch") and name.endswith(precision)]
        if theirs:
            label = f"fastest PyTorch / evoke, both {precision}, forward pass on {where}"
            ratio = min(times.speedup(name, ours(name))[1].median for name in theirs)
            found.append(Target.at_least(label, 10.0, ratio))
    return found


def data(quick: bool) -> dict[str, list[np.ndarray]]:
    n_max, n_steps = (2, 20) if quick else (10, 700)
    strings = tasks.anbncn(n_max)[0]
    sines = [0.3 * tasks.superimposed_sines(2, n_steps)[:, None]]
    return {f"{sum(map(len, strings))} steps of {n_max} strings": strings, f"{n_steps} steps of the sines": sines}


def networks(size: int, n_inputs: int, n_cells: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (size, n_cells, 4 * (n_inputs + n_cells)))


def make_candidates(genomes: np.ndarray, X: Sequence[np.ndarray]) -> dict[str, Callable[[int], Any]]:
    bias = problems.GATE_BIAS
    candidates = {ours(precision): ours_in(genomes, X, precision) for precision in PRECISIONS}
    candidates |= {
        "NumPy, one network at a time": lambda _: [
            np.array([reference.forward(genome, x, bias) for genome in genomes]) for x in X
        ],
        "NumPy, all networks at a time": lambda _: [reference.forward_population(genomes, x, bias) for x in X],
    }
    if installed("torch"):
        for precision in PRECISIONS:
            theirs = torch_candidates(genomes, X, precision)
            candidates |= {f"PyTorch, {form}, {precision}": call for form, call in theirs.items()}
    return candidates


def ours_in(genomes: np.ndarray, X: Sequence[np.ndarray], precision: str) -> Callable[[int], Any]:
    genomes, X = genomes.astype(precision), [x.astype(precision) for x in X]
    return lambda _: forward(genomes, X, dtype=precision)


def torch_candidates(
    genomes: np.ndarray, X: Sequence[np.ndarray], precision: str
) -> dict[str, Callable[[int], Any]]:
    """Functions that give activations (n_networks, n_sequences, longest, H)."""
    import torch
    import torch_lstm

    dtype = getattr(torch, precision)
    x = torch_lstm.padded(X, dtype)
    layers = [torch_lstm.layer(genome, problems.GATE_BIAS, dtype) for genome in genomes]
    wide = torch_lstm.block_diagonal(genomes, problems.GATE_BIAS, dtype)
    arranged = torch_lstm.arranged(genomes, problems.GATE_BIAS, dtype)

    @torch.no_grad()
    def apart(_):
        return torch.stack([layer(x)[0] for layer in layers])

    @torch.no_grad()
    def together(_):
        return wide(x)[0].reshape(*x.shape[:2], len(genomes), -1).permute(2, 0, 1, 3)

    return {
        "nn.LSTM for each network": apart,
        "nn.LSTM, block-diagonal": together,
        "loop over the steps, bmm": lambda _: torch_lstm.population(*arranged, x),
    }
