import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config

from evoke._core.dispatch import LANES
from evoke.esp import ESP
from evoke.evolution import run as evolution
from evoke.evolution import workers
from evoke.evolution.evaluation import evaluate
from evoke.evolution.problem import Objective, Problem, merge_points
from evoke.evolution.records import tell
from evoke.evolution.run import Run
from evoke.evolution.workers import slices
from evoke.hall_of_fame import HallOfFame
from evoke.readouts import SVMReadout
from evoke.sequences.containers import as_sequences
from evoke.sequences.prefixes import share_prefixes

RECORD = {
    "generation", "n_evaluations", "best_fitness", "generation_best", "generation_median", "train_error",
    "validation_error", "wrong_train", "wrong_validation", "burst",
}  # fmt: skip


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = as_sequences([rng.normal(size=(length, 1)) for length in (4, 5, 3, 4)])
    segments, labels = share_prefixes(X), rng.choice([-1.0, 1.0], (16, 1))
    train, validation = (merge_points(segments.row_of[part], labels[part]) for part in (slice(None, 9), slice(9, None)))
    return Problem(segments, train, validation, "lstm", (0.0, 1.5, -1.5), SVMReadout(), Objective("hinge"))


def engine(**parameters):
    return ESP([12, 12], **{"subpopulation_size": 12, "n_trials": 2, "random_state": 0, **parameters})


def evolve(problem, esp, n_generations, *, history, **options):
    """For `n_generations` more."""
    evolution.evolve(Run(problem, esp, esp.generation + n_generations, history), **options)


def evolved(problem, n_generations, esp=None, **options):
    esp, history = esp or engine(), []
    evolve(problem, esp, n_generations, history=history, **options)
    return esp, history


def assert_same(a, b):
    """Two engines in the same state, bit for bit."""
    a, b = a.state_dict(), b.state_dict()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


# ---- slices


