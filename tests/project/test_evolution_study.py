"""The study of evolution on whole sequences: its splits, its page and its file."""

import numpy as np
import pytest

from harness import class_sets, evolution_page, evolving
from harness.class_sets import Split
from harness.results import FOLDER, Part, Results
from studies import evolution as study


def split():
    rng = np.random.default_rng(0)
    X = [np.full((4, 1), float(k)) for k in range(18)]
    y = rng.permutation(np.repeat(["a", "b", "c"], [9, 6, 3]))
    return Split(X[:10], y[:10], X[10:], y[10:])


def test_a_new_split_has_the_same_sequences_in_parts_of_the_same_sizes():
    before, after = split(), class_sets.resplit(split(), 1)
    assert sorted(x[0, 0] for x in after.X + after.X_test) == list(range(18))
    assert sorted(after.y) == sorted(before.y)
    label = dict(zip((x[0, 0] for x in before.X + before.X_test), [*before.y, *before.y_test], strict=True))
    assert [label[x[0, 0]] for x in after.X] == list(after.y)
    assert [x[0, 0] for x in after.X] != [x[0, 0] for x in class_sets.resplit(split(), 2).X]


def test_both_ways_judge_equally_many_networks():
    counts = {
        name: m.parameters["n_generations"] * m.parameters["subpopulation_size"] for name, m in evolving.METHODS.items()
    }
    for of, (n, _) in evolving.BUDGETS.items():
        assert counts[f"{of}, drawn"] == counts[f"{of}, evolved"] == n


@pytest.mark.parametrize("method", ["best 100 of 800, drawn", "best of 800, evolved"])
def test_one_run(method, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = [np.sin((0.3 + 0.6 * k) * np.arange(20) + rng.uniform(0, 6))[:, None] for k in y]
    monkeypatch.setattr(evolving.class_sets, "load", lambda name: Split(X[:25], y[:25], X[25:], y[25:]))
    made = evolving.measure("waves", method, 0)
    assert made["accuracy"] >= 0.8
    assert made["loo"] >= 0.8


PART = Part(("A", "B", "flag, 100", "not measured"), evolving.METHODS, None)


def results():
    """Evolved networks are better by 0.02 left out and by 0.01 on the test part, and worse on the task of memory."""
    found = Results()
    found.head = {"seeds": 2, "machine": {"processor": "p", "cores": 2, "evoke": "1"}}
    for name in PART.sets[:3]:
        for method in PART.methods:
            gain = method.endswith("evolved") * (-1 if name == "flag, 100" else 1)
            for seed in range(2):
                found.runs.append({
                    "part": "evolution", "set": name, "method": method, "seed": seed,
                    "fit": 0.5, "load": 1.0, "accuracy": 0.9 - 0.1 * seed + 0.01 * gain, "loo": 0.9 + 0.02 * gain,
                })  # fmt: skip
    return found


def test_page_compares_in_pairs(tmp_path):
    pytest.importorskip("matplotlib")
    runs = results().runs
    np.testing.assert_allclose(
        evolution_page.differences(runs, ["A", "flag, 100"], "best of 800", "accuracy"), [[0.01] * 2, [-0.01] * 2]
    )
    row = evolution_page.compared(runs, list(PART.sets[:3]), "best of 800")
    assert (row["test"], row["left out"], row["memory"]) == ("+0.0100", "+0.0200", "-0.0100")
    assert (row["test: better, worse"], row["memory: better, worse"]) == ("4, 0 of 4", "0, 2 of 2")
    assert float(row["test: p"]) == pytest.approx(0.125, abs=0.006)  # two digits
    evolution_page.write(results(), PART, tmp_path)
    text = (tmp_path / "evolution_pays.md").read_text()
    assert "mean of 2 sets" in text
    assert (tmp_path / "figures" / evolution_page.FIGURE).stat().st_size > 0


@pytest.mark.skipif(not study.RESULTS.exists(), reason="nothing has been measured")
def test_the_page_is_that_of_the_results():
    found = Results(study.RESULTS)
    expected = {(s, m, seed) for s in evolving.SETS for m in evolving.METHODS for seed in range(found.head["seeds"])}
    assert {(run["set"], run["method"], run["seed"]) for run in found.runs} == expected
    assert evolution_page.page(found, evolving.EVOLUTION) == (FOLDER.parent / "evolution_pays.md").read_text()
