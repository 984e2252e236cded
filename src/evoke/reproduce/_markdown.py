"""Results as tables in Markdown, compared with the published numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evoke.reproduce._anbncn import LONG_STRINGS
from evoke.reproduce._languages import LONG_COUNTS, PUBLISHED_LANGUAGES
from evoke.reproduce._sines import WINDOW
from evoke.tasks import SINES_SPLIT

__all__ = ["SYSTEMS", "comparison", "conditions", "explanation", "markdown", "title"]

# What their authors call systems with these readouts.
SYSTEMS = {"svm": "Evoke", "lssvm": "least-squares SVM", "pinv": "PI-Evolino"}


def _table(head: list[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    """The lines of a table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)]


def _show(value: float | None, spec: str, missing: str = "-") -> str:
    return missing if value is None else format(value, spec)


def title(result: dict[str, Any]) -> str:
    """The task of a result."""
    if result["task"] == "anbncn":
        return f"a^n b^n c^n, trained on n = 1..{result['n_max']}"
    return "1 sine" if result["waves"] == 1 else f"{result['waves']} superimposed sines"


def explanation(result: dict[str, Any]) -> str:
    """What the numbers in the table of a result mean."""
    config = result["config"]
    seeds = f"seeds {config['seed']}..{config['seed'] + config['runs'] - 1}"
    if result["task"] == "anbncn":
        tested = f"tested up to {config['test_max']}"
        return f"The largest m such that all strings n = 1..m are accepted; {seeds}, {tested}."
    split = SINES_SPLIT
    return (
        f"Summed squared error (SSE) of a free run over t = {split.validation_end + 1}..{split.test_end}, after the "
        f"true series up to t = {split.validation_end}; {seeds}. The last column has the error of the same values if "
        "each is predicted from the true values before it."
    )


def _ours(result: dict[str, Any]) -> str:
    config = result["config"]
    return f"evoke {config['evoke']}, preset {result['preset']}, solver {result['solver']}, readout {result['readout']}"


def _anbncn_row(result: dict[str, Any]) -> list[str]:
    runs = result["runs"]
    if not runs:
        return ["-"] * 6
    accepted = [run["accepted"] for run in runs]
    low, middle, high = result["quartiles_accepted"]
    # A run at the cap counts as the cap, so the true mean is at least the one shown.
    mean = ("at least " if result["n_at_cap"] else "") + f"{result['mean_accepted']:.1f}"
    at_cap = f"{result['n_at_cap']} of {len(runs)}"
    return [mean, f"{middle:g}", f"{low:g} to {high:g}", str(min(accepted)), str(max(accepted)), at_cap]


def _sines_row(result: dict[str, Any]) -> list[str]:
    runs = result["runs"]
    if not runs:
        return ["-"] * 7
    low, middle, high = (_show(q, ".2g", "infinite") for q in result["quartiles_sse"])
    mean, worst, one_step = (
        _show(result[key], ".2g", "infinite") for key in ("mean_sse", "worst_sse", "mean_one_step_sse")
    )
    best = min((run["sse"] for run in runs if run["sse"] is not None), default=None)
    diverged = f"{result['n_diverged']} of {len(runs)}"
    return [mean, middle, f"{low} to {high}", worst, _show(best, ".2g", "infinite"), diverged, one_step]


def comparison(results: list[dict[str, Any]], names: list[str] | None = None) -> list[str]:
    """The lines of a table: the published numbers, then a row for each result.

    Parameters
    ----------
    results : list of dict
        What `anbncn` returned for the same n_max, or `sines` for the same number of waves.
    names : list of str, optional
        Names of the results in the table. By default, their settings.
    """
    first = results[0]
    anbncn = first["task"] == "anbncn"
    spec, last = ("d", [f"at the cap of {first['config']['test_max']}"]) if anbncn else (
        "g", ["diverged", "mean, one step ahead"]
    )  # fmt: skip
    head = ["system", "mean", "median", "quartiles", "worst", "best", *last]
    rows = [
        [f"{system}, published", _show(mean, spec), *["-"] * (len(head) - 2)]
        for system, mean in first["published"].items()
        if mean is not None
    ]
    for result, name in zip(results, names or map(_ours, results), strict=True):
        rows.append([name, *(_anbncn_row if anbncn else _sines_row)(result)])
    if not anbncn:
        linear = f"{first['linear_window_sse']:.2g}"
        rows.append([f"linear predictor of {WINDOW} values, least squares", linear, *["-"] * (len(head) - 2)])
    lines = _table(head, rows)
    lines += ["", "The published numbers are means of 20 runs; no spread was published."]
    if not anbncn:
        lines += [
            "A sum of K sines obeys a linear recurrence of order 2 K: a linear predictor is exact except for rounding."
        ]
    return lines


def _long_strings(runs: list[dict[str, Any]]) -> list[str]:
    head = ["a single string with", *(f"n = {n:,}" for n in LONG_STRINGS)]
    counts = [f"{sum(run['spot'][str(n)] for run in runs)} of {len(runs)}" for n in LONG_STRINGS]
    return _table(head, [["accepted by", *counts]])


