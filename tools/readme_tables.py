"""Fill the tables of README.md and docs/ from the JSON files in docs/results, so that no figure is typed by hand.

python tools/readme_tables.py                 rewrite every block between <!-- table: NAME --> and <!-- end -->
python tools/readme_tables.py --check         say which would change; exit status 1 if any
python tools/readme_tables.py --take FILE...  first copy results into docs/results, without paths of this machine

docs/results/README.md says which command made which file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def load(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def markdown(head: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def quartiles(values: Iterable[float]) -> str:
    low, _, high = np.percentile(list(values), [25, 50, 75])
    return f"{low:.0f} to {high:.0f}"


def versions(config: dict[str, Any]) -> str:
    packages = ", ".join(f"{k} {v}" for k, v in config["packages"].items() if v and k in ("numpy", "scikit-learn"))
    return f"evoke {config['evoke']}, Python {config['python']}, {packages}, instruction set {config['simd']['used']}"


def seeds_of(result: dict[str, Any]) -> str:
    config = result["config"]
    return f"{config['runs']} runs, seeds {config['seed']}..{config['seed'] + config['runs'] - 1}"


# ---------------------------------------------------------------- the reproduction

REPRODUCTIONS = [(n_max, preset, "svm") for n_max in (10, 20) for preset in ("paper", "tuned")]
OTHER_READOUTS = [(n_max, preset, readout) for readout in ("pinv", "lssvm") for n_max, preset, _ in REPRODUCTIONS]


def ours(result: dict[str, Any]) -> str:
    """The runs of one reproduction in a cell; those at the cap count with the cap."""
    accepted, cap = [run["accepted"] for run in result["runs"]], result["config"]["test_max"]
    at_cap, n = accepted.count(cap), len(accepted)
    if 2 * at_cap > n:
        return f"**{at_cap} of {n} at the cap of {cap:,}**" + ("" if at_cap == n else f", worst {min(accepted)}")
    mean = ("at least " if at_cap else "") + f"{np.mean(accepted):.0f}"
    return f"median {np.median(accepted):g} ({quartiles(accepted)}), mean {mean}; {at_cap} of {n} at the cap"


def results() -> str:
    rows = []
    for n_max in (10, 20):
        paper, tuned = (load(f"anbncn-N{n_max}-{preset}-svm") for preset in ("paper", "tuned"))
        published = [f"1..{value}" for value in tuned["published"].values()]
        rows.append([f"1..{n_max}", *published, ours(paper), ours(tuned)])
    head = ["trained on", *(f"{name}, published" for name in tuned["published"]), "evoke, `--preset paper`",
            "evoke, `--preset tuned`"]  # fmt: skip
    return markdown(head, rows) + f"\n{seeds_of(tuned)}; {versions(tuned['config'])}.\n"


def results_full(reproductions: list[tuple[int, str, str]], suffix: str = "") -> str:
    rows = []
    for n_max, preset, readout in reproductions:
        result = load(f"anbncn-N{n_max}-{preset}-{readout}{suffix}")
        runs = result["runs"]
        accepted, n = [run["accepted"] for run in runs], len(runs)
        at_cap = sum(m == result["config"]["test_max"] for m in accepted)
        rows.append([
            f"1..{n_max}", readout, preset, ("at least " if at_cap else "") + f"{np.mean(accepted):.1f}",
            f"{np.median(accepted):g}", quartiles(accepted), min(accepted), max(accepted), f"{at_cap} of {n}",
            f"{sum(m < n_max for m in accepted)} of {n}", len(result["unfinished"]),
            *(f"{sum(run['spot'][spot] for run in runs)} of {n}" for spot in ("10000", "100000", "1000000")),
            runs[0]["evaluations"], f"{np.median([run['seconds'] for run in runs]):.2f}",
        ])  # fmt: skip
    head = [
        "trained on", "readout", "preset", "mean", "median", "quartiles", "worst", "best",
        f"at {result['config']['test_max']}", "below N", "failed", "n = 10,000", "n = 100,000", "n = 1,000,000",
        "evaluations", "seconds, median",
    ]  # fmt: skip
    return markdown(head, rows) + f"\n{seeds_of(result)}; {versions(result['config'])}.\n"


def per_seed() -> str:
    results = [load(f"anbncn-N{n_max}-{preset}-{readout}") for n_max, preset, readout in REPRODUCTIONS]
    head = ["seed", *(f"1..{n_max}, {preset}" for n_max, preset, _ in REPRODUCTIONS)]
    by_seed = zip(*(result["runs"] for result in results), strict=True)
    return markdown(head, ([runs[0]["seed"], *(run["accepted"] for run in runs)] for runs in by_seed))


def sines() -> str:
    rows = []
    for readout in ("svm", "lssvm", "pinv"):
        for preset in ("paper", "tuned"):
            result = load(f"sines-2-{preset}-{readout}")
            sse = [np.inf if run["sse"] is None else run["sse"] for run in result["runs"]]
            low, median, high = np.percentile(sse, [25, 50, 75])
            rows.append([
                readout, preset, f"{np.mean(sse):.2g}", f"{median:.2g}", f"{low:.2g} to {high:.2g}", f"{max(sse):.2g}",
                f"{result['n_diverged']} of {len(sse)}", f"{result['mean_one_step_sse']:.2g}",
                result["runs"][0]["evaluations"], f"{np.median([run['seconds'] for run in result['runs']]):.2f}",
            ])  # fmt: skip
    head = ["readout", "preset", "mean", "median", "quartiles", "worst", "diverged", "one step ahead, mean",
            "evaluations", "seconds, median"]  # fmt: skip
    published = ", ".join(f"{name} {value}" for name, value in result["published"].items())
    return markdown(head, rows) + (
        f"\nPublished means of 20 runs: {published}. A linear window of 40 steps: {result['linear_window_sse']:.2g}. "
        f"{seeds_of(result)}; {versions(result['config'])}.\n"
    )


def waves() -> str:
    rows = []
    for n_waves in (3, 4, 5):
        for readout in ("lssvm", "pinv"):
            result = load(f"sines-{n_waves}-tuned-{readout}")
            sse, nrmse = (
                [np.inf if run[name] is None else run[name] for run in result["runs"]] for name in ("sse", "nrmse")
            )
            rows.append([
                n_waves, readout, f"{np.median(sse):.2g}", f"{min(sse):.2g} to {max(sse):.2g}",
                f"{np.median(nrmse):.2g}", f"{np.median(np.square(nrmse)):.2g}",
                f"{result['n_diverged']} of {len(sse)}", f"{result['linear_window_sse']:.2g}",
            ])  # fmt: skip
    head = ["waves", "readout", "SSE, median", "best to worst", "NRMSE, median", "NMSE, median", "diverged",
            "linear window, SSE"]  # fmt: skip
    return markdown(head, rows) + f"\n{seeds_of(result)}, tuned; {versions(result['config'])}.\n"


def ablation_sines(name: str) -> Callable[[], str]:
    """Every study of one run of `bench/studies/ablation_sines.py`."""

    def table() -> str:
        result = load(name)
        rows = []
        for study in result["studies"]:
            sse, told = (
                [np.inf if run[key] is None else run[key] for run in study["runs"]] for key in ("sse", "one_step_sse")
            )
            low, median, high = np.percentile(sse, [25, 50, 75], method="higher")
            settings = ", ".join(f"{name}={value}" for name, value in study["settings"].items())
            rows.append([study["study"], settings, f"{np.mean(sse):.2g}", f"{median:.2g}", f"{low:.2g} to {high:.2g}",
                         f"{max(sse):.2g}", f"{np.median(told):.2g}"])  # fmt: skip
        first, last = result["seeds"]
        where = f"{result['waves']} waves, {last - first + 1} runs per row, seeds {first}..{last}"
        head = ["study", "setting", "SSE, mean", "median", "quartiles", "worst", "one step ahead, median"]
        return markdown(head, rows) + f"\n{where}; {versions(result['config'])}.\n"

    return table


def sines_width() -> str:
    """Two sines with the paper's values and its C, by the width of the kernel, beside the published errors."""
    n_test, rows = 300, []
    stated, kernel, evolved = (load(f"{name}paper-svm") for name in ("sines-2-", "ablation-sines-", "evolved-sines-"))
    width = {study["settings"]["gamma"]: study["runs"] for study in kernel["studies"] if study["study"] == "kernel"}
    at_C = {study["settings"]["gamma"]: study["runs"] for study in evolved["studies"] if study["settings"]["C"] == 10.0}
    named = [("0.25, as stated", stated["runs"]), ("0.25, as stated", at_C[0.25]), ("evolved", at_C["evolve"]),
             *((f"{gamma:g}", width[gamma]) for gamma in sorted(width) if gamma != 0.25)]  # fmt: skip
    for name, runs in named:
        sse, told = ([np.inf if run[key] is None else run[key] for run in runs] for key in ("sse", "one_step_sse"))
        # as in the tables that have these runs
        low, median, high = np.percentile(sse, [25, 50, 75], method="linear" if runs is stated["runs"] else "higher")
        a_point = (f"{np.sqrt(value / n_test):.2g}" for value in (np.mean(sse), median))
        rows.append([name, f"{runs[0]['seed']}..{runs[-1]['seed']}", f"{np.mean(sse):.2g}", f"{median:.2g}",
                     f"{low:.2g} to {high:.2g}", f"{max(sse):.2g}", *a_point, f"{np.median(told):.2g}"])  # fmt: skip
    for name, value in stated["published"].items():
        root = np.sqrt(value / n_test)
        rows.append([f"{name}, published", "-", f"{value:g}", "-", "-", "-", f"{root:.2g}", "-", "-"])
    head = ["gamma", "seeds", "SSE, mean", "median", "quartiles", "worst", "RMSE a point, of the mean", "of the median",
            "SSE one step ahead, median"]  # fmt: skip
    return markdown(head, rows) + f"\nC = 10, the preset paper; {versions(evolved['config'])}.\n"


# ---------------------------------------------------------------- simpler networks


def certified_runs() -> list[dict[str, Any]]:
    return [run for run in load("simplify")["runs"] if run["up_to"] == 2**52]


def simplified() -> str:
    parts = {"n_cells": "cells", "n_weights": "weights that are not zero", "largest_weight": "largest weight",
             "n_support": "support vectors", "n_coefficients": "numbers of the readout"}  # fmt: skip
    runs, rows = certified_runs(), []
    for part, name in parts.items():
        before, after = ([run[when][part] for run in runs] for when in ("before", "after"))
        low, median, high = np.percentile(after, [25, 50, 75])
        rows.append([name, f"{np.median(before):g}", f"{median:g}", f"{low:g} to {high:g}", f"{min(after):g}",
                     f"{max(after):g}"])  # fmt: skip
    every = load("simplify")["runs"]
    linear = sum(run["after"]["kernel"] == "linear" for run in runs)
    margins = np.percentile([run["margin"] for run in runs], [0, 50])
    return markdown(["", "before, median", "after, median", "quartiles", "least", "most"], rows) + (
        f"\nSeeds {every[0]['seed']}..{every[-1]['seed']}: the {len(runs)} of {len(every)} runs that are certified up "
        f"to 2^52 in the end; {linear} of them have a linear readout then. Margins: {margins[0]:.2g} at least, in the "
        f"median {margins[1]:.2g}.\n"
    )


