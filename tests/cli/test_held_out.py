"""evoke fit says how good the model is on what was held out, beside the naive answer to the same rows."""

import re

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("pandas")

import pandas as pd

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, tasks
from evoke.cli.held_out import Watched, held_out_lines
from evoke.metrics import mase, r_squared
from helpers.commands import QUICK, SMALL, csv, walks

LINE = re.compile(r"held out, (?P<how>[^:]+): (?P<measure>\w+) (?P<value>\S+) on (?P<n>\d+) (?P<unit>\w+) \((.*)\)\n")


def said(done):
    assert done.returncode == 0, done.stderr
    return LINE.search(done.stdout)


def assert_says(found, how, measure, value, n, unit, *naive):
    assert (found["how"], found["measure"], found["n"], found["unit"]) == (how, measure, str(n), unit)
    assert found["value"] == f"{value:.4g}"
    assert found[6] == ", ".join(f"{name}: {value:.4g}" for name, value in naive)


def test_the_validation_part_of_steps(here, frame, data, tmp_path):
    fit = ["fit", data, "--target", "side", "--sequence", "walk", "--features", "step", *QUICK, "-o", tmp_path / "m"]
    found = said(here(*fit))
    X, y = walks(frame, "step"), [part["side"].to_numpy() for part in walks(frame, "side")]
    model = EvokeClassifier(**SMALL, random_state=0).fit(X, y)
    held = np.concatenate(y[6:])
    right = np.concatenate(model.predict(X[6:])) == held
    share = max((held == "left").mean(), (held == "right").mean())
    name = f"always {'left' if (held == 'left').mean() == share else 'right'!r}"
    assert_says(found, "the validation part", "accuracy", right.mean(), len(held), "rows", (name, share))
    again = said(here(*fit, "-p", "refit=true"))  # whose readout knows the rows held out
    assert again[0] == found[0]


def test_several_splits(here, frame, data, tmp_path):
    found = said(here("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", *QUICK,
                      "-p", "validation=KFold(4)", "-o", tmp_path / "m"))  # fmt: skip
    assert (found["how"], found["n"], found["unit"]) == ("the validation parts of 4 splits", str(len(frame)), "rows")


def test_sequences_left_out(here, frame, data, tmp_path):
    words = ["--sequence", "walk", "--features", "step,noise", "--per-sequence", *QUICK, "-o", tmp_path / "m"]
    X = walks(frame, "step", "noise")
    ends = np.array([part["end"].iloc[0] for part in walks(frame, "end")])
    model = EvokeClassifier(**SMALL, random_state=0).fit(X, ends)
    right = model.classes_[(model.loo_decision_function_ > 0).astype(int).ravel()] == ends
    share = max((ends == "left").mean(), (ends == "right").mean())
    name = f"always {'left' if (ends == 'left').mean() == share else 'right'!r}"
    found = said(here("fit", data, "--target", "end", *words))
    assert_says(found, "each in turn", "accuracy", right.mean(), 12, "sequences", (name, share))

    last = frame.assign(last=frame.groupby("walk")["place"].transform("last"))
    last.to_csv(data, index=False)
    places = last.groupby("walk")["last"].first().to_numpy()
    model = EvokeRegressor(**SMALL, random_state=0).fit(X, places)
    score = r_squared(places, model.loo_prediction_)
    found = said(here("fit", data, "--target", "last", "--task", "regress", *words))
    assert_says(found, "each in turn", "R2", score, 12, "sequences", ("always the mean", 0.0))


def test_steps_whose_sequences_are_left_out(here, frame, data, tmp_path):
    found = said(here("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", *QUICK,
                      "-p", "validation=loo", "-o", tmp_path / "m"))  # fmt: skip
    assert (found["how"], found["n"], found["unit"]) == ("each sequence in turn", str(len(frame)), "rows")
    assert 0.5 < float(found["value"]) <= 1.0


