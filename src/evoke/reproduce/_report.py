"""The list of all experiments of the paper, and a report on their results."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from evoke.reproduce._markdown import SYSTEMS, comparison, conditions, explanation, title

__all__ = ["EXPERIMENTS", "file_stem", "report"]

# Task and arguments of each experiment, in the order of the report.
EXPERIMENTS: list[tuple[str, dict[str, Any]]] = [
    (task, size | {"preset": preset, "readout": readout})
    for task, size in (("anbncn", {"n_max": 10}), ("anbncn", {"n_max": 20}), ("sines", {"waves": 2}))
    for preset in ("paper", "tuned")
    for readout in ("svm", "pinv", "lssvm")
]


def file_stem(task: str, **arguments: Any) -> str:
    """The name, without suffix, of the files with the result of an experiment."""
    size = f"N{arguments['n_max']}" if task == "anbncn" else str(arguments["waves"])
    return "-".join([task, size, *(arguments[name] for name in ("preset", "readout") if name in arguments)])


def report(results: list[dict[str, Any]], figure: str | None = None, no_figure: str | None = None) -> str:
    """The tables of the paper and its figure, from the results of all `EXPERIMENTS` or some of them.

    Parameters
    ----------
    results : list of dict
        What `anbncn` and `sines` returned, in the order of `EXPERIMENTS`.
    figure : str, optional
        File name of the figure.
    no_figure : str, optional
        Why there is no figure.

    Returns
    -------
    str
        Markdown.
    """
    lines = ["# Evolino for Recurrent Support Vector Machines: the experiments of the paper"]
    for heading, group in groupby(results, key=title):
        same = list(group)
        names = [f"{_link(result)}: {SYSTEMS[result['readout']]}, preset {result['preset']}" for result in same]
        lines += ["", f"## {heading}", "", explanation(same[0]), "", *comparison(same, names)]
        lines += _remarks(same)
    if figure is not None:
        lines += [
            "", f"![Free runs and their errors]({figure})", "",
            "The free run of a typical run, the one with the median error, for each tuned readout: its output and the "
            "test series, as in the paper's figure, and the error over time.",
        ]  # fmt: skip
    elif no_figure is not None:
        lines += ["", f"No figure: {no_figure}."]
    done = sum(not result["interrupted"] for result in results)
    if done < len(EXPERIMENTS):
        lines += ["", f"Incomplete: {done} of {len(EXPERIMENTS)} experiments done."]
    if results:
        seconds = sum(result["seconds"] for result in results)
        lines += ["", f"{seconds:.0f} s in total. {conditions(results[0]['config'])}"]
    return "\n".join(lines) + "\n"


def _link(result: dict[str, Any]) -> str:
    stem = file_stem(**{key: value for key, value in result.items() if key in ("task", "n_max", "waves")},
                     preset=result["preset"], readout=result["readout"])  # fmt: skip
    return f"[{stem}]({stem}.md)"


def _remarks(results: list[dict[str, Any]]) -> list[str]:
    """The results in which fewer runs finished than were requested."""
    lines = []
    for result in results:
        finished, wanted = len(result["runs"]), result["config"]["runs"]
        if finished < wanted:
            why = "interrupted" if result["interrupted"] else "failed"
            lines += ["", f"{_link(result)}: {why}, {finished} of {wanted} runs finished."]
    return lines
