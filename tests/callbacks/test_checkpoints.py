"""Checkpoints, and runs that are killed or interrupted."""

import copy
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
from evoke.callbacks import Checkpoint, EarlyStopping, HistoryLog
from evoke.exceptions import ModelFileError, NotWrittenWarning
from helpers.watched import CLASSES, VALUES, Stop, X, assert_same_model, cut, read_log, stop_at, tiny

WAVE = np.sin(np.arange(40.0))
FITS = {"classifier": (EvokeClassifier, X, CLASSES), "regressor": (EvokeRegressor, X, VALUES),
        "forecaster": (EvokeForecaster, WAVE)}  # fmt: skip


# ---- checkpoints


def fit(name, *watching, **parameters):
    estimator, *data = FITS[name]
    return tiny(*watching, estimator=estimator, **parameters).fit(*data)


def outputs(model, name):
    data = FITS[name][1]
    return np.concatenate([*model.predict(data)]) if name != "forecaster" else model.generate(9)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("more", [{}, {"readout": "pinv", "credit": "mean"}, {"readout": "lssvm", "burst_patience": 1}])
def test_a_run_that_was_cut_goes_on_to_the_same_bits(tmp_path, name, more):
    straight = fit(name, **more)
    path = tmp_path / "run.evk"
    for generation in (2, 3, 5):
        with pytest.raises(Stop):
            fit(name, Checkpoint(path, every=2), stop_at(generation), **more)
        so_far = load(path)
        assert_same_model(so_far, fit(name, n_generations=generation, **more))  # written at the end too
        assert len(outputs(so_far, name)) == len(outputs(straight, name))
    model = fit(name, Checkpoint(path, every=2), n_jobs=2, **more)
    for whole in (model, load(path)):
        assert_same_model(whole, straight)
        np.testing.assert_array_equal(outputs(whole, name), outputs(straight, name))
    content = path.read_bytes()
    assert_same_model(fit(name, Checkpoint(path), stop_at(6), **more), straight)  # done: no generation more
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("every, written", [(1, [1, 2, 3, 4, 5]), (2, [2, 4, 5]), (3, [3, 5]), (10, [5])])
def test_it_is_written_in_time_and_at_the_end(tmp_path, every, written):
    path, found = tmp_path / "a.evk", []

    def look(_record, esp):
        if path.exists():
            found.append(load(path).fitted_.run.esp.generation)

    tiny(Checkpoint(path, every), look, n_generations=5).fit(X, CLASSES)
    found.append(load(path).fitted_.run.esp.generation)
    assert sorted(set(found)) == written


def test_more_generations_go_on_from_the_file(tmp_path):
    checkpoint = Checkpoint(tmp_path / "a.evk")
    tiny(checkpoint).fit(X, CLASSES)
    assert_same_model(tiny(checkpoint, n_generations=9).fit(X, CLASSES), tiny(n_generations=9).fit(X, CLASSES))


def test_the_seed_of_the_file(tmp_path):
    checkpoint = Checkpoint(tmp_path / "a.evk")
    first = tiny(checkpoint, random_state=None, n_generations=3).fit(X, CLASSES)
    model = tiny(checkpoint, random_state=None).fit(X, CLASSES)
    assert model.history_[:3] == first.history_
    assert_same_model(model, tiny(random_state=first.fitted_.run.esp.state_dict()["entropy"]).fit(X, CLASSES))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState, np.random.SeedSequence])
def test_a_generator_that_is_seeded_by_the_script(tmp_path, make):
    checkpoint = Checkpoint(tmp_path / "a.evk")
    cut(tiny(checkpoint, random_state=make(3)), 3)
    straight = tiny(random_state=make(3)).fit(X, CLASSES)
    assert_same_model(tiny(checkpoint, random_state=make(3)).fit(X, CLASSES), straight)
    with pytest.raises(ValueError, match="another random_state"):
        tiny(checkpoint, random_state=make(4)).fit(X, CLASSES)


def test_any_model_file_is_a_checkpoint(tmp_path):
    path = tmp_path / "a.evk"
    tiny(n_generations=4).fit(X, CLASSES).save(path)
    assert_same_model(tiny(Checkpoint(path)).fit(X, CLASSES), tiny().fit(X, CLASSES))


