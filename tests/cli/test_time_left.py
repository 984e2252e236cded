"""How long `evoke fit` will take, where no bar is seen."""

from types import SimpleNamespace

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from evoke.cli import progress
from helpers.commands import QUICK

RUN = {"n_generations": 10, "stopped": False}


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(progress, "monotonic", lambda: now.seconds)
    return now


def run_from(generation):
    return SimpleNamespace(esp=SimpleNamespace(generation=generation), listeners=[], **RUN)


def test_it_is_said_once_after_the_first_networks(clock, capsys):
    run = run_from(0)
    with progress.TimeLeft().watch(run) as told:
        clock.seconds += 30.0
        run.listeners[0](0.25)
        assert capsys.readouterr().err == "Note: about 0:19:30 to go, to the end of generation 10.\n"
        clock.seconds += 1e6
        run.listeners[0](0.5)
        told({"generation": 1}, run.esp)
    assert capsys.readouterr() == ("", "")


def test_what_a_checkpoint_has_done_does_not_count(clock, capsys):
    run = run_from(8)
    with progress.TimeLeft().watch(run) as told:
        run.listeners[0](0.0)
        clock.seconds += 70.0
        told({"generation": 9}, run.esp)
    assert "about 0:01:10 to go" in capsys.readouterr().err


def test_less_than_a_minute_is_not_worth_a_word(clock, capsys):
    run = run_from(0)
    with progress.TimeLeft().watch(run) as told:
        clock.seconds += 6.0
        told({"generation": 1}, run.esp)
    assert capsys.readouterr() == ("", "")


def test_no_time_is_too_long(clock, capsys):
    run = run_from(0)
    run.n_generations = 10**9
    with progress.TimeLeft().watch(run) as told:
        clock.seconds += 1e7
        told({"generation": 1}, run.esp)
    assert "about 1157407 days" in capsys.readouterr().err


def test_the_command_says_it(here, data, monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "LEAST_SECONDS", 0.0)
    done = here("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", *QUICK,
                "-o", tmp_path / "model.evk")  # fmt: skip
    assert done.returncode == 0
    assert done.stderr.count(" to go, to the end of generation ") == 1
