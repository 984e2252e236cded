"""evoke fit, predict, generate and info: what they say, options, files, signals."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, __version__, load, reproduce, tasks
from helpers.commands import QUICK, OnTerminal, assert_clean, assert_one_line, csv, evoke, floats, table

SMALL = {"n_generations": 2, "n_cells": 2, "subpopulation_size": 8}


@pytest.fixture
def frame():
    """Twelve walks of one step up or down: names, steps, noise, where the walk is, what it was at its end."""
    rng = np.random.default_rng(0)
    walks = []
    for k in range(12):
        step = rng.choice([-1.0, 1.0], size=rng.integers(4, 9))
        place = step.cumsum()
        walks.append(pd.DataFrame({
            "walk": f"{k:02d}", "step": step, "noise": rng.normal(size=len(step)), "place": place,
            "side": np.where(place > 0, "right", "left"), "end": "right" if place[-1] > 0 else "left",
        }))  # fmt: skip
    return pd.concat(walks, ignore_index=True)


@pytest.fixture
def data(frame, tmp_path):
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture
def model(data, here, tmp_path):
    """A model of the sides, one a step."""
    done = here("fit", data, "--target", "side", "--sequence", "walk", "--features", "step", *QUICK,
                "-o", tmp_path / "model.evk")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path / "model.evk"


@pytest.fixture
def series(tmp_path):
    y = tasks.superimposed_sines(2, 80)
    pd.DataFrame({"t": np.arange(80), "y": y}).to_csv(tmp_path / "series.csv", index=False)
    return tmp_path / "series.csv"


def walks(frame, *columns):
    return [part[list(columns)] for _, part in frame.groupby("walk", sort=False)]


# ---- the commands do what the library does


def test_labels_a_step(here, frame, data, model, tmp_path):
    expected = EvokeClassifier(**SMALL, random_state=0)
    expected.fit(walks(frame, "step"), [part["side"].to_numpy() for part in walks(frame, "side")])
    np.testing.assert_array_equal(load(model).genome_, expected.genome_)
    done = here("predict", model, data, "--decisions")
    assert (done.returncode, done.stderr) == (0, "")
    found = table(done.stdout)
    assert list(found.columns) == ["walk", "side", "decision right"]
    assert found["walk"].tolist() == frame["walk"].tolist()
    assert found["side"].tolist() == np.concatenate(expected.predict(walks(frame, "step"))).tolist()
    decisions = np.concatenate(expected.decision_function(walks(frame, "step")))
    np.testing.assert_array_equal(floats(found["decision right"]), decisions)
    done = here("predict", model, data, "-o", tmp_path / "out.csv")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
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
    assert done.stderr.startswith("Note: a forecast reads its own series alone, not 't'")
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
        "parameters: n_cells=2, n_generations=2, random_state=0, subpopulation_size=8, the others by default"
    )
    facts = json.loads(here("info", model, "--json").stdout)
    learned = load(model)
    assert facts["class"] == "EvokeClassifier"
    assert facts["columns"] == {
        "targets": ["side"], "features": ["step"], "sequence": "walk", "per_sequence": False, "booleans": [],
    }  # fmt: skip
    assert facts["fitness"] == learned.best_fitness_
    assert facts["parameters"]["gate_bias"] == list(learned.gate_bias)


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


# ---- the same again


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


def test_a_checkpoint_is_gone_on_from(here, data, tmp_path):
    fit = ["fit", data, "--target", "side", "--features", "step", "--sequence", "walk", *QUICK[2:]]
    here(*fit, "-p", "n_generations=5", "-o", tmp_path / "straight.evk")
    here(*fit, "-p", "n_generations=3", "-o", tmp_path / "a.evk", "--checkpoint", tmp_path / "check.evk")
    facts = json.loads(here("info", tmp_path / "check.evk", "--json").stdout)
    assert (facts["generations"], facts["columns"]["targets"]) == (3, ["side"])
    done = here(*fit, "-p", "n_generations=5", "-o", tmp_path / "a.evk", "--checkpoint", tmp_path / "check.evk")
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith("\nNote: going on from generation 3 of 5.\n")
    assert (tmp_path / "a.evk").read_bytes() == (tmp_path / "straight.evk").read_bytes()
    done = here(*fit, "-p", "n_generations=5", "-o", tmp_path / "a.evk", "--checkpoint", tmp_path / "check.evk")
    assert done.stderr.endswith("\nNote: the checkpoint has all 5 generations, nothing is left to do.\n")
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
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
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


# ---- roles and options


@pytest.mark.parametrize("options, words", [
    ("--target nothing", ["no column 'nothing'"]),
    ("--target side --sequence walks", ["no column 'walks'; did you mean 'walk'?"]),
    ("--target side --features stepp", ["no column 'stepp'; did you mean 'step'?"]),
    ("--target side --sequence walk", ["column 'end' is not numeric"]),
    ("--target side --sequence walk --features step --per-sequence",
     ["--per-sequence, but 'side' changes within sequence '0"]),
    ("--target side --task regress --features step",
     ["column 'side' is not numeric", "; learn text as the only target, with --task classify"]),
    ("--target noise --task classify --features step",
     ["'noise' holds fractions that hardly repeat", "--task regress"]),
    ("--target side --sequence walk --features step -p washout=5", ["washout=5 leaves nothing of sequence '"]),
    ("--target side --features step -p washout=1000", ["data.csv: washout=1000 leaves nothing of its "]),
])  # fmt: skip
def test_columns_that_are_refused(here, data, tmp_path, options, words):
    assert_one_line(here("fit", data, *options.split(), *QUICK, "-o", tmp_path / "a.evk"), 1, *words)
    assert_clean(tmp_path, "data.csv")


@pytest.mark.parametrize("options, words", [
    ("", ["--target"]),
    ("--target place", ["'place' holds numbers", "--task classify", "--task regress", "--task forecast"]),
    ("--target side,side", ["--target names 'side' twice"]),
    ("--target side --features step --features step", ["--features names 'step' twice"]),
    ("--target side --sequence side", ["cannot be both --target and --sequence"]),
    ("--target side --features side,step", ["'side' cannot be among --features"]),
    ("--target side --sequence walk --features walk", ["'walk' cannot be among --features"]),
    ("--target end --per-sequence", ["--per-sequence goes with --sequence"]),
    ("--target place --task forecast --sequence walk --per-sequence", ["--task forecast"]),
    ("--target side --task guess", ["--task"]),
    ("--target side --seed -1", ["--seed"]), ("--target side --jobs 0", ["--jobs"]),
    ("--target side --separator ab", ["'ab'"]), ("--target side --separator a", ["'a'"]),
    ("--target side -p n_cells", ["'n_cells' is not of the form name=value"]),
    ("--target side -p n_cell=2", ["has no parameter 'n_cell'; did you mean n_cells?"]),
    ("--target side -p epsilon=1", ["EvokeClassifier has no parameter 'epsilon'"]),
    ("--target side -p n_cells=2 -p n_cells=3", ["n_cells is given twice"]),
    ("--target side -p random_state=2", ["it is --seed"]), ("--target side -p n_jobs=2", ["it is --jobs"]),
    ("--target side -p callbacks=x", ["callbacks cannot be set so"]),
    ("--target side -p n_cells=two", ["n_cells must be an integer of at least 1, got 'two'"]),
    ("--target side -p n_cells=1e1", ["got 10.0"]), ("--target side -p C=NaN", ["got nan"]),
    ("--target side -p C=", ["got ''"]), ("--target side -p gate_bias=[1,2]", ["got [1, 2]"]),
    ("--target side -p kernel=rbff", ["kernel must be one of"]),
    ("--target side -p C=" + "[" * 5000, ["C must be a positive finite number"]),
])  # fmt: skip
def test_wrong_usage_of_fit(here, data, tmp_path, options, words):
    done = here("fit", data, *options.split(), "-o", tmp_path / "a.evk")
    assert_one_line(done, 2)
    for word in words:
        assert word in done.stderr
    assert_clean(tmp_path, "data.csv")


def test_parameters_are_literals(here, data, tmp_path):
    values = {"burst_patience": None, "gate_bias": (1, 2.5, 0), "cell": "evolino", "C": 1e8, "validation": 0.25}
    texts = ["burst_patience=null", "gate_bias=(1, 2.5, 0)", "cell=evolino", "C=1e8", "validation=0.25"]
    out = tmp_path / "a.evk"
    texts = [f"-p{text}" for text in texts]
    done = here("fit", data, "--target", "side", "--features", "step", *QUICK, *texts, "-o", out)
    assert done.returncode == 0, done.stderr
    assert {name: load(out).get_params()[name] for name in values} == values


def test_a_target_that_a_sequence_repeats_is_noted(here, data, tmp_path):
    done = here("fit", data, "--target", "end", "--sequence", "walk", "--features", "step", "--task", "classify",
                *QUICK, "-o", tmp_path / "a.evk")  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "--per-sequence" in done.stderr


@pytest.mark.parametrize("options", [[], ["--sequence", "k"], ["--sequence", "k", "--per-sequence"]])
def test_labels_that_are_only_held_out_are_noted(here, tmp_path, options):
    for labels, noted in [("aabb", True), ("abab", False)]:
        rows = [f"{k},{label},{k % 2}" for k, label in enumerate(labels) for _ in range(3 if options else 1)]
        path = csv(tmp_path, "\n".join(["k,label,x", *rows]))
        done = here("fit", path, "--target", "label", "--task", "classify", "--features", "x", *options, *QUICK,
                    "-o", tmp_path / "a.evk")  # fmt: skip
        assert ("'b' is only in the part that is held out" in done.stderr) == noted
        assert done.stderr.count("held out") == noted  # once, not in terms of Python too
        assert ("it cannot be learned; shuffle the " in done.stderr) == noted
    done = here("fit", csv(tmp_path, "label,x\na,1\na,2\nb,3\nb,4\n"), "--target", "label", "--features", "x",
                "-p", "validation=0.25", *QUICK, "-o", tmp_path / "a.evk")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "Note: the target 'label' is text, so it is classified.\n")


def test_a_forecaster_is_asked_for_what_it_is(here, data, series, model, tmp_path):
    assert_one_line(here("generate", model, "--steps", 3), 2, "EvokeClassifier")
    here("fit", series, "--target", "y", "--task", "forecast", *QUICK, "-o", tmp_path / "plain.evk")
    assert_one_line(here("predict", tmp_path / "plain.evk", series, "--decisions"), 2, "EvokeForecaster")
    done = here("generate", tmp_path / "plain.evk", "--steps", 3, "--inputs", data)
    assert_one_line(done, 2, "has no external inputs")
    here("fit", data, "--target", "place", "--task", "forecast", "--features", "step", *QUICK,
         "-o", tmp_path / "fed.evk")  # fmt: skip
    assert_one_line(here("generate", tmp_path / "fed.evk", "--steps", 3), 2, "needs --inputs with step")
    assert_one_line(here("generate", tmp_path / "fed.evk", "--steps", 3, "--inputs", data), 1, "must have 3 rows")
    assert_one_line(here("generate", tmp_path / "plain.evk", "--steps", 0), 2, "--steps")


# ---- files


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv.gz", "a.txt"])
def test_tables_of_other_formats_are_not_written(here, model, data, name):
    for command in (["predict", model, data], ["generate", model, "--steps", 3]):
        done = here(*command, "-o", model.with_name(name))
        assert_one_line(done, 2, f"tables are written as .csv, .tsv or .parquet, not as {name[name.rindex('.'):]}")
    assert_clean(model.parent, "data.csv", "model.evk")


def test_a_table_of_stdin(model, data):
    assert_one_line(evoke("predict", model, "-"), 2, "stdin has the name /dev/stdin")
    with data.open() as file:
        done = subprocess.run(
            [sys.executable, "-m", "evoke", "predict", model, "/dev/stdin"],
            stdin=file, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == evoke("predict", model, data).stdout


def test_no_file_is_written_over_another(here, data, model, tmp_path):
    before = data.read_bytes()
    (tmp_path / "link.csv").symlink_to(data)
    fit = ["fit", data, "--target", "side", "--features", "step", *QUICK]
    for options in (["-o", data], ["-o", tmp_path / "link.csv"], ["-o", tmp_path / "." / "data.csv"],
                    ["-o", tmp_path / "a.evk", "--plot", data],
                    ["-o", tmp_path / "a.png", "--plot", tmp_path / "a.png"],
                    ["-o", tmp_path / "a.evk", "--checkpoint", tmp_path / "a.evk"]):  # fmt: skip
        assert_one_line(here(*fit, *options), 2, "cannot be")
    assert_one_line(here("predict", model, data, "-o", model), 2, "not as .evk")
    assert_one_line(here("predict", model, data, "-o", data), 2, "--out cannot be", "it is read")
    assert data.read_bytes() == before
    assert_clean(tmp_path, "data.csv", "link.csv", "model.evk")


@pytest.mark.parametrize("task", ["anbncn", "sines"])
def test_no_result_of_reproduce_is_written_over_another(here, tmp_path, task, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(reproduce, task, lambda **arguments: pytest.fail("the work was begun"))
    run = ["reproduce", task, "--runs", 1, "--generations", 1]
    path = tmp_path / "a.png"
    assert_one_line(here(*run, "--json", path, "--plot", path), 2, "--plot cannot be", "--json is the same file")
    name = "anbncn-N10.json" if task == "anbncn" else "sines-2.json"
    assert_one_line(here(*run, "--json", tmp_path / name, "--out", tmp_path), 2, name, "--json is the same file")
    assert_clean(tmp_path)


@pytest.mark.parametrize("option", ["-o", "--plot", "--checkpoint"])
def test_unwritable_targets_are_told_before_the_work(here, data, tmp_path, option):
    pytest.importorskip("matplotlib")
    fit = ["fit", data, "--target", "side", "-o", tmp_path / "a.evk", option, tmp_path / "no" / "a.png"]
    assert_one_line(here(*fit), 1, "cannot write", "No such file")
    assert_clean(tmp_path, "data.csv")


def test_kinds_of_figures(here, data, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    fit = ["fit", data, "--target", "side", "--features", "step", "-o", tmp_path / "a.evk"]
    assert_one_line(here(*fit, "--plot", tmp_path / "a.xyz"), 1, "not 'xyz'")
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    assert_one_line(here(*fit, "--plot", tmp_path / "a.png"), 1, 'pip install "matplotlib>=3.8"')


def test_no_such_file(here, tmp_path):
    for command in (["fit", "x.csv", "--target", "a", "-o", "a.evk"], ["predict", "x.evk", "x.csv"], ["info", "x.evk"]):
        assert_one_line(here(*command), 2, "does not exist")
    assert_one_line(here("info", tmp_path), 2, "is a directory")


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


@pytest.fixture
def drawn(monkeypatch):
    """The displays in the last figure, by their titles."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from evoke.plot import picture

    displays = {}

    def seen(draw, kind):
        displays.clear()
        for title, draw_one in draw.items() if isinstance(draw, dict) else [(None, draw)]:
            displays[title] = draw_one(Figure())
        return picture(draw, kind)

    monkeypatch.setattr("evoke.plot.picture", seen)
    return displays


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
    assert (done.returncode, done.stderr) == (0, "")
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
    assert done.stderr.startswith("Note: the targets are not drawn: ")
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


