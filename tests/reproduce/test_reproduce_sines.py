"""The superimposed sines, and the report of all experiments."""

import inspect
import json

import numpy as np
import pytest

from evoke import EvokeForecaster, reproduce, tasks
from evoke.reproduce import _sines as waves
from evoke.reproduce._statistics import quartiles

SMALL = {"runs": 2, "n_generations": 2, "readout": "pinv"}
KNOWN, TEST = np.split(tasks.superimposed_sines(2, 1000), [700])


@pytest.fixture(scope="module")
def small():
    return reproduce.sines(**SMALL, seed=7)


def without_seconds(result):
    return [{key: value for key, value in run.items() if key != "seconds"} for run in result["runs"]]


# ---- settings


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
@pytest.mark.parametrize("preset", ["paper", "tuned"])
def test_presets_are_parameters_of_the_forecaster(preset, readout):
    parameters = reproduce.sines_parameters(preset, readout)
    assert parameters["readout"] == readout
    assert {"washout", "validation", "random_state"}.isdisjoint(parameters)
    assert set(parameters) <= set(inspect.signature(EvokeForecaster).parameters)
    small = {"n_generations": 1, "subpopulation_size": 4, "n_trials": 1, "random_state": 0, "washout": 20}
    assert np.isfinite(EvokeForecaster(**parameters | small).fit(TEST[:60]).best_fitness_)


def test_the_paper_preset_has_the_values_of_the_paper():
    paper = reproduce.SINES_PRESETS["paper"]["svm"]
    assert paper["n_cells"] == 10
    assert paper["weight_range"] == 1.0
    assert (paper["kernel"], paper["gamma"], paper["C"]) == ("rbf", 0.25, 10.0)
    assert paper["n_generations"] == 50
    assert paper["n_generations"] * paper["subpopulation_size"] * paper["n_trials"] == 3000
    assert paper["validation_mode"] == "free"


def test_more_waves_take_more_cells():
    cells = [reproduce.sines_parameters("tuned", "svm", k)["n_cells"] for k in range(1, 9)]
    assert cells == [10, 10, 15, 20, 20, 20, 20, 20]
    assert reproduce.sines_parameters("tuned", "lssvm", 3)["gamma"] == 10.0
    assert reproduce.sines_parameters("tuned", "lssvm")["gamma"] == 1.0
    assert reproduce.SINES_PRESETS["tuned"]["svm"]["n_cells"] == 10


# ---- the result


def test_contract_of_the_result(small):
    result = json.loads(json.dumps(small, allow_nan=False))
    assert result == small  # only what JSON has
    assert (result["task"], result["waves"], result["preset"]) == ("sines", 2, "tuned")
    assert (result["solver"], result["readout"]) == ("auto", "pinv")
    assert [run["seed"] for run in result["runs"]] == [7, 8]
    for run in result["runs"]:
        assert set(run) == {"seed", "sse", "nrmse", "one_step_sse", "fitness", "generations", "evaluations", "seconds"}
        assert run["nrmse"] == pytest.approx(np.sqrt(run["sse"] / (300 * TEST.var())), rel=1e-12)
        assert run["generations"] == 2
        assert run["evaluations"] == 2 * 20 * 3
        assert isinstance(run["fitness"], float)
    assert result["unfinished"] == []
    assert result["interrupted"] is False
    assert result["published"] == {"PI-Evolino": 0.003, "Evoke": 0.021}
    assert 0.0 < result["linear_window_sse"] < 1e-20
    sse = [run["sse"] for run in result["runs"]]
    assert result["mean_sse"] == result["median_sse"] == pytest.approx(np.mean(sse))
    assert result["worst_sse"] == max(sse)
    assert result["mean_one_step_sse"] == np.mean([run["one_step_sse"] for run in result["runs"]])
    assert result["n_diverged"] == 0
    config = result["config"]
    assert (config["seed"], config["runs"], config["n_jobs"]) == (7, 2, 1)
    assert config["simd"]["used"] in config["simd"]["supported"]
    assert (config["parameters"]["washout"], config["parameters"]["validation"]) == (100, "half")
    assert EvokeForecaster(**config["parameters"]).get_params()["feedback_scale"] == 1e-5


def test_a_run_is_what_the_forecaster_does(small):
    parameters = reproduce.sines_parameters("tuned", "pinv") | {"n_generations": 2, "random_state": 8}
    model = EvokeForecaster(**parameters, washout=100).fit(KNOWN)
    run = small["runs"][1]
    assert run["fitness"] == model.best_fitness_
    assert run["sse"] == ((model.generate(300) - TEST) ** 2).sum()
    told = model.predict_one_step(np.concatenate([KNOWN, TEST]))[700:]
    assert run["one_step_sse"] == ((told - TEST) ** 2).sum()
    single = reproduce.run_sines(8, readout="pinv", n_generations=2)
    np.testing.assert_array_equal(single.pop("generated"), model.generate(300))
    assert single | {"seconds": 0} == run | {"seconds": 0}