def smallest() -> str:
    """The network with the fewest cells, weights and numbers of the readout."""
    parts = "n_cells", "n_weights", "n_coefficients"
    best = min(certified_runs(), key=lambda run: [run["after"][part] for part in parts])
    weights = np.reshape(best["genome"], (best["after"]["n_cells"], 4, -1))
    gates = ("cell input", "input gate", "forget gate", "output gate")
    rows = [[h, gate, *(f"{w:g}" if w else "" for w in weights[h, g])]
            for h in range(len(weights)) for g, gate in enumerate(gates)]  # fmt: skip
    after = best["after"]
    readout = f"kernel {after['kernel']}, {after['n_coefficients']} numbers"
    readout += f", {after['n_support']} support vectors" if after["n_support"] else ""
    return markdown(["cell", "gate", *"Sabc", *(f"cell {h}" for h in range(len(weights)))], rows) + (
        f"\nSeed {best['seed']}; readout: {readout}; margin {best['margin']:.2g}.\n"
    )


# ---------------------------------------------------------------- exported models


def export_agreement() -> str:
    record = load("export")
    rows = record["tables"]["agreement"]
    first, last = record["seeds"]
    head = [name for name in rows[0] if name != "models"]
    return markdown(head, ([row[name] for name in head] for row in rows)) + f"\nSeeds {first}..{last}.\n"


