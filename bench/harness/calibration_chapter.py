"""The chapter of docs/data_sets.md about probabilities, and its figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from harness.calibration import N_BINS
from harness.paired import Quartiles
from harness.report import markdown_table
from harness.results import Part

SCORES = {"log_loss": "Log-loss", "brier": "Brier score", "ece": "Expected calibration error"}

ABOUT = """\
## Probabilities

`predict_proba` of evoke, which takes its one number from the leave-one-out decisions of the fit, beside scikit-learn's
`CalibratedClassifierCV(EvokeClassifier(), cv=5)`. That fits five classifiers and calibrates each on the sequences which
it has not seen, by a sigmoid for each class, its default, or by one temperature; it predicts their mean
(`bench/harness/calibration.py`). Less is better everywhere. The Brier score is summed over the classes, from 0 to 2.
The expected calibration error is the mean distance between the probability of the predicted class and the share of
right predictions, in {n_bins} bins. Cells give the median of the seeds and their quartiles. Chance in the test set
comes on top of these: with few sequences, even perfect probabilities have a calibration error above zero.
"""
ABOUT_FIGURE = """\
The reliability diagram shows the share of right predictions by the probability of the predicted class, all sets
together, each with the same weight; the areas of the points are shares of the predictions. Points below the diagonal
are too confident, points above it not confident enough.
"""


def chapter(runs: list[dict[str, Any]], part: Part, figure: str) -> str:
    lines = [ABOUT.format(n_bins=N_BINS)]
    for key, title in SCORES.items():
        lines += [f"### {title}\n", markdown_table(table(runs, part, key)), ""]
    lines += [ABOUT_FIGURE, f"![Share of right predictions by probability]({figure})\n"]
    lines += ["### Accuracy, and seconds to fit\n", markdown_table(accuracy(runs, part)), ""]
    return "\n".join(lines)


def table(runs: list[dict[str, Any]], part: Part, key: str) -> list[dict[str, str]]:
    """A row for each set, and one for the medians of the sets that all methods were tried on; the lowest are bold."""
    rows, complete = [], []
    for name, cells in measured(runs, part):
        found = {method: quartiles(those, key) for method, those in cells.items()}
        n_test = next(run["n_test"] for run in runs if run["set"] == name)
        rows.append({"set": name, "test": str(n_test)} | shown(found))
        if None not in found.values():
            complete.append([values.median for values in found.values()])
    if len(complete) > 1:
        over = map(Quartiles.of, np.transpose(complete))
        rows.append(
            {"set": f"median of {len(complete)} sets", "test": "-"} | shown(dict(zip(part.methods, over, strict=True)))
        )
    return rows


def measured(runs: list[dict[str, Any]], part: Part) -> Iterator[tuple[str, dict[str, list[dict[str, Any]]]]]:
    """The sets with their runs by method."""
    for name in part.sets:
        on_it = [run for run in runs if run["set"] == name]
        if on_it:
            yield name, {method: [run for run in on_it if run["method"] == method] for method in part.methods}


def quartiles(runs: list[dict[str, Any]], key: str) -> Quartiles | None:
    """Over the seeds; None where nothing was measured."""
    return Quartiles.of(np.array([run[key] for run in runs])) if runs else None


def shown(found: dict[str, Quartiles | None]) -> dict[str, str]:
    texts = {method: f"{values.median:.3f}" for method, values in found.items() if values is not None}
    row = dict.fromkeys(found, "-")
    for method, text in texts.items():
        best = f"**{text}**" if text == min(texts.values()) else text
        row[method] = f"{best} ({found[method].low:.3f} to {found[method].high:.3f})"
    return row


def accuracy(runs: list[dict[str, Any]], part: Part) -> list[dict[str, str]]:
    """Medians."""
    rows = []
    for name, cells in measured(runs, part):
        row = {"set": name}
        for method, those in cells.items():
            right, fit = quartiles(those, "accuracy"), quartiles(those, "fit")
            row[method] = f"{right.median:.3f}, {fit.median:.2g}" if right and fit else "-"
        rows.append(row)
    return rows


def draw(runs: list[dict[str, Any]], path: Path) -> None:
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(4.8, 4.8), layout="constrained")).subplots()
    axes.plot([0, 1], [0, 1], ":", color="gray")  # perfect probabilities
    for k, method in enumerate(dict.fromkeys(run["method"] for run in runs)):
        confidence, right, share = reliability([run for run in runs if run["method"] == method])
        axes.plot(confidence, right, color=f"C{k}", label=method)
        axes.scatter(confidence, right, 400 * share, color=f"C{k}", alpha=0.6)
    axes.set(xlabel="probability of the predicted class", ylabel="share of right predictions", xlim=(0, 1.02))
    axes.set(ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=100, metadata={"Software": None})


def reliability(runs: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean probability and share of right predictions in the bins that are not empty, and the weights of these.

    Every run has the same weight.
    """
    sums = np.zeros((N_BINS, 3))
    for run in runs:
        for k, n, confidence, right in run["bins"]:
            sums[k] += n / run["n_test"] * np.array([confidence, right, 1.0])
    sums = sums[sums[:, 2] > 0.0]
    return sums[:, 0] / sums[:, 2], sums[:, 1] / sums[:, 2], sums[:, 2] / sums[:, 2].sum()
