"""All benchmarks: prints Markdown tables, and writes JSON where asked to.

    python bench/run.py [--json FILE] [--quick] [--repeats R] [--only NAME,...]
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from dataclasses import asdict

import machine
from report import Settings
from threadpoolctl import threadpool_limits

GROUPS = (
    "evaluation", "ideas", "simd", "breakdown", "svc", "lstm", "vecmath", "mutation", "threads", "evolution", "memory",
    "sines", "backends",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write all numbers to this file")
    parser.add_argument("--quick", action="store_true", help="smallest sizes: shows that all of it runs")
    parser.add_argument("--repeats", type=int, metavar="R", help="rounds of each comparison (25, with --quick 2)")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(GROUPS), help=f"some of {', '.join(GROUPS)}")
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    if unknown := set(names) - set(GROUPS):
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}; known are {', '.join(GROUPS)}")
    settings = Settings(options.repeats or (2 if options.quick else 25), options.quick)

    record = {"machine": machine.describe(), "repeats": settings.repeats, "quick": settings.quick, "benchmarks": {}}
    print("# Benchmarks of evoke\n")
    for name, value in {**record["machine"], "rounds": settings.repeats}.items():
        print(f"- {name}: {value}")
    with threadpool_limits(1):
        for name in names:
            begin, load = time.perf_counter(), machine.load()
            report = importlib.import_module(name).run(settings)
            loads = [load, machine.load()]
            record["benchmarks"][name] = {"load": loads, "seconds": time.perf_counter() - begin, **asdict(report)}
            print(f"\n## {name}\n\n{report.markdown()}")
            if max(loads) > record["machine"]["cores"]:
                print(f"The load of the machine was {max(loads):.1f}, above its cores: wall times may be too long.")
            if options.json:
                with open(options.json, "w") as file:
                    json.dump(record, file, indent=1)


if __name__ == "__main__":
    machine.drop_handicaps()
    main()
