"""The backends of joblib: the same bits on all of them, workers that die, Ctrl-C. Dask and Ray are real local clusters.

What runs in a worker is a local function, which is pickled by value: workers do not find the modules of the tests.
"""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, reproduce, tasks
from evoke.evolution import archipelago, workers
from evoke.evolution.evaluation import evaluate
from evoke.exceptions import WorkerLostError
from evoke.reproduce import _anbncn as grammar
from evoke.reproduce import _sines as waves

pytestmark = pytest.mark.xdist_group("distributed")  # one process, as starting a cluster takes seconds

GENERATIONS = 4
SMALL = {"n_cells": 3, "subpopulation_size": 16, "n_generations": GENERATIONS, "random_state": 0}


@contextlib.contextmanager
def dask_cluster():
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):

        @contextlib.contextmanager
        def in_force():
            for _ in range(300):  # one that a test has killed is missed, and comes back
                if len(client.run(os.getpid, on_error="ignore")) == 2:
                    break
                time.sleep(0.1)
            else:  # or does not, on a machine with too much to do
                client.restart(timeout=60)
            with parallel_config("dask", wait_for_workers_timeout=60):  # a busy machine
                yield

        yield in_force


@contextlib.contextmanager
def ray_cluster():
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
    import ray
    from ray.util.joblib import register_ray

    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    register_ray()
    try:
        yield lambda: parallel_config("ray", n_jobs=2)
    finally:
        ray.shutdown()


def cluster(name):
    marks = [pytest.mark.distributed]
    if importlib.util.find_spec({"dask": "distributed"}.get(name, name)) is None:
        marks.append(pytest.mark.skip(reason=f"needs {name}"))
    return pytest.param(name, marks=marks)


@pytest.fixture(scope="module", params=["loky", cluster("dask"), cluster("ray")])
def backend(request):
    """A context manager that puts a backend with two workers in force."""
    clusters = {"dask": dask_cluster, "ray": ray_cluster}
    if request.param in clusters:
        with clusters[request.param]() as in_force:
            yield in_force
    else:
        yield lambda: parallel_config(request.param, n_jobs=2)


def problems():
    X, y = tasks.anbncn(4)
    wave = tasks.superimposed_sines(2, 60)[:, None]
    return {
        "classifier": (EvokeClassifier, X, y),
        "regressor": (EvokeRegressor, [wave[:30], wave[20:45]], [wave[1:31, 0], wave[21:46, 0]]),
        "forecaster": (EvokeForecaster, wave, None),
    }


def fitted(kind="classifier", **parameters):
    estimator, X, y = problems()[kind]
    return estimator(**SMALL | parameters).fit(*(X,) if y is None else (X, y))


def predicted(model, kind="classifier"):
    X = problems()[kind][1]
    return model.generate(5) if kind == "forecaster" else np.concatenate(model.predict(X))


def assert_same(model, other, kind="classifier"):
    np.testing.assert_array_equal(model.genome_, other.genome_)
    np.testing.assert_array_equal(predicted(model, kind), predicted(other, kind))
    assert model.history_ == other.history_


def without_seconds(result):
    return [{key: value for key, value in run.items() if key != "seconds"} for run in result["runs"]]


# ---- the same everywhere


@pytest.mark.parametrize("kind, n_jobs", [("classifier", 2), ("regressor", None), ("forecaster", -1)])
def test_fits_are_the_same(backend, kind, n_jobs):
    with backend():
        model = fitted(kind, n_jobs=n_jobs)
    assert_same(model, fitted(kind), kind)


@pytest.mark.parametrize("kind, parameters", [
    pytest.param("classifier", {"n_islands": 3, "migrate_every": 2, "n_generations": 7}, marks=pytest.mark.slow),
    ("forecaster", {"n_islands": 3, "migrate_every": 2, "n_generations": 7}),
    pytest.param("classifier", {"n_restarts": 3, "n_generations": 2, "search": "cmaes"}, marks=pytest.mark.slow),
    ("forecaster", {"n_restarts": 3, "n_generations": 8}),
])  # fmt: skip
def test_several_are_the_same_and_one_whose_worker_dies_is_evolved_again(
    backend, kind, parameters, monkeypatch, tmp_path
):
    expected = fitted(kind, **parameters)
    with backend():
        assert_same(fitted(kind, **parameters), expected, kind)
    evolve_there, flag = archipelago.evolve_there, str(tmp_path / "died")

    def dies_once(digest, problem, n_generations, island):
        if island.generation == 2:  # in the second epoch
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return evolve_there(digest, problem, n_generations, island)

    monkeypatch.setattr(archipelago, "evolve_there", dies_once)
    with backend():
        assert_same(fitted(kind, **parameters), expected, kind)
    assert os.path.exists(flag)


