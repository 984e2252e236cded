"""evoke fit, predict, generate and info do what the library does, and say what they did."""

import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, __version__, load, tasks
from helpers.commands import (
    QUICK,
    SMALL,
    OnTerminal,
    assert_clean,
    assert_one_line,
    assert_scored,
    csv,
    evoke,
    floats,
    table,
    walks,
)


def test_labels_a_step(here, frame, data, model, tmp_path):
    expected = EvokeClassifier(**SMALL, random_state=0)
    expected.fit(walks(frame, "step"), [part["side"].to_numpy() for part in walks(frame, "side")])
    np.testing.assert_array_equal(load(model).genome_, expected.genome_)
    done = here("predict", model, data, "--decisions")
    assert_scored(done)
    found = table(done.stdout)
    assert list(found.columns) == ["walk", "side", "decision right"]
    assert found["walk"].tolist() == frame["walk"].tolist()
    assert found["side"].tolist() == np.concatenate(expected.predict(walks(frame, "step"))).tolist()
    decisions = np.concatenate(expected.decision_function(walks(frame, "step")))
    np.testing.assert_array_equal(floats(found["decision right"]), decisions)
    done = here("predict", model, data, "-o", tmp_path / "out.csv")
    assert_scored(done)
    assert done.stdout == ""
    assert (tmp_path / "out.csv").read_text().splitlines()[:2] == ["walk,side", f"00,{found['side'][0]}"]


def test_labels_a_sequence(here, frame, data, tmp_path):
    out = tmp_path / "model.evk"
    done = here("fit", data, "--target", "end", "--sequence", "walk", "--features", "step,noise", "--per-sequence",
                "--seed", 3, *QUICK, "-o", out)  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == "Note: the target 'end' is text, so it is classified.\n"
    ends = [part["end"].iloc[0] for part in walks(frame, "end")]
    expected = EvokeClassifier(**SMALL, random_state=3).fit(walks(frame, "step", "noise"), ends)
    found = table(here("predict", out, data).stdout)
    assert found["walk"].tolist() == sorted(set(frame["walk"]))
    assert found["end"].tolist() == expected.predict(walks(frame, "step", "noise")).tolist()


def test_probabilities(here, frame, data, model, tmp_path):
    out = tmp_path / "ends.evk"
    done = here("fit", data, "--target", "end", "--sequence", "walk", "--features", "step,noise", "--per-sequence",
                *QUICK, "-o", out)  # fmt: skip
    assert done.returncode == 0
    done = here("predict", out, data, "--decisions", "--probabilities")
    assert_scored(done)
    found = table(done.stdout)
    assert list(found.columns) == ["walk", "end", "decision right", "probability left", "probability right"]
    expected = load(out).predict_proba(walks(frame, "step", "noise"))
    np.testing.assert_array_equal(floats(found[["probability left", "probability right"]]), expected)
    done = here("predict", model, data, "--probabilities")
    assert_one_line(done, 2, "--probabilities needs decisions on sequences that were left out", "--per-sequence")
    done = here("fit", data, "--target", "place", "--task", "regress", *QUICK, "--features", "step", "-o", out)
    assert done.returncode == 0
    assert_one_line(here("predict", out, data, "--probabilities"), 2, "needs a classifier", "an EvokeRegressor")


def test_intervals(here, series, tmp_path):
    out = tmp_path / "model.evk"
    small = ["-p", "n_networks=4", "-p", "n_cells=2"]
    two = tmp_path / "two.csv"
    pd.read_csv(series).assign(z=lambda rows: rows["y"] ** 2).to_csv(two, index=False)
    for data, targets in ((series, ["y"]), (two, ["y", "z"])):
        done = here("fit", data, "--target", ",".join(targets), "--task", "forecast", *small, "-o", out)
        assert done.returncode == 0
        done = here("generate", out, "--steps", 5, "--interval", 0.8)
        found = table(done.stdout)
        ends = [f"{end} {name}" for end in ("lower", "upper") for name in targets]
        assert list(found.columns) == [*targets, *ends]
        values = [part.reshape(5, -1) for part in load(out).generate(5, return_interval=0.8)]
        np.testing.assert_array_equal(floats(found), np.concatenate(values, axis=1))
    assert_one_line(here("generate", out, "--steps", 5, "--interval", 90), 2, "--interval", "90")
    done = here("fit", series, "--target", "y", "--task", "forecast", *QUICK, "-o", out)
    assert done.returncode == 0
    assert_one_line(here("generate", out, "--steps", 5, "--interval", 0.8), 2, "--interval", "validation=rolling")