def test_predictions_that_cannot_be_drawn(here, data, model, tmp_path):
    pytest.importorskip("matplotlib")
    here("fit", data, "--target", "end", "--sequence", "walk", "--features", "step", "--per-sequence", *QUICK,
         "-o", tmp_path / "ends.evk")  # fmt: skip
    done = here("predict", tmp_path / "ends.evk", data, "--plot", tmp_path / "a.png")
    assert_one_line(done, 2, "--plot draws what is predicted over time")
    assert_one_line(here("predict", model, data, "--plot", data), 2, "--plot cannot be", "it is read")
    assert_one_line(here("predict", model, data, "--plot", tmp_path / "a.xyz"), 1, "not 'xyz'")


# ---- processes, terminals, signals


def test_help_of_all_commands_imports_nothing_heavy():
    code = (
        "import sys\nfrom evoke.__main__ import main\nsys.argv = ['evoke', 'fit', '--help']\n"
        "try:\n    main()\nfinally:\n"
        "    print(sorted({'numpy', 'pandas', 'pyarrow', 'scipy', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "[]"


def test_results_on_stdout_and_nothing_else(data, tmp_path):
    out = tmp_path / "model.evk"
    done = evoke("fit", data, "--target", "side", "--task", "classify", "--features", "step", *QUICK, "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("EvokeClassifier: side from step; 1 sequence, ")
    assert done.stdout.splitlines()[-1] == f"written to {out}"
    done = evoke("predict", out, data)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("side\n")


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
    assert f"the best so far written to {out}, {plot}" in shown
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
    assert_one_line(done, 130, "interrupted before the first generation was done; nothing written")
    assert model.read_bytes() == before
    assert_clean(model.parent, "data.csv", "model.evk")


@pytest.mark.parametrize("command", ["fit", "predict", "info"])
@pytest.mark.parametrize("place", ["click", "evoke.cli", "numpy", "sklearn.base", "evoke._validation.arrays"])
def test_an_interrupt_of_an_import(data, model, place, command):
    """A real signal at the moment at which a module is looked for."""
    code = (
        "import os, signal, sys\nfrom evoke.__main__ import main\nplace = sys.argv.pop(1)\n"
        "class Finder:\n    def find_spec(name, *_):\n"
        "        if name == place:\n            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder)\nsys.exit(main())\n"
    )
    out = model.with_name("out.csv")
    arguments = {
        "fit": ["fit", data, "--target", "side", "--features", "step", "-o", out], "info": ["info", model],
        "predict": ["predict", model, data, "-o", out],
    }[command]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code, place, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert_one_line(done, 130, "interrupted")
    assert done.stderr == "Error: interrupted\n"
    assert not out.exists()