@pytest.mark.parametrize(
    "change, data, message",
    [
        ({"C": 10.0}, CLASSES, "C=100.0 instead of 10.0"),
        ({"n_cells": 3}, CLASSES, "n_cells=2 instead of 3"),
        ({"burst_scale": 0.5}, CLASSES, "burst_scale=None instead of 0.5"),
        ({"gate_bias": (0.0, 1.5, 0.0)}, CLASSES, r"gate_bias=\(0.0, 1.5, -1.5\) instead of \(0.0, 1.5, 0.0\)"),
        ({"objective": "count"}, CLASSES, "objective='hinge' instead of 'count'"),
        ({"random_state": 1}, CLASSES, "another random_state"),
        ({}, [1 - labels for labels in CLASSES], "other data"),
        ({"n_generations": 5}, CLASSES, "is of generation 6, but the run is to end with 5: raise n_generations"),
    ],
)
def test_the_file_of_another_fit_is_refused_and_left(tmp_path, change, data, message):
    path = tmp_path / "a.evk"
    tiny(Checkpoint(path)).fit(X, CLASSES)
    content = path.read_bytes()
    model = tiny(Checkpoint(path), **change)
    with pytest.raises(ValueError, match=message) as error:
        model.fit(X, data)
    assert "a.evk" in str(error.value) and not isinstance(error.value, ModelFileError)
    assert path.read_bytes() == content
    assert not hasattr(model, "genome_")


def test_other_inputs_and_another_estimator_are_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "a.evk")
    tiny(checkpoint).fit(X, CLASSES)
    with pytest.raises(ValueError, match="of another fit: other data"):
        tiny(checkpoint).fit([2 * x for x in X], CLASSES)
    with pytest.raises(ValueError, match="of another fit: EvokeClassifier instead of EvokeRegressor"):
        tiny(checkpoint, estimator=EvokeRegressor).fit(X, VALUES)


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b[:-30], lambda b: b"time,value\n", lambda b: b[:99]])
def test_a_corrupt_file_is_refused_and_left(tmp_path, resume, damage):
    path = tmp_path / "a.evk"
    tiny(Checkpoint(path)).fit(X, CLASSES)
    path.write_bytes(damage(path.read_bytes()))
    content = path.read_bytes()
    with pytest.raises(ModelFileError, match=r"a\.evk"):
        tiny(Checkpoint(path, resume=resume)).fit(X, CLASSES)
    assert path.read_bytes() == content


def test_without_resuming_a_run_begins_anew(tmp_path):
    path = tmp_path / "a.evk"
    tiny(Checkpoint(path), C=1.0).fit(X, CLASSES)
    model = tiny(Checkpoint(path, resume=False), n_generations=3).fit(X, CLASSES)
    assert_same_model(model, tiny(n_generations=3).fit(X, CLASSES))
    assert_same_model(load(path), model)


@pytest.mark.parametrize("resume", [True, False])
def test_two_fits_at_once_do_not_overwrite_each_other(tmp_path, resume):
    path = tmp_path / "a.evk"
    other = tiny(Checkpoint(path), random_state=1)
    model = tiny(
        Checkpoint(path, every=3, resume=resume),
        lambda record, _esp: record["generation"] == 2 and not other.fit(X, CLASSES),
    )
    with pytest.raises(ValueError, match=r"a\.evk' is of another fit: another random_state"):
        model.fit(X, CLASSES)
    assert_same_model(load(path), other)
    assert_same_model(model, tiny(n_generations=3).fit(X, CLASSES))  # what was done is kept


def test_the_fits_of_a_grid_search_are_told_to_have_files_of_their_own(tmp_path):
    model = tiny(Checkpoint(tmp_path / "a.evk"))
    search = GridSearchCV(model, {"C": [1.0, 10.0]}, cv=2, n_jobs=2, error_score="raise")
    with pytest.raises(ValueError, match=r"is of another fit: .* Every fit needs a path of its own"):
        search.fit(np.stack([x[:4] for x in X + X]), [0, 1] * 4)


def test_a_checkpoint_and_warm_starts(tmp_path):
    path = tmp_path / "a.evk"
    model = tiny(Checkpoint(path, every=2), n_generations=3, warm_start=True)
    straight = tiny().fit(X, CLASSES)
    assert_same_model(model.fit(X, CLASSES).fit(X, CLASSES), straight)
    assert_same_model(load(path), straight)
    going_on = load(path).set_params(n_generations=3, warm_start=True, callbacks=[EarlyStopping(patience=50)])
    assert_same_model(going_on.fit(X, CLASSES), tiny(n_generations=9).fit(X, CLASSES))