def _each_run(result: dict[str, Any]) -> list[str]:
    anbncn = result["task"] == "anbncn"
    measured = ["accepted"] if anbncn else ["SSE", "NRMSE"]
    head = ["seed", *measured, "fitness", "generations", "evaluations", "seconds"]
    rows = []
    for run in result["runs"]:
        if anbncn:
            values = [run["accepted"]]
        else:
            values = [_show(run["sse"], ".3g", "diverges"), _show(run["nrmse"], ".3g")]
        rows.append(
            [run["seed"], *values, _show(run["fitness"], ".3g"), run["generations"], run["evaluations"],
             f"{run['seconds']:.2f}"]
        )  # fmt: skip
        if anbncn:
            rows[-1] += ["yes" if run["spot"][str(n)] else "no" for n in LONG_STRINGS]
    return _table(head + ([f"n = {n:,}" for n in LONG_STRINGS] if anbncn else []), rows)


def _unfinished(runs: list[dict[str, Any]]) -> list[str]:
    head = ["seed (not finished)", "reason", "best fitness", "generations", "evaluations", "seconds"]
    return _table(
        head,
        [
            [run["seed"], run["reason"].replace("|", "\\|").replace("\n", " "), _show(run["fitness"], ".3g"),
             run["generations"], run["evaluations"], f"{run['seconds']:.2f}"]
            for run in runs
        ],
    )  # fmt: skip


def conditions(config: dict[str, Any]) -> str:
    """The software and hardware of a result."""
    packages = ", ".join(f"{name} {version}" for name, version in config["packages"].items() if version)
    where = f"Python {config['python']} on {config['platform']}, {config['cpus']} processors, {config['simd']['used']}"
    return f"Concurrent runs: {config['n_jobs']}. {where}; {packages}."


def _languages(result: dict[str, Any]) -> list[str]:
    """What is said of formal languages: one row each."""
    config = result["config"]
    lines = [
        "# Formal languages, learnt from few short strings", "",
        f"Trained with n_max = {config['n_max']}; seeds {config['seed']}..{config['seed'] + config['runs'] - 1}. "
        "Accepted: the largest m such that all strings with counts up to m are accepted (tested up to 1000, or 60 with "
        "two counts). Drawn: runs that accept all of 200 random strings of 20 to 2000 symbols. Then the runs that "
        "accept a single string with these counts, and those that are certified for counts up to 2^52, or 2^51 with "
        "two counts; a run ends once it is.", "",
    ]  # fmt: skip
    head = ["language", "runs", "accepted, median", "quartiles", "worst", "drawn",
            *(f"n = {n:,}" for n in LONG_COUNTS), "certified", "seconds", "MDLRNN, 100 and 500 strings"]  # fmt: skip
    rows = []
    for name, found in result["summary"].items():
        runs = [run for run in result["runs"] if run["language"] == name]
        low, middle, high = found["quartiles_accepted"] or (None,) * 3
        certified = [run["certified"] for run in runs if run["certified"] is not None]
        published = PUBLISHED_LANGUAGES.get(name)
        rows.append([
            name, len(runs), _show(middle, "g"), f"{_show(low, 'g')} to {_show(high, 'g')}",
            _show(found["worst_accepted"], "d"), found["n_all_sampled"], *found["n_long"].values(),
            sum(certified) if certified else "-", _show(found["median_seconds"], ".1f"),
            "-" if published is None else f"{published[0]:g} %, {published[1]:g} %",
        ])  # fmt: skip
    lines += _table(head, rows)
    lines += [
        "", "The published numbers are the share of test strings that are right, by networks that learn from the next "
        "symbols seen in strings from a probabilistic grammar; ours are told which symbols may follow.",
    ]  # fmt: skip
    runs, unfinished = result["runs"], result["unfinished"]
    failing = [f"{run['language']} {run['seed']} ({run['accepted']})" for run in runs if run["sampled"] < 1.0]
    if failing:
        lines += ["", f"Runs that reject drawn strings, with the seed and what they accept: {', '.join(failing)}."]
    return lines + (["", *_unfinished(unfinished)] if unfinished else [])


def _experiment(result: dict[str, Any]) -> list[str]:
    """What is said of an experiment of the paper."""
    runs, unfinished = result["runs"], result["unfinished"]
    lines = [f"# {title(result)}", "", explanation(result), "", *comparison([result])]
    if result["task"] == "anbncn":
        lines += ["", *_long_strings(runs)]
    if runs:
        lines += ["", *_each_run(result)]
    if unfinished:
        lines += ["", *_unfinished(unfinished)]
    return lines


def markdown(result: dict[str, Any]) -> str:
    """The result of `anbncn`, `sines` or `languages` as tables in Markdown, compared with the published numbers.

    Parameters
    ----------
    result : dict
        What the experiment returned, or the same read from JSON.

    Returns
    -------
    str
        Markdown.
    """
    runs, unfinished, config = result["runs"], result["unfinished"], result["config"]
    if result["task"] == "languages":
        lines = _languages(result)
    else:
        lines = _experiment(result)
    if result["interrupted"]:
        n_started = len(runs) + len(unfinished)
        wanted = config["runs"] * len(config.get("names", ("one",)))
        lines += ["", f"Interrupted: {len(runs)} of {wanted} runs finished, {n_started} started."]
    parameters = ", ".join(f"{name}={value!r}" for name, value in config["parameters"].items())
    lines += ["", f"{result['seconds']:.1f} s in total. {conditions(config)}", "", f"Parameters: {parameters}."]
    return "\n".join(lines) + "\n"