def export_sizes() -> str:
    rows = load("export")["tables"]["sizes"]
    return markdown(rows[0], (row.values() for row in rows)) + (
        "\nBytes but for the lines. Of processors: tables and code with `-Os`, without the compiler's own arithmetic "
        "where the processor has none.\n"
    )


# ---------------------------------------------------------------- the ablations


def ablation(name: str) -> str:
    """Every study of one run of `bench/studies/ablation_anbncn.py`."""
    result = load(name)
    rows = []
    for study in result["studies"]:
        runs = study["runs"]
        accepted = [run["accepted"] for run in runs]
        settings = ", ".join(f"{name}={value}" for name, value in study["settings"].items())
        long = [] if result["long"] is None else [sum(run["long"] for run in runs)]
        rows.append([
            study["study"], settings, f"{np.mean(accepted):.0f}", f"{np.median(accepted):g}", quartiles(accepted),
            sum(m == result["test_max"] for m in accepted), sum(run["wrong"] > 0 for run in runs), *long,
        ])  # fmt: skip
    long = [] if result["long"] is None else [f"n = {result['long']:,}"]
    head = ["study", "setting", "mean", "median", "quartiles", f"at {result['test_max']}", "unsolved", *long]
    first, last = result["seeds"]
    where = f"N = {result['n_max']}, {last - first + 1} runs per row, seeds {first}..{last}"
    return markdown(head, rows) + f"\n{where}; {versions(result['config'])}.\n"


# ---------------------------------------------------------------- ThunderSVM


def thundersvm() -> str:
    record = load("thundersvm")
    packages = record["packages"]
    return markdown(record["rows"][0], (row.values() for row in record["rows"])) + (
        f"\nSeeds 0, 1, ...; thundersvm-cpu {packages['thundersvm-cpu']}, numpy {packages['numpy']}.\n"
    )


def thundersvm_gpu() -> str:
    record = load("gpu-h200")
    rows = [[f"{v:.2g}" if isinstance(v, float) else v for v in row.values()] for row in record["rows"]]
    return markdown(record["rows"][0], rows) + f"\n{versions(record['config'])}.\n"


# ---------------------------------------------------------------- the benchmarks


def bench_cell(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['median']:.3g} ({value['low']:.3g} to {value['high']:.3g})"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def bench(group: str, n_tables: int, file: str = "benchmarks") -> Callable[[], str]:
    def table() -> str:
        record = load(file)
        group_of = record["benchmarks"][group]
        parts = [
            f"{t['title']}:\n\n{markdown(t['rows'][0], (map(bench_cell, row.values()) for row in t['rows']))}"
            for t in group_of["tables"][:n_tables]
        ]
        machine = record["machine"]
        return "\n".join(parts) + (
            f"\n{machine['processor']}, {machine['cores']} cores, load {max(group_of['load']):.1f}; "
            f"{record['repeats']} rounds, median and quartiles; "
            f"numpy {machine['numpy']}, scikit-learn {machine['scikit-learn']}.\n"
        )

    return table


def newton() -> str:
    """The solver's table of `bench/groups/ideas.py` in a build with and one without Newton steps."""
    rows = []
    for name, record in (("with", "bench-aedbb70"), ("without", "bench-no-newton")):
        tables = load(record)["benchmarks"]["ideas"]["tables"]
        rows += [[name, *map(bench_cell, row.values())] for row in tables[1]["rows"]]
    return markdown(["Newton steps", *tables[1]["rows"][0]], rows)


# ---------------------------------------------------------------- real data


def spread(values: Iterable[float], digits: int) -> str:
    """Median and quartiles; of one value, or of equal ones, the value alone."""
    low, median, high = np.percentile(list(values), [25, 50, 75])
    return f"{median:.{digits}f}" + (f" ({low:.{digits}f} to {high:.{digits}f})" if low < high else "")


