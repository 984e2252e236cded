"""The command line of studies that measure parts, run by run, into a file and write a page of docs/."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from harness import machine
from harness.report import installed, skipped
from harness.results import LeftOut, Part, Results


def make_parser(description: str, file: Path) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", type=Path, default=file, help=f"default: docs/results/{file.name}")
    parser.add_argument("--seeds", type=int, default=3, help="runs of the methods that depend on chance")
    parser.add_argument("--sets", type=names, default=set(), metavar="NAME;...", help="some of the sets")
    parser.add_argument("--methods", type=names, default=set(), metavar="NAME;...", help="some of the methods")
    parser.add_argument("--again", action="store_true", help="measure what the file has already, too")
    parser.add_argument("--report", metavar="DIR", type=Path, help="write the page and figures/ there")
    parser.add_argument("--page-only", action="store_true", help="measure nothing")
    return parser


def names(text: str) -> set[str]:
    return set(filter(None, text.split(";")))


def parse(parser: argparse.ArgumentParser, arguments: list[str] | None) -> argparse.Namespace:
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {options.seeds}")
    return options


def measure_parts(parts: Mapping[str, Part], chosen: Iterable[str], options: argparse.Namespace) -> None:
    """Add what the file lacks of the chosen parts, unless only the page is wanted."""
    if options.page_only:
        return
    results = Results(options.json)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # those of the other packages, at import too
        results.head = {"machine": machine.describe(), "seeds": options.seeds}
        for name in chosen:
            print(f"## {name}\n", flush=True)
            measure(results, name, parts[name], options)
    results.save()


def measure(results: Results, name: str, part: Part, options: argparse.Namespace) -> None:
    """Add the runs that are missing, one line for each."""
    for method, entry in part.methods.items():
        if options.methods and method not in options.methods:
            continue
        if entry.package is not None and not installed(entry.package):
            print(skipped(method, entry.package), flush=True)
            continue
        for of in part.sets:
            if options.sets and of not in options.sets:
                continue
            for seed in range((part.n_seeds or options.seeds) if entry.seeded else 1):
                if results.has(name, of, method, seed) and not options.again:
                    continue
                try:
                    made = part.measure(of, method, seed) | {"load": round(machine.load(), 2)}
                except LeftOut as why:
                    made = {"left_out": str(why)}
                results.add(name, of, method, seed, **made)
                print(f"{of}, {method}, seed {seed}: {summary(made)}", flush=True)


def summary(made: dict[str, Any]) -> str:
    """The single values that were measured."""
    single = {k: v for k, v in made.items() if not isinstance(v, list)}
    return ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in single.items())