def test_machines_on_landmarks(here, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1100)
    table = pd.DataFrame({"x": x, "y": np.convolve(x, [1.0, 0.5])[:1100] + 0.1 * rng.normal(size=1100)})
    table.to_csv(tmp_path / "long.csv", index=False)
    few = {"n_generations": 1, "subpopulation_size": 8, "n_networks": 4, "n_landmarks": 32}
    options = [word for name, value in few.items() for word in ("-p", f"{name}={value}")]
    found = said(here("fit", tmp_path / "long.csv", "--target", "y", "--task", "regress", *options,
                      "-o", tmp_path / "m"))  # fmt: skip
    y = table["y"].to_numpy()
    model = EvokeRegressor(**few, random_state=0).fit(table[["x"]], y)
    rows, decisions = model.fitted_.judged
    score = r_squared(y[rows], decisions[:, 0])
    how = "rows by which the machine was chosen"
    assert_says(found, how, "R2", score, len(rows), "rows", ("always the mean", 0.0))
    known = r_squared(y[rows], model.predict(table[["x"]])[rows])  # by the machine that was trained on them
    assert score != pytest.approx(known, abs=1e-6)


def test_one_step_ahead(here, series, tmp_path):
    y = tasks.superimposed_sines(2, 80)
    found = said(here("fit", series, "--target", "y", "--task", "forecast", *QUICK, "-o", tmp_path / "m"))
    model = EvokeForecaster(**SMALL, random_state=0).fit(y)
    score = mase(y[40:], model.predict_one_step(y)[40:], y[:40])
    naive = mase(y[40:], y[39:-1], y[:40])
    assert_says(found, "the validation part", "MASE", score, 40, "rows", ("the last value", naive))
    free = here("fit", series, "--target", "y", "--task", "forecast", *QUICK, "-p", "validation_mode=free",
                "-o", tmp_path / "m")  # fmt: skip
    assert said(free)[6] == found[6]


def test_free_runs_from_rolling_origins(here, series, tmp_path):
    y = tasks.superimposed_sines(2, 80)
    found = said(here("fit", series, "--target", "y", "--task", "forecast", "-p", "n_networks=4", "-p", "season=6",
                      "-o", tmp_path / "m"))  # fmt: skip
    assert re.fullmatch(r"free runs of 12 steps from \d+ origins", found["how"])
    judged = EvokeForecaster(n_networks=4, season=6, random_state=0).fit(y).fitted_.judged
    origins = np.unique(np.linspace(40, 68, judged.n_origins).astype(int))
    assert found["n"] == str(12 * len(origins))
    unit = np.abs(y[6:] - y[:-6]).mean()
    last = np.mean([np.abs(y[o : o + 12] - y[o - 1]).mean() for o in origins]) / unit
    season = np.mean([np.abs(y[o : o + 12] - np.tile(y[o - 6 : o], 2)).mean() for o in origins]) / unit
    assert found["value"] == f"{judged.error:.4g}"
    assert found[6] == f"the last value: {last:.4g}, the value 6 steps before: {season:.4g}"


def test_a_model_that_has_learned_nothing_gets_a_hint(here, model, data, tmp_path):
    rows = "".join(f"{k},1,{'ab'[k % 3 == 0]}\n" for k in range(12))  # all alike but for their labels
    words = ["--target", "y", "--sequence", "k", *QUICK, "-o", tmp_path / "m"]
    done = here("fit", csv(tmp_path, f"k,x,y\n{rows}", "alike.csv"), *words)
    found = said(done)
    assert float(found["value"]) <= float(found[6].split(": ")[1])
    hint = done.stdout.splitlines()[-2]
    assert hint.startswith(f"hint: there the model is no better than {found[6].split(': ')[0]}; ")
    good = here("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", *QUICK,
                "-o", tmp_path / "m")  # fmt: skip
    assert "hint" not in good.stdout


def test_where_there_is_no_score_it_says_so(monkeypatch):
    X, y = tasks.anbncn(3)
    model = EvokeClassifier(**SMALL, random_state=0).fit(X, y)
    assert held_out_lines(model, None, y) == ["held out: no score, as the run is not known"]
    watched = Watched()
    model.set_params(callbacks=[watched]).fit(X, y)
    (line,) = held_out_lines(model, watched.run, y)
    assert line.startswith("held out, the validation part: accuracy ")

    def fail(*_):
        raise MemoryError("too much")

    monkeypatch.setattr("evoke.cli.held_out.fit_readout", fail)
    assert held_out_lines(model, watched.run, y) == ["held out: no score, as too much"]
