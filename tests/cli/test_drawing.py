"""Figures of evoke fit, predict and generate."""

import sys

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from evoke import tasks
from helpers.commands import QUICK, assert_one_line, assert_scored, floats, table


def test_kinds_of_figures(here, data, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    fit = ["fit", data, "--target", "side", "--features", "step", "-o", tmp_path / "a.evk"]
    assert_one_line(here(*fit, "--plot", tmp_path / "a.xyz"), 1, "not 'xyz'")
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    assert_one_line(here(*fit, "--plot", tmp_path / "a.png"), 1, 'pip install "matplotlib>=3.9"')


def test_a_free_run_is_drawn(here, data, series, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "model.evk"
    here("fit", series, "--target", "y", "--task", "forecast", *QUICK, "-o", out)
    for options in ([], ["--context", series]):
        done = here("generate", out, "--steps", 9, *options, "--plot", tmp_path / "a.png")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("\n") == 10
        assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
        (tmp_path / "a.png").unlink()
    here("fit", data, "--target", "place", "--task", "forecast", "--sequence", "walk", *QUICK, "-o", out)


def test_free_runs_of_several_series_are_drawn(here, frame, data, drawn, tmp_path):
    out, png = tmp_path / "model.evk", tmp_path / "a.png"
    here("fit", data, "--target", "place", "--task", "forecast", "--sequence", "walk", *QUICK, "-o", out)
    done = here("generate", out, "--steps", 9, "--context", data, "--plot", png)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(drawn) == ["00", "01", "02", "03", "04", "05"]  # of twelve
    found, display = table(done.stdout), drawn["03"]
    np.testing.assert_array_equal(display.generated[:, 0], floats(found.loc[found["walk"] == "03", "place"]))
    np.testing.assert_array_equal(display.context[:, 0], frame.loc[frame["walk"] == "03", "place"])
    assert png.read_bytes().startswith(b"\x89PNG")


def test_labels_are_drawn_with_the_targets(here, frame, data, model, drawn, tmp_path):
    done = here("predict", model, data, "--plot", tmp_path / "a.png")
    assert_scored(done)
    assert list(drawn) == ["00", "01", "02", "03", "04", "05"]
    found, display = table(done.stdout), drawn["04"]
    assert display.classes.tolist() == ["left", "right"]
    of_walk = (frame["walk"] == "04").to_numpy()
    assert display.predicted[:, 0].tolist() == (found["side"][of_walk] == "right").tolist()
    assert display.true[:, 0].tolist() == (frame["side"][of_walk] == "right").tolist()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_drawn_needs_no_targets(here, frame, data, model, drawn, tmp_path):
    frame.drop(columns="side").to_csv(data, index=False)
    done = here("predict", model, data, "--plot", tmp_path / "a.png")
    assert (done.returncode, done.stderr) == (0, "")
    assert drawn["00"].true is None
    frame.assign(side=frame["side"].where(frame["step"] > 0)).to_csv(data, index=False)
    done = here("predict", model, data, "--plot", tmp_path / "a.png")
    assert done.returncode == 0
    assert done.stderr.startswith("Note: the targets of the table are not used: ")
    assert "'side'" in done.stderr
    assert drawn["00"].true is None


def test_values_are_drawn_with_the_targets(here, frame, data, series, drawn, tmp_path):
    out, png = tmp_path / "model.evk", tmp_path / "a.png"
    here("fit", data, "--target", "place,noise", "--task", "regress", "--features", "step", *QUICK, "-o", out)
    found = table(here("predict", out, data, "--plot", png).stdout)
    ((title, display),) = drawn.items()
    assert title is None
    assert display.names == ["place", "noise"]
    np.testing.assert_array_equal(display.predicted, np.column_stack([floats(found[n]) for n in ("place", "noise")]))
    np.testing.assert_array_equal(display.true, frame[["place", "noise"]])
    here("fit", series, "--target", "y", "--task", "forecast", *QUICK, "-o", out)
    found = table(here("predict", out, series, "--plot", png).stdout)
    np.testing.assert_array_equal(drawn[None].predicted[:, 0], floats(found["y"]))
    np.testing.assert_array_equal(drawn[None].true[:, 0], tasks.superimposed_sines(2, 80))


def test_one_label_a_sequence_is_drawn_as_a_confusion_matrix(here, frame, data, drawn, tmp_path):
    out, png = tmp_path / "ends.evk", tmp_path / "a.png"
    here("fit", data, "--target", "end", "--sequence", "walk", "--features", "step", "--per-sequence", *QUICK,
         "-o", out)  # fmt: skip
    done = here("predict", out, data, "--plot", png)
    assert_scored(done)
    said, true = table(done.stdout)["end"].to_numpy(), frame.groupby("walk")["end"].first().to_numpy()
    expected = [[((true == a) & (said == b)).sum() for b in ("left", "right")] for a in ("left", "right")]
    assert drawn[None].matrices_[0].tolist() == expected
    assert png.read_bytes().startswith(b"\x89PNG")
    frame.drop(columns="end").to_csv(data, index=False)
    png.unlink()
    assert_one_line(here("predict", out, data, "--plot", png), 1, "--plot draws predictions against the targets")
    assert not png.exists()


def test_predictions_that_cannot_be_drawn(here, data, model, tmp_path):
    pytest.importorskip("matplotlib")
    assert_one_line(here("predict", model, data, "--plot", data), 2, "--plot cannot be", "the command reads it")
    assert_one_line(here("predict", model, data, "--plot", tmp_path / "a.xyz"), 1, "not 'xyz'")
