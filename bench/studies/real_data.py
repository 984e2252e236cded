"""evoke beside other methods on real data: speakers of Japanese vowels, yearly sunspot numbers.

    python bench/study.py real_data [--json FILE] [--seeds 10] [--quick] [--only vowels,sunspots]

Needs aeon, tslearn, reservoirpy and statsmodels, which contain the data; nothing is downloaded. `harness/vowels.py` and
`harness/sunspots.py` describe how settings are chosen: by the training data alone, before the test data are looked at.
`run.py` measures the methods with the settings that were chosen for docs/real_data.md.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from types import ModuleType
from typing import Any

from groups.real_data import TASKS
from harness import machine, peer
from harness.options import add_only


def compare(task: ModuleType, n_seeds: int, quick: bool) -> list[dict[str, Any]]:
    """One record per method: its candidates with their validation, the choice, and the test for each seed."""
    records = []
    for name, (_, candidates) in task.CANDIDATES.items():
        candidates = candidates[:1] if quick else candidates
        judged = [
            {"settings": settings, task.CRITERION: task.validate(name, settings)} for settings in candidates
        ] if len(candidates) > 1 else []  # fmt: skip
        chosen = task.BEST(judged, key=lambda c: c[task.CRITERION])["settings"] if judged else candidates[0]
        runs = task.test(name, chosen, list(range(n_seeds if peer.seeded(name) else 1)), quick)
        records.append({"method": name, "candidates": judged, "settings": chosen, "runs": runs})
        print(f"{name}: {task.summary(runs)}; {chosen}", flush=True)
    return records


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write every candidate and run to this file")
    parser.add_argument("--seeds", type=int, default=10, help="runs of the methods that depend on chance")
    parser.add_argument("--quick", action="store_true", help="one small candidate per method: shows that all works")
    add_only(parser, TASKS)
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {options.seeds}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the other packages, at import too
        record: dict[str, Any] = {"machine": machine.describe(), "seeds": options.seeds, "quick": options.quick}
        for name in options.only:
            print(f"## {name}\n", flush=True)
            begin = time.perf_counter()
            methods = compare(TASKS[name], options.seeds, options.quick)
            record[name] = {"methods": methods, "seconds": time.perf_counter() - begin, "load": machine.load()}
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(record, file, indent=1)
