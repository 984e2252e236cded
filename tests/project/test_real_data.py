"""The comparison on real data works where its packages are installed; its forecasts are those known by hand."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import run

from groups import real_data
from harness import peer, sunspots, vowels
from harness.report import Settings
from studies import real_data as study

PACKAGES = ("aeon", "reservoirpy", "statsmodels", "tslearn")


@pytest.fixture
def packages():
    for name in PACKAGES:
        pytest.importorskip(name)


@pytest.mark.realdata
@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("task", real_data.TASKS)
def test_the_comparison_runs(task, tmp_path, capsys):
    study.main(["--quick", "--seeds", "2", "--only", task, "--json", str(tmp_path / "runs.json")])
    record = json.loads((tmp_path / "runs.json").read_text())
    assert set(PACKAGES) <= set(record["machine"])
    printed = capsys.readouterr().out
    module = real_data.TASKS[task]
    assert [made["method"] for made in record[task]["methods"]] == list(module.CANDIDATES)
    for made in record[task]["methods"]:
        assert f"\n{made['method']}: " in printed
        assert [one["seed"] for one in made["runs"]] == ([0, 1] if peer.seeded(made["method"]) else [0])


@pytest.mark.realdata
@pytest.mark.usefixtures("packages")
def test_the_benchmark_has_a_row_for_every_method(tmp_path):
    run.main(["--quick", "--only", "real_data", "--json", str(tmp_path / "numbers.json")])
    tables = json.loads((tmp_path / "numbers.json").read_text())["benchmarks"]["real_data"]["tables"]
    assert [row["method"] for table in tables for row in table["rows"]] == list(real_data.METHODS)
    assert not any(note.startswith("Skipped") for table in tables for note in table["notes"])
    sizes = {row["method"]: row["parameters"] for table in tables for row in table["rows"]}
    assert sizes["11 years before, sunspots"] == 0
    assert sizes["autoregression, sunspots"] == 5  # of order 4, with a constant
    assert sizes["most frequent speaker, vowels"] == 1


@pytest.mark.realdata
@pytest.mark.usefixtures("packages")
def test_the_data_are_those_that_are_spoken_of():
    (X, y), (X_test, y_test) = vowels.load("train"), vowels.load("test")
    assert (len(X), len(X_test)) == (270, 370)
    assert {x.shape[1] for x in X + X_test} == {12}
    lengths = [len(x) for x in X + X_test]
    assert (min(lengths), max(lengths)) == (7, 29)
    assert y[:9].tolist() == y_test[:9].tolist() == list(range(1, 10))
    series = sunspots.load()
    assert len(series) == 2008 - sunspots.FIRST_YEAR + 1
    assert np.var(series[: sunspots.at(1979) + 1]) == pytest.approx(1496, abs=0.5)  # not quite that of the literature


def test_without_the_data_the_benchmark_says_so(monkeypatch):
    monkeypatch.setattr(real_data, "installed", lambda _: False)
    report = real_data.measure(Settings(2, True, 1.0, 1.0))
    assert [table.rows for table in report.tables] == [[], []]
    assert [table.notes for table in report.tables] == [
        [f"Skipped: the whole table, as {package} is not installed."] for package in ("aeon", "statsmodels")
    ]


@pytest.mark.parametrize("task, module", real_data.TASKS.items())
def test_the_results_are_those_of_the_methods(task, module):
    records = json.loads(real_data.RESULTS.read_text(encoding="utf-8"))[task]["methods"]
    assert [record["method"] for record in records] == list(module.CANDIDATES)


def test_an_unknown_task_is_refused(capsys):
    with pytest.raises(SystemExit):
        study.main(["--only", "weather"])
    assert "unknown weather" in capsys.readouterr().err


def test_the_best_candidate_of_each_method_is_tested(capsys):
    tested = []

    def test(name, settings, seeds, quick):
        tested.append((name, settings, seeds))
        return [{"seed": seed} for seed in seeds]

    task = SimpleNamespace(
        CANDIDATES={"evoke": (None, [{"C": 1}, {"C": 3}, {"C": 2}]), "mean": (None, [{}])}, CRITERION="nmse", BEST=min,
        validate=lambda name, settings: -settings["C"], test=test, summary=lambda runs: f"{len(runs)} runs",
    )  # fmt: skip
    made = study.compare(task, 2, False)
    assert tested == [("evoke", {"C": 3}, [0, 1]), ("mean", {}, [0])]
    assert made[0]["candidates"] == [{"settings": {"C": c}, "nmse": -c} for c in (1, 3, 2)]
    assert made[1]["candidates"] == []
    assert capsys.readouterr().out == "evoke: 2 runs; {'C': 3}\nmean: 1 runs; {}\n"


def test_the_value_of_years_before():
    one_step, free, _ = sunspots.lagged(np.arange(5.0), 0, lag=2)
    np.testing.assert_array_equal(one_step(np.arange(5.0)), [0, 0, 0, 1, 2])
    np.testing.assert_array_equal(free(np.arange(5.0), 5), [3, 4, 3, 4, 3])


@pytest.mark.realdata
def test_autoregression_continues_a_sine():
    pytest.importorskip("statsmodels")
    z = np.sin(0.5 * np.arange(120))  # z(t) = 2 cos(0.5) z(t - 1) - z(t - 2)
    one_step, free, size = sunspots.autoregression(z[:80], 0, order=2)
    assert size == 3
    np.testing.assert_allclose(one_step(z)[2:], z[2:], atol=1e-8)
    np.testing.assert_allclose(free(z[:80], 40), z[80:], atol=1e-6)


@pytest.mark.parametrize("scale", sunspots.SCALES)
def test_scales_are_undone(scale):
    y = np.array([0.0, 5.0, 190.2])
    np.testing.assert_allclose(sunspots.backward(sunspots.forward(y, scale), scale), y)
    assert sunspots.backward(np.array([-0.1]), scale) == 0.0
