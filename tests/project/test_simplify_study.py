"""The study of simpler networks, and tables of it and of the width of the kernel."""

import json
import runpy
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from studies import simplify as study

readme_tables = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "tools" / "readme_tables.py")))
RESULTS = readme_tables.RESULTS


def test_the_study_tells_what_a_file_has(capsys):
    study.main(["--from", str(RESULTS / "simplify.json")])
    printed = capsys.readouterr().out
    runs = json.loads((RESULTS / "simplify.json").read_text())["runs"]
    assert f"{sum(run['up_to'] == 2**52 for run in runs)} of {len(runs)} runs are certified up to 2^52" in printed
    cells = sorted(run["after"]["n_cells"] for run in runs if run["up_to"] == 2**52)
    best = min((run for run in runs if run["up_to"] == 2**52), key=study.size_of)
    assert best["after"]["n_cells"] == cells[0]
    assert f"The smallest is that of seed {best['seed']}." in printed
    assert f"| {best['seed']} | 5 to {cells[0]} | 180 to {best['after']['n_weights']} |" in printed
    assert f"Seed {best['seed']}; readout" in readme_tables.smallest()


def test_every_run_of_the_results_is_smaller_and_has_a_certificate():
    runs = json.loads((RESULTS / "simplify.json").read_text())["runs"]
    for run in runs:
        assert run["up_to"] > 0
        assert run["margin"] > 0
        assert run["after"]["n_weights"] < run["before"]["n_weights"]
        assert run["after"]["n_cells"] <= run["before"]["n_cells"]
        assert sum(w != 0.0 for row in run["genome"] for w in row) == run["after"]["n_weights"]


def test_a_simpler_network_is_recorded(monkeypatch, tmp_path, capsys):
    hurried = partial(study.simplify, max_seconds=0.5)
    monkeypatch.setattr(study, "simplify", hurried)
    file = tmp_path / "runs.json"
    study.main(["--runs", "1", "--seed", "1002", "--language", "anbn", "--n-max", "6", "--json", str(file)])
    (run,) = json.loads(file.read_text())["runs"]
    assert run["seed"] == 1002
    assert run["before"]["n_cells"] == 5
    assert "| 1002 | 5 to " in capsys.readouterr().out


def test_errors_a_point_stand_beside_the_published_ones():
    table = readme_tables.sines_width()
    result = json.loads((RESULTS / "evolved-sines-paper-svm.json").read_text())
    (evolved,) = (s["runs"] for s in result["studies"] if s["settings"] == {"C": 10.0, "gamma": "evolve"})
    mean = sum(run["sse"] for run in evolved) / len(evolved)
    (row,) = (line for line in table.splitlines() if line.startswith("| evolved |"))
    assert row.startswith(f"| evolved | 1000..1019 | {mean:.2g} | ")
    assert f"| {(mean / 300) ** 0.5:.2g} |" in row
    assert "| Evoke, published | - | 0.021 | - | - | - | 0.0084 | - | - |" in table


@pytest.mark.parametrize("name", ["simplified", "smallest"])
def test_the_tables_are_made(name):
    assert readme_tables.TABLES[name]().startswith("|")