def test_a_warm_start_on_other_data_is_resumed(tmp_path):
    opposite = [1 - labels for labels in CLASSES]
    watching = [EarlyStopping(patience=4), Checkpoint(tmp_path / "b.evk", every=2)]

    def begun(n_generations=6):
        return (
            tiny(n_generations=n_generations)
            .fit(X, CLASSES)
            .set_params(warm_start=True, n_generations=30, callbacks=watching)
        )

    straight = begun().set_params(callbacks=watching[:1]).fit(X, opposite)
    assert 6 < len(straight.history_) < 36
    model = begun()
    with pytest.raises(Stop):
        model.set_params(callbacks=[*watching, stop_at(9)]).fit(X, opposite)
    assert_same_model(begun().fit(X, opposite), straight)
    assert_same_model(begun().fit(X, opposite), straight)  # patience has ended it already
    with pytest.raises(ValueError, match="of another fit: a warm start from another model"):
        tiny(random_state=0, n_generations=6).fit([2 * x for x in X], CLASSES).set_params(
            warm_start=True, n_generations=30, callbacks=watching
        ).fit(X, opposite)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_a_warm_start_that_does_nothing_changes_nothing(tmp_path, monkeypatch, kind):
    def fail(*_):
        raise kind

    tiny(Checkpoint(tmp_path / "a.evk")).fit(X, CLASSES)
    opposite = [1 - labels for labels in CLASSES]
    model = tiny(Checkpoint(tmp_path / "a.evk"), n_generations=2, warm_start=True, C=1.0)
    model.set_params(callbacks=None).fit(X, CLASSES)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="of another fit"):
        model.set_params(callbacks=[Checkpoint(tmp_path / "a.evk")]).fit(X, opposite)
    assert_same_model(model, before)
    monkeypatch.setattr("evoke.evolution.workers.evaluate", fail)
    with pytest.raises(kind):
        model.set_params(callbacks=None).fit(X, opposite)
    assert_same_model(model, before)


def test_a_link_stays_a_link(tmp_path):
    link, path = tmp_path / "link.evk", tmp_path / "a.evk"
    link.symlink_to(path)
    for resume in (True, False):
        model = tiny(Checkpoint(link, resume=resume)).fit(X, CLASSES)
        assert link.is_symlink() and not path.is_symlink()
        assert_same_model(load(path), model)


def test_nothing_is_written_without_a_finite_error(tmp_path, monkeypatch):
    def nan(_problem, genomes, _team):
        return np.full((len(genomes), 4), np.nan)

    monkeypatch.setattr("evoke.evolution.workers.evaluate", nan)
    with pytest.raises(ValueError, match="no network had a finite error"):
        tiny(Checkpoint(tmp_path / "a.evk", every=1), HistoryLog(tmp_path / "a.jsonl")).fit(X, CLASSES)
    assert not (tmp_path / "a.evk").exists()
    assert [record["best_fitness"] for record in read_log(tmp_path / "a.jsonl")] == [None] * 6


def test_a_disk_that_is_full_leaves_model_and_file(tmp_path, monkeypatch):
    path = tmp_path / "a.evk"
    tiny(Checkpoint(path), n_generations=2).fit(X, CLASSES)
    content = path.read_bytes()

    def full(_file):
        raise OSError(28, "No space left on device")

    model = tiny(Checkpoint(path, every=2))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.warns(NotWrittenWarning, match=r"a\.evk' could not be written: No space left"):
            model.fit(X, CLASSES)
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]
    assert_same_model(model, tiny().fit(X, CLASSES))


@pytest.mark.parametrize("order", [1, -1])
def test_the_log_follows_the_checkpoint(tmp_path, order):
    """It is brought to the generation of the file, whether it was behind or ahead of it."""
    log, saved = tmp_path / "a.csv", tmp_path / "a.evk"
    watching = [HistoryLog(log), Checkpoint(saved, every=2)][::order]
    straight = tiny().fit(X, CLASSES)
    cut(tiny(*watching), 4)
    lines, content = log.read_text().splitlines(keepends=True), saved.read_bytes()
    for there in (lines[:2], lines[:-1], [*lines, lines[-1]], [*lines[:-1], lines[-1][:5]], []):
        log.write_text("".join(there))
        saved.write_bytes(content)
        assert_same_model(tiny(*watching).fit(X, CLASSES), straight)
        assert read_log(log) == straight.history_


# ---- real kills

