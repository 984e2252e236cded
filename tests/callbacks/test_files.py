"""Files of callbacks: one for each fit of a search, in the home folder, and paths that are none."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from evoke import EvokeForecaster, load
from evoke.callbacks import Checkpoint, HistoryLog
from helpers.watched import CLASSES, Stop, X, assert_same_model, read_log, stop_at, tiny

WHOLE = np.random.default_rng(1).normal(size=(8, 4, 2)), [0, 1] * 4


def names(folder, pattern="*"):
    return sorted(path.name for path in folder.glob(pattern))


def key_of(folder, **parameters):
    """That of a fit with these parameters, which the folder must be without."""
    before = names(folder)
    tiny(HistoryLog(folder / "{key}.csv"), **{"n_generations": 1, **parameters}).fit(X, CLASSES)
    (new,) = {*names(folder)} - {*before}
    (folder / new).unlink()
    return new.removesuffix(".csv")


def test_each_fit_of_a_search_has_its_files_and_finds_them_again(tmp_path):
    model = tiny(Checkpoint(tmp_path / "run-{key}.evk", every=2), HistoryLog(str(tmp_path / "run-{key}.csv")))
    grid = {"C": [1.0, 10.0], "kernel": ["rbf", "poly"]}
    search = GridSearchCV(model, grid, cv=2, n_jobs=2, error_score="raise").fit(*WHOLE)
    models, logs = names(tmp_path, "*.evk"), names(tmp_path, "*.csv")
    assert len(models) == len(logs) == 2 * 2 * 2 + 1  # one is that of the best parameters on all data
    for name in models:
        assert load(tmp_path / name).history_ == read_log(tmp_path / name.replace(".evk", ".csv"))
    content = [(tmp_path / name).read_bytes() for name in models]
    again = GridSearchCV(clone(model), grid, cv=2, n_jobs=2, error_score="raise").fit(*WHOLE)
    assert_same_model(again.best_estimator_, search.best_estimator_)
    assert names(tmp_path, "*.evk") == models
    assert [(tmp_path / name).read_bytes() for name in models] == content  # read, not written again
    alone = clone(model).set_params(**search.best_params_, n_generations=3).fit(*WHOLE[:1], WHOLE[1][::-1])
    assert len(names(tmp_path, "*.evk")) == len(models) + 1  # of other data
    assert len(alone.history_) == 3


def test_a_fit_that_was_cut_finds_its_file_again(tmp_path):
    path = tmp_path / "{key}.evk"
    with pytest.raises(Stop):
        tiny(Checkpoint(path, every=2), stop_at(3)).fit(X, CLASSES)
    (name,) = names(tmp_path)
    assert len(load(tmp_path / name).history_) == 3
    assert_same_model(tiny(Checkpoint(path), n_jobs=2).fit(X, CLASSES), tiny().fit(X, CLASSES))
    assert names(tmp_path) == [name]


def test_what_the_key_is_made_of(tmp_path):
    key = key_of(tmp_path)
    assert len(key) == 16 and not set(key) - set("0123456789abcdef")
    for same in ({"n_generations": 2}, {"n_jobs": 2}, {"verbose": False}, {"refit": True}):
        assert key_of(tmp_path, **same) == key
    assert key_of(tmp_path, C=10) == key_of(tmp_path, C=np.float64(10.0)) != key
    others = [{"C": 1.0}, {"random_state": 1}, {"kernel": "poly"}, {"random_state": None}, {"n_cells": 3}]
    keys = {key, *(key_of(tmp_path, **other) for other in others)}
    assert len(keys) == 1 + len(others)
    assert key_of(tmp_path, random_state=None) == key_of(tmp_path, random_state=None)


def test_the_key_is_the_same_in_every_process(tmp_path):
    program = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from helpers.watched import CLASSES, X, tiny\n"
        "from evoke.callbacks import HistoryLog\n"
        "weights = {0: 1.0, 1: 2.0}\n"
        "tiny(HistoryLog(sys.argv[1]), n_generations=1, class_weight=weights, pool=('last',)).fit(X, CLASSES)\n"
    )
    ours = key_of(tmp_path, class_weight={1: 2, 0: 1.0}, pool=("last",))
    subprocess.run([sys.executable, "-c", program, tmp_path / "{key}.csv"], check=True)
    assert names(tmp_path) == [f"{ours}.csv"]


def test_splitters_are_in_the_data(tmp_path):
    path = tmp_path / "{key}.csv"
    for _ in range(2):
        tiny(HistoryLog(path), n_generations=1, validation=KFold(2)).fit(*WHOLE)
    assert len(names(tmp_path)) == 1
    tiny(HistoryLog(path), n_generations=1, validation=KFold(4)).fit(*WHOLE)
    assert len(names(tmp_path)) == 2


def test_functions_give_paths(tmp_path):
    def path(run):
        return tmp_path / f"{type(run.problem).__name__}-{{key}}-{run.n_generations}.evk"

    model = tiny(Checkpoint(path), n_generations=1)
    for n in (3, 2):  # not a longer run than there is in the file
        model.set_params(n_generations=n).fit(X, CLASSES)
    files = names(tmp_path)
    assert [name[-6:] for name in files] == ["-2.evk", "-3.evk"] and files[0][:-6] == files[1][:-6]
    with pytest.raises(ValueError, match=r"path\(run\) must end in \.csv or \.jsonl, got .*evk"):
        tiny(HistoryLog(path)).fit(X, CLASSES)
    with pytest.raises(ValueError, match=r"path\(run\) must be a path, got 7"):
        tiny(Checkpoint(lambda run: 7)).fit(X, CLASSES)


def test_other_braces_are_what_they_are(tmp_path):
    tiny(Checkpoint(tmp_path / "{keys}-{0}-{}.evk"), n_generations=1).fit(X, CLASSES)
    assert names(tmp_path) == ["{keys}-{0}-{}.evk"]


def test_a_forecaster_too(tmp_path):
    wave, path = np.sin(np.arange(40.0)), tmp_path / "{key}.evk"
    models = [tiny(Checkpoint(path), estimator=EvokeForecaster, washout=n).fit(wave) for n in (0, 0, 1)]
    assert len(names(tmp_path)) == 2
    assert_same_model(models[0], models[1])


def test_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for _ in range(2):
        model = tiny(Checkpoint("~/run.evk"), HistoryLog(Path("~/run.csv")), n_generations=2).fit(X, CLASSES)
    assert names(tmp_path) == ["run.csv", "run.evk"]
    assert_same_model(load("~/run.evk"), model)
    assert read_log(tmp_path / "run.csv") == model.history_


@pytest.mark.parametrize("bad", ["runs/", ".", "..", "runs/.."])
def test_a_folder_is_no_file(bad):
    with pytest.raises(ValueError, match="path must be the path of a file, not of a folder, got"):
        Checkpoint(bad)


def test_a_class_is_no_function():
    with pytest.raises(ValueError, match=r"path must be a path, got <class 'pathlib\.Path'>"):
        HistoryLog(Path)
