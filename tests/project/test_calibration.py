"""The study of probabilities: its scores, its chapter and its file."""

import json

import numpy as np
import pytest

from harness import calibration, calibration_chapter, data_sets_page
from harness.class_sets import Split
from harness.results import Part, gathered
from studies import calibration as study

CLASSES = np.array(["a", "b", "c"])


def test_scores_are_those_of_their_definitions():
    proba = np.array([[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.3, 0.3, 0.4], [0.08, 0.92, 0.0]])
    made = calibration.judged(proba, np.array(["a", "b", "a", "a"]), CLASSES)
    assert made["log_loss"] == pytest.approx(-np.log([0.7, 0.9, 0.3, 0.08]).mean())
    errors = [0.3**2 + 0.2**2 + 0.1**2, 2 * 0.05**2 + 0.1**2, 0.7**2 + 0.3**2 + 0.4**2, 2 * 0.92**2]
    assert made["brier"] == pytest.approx(np.mean(errors))
    assert [b[:2] for b in made["bins"]] == [[4, 1], [7, 1], [9, 2]]
    np.testing.assert_allclose([b[2:] for b in made["bins"]], [[0.4, 0.0], [0.7, 1.0], [0.91, 0.5]])
    assert made["ece"] == pytest.approx((0.4 + 0.3 + 2 * 0.41) / 4)
    assert made["accuracy"] == 0.5


def test_certain_and_right_is_perfect():
    made = calibration.judged(np.eye(3), CLASSES, CLASSES)
    assert made["log_loss"] == pytest.approx(0.0, abs=1e-12)
    assert (made["brier"], made["ece"], made["accuracy"]) == (0.0, 0.0, 1.0)
    assert made["bins"] == [[9, 3, 1.0, 1.0]]


def waves(n, rng):
    """Slow, fast and very fast ones."""
    y = np.arange(n) % 3
    return [np.sin((0.3 + 0.6 * k) * np.arange(20) + rng.uniform(0, 6))[:, None] for k in y], CLASSES[y]


@pytest.mark.parametrize("method", ["evoke", "5 folds, sigmoid"])
def test_methods_give_probabilities_of_the_classes_in_order(method, monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(calibration.class_sets, "load", lambda name: Split(*waves(30, rng), *waves(15, rng)))
    made = calibration.measure("waves", method, 0)
    assert made["accuracy"] >= 0.9
    assert made["log_loss"] < 0.5 * np.log(3)
    assert made["n_test"] == 15


# ---------------------------------------------------------------- the chapter

PART = Part(("A", "B", "not measured"), dict.fromkeys(("evoke", "other")), None)


def runs():
    """Losses that grow with the seed; the other method is worse on A and better on B."""
    return [
        {
            "part": "calibration", "set": name, "method": method, "seed": seed, "n_test": 10, "accuracy": 0.8,
            "fit": 2.0, **dict.fromkeys(("log_loss", "brier", "ece"), value + 0.1 * seed),
            "bins": [[5, 4, 0.55, 0.5], [9, 6, 0.95, 1.0]] if name == "A" else [[9, 10, 0.9, 0.8]],
        }
        for name, values in {"A": (0.2, 0.4), "B": (0.3, 0.1)}.items()
        for method, value in zip(("evoke", "other"), values, strict=True)
        for seed in range(3)
    ]  # fmt: skip


def test_tables_have_medians_and_quartiles():
    assert calibration_chapter.table(runs(), PART, "ece") == [
        {"set": "A", "test": "10", "evoke": "**0.300** (0.250 to 0.350)", "other": "0.500 (0.450 to 0.550)"},
        {"set": "B", "test": "10", "evoke": "0.400 (0.350 to 0.450)", "other": "**0.200** (0.150 to 0.250)"},
        {"set": "median of 2 sets", "test": "-", "evoke": "**0.350** (0.325 to 0.375)",
         "other": "**0.350** (0.275 to 0.425)"},
    ]  # fmt: skip
    assert calibration_chapter.accuracy(runs(), PART)[0] == {"set": "A", "evoke": "0.800, 2", "other": "0.800, 2"}


def test_what_was_not_measured_is_a_dash():
    some = [run for run in runs() if (run["set"], run["method"]) != ("A", "other")]
    rows = calibration_chapter.table(some, PART, "ece")
    assert [(row["set"], row["other"]) for row in rows] == [("A", "-"), ("B", "**0.200** (0.150 to 0.250)")]
    assert calibration_chapter.accuracy(some, PART)[0]["other"] == "-"


def test_reliability_weighs_runs_and_not_sequences():
    confidence, right, share = calibration_chapter.reliability(runs())
    np.testing.assert_allclose(share, [0.2, 0.8])
    np.testing.assert_allclose(confidence, [0.55, (0.6 * 0.95 + 0.9) / 1.6])
    np.testing.assert_allclose(right, [0.5, (0.6 + 0.8) / 1.6])


def test_the_diagram_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    calibration_chapter.draw(runs(), tmp_path / "diagram.png")
    assert (tmp_path / "diagram.png").read_bytes().startswith(b"\x89PNG")


def test_the_study_measures_and_writes_the_page(tmp_path, monkeypatch):
    key = ("part", "set", "method", "seed")
    scores = {run["seed"]: {k: v for k, v in run.items() if k not in key} for run in runs()[:3]}
    part = Part(("A",), {"evoke": calibration.METHODS["evoke"]}, lambda name, method, seed: scores[seed])
    monkeypatch.setitem(data_sets_page.PARTS, "calibration", part)
    study.main(["--json", str(tmp_path / "runs.json"), "--seeds", "2", "--report", str(tmp_path)])
    assert [run["seed"] for run in json.loads((tmp_path / "runs.json").read_text())["runs"]] == [0, 1]
    page = (tmp_path / "data_sets.md").read_text(encoding="utf-8")
    assert "| A | 10 | **0.250** (0.225 to 0.275) |" in page


@pytest.mark.skipif(not study.RESULTS.exists(), reason="nothing has been measured")
def test_all_runs_of_the_page_were_measured():
    found = gathered(study.RESULTS).of("calibration")
    expected = {(s, m, seed) for s in calibration.SETS for m in calibration.METHODS for seed in range(3)}
    assert {(run["set"], run["method"], run["seed"]) for run in found} == expected
