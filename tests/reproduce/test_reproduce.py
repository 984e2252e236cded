import _thread
import inspect
import json
import re
import signal

import numpy as np
import pytest

from evoke import EvokeClassifier, reproduce, tasks
from evoke.reproduce import _anbncn as grammar

SMALL = {"runs": 2, "n_generations": 3, "test_max": 30}


@pytest.fixture
def ctrl_c():
    """Python's own reaction to SIGINT, also where the test run was started with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield _thread.interrupt_main
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def no_long_strings(monkeypatch):
    """The long strings, which take longer than a small evolution, are not tested."""
    monkeypatch.setattr(tasks, "anbncn_accepts", lambda model, n: False)


@pytest.fixture(scope="module")
def small():
    return reproduce.anbncn(**SMALL, seed=7)


def without_seconds(result):
    return [{key: value for key, value in run.items() if key != "seconds"} for run in result["runs"]]


# ---- settings


def test_presets_are_parameters_of_the_classifier():
    assert set(reproduce.PRESETS) == {"paper", "tuned", "languages"}
    for preset in reproduce.PRESETS.values():
        assert set(preset) <= set(inspect.signature(EvokeClassifier).parameters)
        EvokeClassifier(**preset | {"n_generations": 1}, random_state=0).fit(*tasks.anbncn(2))


def test_the_paper_preset_has_the_values_of_the_paper():
    paper = reproduce.PRESETS["paper"]
    assert paper["n_cells"] == 5
    assert paper["weight_range"] == 5.0
    assert paper["mutation_scale"] == 0.1
    assert paper["gate_bias"] == (0.0, 1.5, -1.5)
    assert (paper["kernel"], paper["gamma"], paper["C"]) == ("rbf", 0.25, 100.0)
    assert paper["n_generations"] == 50


# ---- the result


def test_contract_of_the_result(small):
    result = json.loads(json.dumps(small, allow_nan=False))
    assert result == small  # only what JSON has
    assert (result["task"], result["n_max"], result["preset"]) == ("anbncn", 10, "tuned")
    assert (result["solver"], result["readout"]) == ("auto", "svm")
    assert [run["seed"] for run in result["runs"]] == [7, 8]
    for run in result["runs"]:
        assert set(run) == {"seed", "accepted", "fitness", "generations", "evaluations", "seconds", "spot"}
        assert isinstance(run["accepted"], int)
        assert 0 <= run["accepted"] <= 30
        assert isinstance(run["fitness"], float)
        assert run["generations"] == 3
        assert run["evaluations"] == 3 * 40 * 5
        assert isinstance(run["seconds"], float)
        assert set(run["spot"]) == {"10000", "100000", "1000000"}
        assert all(type(accepts) is bool for accepts in run["spot"].values())
    assert result["unfinished"] == []
    assert result["interrupted"] is False
    assert result["published"] == {"G-LSTM": 29, "PI-Evolino": 53, "Evoke": 257}
    config = result["config"]
    assert (config["seed"], config["runs"], config["test_max"], config["n_jobs"]) == (7, 2, 30, 1)
    assert config["simd"]["used"] in config["simd"]["supported"]
    assert "numpy" in config["packages"]
    parameters = config["parameters"]
    assert parameters["n_generations"] == 3
    assert parameters["gate_bias"] == [0.0, 1.5, -1.5]
    assert EvokeClassifier(**parameters).get_params()["weight_range"] == parameters["weight_range"]


def test_a_run_is_what_the_classifier_does(small):
    parameters = reproduce.PRESETS["tuned"] | {"n_generations": 3, "random_state": 8}
    model = EvokeClassifier(**parameters).fit(*tasks.anbncn(10))
    run = small["runs"][1]
    assert run["fitness"] == model.best_fitness_
    assert run["accepted"] == tasks.anbncn_accepted(model, 30)
    assert without_seconds({"runs": [reproduce.run_anbncn(8, n_generations=3, test_max=30)]}) == [
        {key: value for key, value in run.items() if key != "seconds"}
    ]


def test_no_result_depends_on_the_number_of_jobs(small):
    assert without_seconds(reproduce.anbncn(**SMALL, seed=7, n_jobs=2)) == without_seconds(small)


@pytest.mark.usefixtures("no_long_strings")
def test_preset_and_strings_matter():
    result = reproduce.anbncn(runs=1, n_generations=2, test_max=5, preset="paper", n_max=20)
    assert result["config"]["parameters"]["gamma"] == 0.25
    assert result["runs"][0]["evaluations"] == 2 * 200
    assert result["published"] == {"G-LSTM": 67, "PI-Evolino": 95, "Evoke": 374}
    other = reproduce.anbncn(runs=1, n_generations=1, test_max=5, n_max=4)
    assert other["published"] == {"G-LSTM": None, "PI-Evolino": None, "Evoke": None}
    assert "published |" not in reproduce.markdown(other)


@pytest.mark.usefixtures("no_long_strings")
@pytest.mark.parametrize("readout", ["lssvm", "pinv"])
def test_readout_matters(small, readout):
    result = reproduce.anbncn(**SMALL | {"runs": 1}, seed=7, readout=readout)
    assert result["readout"] == result["config"]["parameters"]["readout"] == readout
    model = EvokeClassifier(**reproduce.PRESETS["tuned"] | {"n_generations": 3, "random_state": 7, "readout": readout})
    assert result["runs"][0]["fitness"] == model.fit(*tasks.anbncn(10)).best_fitness_ != small["runs"][0]["fitness"]
    assert f"readout {readout} |" in reproduce.markdown(result)


def fake_runs(monkeypatch, outcomes):
    def run(seed, *args):
        if isinstance(outcomes[seed], BaseException):
            raise outcomes[seed]
        return {"seed": seed, "accepted": outcomes[seed], "fitness": 0.25, "generations": 1, "evaluations": 2,
                "seconds": 0.5, "spot": {"10000": True, "100000": seed == 0, "1000000": False}}  # fmt: skip

    monkeypatch.setattr(grammar, "run_anbncn", run)
    return {"runs": len(outcomes), "test_max": 100}


def test_statistics(monkeypatch):
    result = reproduce.anbncn(**fake_runs(monkeypatch, [100, 10, 20, 100, 45]))
    assert result["mean_accepted"] == 55.0
    assert result["median_accepted"] == 45.0
    assert result["quartiles_accepted"] == [20.0, 45.0, 100.0]
    assert result["n_at_cap"] == 2
    table = reproduce.markdown(result)
    assert "| at least 55.0 | 45 | 20 to 100 | 10 | 100 | 2 of 5 |" in table
    assert "| accepted by | 5 of 5 | 1 of 5 | 0 of 5 |" in table
    assert "| 1 | 10 | 0.25 | 1 | 2 | 0.50 | yes | no | no |" in table


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failed_run_is_listed(monkeypatch, n_jobs):
    outcomes = [30, ValueError("no | good\nat all"), 50]
    result = reproduce.anbncn(**fake_runs(monkeypatch, outcomes), n_jobs=n_jobs)
    assert [run["seed"] for run in result["runs"]] == [0, 2]
    assert result["mean_accepted"] == 40.0
    (failed,) = result["unfinished"]
    assert (failed["seed"], failed["status"], failed["reason"]) == (1, "failed", "ValueError: no | good\nat all")
    table = reproduce.markdown(result)
    assert "| 40.0 |" in table
    assert r"| 1 | ValueError: no \| good at all | - | 0 | 0 |" in table


def test_nothing_finished(monkeypatch):
    result = reproduce.anbncn(**fake_runs(monkeypatch, [MemoryError()]))
    assert result["mean_accepted"] is result["median_accepted"] is result["quartiles_accepted"] is None
    assert result["n_at_cap"] == 0
    assert "preset tuned, solver auto, readout svm | - | - |" in reproduce.markdown(result)


def test_markdown_is_made_of_whole_tables(small):
    table = reproduce.markdown(small)
    assert table.endswith(".\n")
    for word in ("| G-LSTM, published | 29 |", "| PI-Evolino, published | 53 |", "| Evoke, published | 257 |",
                 "seeds 7..8", "tested up to 30", "numpy", "n_cells=5", "s in total"):  # fmt: skip
        assert word in table
    for block in table.split("\n\n"):
        rows = block.splitlines()
        if rows[0].startswith("|"):
            assert len({row.count("|") for row in rows}) == 1
            assert len(rows) >= 3


@pytest.mark.usefixtures("no_long_strings")
def test_progress_sees_every_generation_and_the_end():
    seen = []
    reproduce.anbncn(**SMALL, progress=lambda run: seen.append((run["seed"], run["status"], run["generations"])))
    assert seen == [
        (seed, status, generations)
        for seed in (0, 1)
        for status, generations in (("running", 1), ("running", 2), ("running", 3), ("finished", 3))
    ]


# ---- refusals


@pytest.mark.parametrize(
    "argument, value",
    [
        ("n_max", 1), ("n_max", 10**9), ("n_max", 2.5), ("runs", 0), ("runs", "2"), ("runs", True), ("seed", -1),
        ("seed", None), ("test_max", 0), ("n_jobs", 0), ("n_jobs", 1.5), ("n_jobs", None), ("n_generations", 0),
        ("preset", "best"), ("solver", "libsvm"), ("readout", "knn"), ("readout", ["svm"]),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(ValueError, match=rf"^{argument} must be .*, got {re.escape(repr(value))}$"):
        reproduce.anbncn(**SMALL | {argument: value})


@pytest.mark.parametrize("experiment", [reproduce.anbncn, reproduce.sines])
def test_thundersvm_trains_support_vector_machines_only(experiment):
    with pytest.raises(ValueError, match=r"^solver='thundersvm' .* readout='pinv'"):
        experiment(solver="thundersvm", readout="pinv")


def test_a_missing_solver_is_told_before_any_run(monkeypatch, tmp_path):
    monkeypatch.setenv("EVOKE_THUNDERSVM_LIB", str(tmp_path / "missing.so"))
    with pytest.raises(RuntimeError, match=r"missing\.so"):
        reproduce.anbncn(**SMALL, solver="thundersvm")


# ---- Ctrl-C


@pytest.mark.usefixtures("no_long_strings")
def test_interrupt_keeps_what_is_known():
    def progress(run):
        if run["seed"] == 1 and run["generations"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(reproduce.Interrupted) as caught:
        reproduce.anbncn(runs=5, n_generations=3, test_max=30, progress=progress)
    result = caught.value.result
    assert result["interrupted"] is True
    assert [run["seed"] for run in result["runs"]] == [0]
    (current,) = result["unfinished"]
    assert (current["seed"], current["status"], current["generations"]) == (1, "interrupted", 2)
    history = []
    parameters = reproduce.PRESETS["tuned"] | {"n_generations": 2, "random_state": 1}
    model = EvokeClassifier(**parameters, callbacks=[lambda record, esp: history.append(record)])
    model.fit(*tasks.anbncn(10))
    assert current["fitness"] == model.best_fitness_
    np.testing.assert_array_equal(current["genome"], model.genome_)
    json.dumps(result, allow_nan=False)
    assert "Interrupted: 1 of 5 runs finished, 2 started." in reproduce.markdown(result)


def test_interrupt_reaches_runs_in_threads(ctrl_c):
    def progress(run):
        if run["generations"] == 2:
            ctrl_c()

    with pytest.raises(reproduce.Interrupted) as caught:
        reproduce.anbncn(runs=10_000, n_generations=10_000, test_max=30, n_jobs=2, progress=progress)
    result = caught.value.result
    assert result["interrupted"] is True
    assert result["runs"] == []
    assert 1 <= len(result["unfinished"]) <= 4
    assert max(run["generations"] for run in result["unfinished"]) >= 2
    assert {run["status"] for run in result["unfinished"]} == {"interrupted"}


def test_interrupted_fit_is_the_fit_so_far():
    def stop(record, esp):
        if record["generation"] == 3:
            raise KeyboardInterrupt

    X, y = tasks.anbncn(6)
    model = EvokeClassifier(n_generations=1000, random_state=0, callbacks=[stop])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    short = EvokeClassifier(n_generations=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.genome_, short.genome_)
    assert model.history_ == short.history_
    assert model.score(X, y) == short.score(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_fit(ctrl_c, n_jobs):
    def second(record, esp):
        if record["generation"] == 2:
            # From another thread: the signal finds the main thread anywhere, in the core as well.
            _thread.start_new_thread(ctrl_c, ())

    X, y = tasks.anbncn(6)
    model = EvokeClassifier(n_generations=10**9, random_state=0, n_jobs=n_jobs, callbacks=[second])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(model.history_) >= 2
    assert model.predict(X)[0].shape == (4, 4)