def test_training_and_validation_are_those_of_the_paper():
    class Seen(Exception):
        pass

    class Look:
        def watch(self, run):
            raise Seen(run.problem.train.rows, run.problem.validation.rows)

    with pytest.raises(Seen) as seen:
        reproduce.run_sines(0, callbacks=[Look()])
    train, validation = seen.value.args  # the steps of a single series are its rows
    np.testing.assert_array_equal(train + 1, np.arange(101, 401))
    np.testing.assert_array_equal(validation + 1, np.arange(401, 701))


def test_the_typical_run_can_be_drawn(small):
    order = sorted(small["runs"], key=lambda run: run["sse"])
    assert small["free_run"]["seed"] == order[0]["seed"]
    generated = np.array(small["free_run"]["generated"])
    assert ((generated - TEST) ** 2).sum() == order[0]["sse"]


def test_no_result_depends_on_the_number_of_jobs(small):
    result = reproduce.sines(**SMALL, seed=7, n_jobs=2)
    assert without_seconds(result) == without_seconds(small)
    assert result["free_run"] == small["free_run"]


def test_preset_waves_and_readout_matter():
    result = reproduce.sines(runs=1, n_generations=1, preset="paper", readout="lssvm", waves=3)
    assert result["config"]["parameters"]["C"] == 10.0
    assert result["config"]["parameters"]["n_cells"] == 15
    assert result["runs"][0]["evaluations"] == 60
    assert result["published"] == {"PI-Evolino": None, "Evoke": None}
    table = reproduce.markdown(result)
    assert "# 3 superimposed sines" in table
    assert "published |" not in table


def test_good_runs_are_better_than_the_paper():
    result = reproduce.sines(runs=2, readout="lssvm", seed=1000, n_generations=10)
    assert result["worst_sse"] < 0.003


def fake_runs(monkeypatch, outcomes):
    def run(seed, *args):
        sse = outcomes[seed]
        if isinstance(sse, BaseException):
            raise sse
        nrmse, generated = (None, None) if sse is None else (0.5, [float(seed)] * 300)
        return {"seed": seed, "sse": sse, "nrmse": nrmse, "one_step_sse": 0.5, "fitness": 0.25, "generations": 1,
                "evaluations": 2, "seconds": 0.5, "generated": generated}  # fmt: skip

    monkeypatch.setattr(waves, "run_sines", run)
    return {"runs": len(outcomes)}


def test_statistics(monkeypatch):
    result = reproduce.sines(**fake_runs(monkeypatch, [4.0, 1.0, 2.0, 8.0, 5.0]))
    assert (result["mean_sse"], result["median_sse"], result["worst_sse"]) == (4.0, 4.0, 8.0)
    assert result["quartiles_sse"] == [2.0, 4.0, 5.0]
    assert result["free_run"] == {"seed": 0, "generated": [0.0] * 300}
    assert "| 4 | 4 | 2 to 5 | 8 | 1 | 0 of 5 | 0.5 |" in reproduce.markdown(result)


def test_diverging_runs_are_counted_not_hidden(monkeypatch):
    result = reproduce.sines(**fake_runs(monkeypatch, [None, 1.0, None, 2.0, 3.0]))
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert [run["sse"] for run in result["runs"]] == [None, 1.0, None, 2.0, 3.0]
    assert result["n_diverged"] == 2
    assert result["mean_sse"] is result["worst_sse"] is None
    assert result["median_sse"] == 3.0
    assert result["quartiles_sse"] == [2.0, 3.0, None]
    assert result["free_run"]["seed"] == 4
    table = reproduce.markdown(result)
    assert "| infinite | 3 | 2 to infinite | infinite | 1 | 2 of 5 | 0.5 |" in table
    assert "| 2 | diverges | - | 0.25 | 1 | 2 | 0.50 |" in table


def test_all_diverge(monkeypatch):
    result = reproduce.sines(**fake_runs(monkeypatch, [None, None]))
    assert result["quartiles_sse"] == [None, None, None]
    assert result["free_run"] is None
    row = "| infinite | infinite | infinite to infinite | infinite | infinite | 2 of 2 | 0.5 |"
    assert row in reproduce.markdown(result)


def test_a_free_run_that_diverges_has_no_error(monkeypatch):
    def generate(self, n_steps):
        raise FloatingPointError("not finite")

    monkeypatch.setattr(EvokeForecaster, "generate", generate)
    run = reproduce.run_sines(0, readout="pinv", n_generations=1)
    assert run["sse"] is run["nrmse"] is run["generated"] is None
    monkeypatch.setattr(EvokeForecaster, "generate", lambda self, n_steps: np.full(n_steps, 1e200))
    run = reproduce.run_sines(0, readout="pinv", n_generations=1)
    assert run["sse"] is run["nrmse"] is run["generated"] is None