def test_the_errors_are_those_of_the_fitness(here, data, tmp_path):
    """Generations that see ever more steps have fitnesses that cannot be compared."""
    done = here("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", "-p", "readout=landmarks",
                "-p", "n_generations=4", "-p", "subpopulation_size=4", "-p", "fit_samples=20", "-o", tmp_path / "a.evk")
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("fitness "))
    fitness, *parts = map(float, re.findall(r"\d[\d.e+-]*", line))
    assert not parts or sum(parts) == pytest.approx(fitness, rel=1e-5)


def test_one_generation_is_one(here, data, tmp_path):
    out = tmp_path / "model.evk"
    done = here("fit", data, "--target", "side", "--features", "step", *QUICK[2:], "-p", "n_generations=1", "-o", out)
    assert "\n1 generation, " in done.stdout
    assert "in 1 generation, " in here("info", out).stdout


def test_values_of_several_targets(here, frame, data, tmp_path):
    out = tmp_path / "model.evk"
    done = here("fit", data, "--target", "place,noise", "--task", "regress", "--features", "step", *QUICK, "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    expected = EvokeRegressor(**SMALL, random_state=0).fit(frame[["step"]], frame[["place", "noise"]].to_numpy())
    found = table(here("predict", out, data).stdout)
    assert list(found.columns) == ["place", "noise"]
    np.testing.assert_array_equal(floats(found), expected.predict(frame[["step"]]))


def test_several_labels_at_once(here, frame, tmp_path):
    frame = frame.assign(near=frame["place"].abs() < 2, right=(frame["place"] > 0).astype(int))
    frame.to_csv(tmp_path / "data.csv", index=False)
    done = here("fit", tmp_path / "data.csv", "--target", "near", "--target", "right", "--task", "classify",
                "--features", "step", "--sequence", "walk", *QUICK, "-o", tmp_path / "model.evk")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    done = here("predict", tmp_path / "model.evk", tmp_path / "data.csv", "--decisions")
    found = table(done.stdout)
    assert list(found.columns) == ["walk", "near", "right", "decision near", "decision right"]
    for name, values in (("near", ("True", "False")), ("right", ("1", "0"))):  # as the table has them
        assert found[name].tolist() == np.where(floats(found[f"decision {name}"]) > 0, *values).tolist()


def test_a_series_is_continued(here, series, tmp_path):
    out, y = tmp_path / "model.evk", tasks.superimposed_sines(2, 80)
    done = here("fit", series, "--target", "y", "--task", "forecast", *QUICK, "-o", out)
    assert done.returncode == 0
    assert done.stderr.startswith("Note: a forecast reads only its own series, not 't'")
    expected = EvokeForecaster(**SMALL, random_state=0).fit(y)
    done = here("generate", out, "--steps", 5)
    assert (done.returncode, done.stderr) == (0, "")
    found = table(done.stdout)
    assert list(found.columns) == ["y"]
    np.testing.assert_array_equal(floats(found["y"]), expected.generate(5))
    context = csv(tmp_path, "y\n" + "\n".join(map(repr, y[:30].tolist())), "context.csv")
    found = table(here("generate", out, "--steps", 4, "--context", context).stdout)
    np.testing.assert_array_equal(floats(found["y"]), expected.generate(4, context=y[:30]))
    found = table(here("predict", out, series).stdout)
    np.testing.assert_array_equal(floats(found["y"]), expected.predict_one_step(y))


def test_a_series_is_continued_by_networks_that_did_not_evolve(here, series, tmp_path):
    out, y = tmp_path / "model.evk", tasks.superimposed_sines(2, 80)
    done = here("fit", series, "--target", "y", "--task", "forecast", "-p", "n_networks=4", "-p", "season=6", "-o", out,
                "--plot", tmp_path / "forecast.png")  # fmt: skip
    assert done.returncode == 0
    assert "4 networks, none of them evolved" in done.stdout
    assert (tmp_path / "forecast.png").stat().st_size > 0
    assert "season=6" in here("info", out).stdout
    expected = EvokeForecaster(n_networks=4, season=6, random_state=0).fit(y)
    found = table(here("generate", out, "--steps", 5).stdout)
    np.testing.assert_array_equal(floats(found["y"]), expected.generate(5))


def test_series_with_external_inputs(here, frame, data, tmp_path):
    out = tmp_path / "model.evk"
    done = here("fit", data, "--target", "place", "--task", "forecast", "--features", "step", "--sequence", "walk",
                *QUICK, "-o", out)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    y, X = ([part[name].to_numpy() for part in walks(frame, name)] for name in ("place", "step"))
    expected = EvokeForecaster(**SMALL, random_state=0).fit(y, [x[:, None] for x in X])
    ahead = csv(tmp_path, "step\n1\n-1\n", "ahead.csv")
    found = table(here("generate", out, "--steps", 2, "--inputs", ahead).stdout)
    np.testing.assert_array_equal(floats(found["place"]), expected.generate(2, X=np.array([[1.0], [-1.0]])))
    # two series at once, their rows mixed, in the order of the context
    two = frame[frame["walk"].isin(["03", "05"])].sort_values("noise")
    two.to_csv(tmp_path / "two.csv", index=False)
    ahead = csv(tmp_path, "walk,step\n03,1\n05,1\n03,-1\n05,1\n", "ahead.csv")
    done = here("generate", out, "--steps", 2, "--context", tmp_path / "two.csv", "--inputs", ahead)
    assert (done.returncode, done.stderr) == (0, "")
    found = table(done.stdout)
    for walk, inputs in (("03", [1, -1]), ("05", [1, 1])):
        told = two[two["walk"] == walk]
        X = np.concatenate([told["step"], inputs])[:, None]
        generated = floats(found.loc[found["walk"] == walk, "place"])
        np.testing.assert_array_equal(generated, expected.generate(2, context=told["place"].to_numpy(), X=X))
    assert found["walk"].tolist() == [name for name in two["walk"].unique() for _ in range(2)]
    for missing in ("step\n1\n1\n", "walk,step\n03,1\n03,1\n", "walk,step\n03,1\n05,1\n05,2\n"):
        csv(tmp_path, missing, "ahead.csv")
        done = here("generate", out, "--steps", 2, "--context", tmp_path / "two.csv", "--inputs", ahead)
        assert_one_line(done, 1, "ahead.csv")


def test_rows_of_a_sequence_need_not_be_neighbours(here, frame, data, model, tmp_path):
    """Predictions stand in the order of the table, whatever that is, as long as each sequence has its own."""
    whole = floats(table(here("predict", model, data, "--decisions").stdout)["decision right"])
    order = np.argsort(frame.groupby("walk").cumcount().to_numpy(), kind="stable")  # all first steps, all second, ...
    assert order.tolist() != sorted(order)
    frame.iloc[order].to_csv(tmp_path / "mixed.csv", index=False)
    found = table(here("predict", model, tmp_path / "mixed.csv", "--decisions").stdout)
    assert found["walk"].tolist() == frame["walk"].iloc[order].tolist()
    np.testing.assert_array_equal(floats(found["decision right"]), whole[order])


def test_a_model_says_what_it_is(here, model):
    done = here("info", model)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"EvokeClassifier, written by evoke {__version__}"
    assert lines[1:5] == ["target: side", "features: step", "sequence: walk", "classes: left, right"]
    assert lines[-1] == (
        "parameters: n_cells=2, n_generations=2, random_state=0, subpopulation_size=8, all others at their defaults"
    )
    facts = json.loads(here("info", model, "--json").stdout)
    learned = load(model)
    assert facts["class"] == "EvokeClassifier"
    assert facts["columns"] == {
        "targets": ["side"], "features": ["step"], "sequence": "walk", "per_sequence": False, "booleans": [],
        "time": None,
    }  # fmt: skip
    assert facts["fitness"] == learned.best_fitness_
    assert facts["parameters"]["gate_bias"] == learned.gate_bias == "auto"


def test_models_of_python(here, data, tmp_path):
    """info reads any model file; the others need to know columns."""
    EvokeClassifier(**SMALL, random_state=0).fit([[[0.0], [1.0]] * 2], [["a", "b"] * 2]).save(tmp_path / "model.evk")
    done = here("info", tmp_path / "model.evk")
    assert (done.returncode, done.stderr) == (0, "")
    assert "features: 1, without names" in done.stdout
    assert_one_line(here("predict", tmp_path / "model.evk", data), 1, "not written by 'evoke fit'")
    for command in (["info", data], ["predict", data, data], ["generate", data, "--steps", 1]):
        assert_one_line(here(*command), 1, str(data), "no model file")


def test_the_model_file_is_for_python_too(frame, model):
    learned = load(model)
    assert learned.feature_names_in_.tolist() == ["step"]
    assert learned.predict(walks(frame, "step"))[0].tolist()[0] in ("left", "right")


def test_metadata_travels_with_a_model(tmp_path):
    model = EvokeClassifier(**SMALL, random_state=0).fit([[[0.0], [1.0]] * 2], [["a", "b"] * 2])
    model.metadata_ = {"unit": "m/s", "by": ["me", 3, None, (1.5, True)]}
    model.save(tmp_path / "model.evk")
    assert load(tmp_path / "model.evk").metadata_ == model.metadata_
    model.metadata_ = "m/s"
    with pytest.raises(ValueError, match="metadata_ must be a dict"):
        model.save(tmp_path / "model.evk")


def test_a_seed_gives_the_same_files(here, data, tmp_path):
    pytest.importorskip("matplotlib")
    contents = []
    for jobs in (1, 2):
        done = here("fit", data, "--target", "side", "--features", "step", "--sequence", "walk", *QUICK, "--seed", 7,
                    "--jobs", jobs, "--plot", tmp_path / "a.png", "-o", tmp_path / "a.evk")  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "Note: the target 'side' is text, so it is classified.\n")
        here("predict", tmp_path / "a.evk", data, "-o", tmp_path / "a.csv")
        contents.append([done.stdout, *((tmp_path / name).read_bytes() for name in ("a.evk", "a.png", "a.csv"))])
    assert contents[0] == contents[1]
    assert contents[0][2].startswith(b"\x89PNG")
    assert contents[0][0].endswith(f"\nwritten to {tmp_path / 'a.evk'}, {tmp_path / 'a.png'}\n")
    here("fit", data, "--target", "side", "--features", "step", "--sequence", "walk", *QUICK, "--seed", 8,
         "-o", tmp_path / "a.evk")  # fmt: skip
    assert (tmp_path / "a.evk").read_bytes() != contents[0][1]


def test_a_run_continues_from_its_checkpoint(here, data, tmp_path):
    fit = ["fit", data, "--target", "side", "--features", "step", "--sequence", "walk", *QUICK[2:]]
    here(*fit, "-p", "n_generations=5", "-o", tmp_path / "straight.evk")
    here(*fit, "-p", "n_generations=3", "-o", tmp_path / "a.evk", "--checkpoint", tmp_path / "check.evk")
    facts = json.loads(here("info", tmp_path / "check.evk", "--json").stdout)
    assert (facts["generations"], facts["columns"]["targets"]) == (3, ["side"])
    done = here(*fit, "-p", "n_generations=5", "-o", tmp_path / "a.evk", "--checkpoint", tmp_path / "check.evk")
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith("\nNote: continuing after generation 3 of 5.\n")
    assert (tmp_path / "a.evk").read_bytes() == (tmp_path / "straight.evk").read_bytes()
    done = here(*fit, "-p", "n_generations=5", "-o", tmp_path / "a.evk", "--checkpoint", tmp_path / "check.evk")
    assert done.stderr.endswith("\nNote: the checkpoint already has all 5 generations.\n")
    assert (tmp_path / "a.evk").read_bytes() == (tmp_path / "straight.evk").read_bytes()
    done = here(*fit, "-p", "n_generations=5", "-p", "C=7", "-o", tmp_path / "a.evk", "--checkpoint",
                tmp_path / "check.evk")  # fmt: skip
    assert done.returncode == 1
    assert "C=10" in done.stderr