def test_islands_whose_workers_die_always_leave_the_best(backend, monkeypatch):
    def dies(digest, problem, n_generations, island):
        os._exit(1)

    def second(record, _esp):
        if record["generation"] == 2:
            monkeypatch.setattr(archipelago, "evolve_there", dies)

    monkeypatch.setattr(workers, "TRIES", 2)
    estimator, X, y = problems()["classifier"]
    parameters = SMALL | {"n_islands": 2, "migrate_every": 1}
    model = estimator(**parameters, n_jobs=2, callbacks=[second])
    with backend(), pytest.raises(WorkerLostError, match="is kept"):
        model.fit(X, y)
    monkeypatch.undo()
    assert_same(model, estimator(**parameters | {"n_generations": 2}).fit(X, y))


@pytest.mark.parametrize("backend", [cluster("dask")], indirect=True)
def test_an_island_whose_worker_hangs_is_evolved_by_another(backend, monkeypatch, tmp_path):
    parameters = {"n_islands": 4, "migrate_every": 2, "n_generations": 6}
    expected = fitted(**parameters)
    evolve_there = archipelago.evolve_there
    hangs, released, went_on = (tmp_path / name for name in ("hangs", "released", "went_on"))

    def hangs_once(digest, problem, n_generations, island):
        if island.generation == 2:  # in the second epoch
            try:
                os.close(os.open(hangs, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                for _ in range(1200):  # not for ever, whatever fails
                    if released.exists():
                        break
                    time.sleep(0.1)
                else:
                    went_on.touch()
        return evolve_there(digest, problem, n_generations, island)

    monkeypatch.setattr(archipelago, "evolve_there", hangs_once)
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    try:
        with backend():
            assert_same(fitted(**parameters), expected)
        assert hangs.exists() and not went_on.exists()
    finally:
        released.touch()


def test_runs_are_the_same_and_one_that_fails_is_listed(backend, monkeypatch):
    run_sines = waves.run_sines

    def run(seed, *settings):
        if seed == 1:
            raise ValueError("no good")
        return run_sines(seed, *settings)

    monkeypatch.setattr(waves, "run_sines", run)
    settings = {"runs": 3, "readout": "pinv", "n_generations": 2}
    seen = []
    with backend():
        result = reproduce.sines(**settings, n_jobs=2, progress=lambda run: seen.append((run["seed"], run["status"])))
    assert without_seconds(result) == without_seconds(reproduce.sines(**settings))
    assert sorted(seen) == [(0, "finished"), (1, "failed"), (2, "finished")]
    assert [run["seed"] for run in result["runs"]] == [0, 2]
    assert [(run["seed"], run["reason"]) for run in result["unfinished"]] == [(1, "ValueError: no good")]


def test_searches_over_parameters_are_the_same(backend):
    X, y = np.random.default_rng(0).normal(size=(12, 4, 2)), np.arange(48).reshape(12, 4) % 2

    def scores(n_jobs, inner):
        model = EvokeClassifier(**SMALL | {"n_generations": 2}, n_jobs=inner)
        search = GridSearchCV(model, {"n_cells": [2, 3]}, cv=2, n_jobs=n_jobs, refit=False)
        return search.fit(X, y).cv_results_["mean_test_score"]

    with backend():
        np.testing.assert_array_equal(scores(2, 2), scores(1, 1))


# ---- workers that die


def dies_once(flag):
    """An evaluation whose first worker leaves a file and dies."""

    def evaluation(problem, genomes):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return evaluate(problem, genomes)
        os.kill(os.getpid(), signal.SIGKILL)

    return evaluation


def test_multiprocessing_does_not_wait_for_the_dead(monkeypatch, tmp_path):
    expected = fitted()
    monkeypatch.setattr(workers, "evaluate", dies_once(str(tmp_path / "died")))
    with parallel_config("multiprocessing", n_jobs=2):
        model = fitted()
    assert (tmp_path / "died").exists()
    assert_same(model, expected)


def test_a_worker_that_dies_is_made_good_and_workers_that_die_always_leave_the_best(backend, monkeypatch, tmp_path):
    def dies(problem, genomes):
        os._exit(1)

    def second(record, _esp):
        if record["generation"] == 2:
            monkeypatch.setattr(workers, "evaluate", dies)

    estimator, X, y = problems()["classifier"]
    monkeypatch.setattr(workers, "evaluate", dies_once(str(tmp_path / "died")))
    monkeypatch.setattr(workers, "TRIES", 2)  # workers take a second to start
    model = estimator(**SMALL, n_jobs=2, callbacks=[second])
    with backend(), pytest.raises(WorkerLostError, match=r"joblib's \w+Backend lost workers .* is kept"):
        model.fit(X, y)
    monkeypatch.undo()
    assert (tmp_path / "died").exists()
    assert_same(model, fitted(n_generations=2))
    with backend():
        model.set_params(callbacks=None).fit(X, y)
    assert_same(model, fitted())


def test_an_error_in_a_worker_is_that_error(backend, monkeypatch):
    def fails(problem, genomes):
        raise ZeroDivisionError("in a worker")

    monkeypatch.setattr(workers, "evaluate", fails)
    with backend(), pytest.raises(ZeroDivisionError, match="in a worker"):
        fitted(n_jobs=2)


def test_runs_whose_workers_die_are_listed_and_the_others_are_kept(monkeypatch, tmp_path):
    def run(seed, *_):
        if seed == 3:  # takes the work of the other worker with it: waits until all of that has arrived
            while len(os.listdir(tmp_path)) < 4:
                time.sleep(0.01)
            os._exit(1)
        return {"seed": seed, "accepted": seed}

    monkeypatch.setattr(grammar, "run_anbncn", run)
    with parallel_config("loky"):
        result = reproduce.anbncn(runs=5, n_jobs=2, progress=lambda run: (tmp_path / str(run["seed"])).touch())
    assert [run["seed"] for run in result["runs"]] == [0, 1, 2, 4]
    assert [run["seed"] for run in result["unfinished"]] == [3]
    assert "WorkerLostError" in result["unfinished"][0]["reason"]


@pytest.mark.distributed
def test_a_dask_cluster_without_workers_is_an_error(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "PATIENCE", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
        parallel_config("dask", wait_for_workers_timeout=0.1),
        workers.others(2) as others,
        pytest.raises(WorkerLostError, match="DaskDistributedBackend lost workers"),
    ):
        list(others.results(abs, [-1, -2]))


# ---- how many


@pytest.mark.parametrize("name", ["threading", "loky", "multiprocessing"])
def test_number_of_workers(name):
    with parallel_config(name, n_jobs=3):
        assert [workers.n_workers(n_jobs, 10) for n_jobs in (None, 1, 2, 20)] == [3, 1, 2, 10]
        assert workers.n_workers(None, 2) == 2
    with parallel_config(name):
        assert workers.n_workers(None, 10) == 1
    with parallel_config("sequential", n_jobs=3):
        assert workers.n_workers(2, 10) == 1


def test_large_data_reach_processes(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20_000, 8))  # joblib maps arrays of a megabyte into memory, read-only
    model = EvokeClassifier(**SMALL | {"n_generations": 1, "subpopulation_size": 4}, readout="pinv")
    y = X[:, 0] > 0
    with parallel_config("loky", n_jobs=2):
        other = EvokeClassifier(**model.get_params()).fit(X, y)
    np.testing.assert_array_equal(other.genome_, model.set_params(n_jobs=1).fit(X, y).genome_)


# ---- processes of one's own

FORK = """
import multiprocessing
import numpy as np
from evoke import EvokeClassifier, tasks

def genome(_=None):
    return EvokeClassifier(n_generations=2, random_state=0, n_jobs=2).fit(*tasks.anbncn(4)).genome_

before = genome()
with multiprocessing.get_context("fork").Pool(2) as pool:
    for after in pool.map(genome, range(2)):
        np.testing.assert_array_equal(after, before)
print("same")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_after_threads():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60)
    assert done.stdout == "same\n", done.stderr


CTRL_C = """
from joblib import parallel_config
from evoke import EvokeClassifier, tasks

def started(record, esp):
    if record["generation"] == 1:
        print("started", flush=True)

X, y = tasks.anbncn(20)
model = EvokeClassifier(n_generations=10**6, n_jobs=2, callbacks=[started], random_state=0)
with parallel_config("loky"):
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print(len(model.history_) >= 1, len(model.predict(X)), flush=True)
        raise
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_leaves_no_processes():
    with subprocess.Popen([sys.executable, "-c", CTRL_C], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          start_new_session=True) as process:  # fmt: skip
        try:
            assert process.stdout.readline() == "started\n"
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            assert process.stdout.read() == "True 20\n"
            assert process.wait(30) == -signal.SIGINT
            with contextlib.suppress(ProcessLookupError):
                for _ in range(300):
                    os.killpg(process.pid, 0)
                    time.sleep(0.1)
                pytest.fail("processes are left")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
