"""Cauchy noise on chromosomes beside `Generator.standard_cauchy`."""

from __future__ import annotations

import numpy as np

from harness import operations
from harness.core import add_cauchy
from harness.paired import paired
from harness.report import Report, Settings, Table

NOTE = "Operations counted: tan(pi x), two for its argument and two to add it. Random bits are not counted."


def measure(settings: Settings) -> Report:
    table = Table("Cauchy noise added in place: nanoseconds per weight", notes=[NOTE])
    for shape in ((10, 36),) if settings.quick else ((10, 36), (40, 36), (40, 240)):
        times = paired(make_candidates(shape), settings.repeats)
        size = shape[0] * shape[1]
        ours = times.seconds("evoke", 1e-9 * size)[1]
        table.rows.append({
            "chromosomes": f"{shape[0]} x {shape[1]}",
            "evoke": ours,
            "NumPy": times.seconds("NumPy", 1e-9 * size)[1],
            "NumPy / evoke": times.speedup("NumPy", "evoke")[1],
            "of the limit": settings.of_flops(operations.TANPI + 4, 1e-9 * ours.median),
        })  # fmt: skip
    return Report([table])


def make_candidates(shape):
    bits = np.random.PCG64(0)
    generator, ours, theirs = np.random.Generator(bits), np.zeros(shape), np.zeros(shape)

    def plain(_):
        theirs[:] += 0.1 * generator.standard_cauchy(shape)

    return {"evoke": lambda _: add_cauchy(ours, 0.1, bits), "NumPy": plain}
