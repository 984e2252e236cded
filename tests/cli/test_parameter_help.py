"""The help says what -p takes, from the sources of the estimators, and with what to begin."""

import pytest

pytest.importorskip("click")

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
from evoke.cli import cli, parameter_help
from evoke.cli.parameters import make_estimator
from evoke.reproduce import PRESETS
from helpers.commands import assert_one_line

KINDS = {"classify": EvokeClassifier, "regress": EvokeRegressor, "forecast": EvokeForecaster}


def test_every_parameter_is_there_with_its_default():
    found = parameter_help.documented_parameters()
    for task, kind in KINDS.items():
        own = {name: value for name, value in kind().get_params().items() if name not in parameter_help.ELSEWHERE}
        defaults = {name: one.defaults[task] for name, one in found.items() if task in one.defaults}
        assert defaults.keys() == own.keys()
        for name, default in defaults.items():  # what is shown can be typed
            given = make_estimator(kind, (f"{name}={default}",)).get_params()[name]
            assert given == (list(own[name]) if isinstance(own[name], tuple) else own[name])


def test_sentences_are_whole_and_every_parameter_has_a_theme():
    groups = parameter_help.parameters_by_theme()
    assert "Others" not in groups
    for name, one in [item for group in groups.values() for item in group.items()]:
        assert one.kind.startswith("(") and one.kind.endswith(")") and "default" not in one.kind
        assert one.text.endswith(".") or name == "kernel"
        assert one.text.count("(") == one.text.count(")")


def test_the_help_of_fit(here):
    done = here("fit", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    shown = " ".join(done.stdout.split())
    for group in parameter_help.parameters_by_theme().values():
        for name, one in group.items():
            assert one.term(name) in shown
            assert one.meaning() in shown
    assert "mutation_scale=0.1 (regress, forecast: 0.01)" in shown
    assert "season=null [forecast] Steps of a season: 12 for months. (int or None)" in shown


def test_without_sources_the_help_does_without(here, monkeypatch, tmp_path):
    monkeypatch.setattr(parameter_help, "__file__", str(tmp_path / "cli" / "parameter_help.py"))
    done = here("fit", "--help")
    assert done.returncode == 0
    assert "--checkpoint" in done.stdout and "n_islands" not in done.stdout


def test_commands_are_listed_with_whole_sentences(here):
    shown = " ".join(here("--help").stdout.split())
    for name, command in cli.commands.items():
        text = " ".join(command.help.split("\n\n")[0].split())
        assert f"{name} {text}" in shown or f"{name} {text.split('. ')[0]}" in shown
    assert "..." not in shown.partition("Commands:")[2]


def test_alone_it_says_with_what_to_begin(here):
    done = here()
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("  ")] == [
        ["evoke", "fit"], ["evoke", "predict"], ["evoke", "score"],
    ]  # fmt: skip


def test_presets(here, data, series, tmp_path):
    few = ["-p", "n_generations=1", "-p", "subpopulation_size=4", "-o", tmp_path / "m"]
    side = ["fit", data, "--target", "side", "--sequence", "walk", "--features", "step"]
    assert here(*side, "--preset", "paper", "-p", "C=7", *few).returncode == 0
    found = load(tmp_path / "m").get_params()
    assert (found["C"], found["n_generations"]) == (7, 1)  # -p comes before it
    expected = {"readout": "svm", **PRESETS["paper"], "C": 7, "n_generations": 1, "subpopulation_size": 4}
    assert {name: found[name] for name in expected} == expected
    assert here(*side, "--preset", "languages", *few).returncode == 0
    assert load(tmp_path / "m").weight_range == PRESETS["languages"]["weight_range"]
    place = ["fit", data, "--target", "place", "--features", "step", "--task", "regress"]
    assert here(*place, "--preset", "paper", *few).returncode == 0
    wave = ["fit", series, "--target", "y", "--task", "forecast"]
    assert here(*wave, "--preset", "paper", *few).returncode == 0
    found = load(tmp_path / "m")
    assert (found.readout, found.validation_mode) == ("svm", "free")
    assert_one_line(here(*wave, "--preset", "languages", *few), 2, "languages is for --task classify")
    assert "--preset [paper|languages]" in here("fit", "--help").stdout
