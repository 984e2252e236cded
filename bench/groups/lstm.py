"""The forward pass of a population beside NumPy and PyTorch."""

from __future__ import annotations

from harness import forward, operations
from harness.paired import Times, paired
from harness.report import Report, Settings, Table, Target, installed, skipped

NOTE = """PyTorch's `nn.LSTM` has the same cell. It cannot give every network its own weights, so a population is one
layer per network, one layer with block-diagonal weights, or a loop over the steps with batched products (`bmm`). It
reads all strings at once, padded, and without gradients. evoke and PyTorch are timed in double precision, in which
evoke evolves networks, and in single precision, the default of PyTorch, on data of that precision. NumPy uses double
precision."""


def measure(settings: Settings) -> Report:
    report = Report()
    size = 8 if settings.quick else forward.N_NETWORKS
    if not installed("torch"):
        report.tables.append(Table("PyTorch", notes=[skipped("the forward pass in PyTorch", "torch")]))
    for where, X in forward.data(settings.quick).items():
        n_steps, n_inputs = sum(map(len, X)), X[0].shape[1]
        for n_cells in (5,) if settings.quick else (5, 10):
            genomes = forward.networks(size, n_inputs, n_cells)
            candidates = forward.make_candidates(genomes, X)
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
    return forward.name_in(forward.PRECISIONS[name.endswith("float32")])


def targets(where: str, times: Times, least: float) -> list[Target]:
    share = least / times.seconds(forward.name_in("float64"))[1].median
    found = [Target.at_least(f"share of the limit, forward pass on {where}", 0.3, share)]
    for precision in forward.PRECISIONS:
        theirs = [name for name in times.cpu if name.startswith("PyTorch") and name.endswith(precision)]
        if theirs:
            label = f"fastest PyTorch / evoke, both {precision}, forward pass on {where}"
            ratio = min(times.speedup(name, ours(name))[1].median for name in theirs)
            found.append(Target.at_least(label, 10.0, ratio))
    return found