def named(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "-"


def real_data_notes(task: str) -> str:
    record = load("real-data")
    machine = record["machine"]
    used = ("evoke", "python", "numpy", "scikit-learn", "aeon", "tslearn", "reservoirpy", "statsmodels")
    return (
        f"\nSeeds 0..{record['seeds'] - 1} where chance has a part, median and quartiles. "
        f"{machine['processor']}, {machine['cores']} cores, load {record[task]['load']:.1f}; "
        f"{', '.join(f'{name} {machine[name]}' for name in used)}.\n"
    )


def vowels() -> str:
    rows = []
    for record in load("real-data")["vowels"]["methods"]:
        valid = max((c["accuracy"] for c in record["candidates"]), default=None)
        scores = [run["accuracy"] for run in record["runs"]]
        rows.append([
            record["method"], named(record["settings"]), "-" if valid is None else f"{valid:.3f}", spread(scores, 3),
            f"{min(scores):.3f} to {max(scores):.3f}",
            *(f"{np.median([run[clock] for run in record['runs']]):.2f}" for clock in ("seconds", "processor")),
        ])  # fmt: skip
    head = ["method", "chosen", "cross-validation", "test", "worst to best", "seconds", "processor"]
    return markdown(head, rows) + real_data_notes("vowels")


def sunspots_one_step() -> str:
    rows = []
    for record in load("real-data")["sunspots"]["methods"]:
        runs = record["runs"]
        valid = min((c["nmse"] for c in record["candidates"]), default=None)
        rows.append([
            record["method"], "-" if valid is None else f"{valid:.3f}",
            *(spread([run["nmse"][period] for run in runs], 3) for period in runs[0]["nmse"]),
        ])  # fmt: skip
    return markdown(["method", "validation, to 1920", *runs[0]["nmse"]], rows) + real_data_notes("sunspots")


def sunspots_free() -> str:
    rows = []
    for record in load("real-data")["sunspots"]["methods"]:
        runs = [run for run in record["runs"] if run["free_all"] is not None]
        by_horizon = np.array([run["free"] for run in runs])
        rows.append([
            record["method"], *(spread(by_horizon[:, year - 1], 0) for year in (1, 5, 11, 22)),
            spread([run["free_all"] for run in runs], 1), len(record["runs"]) - len(runs), named(record["settings"]),
        ])  # fmt: skip
    return markdown(
        ["method", "year 1", "year 5", "year 11", "year 22", "all 22 years", "diverged", "chosen"], rows
    ) + real_data_notes("sunspots")


# Groups of `bench/run.py`, and how many of their tables the documents show; docs/benchmarks.md has all of them.
BENCHMARKS = {"evaluation": 1, "ideas": 2, "breakdown": 1, "simd": 1, "threads": 1, "backends": 2}

def platforms() -> str:
    head = ["platform", "compiler", "run by", "C tests that passed", "hashes", "not run: the processor lacks"]
    rows = load("portability")["rows"]
    return markdown(head, ([row["platform"], row["compiler"], row["how"], row["tests"], "equal", row["untested"] or "-"]
                           for row in rows))  # fmt: skip


def platforms_arm64() -> str:
    rows = [
        [row["compiler"], workload, f"{plain:,}", f"{neon:,}", f"{plain / neon:.2f}"]
        for row in load("portability")["rows"] for workload, (plain, neon) in row["instructions"].items()
    ]  # fmt: skip
    return markdown(["compiler", "workload", "plain C", "NEON", "times as many"], rows)


# ---------------------------------------------------------------- trust

FUZZED = {
    "models": "changed model files, with right checksums", "tables": "tables through the command line",
    "core": "calls of the C core, under the sanitizers",
}  # fmt: skip


def fuzz() -> str:
    """The last long runs of `tools/fuzz.py`."""
    record, rows = load("fuzz"), []
    for kind, name in FUZZED.items():
        run = record[kind]
        outcomes = ", ".join(f"{count:,} {word}" for word, count in sorted(run["outcomes"].items()))
        rows.append([name, f"{run['cases']:,}", run["seed"], outcomes, len(run["faults"]), run["fixed"],
                     run["date"]])  # fmt: skip
    head = ["cases", "number", "seed", "how they ended", "faults", "faults found by this run, and fixed", "date"]
    return markdown(head, rows) + f"\n{versions(record['config'])}.\n"


def certificates() -> str:
    """The search for wrong certificates of `bench/studies/certificates.py`, by language."""
    record, rows = load("certificates"), []
    for language in dict.fromkeys(model["language"] for model in record["models"]):
        models = [model for model in record["models"] if model["language"] == language]
        reached = [model["up_to"] for model in models]
        whole, none = reached.count(2**52), reached.count(0)
        answers = [answer for model in models for answer in model["accepted"] if answer is not None]
        checked = [model["checked"] for model in models if model["checked"] is not None]
        wrong = sum(False in model["accepted"] or model["checked"] is False for model in models)
        rows.append([language, len(models), whole, len(models) - whole - none, none, f"{len(answers):,}", len(checked),
                     wrong])  # fmt: skip
    head = ["language", "models", "certified to 2^52", "to less", "not", "strings read", "checked",
            "wrong certificates"]  # fmt: skip
    machine = record["machine"]
    return markdown(head, rows) + (
        f"\nevoke {machine['evoke']}, Python {machine['python']}, numpy {machine['numpy']}, "
        f"instruction set {machine['simd']}.\n"
    )


def soak() -> str:
    """The last long run of `tools/soak.py`."""
    record = load("soak")
    rows = [[name, f"{count:,}"] for name, count in sorted(record["counts"].items())]
    size = record["megabytes"]
    return markdown(["what", "how often"], rows) + (
        f"\n{record['seconds'] / 60:.0f} minutes on {record['date']}, seed {record['seed']}; faults: "
        f"{'; '.join(record['faults']) or 'none'}. Memory of the process: {size['first']} MB at first, "
        f"{size['largest']} MB at most, {size['growth after the warm-up']} MB more after the warm-up. "
        f"{versions(record['config'])}.\n"
    )


TABLES: dict[str, Callable[[], str]] = {
    "certificates": certificates,
    "fuzz": fuzz,
    "soak": soak,
    "platforms": platforms,
    "platforms-arm64": platforms_arm64,
    "thundersvm-gpu": thundersvm_gpu,
    "results": results,
    "results-full": lambda: results_full(REPRODUCTIONS),
    "other-readouts": lambda: results_full(OTHER_READOUTS),
    "fresh": lambda: results_full([(10, "tuned", "svm"), (20, "tuned", "svm")], "-2000"),
    "per-seed": per_seed,
    "sines": sines,
    "sines-width": sines_width,
    "simplified": simplified,
    "smallest": smallest,
    "waves": waves,
    "export-agreement": export_agreement,
    "export-sizes": export_sizes,
    **{f"ablation-sines-{name}": ablation_sines(f"ablation-sines-{name}")
       for name in ("paper-svm", "tuned-svm", "tuned-lssvm", "tuned-pinv")},
    "evolved-sines": ablation_sines("evolved-sines-paper-svm"),
    "evolved-strings": lambda: ablation("evolved-N10-paper"),
    "weights-10": lambda: ablation("weights-N10-tuned"),
    "weights-20": lambda: ablation("weights-N20-tuned"),
    "ablation-paper": lambda: ablation("ablation-N10-paper"),
    "thundersvm": thundersvm,
    "vowels": vowels,
    "sunspots-one-step": sunspots_one_step,
    "sunspots-free": sunspots_free,
    "newton": newton,
    **{f"bench-{group}": bench(group, n_tables) for group, n_tables in BENCHMARKS.items()},
    "bench-wide": bench("wide", 2, "bench-wide"),
}


def filled(text: str) -> str:
    return BLOCK.sub(lambda block: f"{block[1]}\n{TABLES[block[2]]()}\n{block[3]}", text)


def take(path: Path) -> None:
    result = json.loads(path.read_text(encoding="utf-8"))
    result.get("config", {}).pop("thundersvm", None)  # the path of its library
    (RESULTS / path.name).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--take", type=Path, nargs="+", default=[], metavar="FILE")
    options = parser.parse_args(arguments)
    for path in options.take:
        take(path)
    stale = 0
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        old = path.read_text(encoding="utf-8")
        new = filled(old)
        if new != old:
            stale += 1
            print(f"{path.relative_to(ROOT)}: {'tables differ from docs/results' if options.check else 'rewritten'}")
            if not options.check:
                path.write_text(new, encoding="utf-8")
    return int(options.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