# Fits in a process each, which is forked from one that has imported everything already.
FITS_IN_PROCESSES = """
import os, sys
import numpy as np
from evoke import EvokeClassifier
from evoke.callbacks import Checkpoint, HistoryLog

def started(record, esp):
    os.write(1, b"%d\\n" % record["generation"])  # print may be killed before the end of the line

def fit(folder, every, n_jobs):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(30, 2)) for _ in range(6)]
    y = [rng.integers(0, 2, 30) for _ in range(6)]
    watching = [HistoryLog(folder + "/a.csv"), started, Checkpoint(folder + "/a.evk", int(every))]
    model = EvokeClassifier(n_cells=3, n_generations=40, n_jobs=int(n_jobs), callbacks=watching, random_state=0)
    np.save(folder + "/predicted.npy", np.concatenate(model.fit(X, y).predict(X)))

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        print("child", os.getpid(), flush=True)
        fit(*line.split())
        sys.exit()
    print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
def test_kills_at_any_moment_cost_no_more_than_since_the_last_checkpoint(tmp_path):
    every, killed, straight = 2, tmp_path / "killed", tmp_path / "straight"
    killed.mkdir()
    straight.mkdir()
    command = [sys.executable, "-c", FITS_IN_PROCESSES]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, bufsize=1, cwd=tmp_path) as process:

        def fit(settings, kill_after=None):
            """The generations of a fit in its own process, and how that ended."""
            process.stdin.write(f"{settings}\n")
            _, pid = process.stdout.readline().split()
            seen = []
            while (words := process.stdout.readline().split())[0] != "ended":
                seen.append(int(words[0]))
                if len(seen) == 1 and kill_after is not None:
                    threading.Timer(kill_after, os.kill, (int(pid), signal.SIGKILL)).start()
            return seen, int(words[1])

        assert fit("straight 1000 1") == (list(range(1, 41)), 0)
        rng, kept = np.random.default_rng(1), 0
        for _ in range(3):
            seen, status = fit(f"killed {every} 2", kill_after=rng.uniform(0, 0.15))
            assert status == -signal.SIGKILL
            assert seen[0] == kept + 1  # from the file, and nothing in it was lost
            assert seen == list(range(seen[0], seen[-1] + 1))
            kept = load(killed / "a.evk").fitted_.run.esp.generation if (killed / "a.evk").exists() else 0
            assert kept % every == 0 and seen[-1] - every <= kept <= seen[-1]
            assert len((killed / "a.csv").read_text().splitlines()) - 1 >= seen[-1]  # what was done is in the log
        assert fit(f"killed {every} 2") == (list(range(kept + 1, 41)), 0)
        process.stdin.close()
    assert process.returncode == 0
    assert_same_model(load(killed / "a.evk"), load(straight / "a.evk"))
    assert load(killed / "a.evk").n_generations == 40
    for name in ("a.csv", "predicted.npy"):
        assert (killed / name).read_bytes() == (straight / name).read_bytes()


# ---- real interrupts

INTERRUPTED = """
import signal, sys, threading
import numpy as np
from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
from evoke.callbacks import Checkpoint

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may have had it ignored
rng = np.random.default_rng(0)
X = [rng.normal(size=(40, 1)) for _ in range(6)]
steps, series = [rng.integers(0, 2, 40) for _ in X], rng.normal(size=240)

def started(record, esp):
    if record["generation"] == 2:
        print("started", flush=True)

for estimator, *data in ((EvokeClassifier, X, steps), (EvokeRegressor, X, X), (EvokeForecaster, series)):
    for readout in ("svm", "lssvm", "pinv"):
        for n_jobs in (1, 2):
            path = f"{sys.argv[1]}/{estimator.__name__}-{readout}-{n_jobs}.evk"
            model = estimator(n_cells=3, n_generations=10**6, subpopulation_size=8, n_trials=2, readout=readout, C=1e3,
                              n_jobs=n_jobs, callbacks=[started, Checkpoint(path, every=10**6)], random_state=0)
            try:
                model.fit(*data)
            except KeyboardInterrupt:
                n = len(model.history_)
            assert n >= 2 and threading.active_count() == 1
            assert load(path).history_ == model.history_
            np.testing.assert_array_equal(load(path).transform(data[0])[0], model.transform(data[0])[0])
            genome, readout_ = model.genome_, model.readout_
            again = model.set_params(n_generations=n, callbacks=None).fit(*data)
            np.testing.assert_array_equal(again.genome_, genome)
            np.testing.assert_array_equal(again.readout_.dual_coef, readout_.dual_coef)
print("done", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_keeps_what_was_done_with_every_estimator_and_readout(tmp_path):
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line == "started\n":
                process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    assert lines == ["started\n"] * 18 + ["done\n"]