def test_quartiles_beside_infinity():
    assert quartiles([1.0, 2.0, np.inf]).tolist() == [1.5, 2.0, np.inf]
    assert quartiles([np.inf]).tolist() == [np.inf] * 3
    assert quartiles([1.0, 2.0, 3.0, 4.0]).tolist() == [1.75, 2.5, 3.25]


def test_a_failed_run_is_listed(monkeypatch):
    result = reproduce.sines(**fake_runs(monkeypatch, [1.0, ValueError("no | good"), 3.0]))
    assert [run["seed"] for run in result["runs"]] == [0, 2]
    assert result["mean_sse"] == 2.0
    assert result["unfinished"][0]["reason"] == "ValueError: no | good"
    assert r"| 1 | ValueError: no \| good | - | 0 | 0 |" in reproduce.markdown(result)


def test_nothing_finished(monkeypatch):
    result = reproduce.sines(**fake_runs(monkeypatch, [MemoryError()]))
    assert result["mean_sse"] is result["median_sse"] is result["quartiles_sse"] is result["free_run"] is None
    assert "readout svm | - | - |" in reproduce.markdown(result)


def test_markdown_is_made_of_whole_tables(small):
    table = reproduce.markdown(small)
    assert table.endswith(".\n")
    for word in ("| PI-Evolino, published | 0.003 |", "| Evoke, published | 0.021 |", "t = 701..1000", "seeds 7..8",
                 "| linear predictor of 40 values", "feedback_scale=1e-05", "s in total"):  # fmt: skip
        assert word in table
    for block in table.split("\n\n"):
        rows = [row for row in block.splitlines() if row.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


@pytest.mark.parametrize(
    "argument, value",
    [
        ("waves", 0), ("waves", 9), ("waves", 2.0), ("runs", 0), ("seed", -1), ("n_jobs", 0), ("n_generations", 0),
        ("preset", "best"), ("solver", "libsvm"), ("readout", "knn"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(ValueError, match=rf"^{argument} must be .*, got {value!r}$"):
        reproduce.sines(**SMALL | {argument: value})


def test_interrupt_keeps_what_is_known():
    def progress(run):
        if run["seed"] == 1 and run["generations"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(reproduce.Interrupted) as caught:
        reproduce.sines(runs=5, n_generations=2, readout="pinv", progress=progress)
    result = caught.value.result
    assert result["interrupted"] is True
    assert [run["seed"] for run in result["runs"]] == [0]
    (current,) = result["unfinished"]
    assert (current["seed"], current["status"], current["generations"]) == (1, "interrupted", 2)
    assert result["free_run"]["seed"] == 0
    assert np.shape(current["genome"]) == (10, 44)
    json.dumps(result, allow_nan=False)


# ---- all experiments


def test_the_experiments_are_both_tables_with_every_readout():
    settings = {(task, *more.values()) for task, more in reproduce.EXPERIMENTS}
    assert settings == {
        (task, size, preset, readout)
        for task, size in (("anbncn", 10), ("anbncn", 20), ("sines", 2))
        for preset in ("paper", "tuned")
        for readout in ("svm", "lssvm", "pinv")
    }
    stems = [reproduce.file_stem(task, **more) for task, more in reproduce.EXPERIMENTS]
    assert len(set(stems)) == len(stems) == 18
    assert stems[0] == "anbncn-N10-paper-svm"
    assert stems[-1] == "sines-2-tuned-lssvm"


def test_report(small):
    strings = reproduce.anbncn(runs=1, n_generations=1, test_max=5, n_max=20, readout="pinv", preset="paper")
    other = reproduce.sines(**SMALL | {"runs": 1}, preset="paper")
    other |= {"unfinished": [{"seed": 1}], "config": other["config"] | {"runs": 2}}
    text = reproduce.report([strings, small, other], "figure.png")
    assert "## A^n" not in text
    for word in ("## a^n b^n c^n, trained on n = 1..20", "| PI-Evolino, published | 95 |", "## 2 superimposed sines",
                 "| [anbncn-N20-paper-pinv](anbncn-N20-paper-pinv.md): PI-Evolino, preset paper |",
                 "| [sines-2-tuned-pinv](sines-2-tuned-pinv.md): PI-Evolino, preset tuned |", "(figure.png)",
                 "[sines-2-paper-pinv](sines-2-paper-pinv.md): failed, 1 of 2 runs finished.",
                 "Incomplete: 3 of 18 experiments done."):  # fmt: skip
        assert word in text
    assert text.count("| PI-Evolino, published | 0.003 |") == 1
    assert "figure" not in reproduce.report([small])
    assert "Incomplete: 0 of 18" in reproduce.report([])
