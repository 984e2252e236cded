"""All benchmarks: prints Markdown tables, and writes JSON and a report where asked to.

    python bench/run.py [--json FILE] [--report DIR] [--quick] [--repeats R] [--only NAME,...]
    python bench/run.py --from FILE --report DIR     the report of numbers that were written before

The report is benchmarks.md with its plots in figures/, and benchmarks_targets.md; `--report docs` writes these pages of
the documentation.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from groups import CHAPTERS
from harness import document, machine
from harness.options import add_only
from harness.report import Settings


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all numbers to this file")
    parser.add_argument("--report", metavar="DIR", type=Path, help="write the pages and their plots to this folder")
    parser.add_argument("--from", metavar="FILE", type=Path, dest="source", help="measure nothing, read this file")
    parser.add_argument("--quick", action="store_true", help="smallest sizes: shows that everything works")
    parser.add_argument("--repeats", type=int, metavar="R", help="rounds of each comparison (9, with --quick 2)")
    add_only(parser, CHAPTERS)
    options = parser.parse_args(arguments)
    if options.source and not options.report:
        parser.error("--from: needs --report")
    if options.source:
        record = json.loads(options.source.read_text(encoding="utf-8"))
    else:
        record = measure(options.only, options.repeats or (2 if options.quick else 9), options.quick, options.json)
    if options.report:
        document.write(record, CHAPTERS, options.report)


def measure(names: list[str], repeats: int, quick: bool, file: Path | None) -> dict[str, Any]:
    record = {"machine": machine.describe(), "repeats": repeats, "quick": quick, "benchmarks": {}}
    with threadpool_limits(1):
        record["peaks"] = machine.peaks(quick)
        settings = Settings(repeats, quick, **record["peaks"])
        print(document.head(record), flush=True)
        for name in names:
            begin, load = time.perf_counter(), machine.load()
            report = importlib.import_module(f"groups.{name}").measure(settings)
            loads = [load, machine.load()]
            record["benchmarks"][name] = {"load": loads, "seconds": time.perf_counter() - begin, **asdict(report)}
            print(f"\n## {name}\n\n{report.markdown()}", flush=True)
            if max(loads) > record["machine"]["cores"]:
                print(f"The load of the machine was {max(loads):.1f}, more than its cores: wall times may be too long.")
            if file:
                file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return record


if __name__ == "__main__":
    machine.drop_handicaps()
    main()
