"""EvokeClassifier: random numbers, threads, copies, warm starts, callbacks, interrupts."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.exceptions import NotFittedError

from evoke import ESP
from evoke._core.kernel import Kernel
from evoke._core.lstm import Network
from helpers.classifiers import EQUAL, ONES, RAGGED, STEPS, assert_same_model, tiny


@pytest.fixture(scope="module")
def per_step():
    return tiny().fit(EQUAL, STEPS)


# ---- randomness and parallelism


def seeds():
    return [0, 5, np.int64(5), np.random.SeedSequence(5), np.random.default_rng(5), np.random.RandomState(5)]


@pytest.mark.parametrize("k", range(6))
def test_every_kind_of_seed_repeats(k):
    first, again = (tiny(random_state=seeds()[k]).fit(EQUAL, STEPS) for _ in range(2))
    assert_same_model(first, again)
    other = tiny(random_state=1).fit(EQUAL, STEPS)
    assert not np.array_equal(first.genome_, other.genome_)


def test_without_a_seed_every_fit_is_another():
    a, b = (tiny(random_state=None).fit(EQUAL, STEPS) for _ in range(2))
    assert not np.array_equal(a.genome_, b.genome_)


def test_the_global_generator_is_neither_read_nor_touched(per_step):
    np.random.seed(3)
    np.random.random(100)
    before = np.random.get_state()
    assert_same_model(tiny().fit(EQUAL, STEPS), per_step)
    tiny(random_state=None).fit(EQUAL, STEPS)
    after = np.random.get_state()
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


MANY = dict(subpopulation_size=12, n_trials=3)  # several blocks of networks


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_the_number_of_jobs_changes_nothing(n_jobs):
    expected = tiny(**MANY).fit(RAGGED, ONES)
    model = tiny(**MANY, n_jobs=n_jobs).fit(RAGGED, ONES)
    assert_same_model(model, expected)
    np.testing.assert_array_equal(model.decision_function(RAGGED), expected.decision_function(RAGGED))


def test_processes_change_nothing():
    expected = tiny(**MANY).fit(RAGGED, ONES)
    with parallel_config(backend="loky", n_jobs=2):
        assert_same_model(tiny(**MANY).fit(RAGGED, ONES), expected)


def test_fits_in_threads_do_not_disturb_each_other():
    models = [tiny(random_state=k) for k in range(4)]
    expected = [tiny(random_state=k).fit(EQUAL, STEPS) for k in range(4)]
    threads = [threading.Thread(target=model.fit, args=(EQUAL, STEPS)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model, same in zip(models, expected, strict=True):
        assert_same_model(model, same)


# ---- copies and files


def test_pickle_and_deepcopy(per_step):
    d = np.array(per_step.decision_function(EQUAL))
    for copied in (pickle.loads(pickle.dumps(per_step)), copy.deepcopy(per_step)):
        np.testing.assert_array_equal(np.array(copied.decision_function(EQUAL)), d)
        stream = copied.stream()
        del copied
        np.testing.assert_array_equal(stream.decision_function(EQUAL[0]), d[0])
    np.testing.assert_array_equal(np.array(per_step.decision_function(EQUAL)), d)


def test_a_model_of_another_process(per_step, tmp_path):
    joblib.dump(per_step, tmp_path / "model")
    code = (
        "import sys, joblib, numpy as np; model = joblib.load(sys.argv[1]);"
        "X = np.load(sys.argv[2]); np.save(sys.argv[3], model.decision_function(X))"
    )
    files = [str(tmp_path / name) for name in ("model", "X.npy", "d.npy")]
    np.save(files[1], np.array(EQUAL))
    subprocess.run([sys.executable, "-W", "error", "-c", code, *files], check=True)
    np.testing.assert_array_equal(np.load(files[2]), per_step.decision_function(EQUAL))


def test_a_model_is_made_of_plain_values(per_step):
    def plain(value):
        if isinstance(value, dict):
            return all(map(plain, value.values()))
        if isinstance(value, (list, tuple)):
            return all(map(plain, value))
        if hasattr(value, "__dict__") and not isinstance(value, np.ndarray):
            return plain(vars(value))
        return value is None or isinstance(value, (str, int, float, np.ndarray, np.generic, Kernel, Network))

    assert plain(vars(per_step))


def test_an_unpickled_model_goes_on(per_step):
    straight = tiny(n_generations=4).fit(EQUAL, STEPS)
    model = pickle.loads(pickle.dumps(per_step)).set_params(warm_start=True).fit(EQUAL, STEPS)
    assert_same_model(model, straight)


# ---- warm start


@pytest.mark.parametrize("more", [{}, {"n_jobs": 2}, {"burst_patience": 1}, {"credit": "mean"}])
def test_going_on_equals_one_run(more):
    straight = tiny(n_generations=6, **more).fit(EQUAL, STEPS)
    model = tiny(n_generations=3, warm_start=True, **more)
    halfway = model.fit(EQUAL, STEPS).history_
    model.fit(EQUAL, STEPS)
    assert_same_model(model, straight)
    assert len(halfway) == 3 and model.n_evaluations_ == straight.n_evaluations_
    model.set_params(warm_start=False, n_generations=6).fit(EQUAL, STEPS)
    assert_same_model(model, straight)


def test_on_other_data_the_best_network_is_judged_anew():
    model = tiny(warm_start=True, n_generations=1, objective="count").fit(EQUAL, STEPS)
    genome = model.genome_
    opposite = [np.arange(5) % 2 for _ in EQUAL]
    model.fit(EQUAL, opposite)
    errors = [sum((p != t).sum() for p, t in zip(model.predict(EQUAL), opposite, strict=True))]
    assert model.best_fitness_ == errors[0]
    assert model.genome_.shape == genome.shape


@pytest.mark.parametrize("name, value", [("n_cells", 2), ("subpopulation_size", 5), ("mutation_scale", 0.5)])
def test_the_population_cannot_go_on_with_other_parameters(name, value):
    model = tiny(warm_start=True).fit(EQUAL, STEPS)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="warm_start cannot continue the last fit"):
        model.set_params(**{name: value}).fit(EQUAL, STEPS)
    assert_same_model(model, before)
    model.set_params(warm_start=False).fit(EQUAL, STEPS)


@pytest.mark.parametrize("n_cells, n_columns, now", [(2, 2, "2 cells and 2 inputs"), (3, 1, "3 cells and 1 inputs")])
def test_the_population_cannot_go_on_with_other_numbers_of_cells_or_inputs(n_cells, n_columns, now):
    model = tiny(warm_start=True).fit(EQUAL, STEPS)
    message = f"warm_start .* which had 3 cells and 2 inputs: the parameters and X now give {now}"
    with pytest.raises(ValueError, match=message):
        model.set_params(n_cells=n_cells).fit([x[:, :n_columns] for x in EQUAL], STEPS)


# ---- callbacks, interrupts, output


def test_callbacks_are_called_every_generation_and_may_stop():
    seen = []

    def callback(record, esp):
        assert isinstance(esp, ESP)
        seen.append(record)
        return record["generation"] == 2

    model = tiny(n_generations=5, callbacks=[callback]).fit(EQUAL, STEPS)
    assert seen == model.history_ and len(seen) == 2
    assert_same_model(model, tiny(n_generations=2).fit(EQUAL, STEPS))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_keeps_the_best_so_far(kind, n_jobs):
    def callback(record, _esp):
        if record["generation"] == 2:
            raise kind

    model = tiny(n_generations=5, callbacks=(callback,), n_jobs=n_jobs)
    with pytest.raises(kind):
        model.fit(EQUAL, STEPS)
    assert_same_model(model, tiny(n_generations=2).fit(EQUAL, STEPS))
    assert model.score(EQUAL, STEPS) >= 0.5
    model.set_params(callbacks=None, warm_start=True, n_generations=3).fit(EQUAL, STEPS)
    assert_same_model(model, tiny(n_generations=5).fit(EQUAL, STEPS))


def test_an_interrupt_before_the_first_generation_leaves_nothing_behind(monkeypatch):
    def interrupt(*_args):
        raise KeyboardInterrupt

    model = tiny()
    with monkeypatch.context() as patch:
        patch.setattr("evoke.evolution.workers.evaluate", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(EQUAL, STEPS)
    with pytest.raises(NotFittedError):
        model.predict(EQUAL)
    model.fit(EQUAL, STEPS)


def test_silence(capfd):
    model = tiny(n_jobs=2).fit(EQUAL, STEPS)
    model.predict(EQUAL)
    assert capfd.readouterr() == ("", "")
    tiny(verbose=1).fit(EQUAL, STEPS)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert [line.split()[:2] for line in captured.err.splitlines()] == [["generation", "1"], ["generation", "2"]]


def test_importing_writes_no_file(tmp_path):
    code = "import evoke; evoke.EvokeClassifier, evoke.ESP, evoke.tasks, evoke.svm"
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, env=environment,
                            capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []
