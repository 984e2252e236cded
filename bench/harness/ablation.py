"""Ablations: one parameter at a time around a preset, on other seeds than those of the published results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

from joblib import Parallel, delayed

from evoke import show_config
from harness.options import add_only

FIRST_SEED = 1000  # the tables of results use 0..19
# Name of a study -> the settings to try, each of which replaces values of the preset.
Studies = Mapping[str, list[dict[str, Any]]]


def add_options(parser: argparse.ArgumentParser, studies: Studies, n_seeds: int) -> None:
    parser.add_argument("--seeds", type=int, default=n_seeds, help=f"number of seeds, the first is {FIRST_SEED}")
    add_only(parser, studies)
    parser.add_argument("--jobs", type=int, default=2, help="processes; no result depends on it")
    parser.add_argument("--json", metavar="FILE", help="write every run to this file")


def run(
    options: argparse.Namespace, facts: dict[str, Any], studies: Studies,
    one: Callable[[dict[str, Any], int], dict[str, Any]], say: Callable[[dict[str, Any]], None],
) -> None:  # fmt: skip
    """Call `one` with all settings and seeds; `say` prints a study as soon as it is complete.

    The JSON file begins with `facts`, the first and last seed, the studies and the configuration.
    """
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    config = show_config("dict")
    result: dict[str, Any] = {
        **facts, "seeds": [seeds.start, seeds.stop - 1], "studies": [],
        "config": {name: config[name] for name in ("evoke", "python", "platform", "simd", "packages")},
    }  # fmt: skip
    with Parallel(n_jobs=options.jobs) as pool:
        for name in options.only:
            for settings in studies[name]:
                runs = pool(delayed(one)(settings, seed) for seed in seeds)
                result["studies"].append({"study": name, "settings": settings, "runs": runs})
                say(result["studies"][-1])
                if options.json:
                    with open(options.json, "w", encoding="utf-8") as file:
                        json.dump(result, file, indent=1)


def label(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def print_line(cells: list[Any]) -> None:
    """Print a line of a Markdown table at once."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_head(columns: list[str]) -> None:
    print_line(columns)
    print("|" + "---|" * len(columns), flush=True)
