"""evoke predict, score and compare say how good answers are where the table has the targets."""

import json

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("pandas")


from evoke import EvokeForecaster, EvokeRegressor, load, tasks
from evoke.cli.scores import LabelTally, Score, ValueTally, same_labels
from evoke.metrics import mase, r_squared
from helpers.commands import QUICK, SMALL, assert_one_line, csv, walks

FIT = ["--sequence", "walk", "--features", "step", *QUICK]


def in_json(done):
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.fixture
def other(here, data, tmp_path):
    """A model of the sides that has seen the noise only."""
    done = here("fit", data, "--target", "side", "--sequence", "walk", "--features", "noise", *QUICK,
                "-o", tmp_path / "other.evk")  # fmt: skip
    assert done.returncode == 0
    return tmp_path / "other.evk"


def test_labels_a_step(here, frame, data, model):
    right = np.concatenate(load(model).predict(walks(frame, "step"))) == frame["side"].to_numpy()
    label, share = frame["side"].value_counts(normalize=True).head(1).items().__next__()
    line = f"accuracy {right.mean():.4g} on {len(frame)} rows (always {label!r}: {share:.4g})\n"
    assert here("score", model, data).stdout == line
    assert here("predict", model, data).stderr == f"Note: {line}"
    assert in_json(here("score", model, data, "--json")) == {
        "measure": "accuracy", "value": right.mean(), "naive": {f"always {label!r}": share}, "n": len(frame),
        "unit": "row", "better_than_naive": True,
    }  # fmt: skip


def test_without_targets_there_is_no_score(here, frame, data, model):
    frame.drop(columns="side").to_csv(data, index=False)
    assert here("predict", model, data).stderr == ""
    assert_one_line(here("score", model, data), 1, "has no column 'side'")
    frame.assign(side=[None, *frame["side"][1:]]).to_csv(data, index=False)
    for words in ([], ["--plot", data.with_suffix(".png")]):
        done = here("predict", model, data, *words)
        assert done.returncode == 0
        assert done.stderr.startswith("Note: the targets of the table are not used: ")
        assert "missing values: row 2 of 'side'" in done.stderr
    assert_one_line(here("score", model, data), 1, "missing values: row 2 of 'side'")


def test_one_label_a_sequence(here, frame, data, tmp_path):
    out = tmp_path / "ends.evk"
    assert here("fit", data, "--target", "end", "--per-sequence", *FIT, "-o", out).returncode == 0
    ends = np.array([part["end"].iloc[0] for part in walks(frame, "end")])
    right = load(out).predict(walks(frame, "step")) == ends
    found = in_json(here("score", out, data, "--json"))
    assert (found["value"], found["n"], found["unit"]) == (right.mean(), 12, "sequence")
    frame.assign(end=frame["side"]).to_csv(data, index=False)  # which changes within a walk
    done = here("predict", out, data)
    assert done.returncode == 0 and "not used" in done.stderr and "changes within sequence" in done.stderr
    assert_one_line(here("score", out, data), 1, "needs one target per sequence")


def test_values(here, frame, data, tmp_path):
    out = tmp_path / "places.evk"
    done = here("fit", data, "--target", "place,noise", "--task", "regress", *FIT, "-o", out)
    assert done.returncode == 0
    X, y = walks(frame, "step"), [part.to_numpy() for part in walks(frame, "place", "noise")]
    score = EvokeRegressor(**SMALL, random_state=0).fit(X, y).score(X, y)
    found = in_json(here("score", out, data, "--json"))
    assert found["value"] == pytest.approx(score, rel=1e-12)
    assert (found["measure"], found["naive"], found["n"]) == ("R2", {"always the mean": 0.0}, len(frame))


def test_forecasts_one_step_ahead(here, series, tmp_path):
    out, y = tmp_path / "model.evk", tasks.superimposed_sines(2, 80)
    season = ["-p", "n_networks=4", "-p", "season=6"]
    assert here("fit", series, "--target", "y", "--task", "forecast", *season, "-o", out).returncode == 0
    said = EvokeForecaster(n_networks=4, season=6, random_state=0).fit(y).predict_one_step(y)
    found = in_json(here("score", out, series, "--json"))
    assert (found["measure"], found["n"]) == ("MASE", 74)
    assert found["value"] == pytest.approx(mase(y[6:], said[6:], y, season=6), rel=1e-12)
    naive = {"the last value": mase(y[6:], y[5:-1], y, season=6), "the value 6 steps before": 1.0}
    assert found["naive"] == pytest.approx(naive, rel=1e-12)
    short = csv(tmp_path, "y\n" + "1\n2\n" * 3)
    assert_one_line(here("score", out, short), 1, "no series has more than 6 rows")
    done = here("predict", out, short)
    assert done.returncode == 0 and "no series has more than 6 rows" in done.stderr


