"""evoke beside other methods on real data: speakers of Japanese vowels, yearly sunspot numbers.

    python bench/real_data.py [--json FILE] [--seeds 10] [--quick] [--only vowels,sunspots]

Needs aeon, tslearn, reservoirpy and statsmodels, which carry the data; nothing is downloaded. `vowels.py` and
`sunspots.py` say how settings are chosen: by the training data alone, before the test is looked at.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
import warnings
from importlib.metadata import version

import machine

TASKS = ("vowels", "sunspots")
PACKAGES = ("aeon", "tslearn", "reservoirpy", "statsmodels")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write every candidate and run to this file")
    parser.add_argument("--seeds", type=int, default=10, help="runs of the methods that depend on chance")
    parser.add_argument("--quick", action="store_true", help="one small candidate a method: shows that all of it runs")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(TASKS), help=f"some of {', '.join(TASKS)}")
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    if unknown := set(names) - set(TASKS):
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}; known are {', '.join(TASKS)}")
    if options.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {options.seeds}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the other packages, at import too
        record = {
            "machine": machine.describe() | {name: version(name) for name in PACKAGES}, "seeds": options.seeds,
            "quick": options.quick,
        }  # fmt: skip
        for name in names:
            print(f"## {name}\n", flush=True)
            begin = time.perf_counter()
            say = lambda line: print(line, flush=True)  # noqa: E731
            methods = importlib.import_module(name).run(options.seeds, options.quick, say)
            record[name] = {"methods": methods, "seconds": time.perf_counter() - begin, "load": machine.load()}
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(record, file, indent=1)


if __name__ == "__main__":
    machine.drop_handicaps()
    main()