def test_parquet(here, frame, data, model, tmp_path):
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "data.parquet", index=False)
    fit = ["--target", "side", "--sequence", "walk", "--features", "step", *QUICK, "-o", tmp_path / "again.evk"]
    assert here("fit", tmp_path / "data.parquet", *fit).returncode == 0
    assert (tmp_path / "again.evk").read_bytes() == model.read_bytes()
    done = here("predict", model, tmp_path / "data.parquet", "-o", tmp_path / "out.parquet", "--decisions")
    assert_scored(done)
    assert done.stdout == ""
    found = pd.read_parquet(tmp_path / "out.parquet")
    expected = table(here("predict", model, data, "--decisions").stdout)
    pd.testing.assert_frame_equal(found, expected.astype({"decision right": np.float64}))


def test_parquet_without_pyarrow(here, data, model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = here("predict", model, data, "-o", tmp_path / "out.parquet")
    assert_one_line(done, 1, 'pip install "pyarrow>=')


def test_tables_without_pandas(here, data, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert_one_line(here("predict", model, data), 1, 'pip install "pandas>=')


def test_results_on_stdout_and_nothing_else_and_a_table_of_stdin(here, data, tmp_path):
    out = tmp_path / "model.evk"
    done = evoke("fit", data, "--target", "side", "--task", "classify", "--features", "step", *QUICK, "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("EvokeClassifier: side from step; 1 sequence, ")
    assert done.stdout.splitlines()[-1] == f"written to {out}"
    with data.open() as file:
        done = subprocess.run(
            [sys.executable, "-m", "evoke", "predict", out, "/dev/stdin"],
            stdin=file, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert_scored(done)
    assert done.stdout.startswith("side\n")
    assert done.stdout == here("predict", out, data).stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_best_so_far(here, data, tmp_path, number):
    pytest.importorskip("matplotlib")
    out, plot = tmp_path / "model.evk", tmp_path / "a.png"
    terminal = OnTerminal("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", "-o", out,
                          "--plot", plot, "-p", "n_generations=1000000")  # fmt: skip
    terminal.wait_for(r"fitness \d")
    terminal.process.send_signal(number)
    status, stdout = terminal.finish()
    assert status == 130
    assert "Traceback" not in terminal.shown
    shown = terminal.shown.replace("\r\n", "")
    assert "Error: interrupted after " in shown
    assert f"; the best network so far was written to {out}, {plot}" in shown
    assert stdout.startswith("EvokeClassifier: side from step; 12 sequences")
    assert_clean(tmp_path, "data.csv", "model.evk", "a.png")
    facts = json.loads(here("info", out, "--json").stdout)
    assert facts["generations"] >= 1
    assert here("predict", out, data).returncode == 0


def test_an_interrupt_before_there_is_anything(here, data, model, monkeypatch):
    def fit(self, X, y):
        raise KeyboardInterrupt

    before = model.read_bytes()
    monkeypatch.setattr(EvokeClassifier, "fit", fit)
    done = here("fit", data, "--target", "side", "--task", "classify", "--features", "step", "-o", model)
    assert_one_line(done, 130, "interrupted before the first generation was complete; nothing was written")
    assert model.read_bytes() == before
    assert_clean(model.parent, "data.csv", "model.evk")