def test_two_models_of_labels(here, frame, data, model, other):
    sides = frame["side"].to_numpy()
    a = np.concatenate(load(model).predict(walks(frame, "step"))) == sides
    b = np.concatenate(load(other).predict(walks(frame, "noise"))) == sides
    found = in_json(here("compare", model, other, data, "--json"))
    assert (found["a"]["value"], found["b"]["value"]) == (a.mean(), b.mean())
    assert found["difference"] == b.mean() - a.mean()
    assert (found["only_a"], found["only_b"]) == ((a & ~b).mean(), (b & ~a).mean())
    assert found["only_a"] > found["only_b"]
    lines = here("compare", model, other, data).stdout.splitlines()
    assert lines[:5] == [
        f"A: accuracy {a.mean():.4g}", f"B: accuracy {b.mean():.4g}", f"B - A: {b.mean() - a.mean():+.4g}",
        f"A alone is right: {(a & ~b).sum()} of {len(a)} rows ({(a & ~b).mean():.4g})",
        f"B alone is right: {(b & ~a).sum()} of {len(a)} rows ({(b & ~a).mean():.4g})",
    ]  # fmt: skip
    assert lines[5].startswith("always '")
    same = in_json(here("compare", model, model, data, "--json"))
    assert (same["difference"], same["only_a"], same["only_b"]) == (0.0, 0.0, 0.0)


def test_two_forecasters_are_scored_by_the_same_rows(here, series, tmp_path):
    a, b, y = tmp_path / "a.evk", tmp_path / "b.evk", tasks.superimposed_sines(2, 80)
    fit = ["fit", series, "--target", "y", "--task", "forecast"]
    assert here(*fit, *QUICK, "-o", a).returncode == 0
    assert here(*fit, *QUICK, "-p", "washout=9", "-o", b).returncode == 0
    found = in_json(here("compare", a, b, series, "--json"))
    assert (found["a"]["n"], found["b"]["n"]) == (71, 71)
    off = [np.abs(load(path).predict_one_step(y) - y)[9:] for path in (a, b)]
    assert (found["only_a"], found["only_b"]) == ((off[0] < off[1]).mean(), (off[1] < off[0]).mean())


def test_models_that_cannot_be_compared(here, data, model, tmp_path):
    out = tmp_path / "other.evk"
    assert here("fit", data, "--target", "end", *FIT, "-o", out).returncode == 0
    assert_one_line(here("compare", model, out, data), 2, "different targets: 'side' and 'end'")
    assert here("fit", data, "--target", "place", "--task", "regress", *FIT, "-o", out).returncode == 0
    assert_one_line(here("compare", model, out, data), 2, "different models: EvokeClassifier and EvokeRegressor")


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_values_added_up_part_by_part(scale):
    rng = np.random.default_rng(0)
    true = scale * (1.0 + rng.normal(size=(50, 2)) * 1e-6)
    said = true + scale * 1e-7 * rng.normal(size=(50, 2))
    tally = ValueTally("row")
    for part in (slice(0, 7), slice(7, 50)):
        tally.add(true[part], said[part])
    assert tally.score().value == pytest.approx(r_squared(true, said), rel=1e-8)


def test_values_that_do_not_vary():
    for said, score in ((3.0, 1.0), (4.0, 0.0)):
        tally = ValueTally("row")
        tally.add(np.full(5, 3.0), np.full(5, said))
        assert tally.score().value == score
        assert not tally.score().is_better


def test_labels_are_the_same_as_numbers_and_as_text():
    assert same_labels(np.array([1, 2]), np.array([1.0, 3.0])).tolist() == [True, False]
    assert same_labels(np.array([1, 2]), np.array(["1", "02"])).tolist() == [True, False]
    tally = LabelTally("row")
    tally.add(np.array([1, 1, 2]), np.array([True, False, True]), np.array([2.0, 1.0, 1.0]))
    assert str(tally.score()) == "accuracy 0.75 on 4 rows (always 1: 0.75)"
    assert not tally.score().is_better


def test_of_errors_less_is_better():
    score = Score("MASE", 0.9, {"the last value": 1.0, "the value 6 steps before": 0.8}, 10, "row")
    assert (score.rival, score.is_better) == ("the value 6 steps before", False)
    assert Score("MASE", np.inf, {"the last value": np.inf}, 1, "row").as_dict()["value"] is None