@given(st.integers(1, 100), st.integers(1, 20))
def test_slices_are_whole_half_blocks_in_order(n_networks, n):
    genomes = np.arange(float(n_networks)).reshape(-1, 1, 1)
    parts = slices(genomes, n)
    np.testing.assert_array_equal(np.concatenate(parts), genomes)
    half = LANES // 2
    n_halves = -(-n_networks // half)
    assert len(parts) == min(n, n_halves)
    assert all(len(part) % half == 0 for part in parts[:-1])
    halves = [-(-len(part) // half) for part in parts]
    assert min(halves) >= 1 and max(halves) - min(halves) <= 1


# ---- the loop


def test_it_is_ask_evaluate_tell(problem):
    esp, history = evolved(problem, 4)
    other = engine()
    for record in history:
        errors = evaluate(problem, other.ask())
        other.tell(errors[:, 0] + errors[:, 1])
        assert record["best_fitness"] == other.best_fitness
        best = np.argmin(errors[:, 0] + errors[:, 1])
        assert record["generation_best"] == errors[best, :2].sum()
        assert record["generation_median"] == np.median(errors[:, 0] + errors[:, 1])
        found = [record[name] for name in ("train_error", "validation_error", "wrong_train", "wrong_validation")]
        np.testing.assert_array_equal(found, errors[best])
    assert_same(esp, other)


def test_records_are_complete(problem):
    esp, history = evolved(problem, 9, engine(burst_patience=1))
    assert all(set(record) == RECORD for record in history)
    assert [record["generation"] for record in history] == list(range(1, 10))
    assert [record["n_evaluations"] for record in history] == [24 * k for k in range(1, 10)]
    assert history[-1]["best_fitness"] == esp.best_fitness
    best = np.minimum.accumulate([record["generation_best"] for record in history])
    np.testing.assert_array_equal([record["best_fitness"] for record in history], best)
    bursts = [record["generation"] - 1 for record in history if record["burst"]]
    assert bursts == esp.bursts and bursts
    for record in history:
        assert record["generation_best"] == record["train_error"] + record["validation_error"]
        assert 0 <= record["wrong_train"] <= 9 and 0 <= record["wrong_validation"] <= 7
        assert isinstance(record["wrong_train"], int) and isinstance(record["burst"], bool)


def test_going_on_equals_one_run(problem):
    straight, whole = evolved(problem, 6)
    esp, first = evolved(problem, 2)
    evolve(problem, esp, 4, history=first)
    assert_same(esp, straight)
    assert first == whole


@pytest.mark.parametrize("n_jobs", [2, 3, -1, 10**6])
def test_the_number_of_jobs_changes_nothing(problem, n_jobs):
    alone, expected = evolved(problem, 4)
    esp, history = evolved(problem, 4, n_jobs=n_jobs)
    assert_same(esp, alone)
    assert history == expected


def test_processes_change_nothing(problem):
    alone, expected = evolved(problem, 2)
    with parallel_config(backend="loky", n_jobs=2):
        esp, history = evolved(problem, 2)
    assert_same(esp, alone)
    assert history == expected


# ---- networks without an error


@pytest.mark.parametrize("bad", [slice(0, 1), slice(0, 23), slice(None)])
def test_nan_errors(bad):
    esp = engine()
    esp.ask()
    errors = np.random.default_rng(0).integers(1, 9, size=(24, 4)).astype(float)
    errors[bad] = np.nan
    record = tell(esp, errors)
    good = errors[~np.isnan(errors[:, 0])]
    assert set(record) == RECORD
    if len(good):
        assert record["best_fitness"] == record["generation_best"] == (good[:, 0] + good[:, 1]).min()
        assert record["wrong_train"] > 0
    else:
        assert (record["best_fitness"], record["wrong_train"], record["wrong_validation"]) == (np.inf, -1, -1)
        assert np.isnan(record["generation_best"])
        assert esp.best is None


# ---- callbacks


def test_callbacks_see_every_record_and_any_of_them_ends_it(problem):
    seen, late = [], []

    def first(record, esp):
        seen.append((record, esp))
        return record["generation"] == 3

    esp, history = evolved(problem, 10, callbacks=(first, lambda record, esp: late.append(record["generation"])))
    assert [record for record, _ in seen] == history
    assert all(engine is esp for _, engine in seen)
    assert late == [1, 2, 3]  # one that asks for the end does not keep the others from seeing the record
    assert esp.generation == 3


def test_an_error_in_a_callback_leaves_engine_and_history_in_step(problem):
    history, esp = [], engine()

    def fail(record, _esp):
        if record["generation"] == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        evolve(problem, esp, 5, history=history, callbacks=[fail])
    assert len(history) == esp.generation == 2
    evolve(problem, esp, 2, history=history)
    straight, whole = evolved(problem, 4)
    assert_same(esp, straight)
    assert history == whole


# ---- interrupts


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_what_ends_a_worker_stops_the_others(problem, monkeypatch, n_jobs, kind):
    teams, lock = [], threading.Lock()

    def fail_once(problem, genomes, team):
        with lock:
            teams.append(team)
            if len(teams) > 1:
                return np.full((len(genomes), 4), np.nan)
        raise kind

    monkeypatch.setattr(workers, "evaluate", fail_once)
    history, esp = [], engine()
    before = esp.state_dict()["weights"]
    with pytest.raises(kind):
        evolve(problem, esp, 3, history=history, n_jobs=n_jobs)
    assert teams[0].stop[0] == 1
    assert history == [] and esp.generation == 0
    np.testing.assert_array_equal(esp.state_dict()["weights"], before)


@pytest.mark.parametrize(("owner", "place"), [(HallOfFame, "enter"), (ESP, "_scores"), (ESP, "_select")])
def test_an_interrupt_while_the_next_generation_is_made_undoes_it(problem, monkeypatch, owner, place):
    esp, history = engine(), []
    evolve(problem, esp, 2, history=history)
    whole = getattr(owner, place)

    def interrupted(self, *arguments):
        whole(self, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, place, interrupted)
        with pytest.raises(KeyboardInterrupt):
            evolve(problem, esp, 3, history=history)
    assert len(history) == esp.generation == 2
    evolve(problem, esp, 3, history=history)
    straight, records = evolved(problem, 5)
    assert_same(esp, straight)
    assert history == records


INTERRUPTED = """
import sys
import numpy as np
from evoke import EvokeClassifier

rng = np.random.default_rng(0)
X = [rng.normal(size=(50, 2)) for _ in range(6)]
y = [rng.integers(0, 2, 50) for _ in range(6)]

def started(record, esp):
    if record["generation"] == 1:
        print("started", flush=True)

model = EvokeClassifier(n_generations=10**6, n_jobs=int(sys.argv[1]), callbacks=[started], random_state=0)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(len(model.history_) >= 1, len(model.predict(X)))
    model.set_params(n_generations=1, callbacks=None).fit(X[:2], y[:2])
    print(len(model.history_))
    raise
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_long_fit_and_keeps_the_best(n_jobs):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(n_jobs)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert out == "True 6\n1\n"
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT
