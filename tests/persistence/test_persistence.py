"""Models in files and pickles: they come back bit for bit, and what comes back can be used."""

import copy
import io
import json
import os
import pickle
import re
import subprocess
import sys
import warnings
from datetime import date

import joblib
import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning, NotFittedError

import evoke
from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, tasks
from evoke._validation.computed import computed_once
from evoke.svm import LSSVC, LSSVR, SVC, SVR

TINY = dict(n_cells=2, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
RAGGED = [np.random.default_rng(7).normal(size=(length, 2)) for length in (3, 7, 4, 6, 2, 5, 8, 9)]
STEPS = [(x[:, 0] > 0).astype(int) for x in RAGGED]
SERIES = tasks.superimposed_sines(2, 60)
ROWS = np.concatenate(RAGGED)


def classifier(y=STEPS, **parameters):
    return EvokeClassifier(**{**TINY, **parameters}).fit(RAGGED, y)


def regressor(y=RAGGED, **parameters):
    return EvokeRegressor(**{**TINY, **parameters}).fit(RAGGED, y)


def forecaster(y=SERIES, X=None, **parameters):
    return EvokeForecaster(**{**TINY, **parameters}).fit(y, X)


def there_and_back(model, folder):
    model.save(folder / "model.evk")
    return evoke.load(folder / "model.evk")


def assert_same(a, b):
    """The same type, and every bit the same, in whatever it is made of."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype == object:
            return assert_same(a.tolist(), b.tolist())
        np.testing.assert_array_equal(a, b)
        assert b.flags.c_contiguous
        assert b.flags.writeable
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        assert_same(list(a.values()), list(b.values()))
    elif hasattr(a, "genome") and not hasattr(a, "__dict__"):
        assert_same((a.genome, a.cell, a.gate_bias), (b.genome, b.cell, b.gate_bias))
    elif hasattr(a, "state_dict"):
        assert_same(a.state_dict(), b.state_dict())
    elif isinstance(a, np.random.SeedSequence):
        assert a.state == b.state
    elif isinstance(a, (np.random.Generator, np.random.RandomState)):
        np.testing.assert_array_equal(copy.deepcopy(a).uniform(size=1000), copy.deepcopy(b).uniform(size=1000))
        np.testing.assert_array_equal(copy.deepcopy(a).normal(size=3), copy.deepcopy(b).normal(size=3))
    elif hasattr(a, "__dict__"):
        kept = [name for name in vars(a) if not isinstance(getattr(type(a), name, None), computed_once)]
        assert_same({name: vars(a)[name] for name in kept}, {name: vars(b)[name] for name in kept})
    else:
        assert a == b or (a != a and b != b)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("cell", ["lstm", "evolino"])
@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
@pytest.mark.parametrize("make", [classifier, regressor, forecaster])
def test_estimators_come_back(make, readout, cell, tmp_path):
    model = make(cell=cell, readout=readout, C=10.0, washout=1)
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded)
    told = SERIES if make is forecaster else RAGGED
    assert_same(model.transform(told), loaded.transform(told))
    assert_same(model.predict(3 if make is forecaster else told), loaded.predict(3 if make is forecaster else told))


@pytest.mark.parametrize("labels", [
    ["a", "bcd"], ["a", "b", "ç"], [0, 1], [3, -1, 10**12], [False, True], [0.5, 1.5], np.array([1, 2], dtype=np.uint8),
    np.array([1, 2, 3], dtype=">i4"), np.array(["x", "yz"], dtype="S3"), np.array(["x", "yz"], dtype=object),
    np.array([1, 2.5, 3], dtype=object), np.array([np.int64(1), 2**80], dtype=object),
    np.array(["x", "\ud800"], dtype=object),
    np.array(["a", "long" * 9], dtype=np.dtypes.StringDType()),
], ids=repr)  # fmt: skip
def test_labels_come_back(labels, tmp_path):
    labels = np.asarray(labels)
    y = labels[np.arange(8) % len(labels)]
    model = classifier(y)
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded)
    assert_same(model.predict(RAGGED), loaded.predict(RAGGED))


def test_multilabel_comes_back(tmp_path):
    model = classifier([np.column_stack([y, 1 - y, y]) for y in STEPS])
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded)
    assert_same(model.predict(RAGGED), loaded.predict(RAGGED))


@pytest.mark.parametrize("y", [[x[:, 0] for x in RAGGED], [x[0, 0] for x in RAGGED]], ids=["one a step", "a sequence"])
def test_values_come_back(y, tmp_path):
    model = regressor(y)
    assert_same(model.predict(RAGGED), there_and_back(model, tmp_path).predict(RAGGED))


def test_forecasters_with_inputs_and_outputs_come_back(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(2, 60, 2))
    model = forecaster(y, X)
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded)
    assert_same(model.generate(4, X=X[:4]), loaded.generate(4, X=X[:4]))
    assert_same(model.generate(4, y[30:39], X[:13]), loaded.generate(4, y[30:39], X[:13]))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("machine, y", [
    (SVC, np.arange(44) % 2), (SVC, np.array(["a", "b", "c", "d"])[np.arange(44) % 4]), (LSSVC, np.arange(44) % 2),
    (LSSVC, np.arange(44) % 3), (SVR, ROWS[:, 0]), (SVR, ROWS), (LSSVR, ROWS[:, 0]), (LSSVR, ROWS),
])  # fmt: skip
def test_machines_come_back(machine, y, kernel, tmp_path):
    model = machine(kernel=kernel, coef0=1.0).fit(ROWS, y)
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded)
    assert_same(model.predict(ROWS), loaded.predict(ROWS))
    assert_same(model.get_params(), loaded.get_params())


def test_names_of_features_and_weights_of_classes_come_back(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS, columns=["p", "q"])
    weights = {np.int64(0): 2.0, 1: np.float32(0.1), 2: 1}
    model = SVC(class_weight=weights).fit(frame, np.arange(44) % 3)
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded)
    assert_same(model.predict(frame), loaded.predict(frame))


def test_names_of_features_and_the_kind_of_output_come_back(tmp_path):
    pd = pytest.importorskip("pandas")
    X = [pd.DataFrame(x, columns=["p", "q"]) for x in RAGGED]
    model = EvokeClassifier(**TINY, class_weight={0: 1.0, 1: 2.0}).fit(X, STEPS).set_output(transform="pandas")
    loaded = there_and_back(model, tmp_path)
    assert_same(model, loaded)
    pd.testing.assert_frame_equal(model.transform(X[0]), loaded.transform(X[0]))


@pytest.mark.parametrize("parameters", [
    dict(gate_bias=[0, 1, -1.5]), dict(gate_bias=np.array([0.0, 1.5, -1.5])),
    dict(C=np.float32(0.1), tol=np.float64(1)),
    dict(n_cells=np.int16(2), verbose=np.False_, validation=0.25, n_jobs=-1), dict(readout=np.str_("pinv")),
    dict(burst_patience=None, burst_scale=0.5, credit="mean"), dict(random_state=None), dict(random_state=2**200),
    dict(random_state=np.random.SeedSequence([1, 2**90], spawn_key=(3,), n_children_spawned=4)),
    dict(random_state=np.random.RandomState(5)), dict(random_state=np.random.default_rng(5)),
    *(dict(random_state=np.random.Generator(getattr(np.random, kind)(5)))
      for kind in ("MT19937", "PCG64DXSM", "Philox", "SFC64")),
], ids=lambda parameters: re.sub(r" at 0x\w+", "", repr(parameters)))  # fmt: skip
def test_parameters_come_back(parameters, tmp_path):
    model = classifier(**parameters)
    assert_same(model, there_and_back(model, tmp_path))


def test_what_no_file_can_hold_is_refused(tmp_path):
    class Mine(EvokeClassifier):
        pass

    model = Mine(**TINY).fit(RAGGED, STEPS)
    with pytest.raises(TypeError, match="Mine"):
        model.save(tmp_path / "model.evk")
    model = classifier().set_params(random_state=np.random.Generator(Bits()))
    with pytest.raises(TypeError, match="random_state"):
        model.save(tmp_path / "model.evk")
    model = classifier(np.array([date(2005, 1, 1), date(2026, 1, 1)], dtype=object)[np.arange(8) % 2])
    with pytest.raises(TypeError, match="classes_"):
        model.save(tmp_path / "model.evk")
    with pytest.raises(ValueError, match="n_cells"):
        classifier().set_params(n_cells=-1).save(tmp_path / "model.evk")
    assert os.listdir(tmp_path) == []


class Bits(np.random.PCG64):
    """A bit generator of the user's own."""


@pytest.mark.parametrize("cls", [EvokeClassifier, EvokeRegressor, EvokeForecaster, SVC, SVR, LSSVC, LSSVR])
def test_nothing_learned_nothing_saved(cls, tmp_path):
    with pytest.raises(NotFittedError):
        cls().save(tmp_path / "model.evk")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("model", [classifier(), regressor(), forecaster(), SVC().fit(ROWS, ROWS[:, 0] > 0),
                                   SVR().fit(ROWS, ROWS), LSSVC().fit(ROWS, ROWS[:, 0] > 0), LSSVR().fit(ROWS, ROWS)],
                         ids=lambda model: type(model).__name__)  # fmt: skip
def test_everything_learned_is_listed(model):
    state = model._state_for_file()
    assert set(state) <= model._fitted
    # old scikit-learn lists what there may be, too
    there = {name for name in dir(model) if name.endswith("_") and not name.startswith("_") and hasattr(model, name)}
    assert there - {"fitted_"} <= {*state, "classes_", "kernel_", "n_features_in_"}


def test_warm_start_goes_on_bit_for_bit(tmp_path):
    once = classifier(n_generations=6, burst_patience=2, n_jobs=2)
    half = classifier(n_generations=3, burst_patience=2)
    half.save(tmp_path / "model.evk")
    again = evoke.load(tmp_path / "model.evk").set_params(warm_start=True).fit(RAGGED, STEPS)
    assert again.history_ == once.history_
    for name in ("genome_", "readout_", "best_fitness_", "n_evaluations_"):
        assert_same(getattr(once, name), getattr(again, name))
    assert_same(once.fitted_.run.esp, again.fitted_.run.esp)


def test_callbacks_are_not_stored(tmp_path):
    def callback(record, _esp):
        record["note"] = "infinite" if record["generation"] == 1 else float("inf")
        record["nested"] = {"list": [1, (2.5, None)], 3: -np.inf}

    model = classifier(callbacks=[callback])
    loaded = there_and_back(model, tmp_path)
    assert loaded.callbacks is None
    assert_same(model.history_, loaded.history_)


def test_the_same_model_gives_the_same_bytes_and_numpy_reads_them(tmp_path):
    model = classifier()
    for name in ("one", "two.npz"):
        model.save(str(tmp_path / name))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["genome_"], model.genome_)
        header = json.loads(archive["header.json"])
    assert (header["format"], header["evoke"], header["class"]) == (1, evoke.__version__, "EvokeClassifier")


# ---------------------------------------------------------------- other processes, other versions


@pytest.fixture(scope="module")
def model():
    return classifier(np.array(["a", "b"], dtype=object)[np.arange(8) % 2], random_state=np.random.default_rng(3))


def test_a_fresh_process_reads_files_and_pickles(model, tmp_path):
    model.save(tmp_path / "model.evk")
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    joblib.dump(model, tmp_path / "model.joblib")
    joblib.dump(RAGGED, tmp_path / "data")
    code = """
import joblib, pickle, evoke
folder, = __import__("sys").argv[1:]
X = joblib.load(f"{folder}/data")
models = [evoke.load(f"{folder}/model.evk"), pickle.load(open(f"{folder}/model.pickle", "rb")),
          joblib.load(f"{folder}/model.joblib"), joblib.load(f"{folder}/model.joblib", mmap_mode="r")]
print(*["".join(m.predict(X)) + m.decision_function(X).tobytes().hex() for m in models])
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    expected = "".join(model.predict(RAGGED)) + model.decision_function(RAGGED).tobytes().hex()
    assert done.stdout.split() == [expected] * 4


@pytest.mark.parametrize("make", [classifier, regressor, forecaster, lambda: SVC().fit(ROWS, ROWS[:, 0] > 0)])
def test_pickles_and_copies_are_the_same(make):
    model = make()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert_same(vars(model), vars(other))


def test_nothing_but_data_is_pickled(model):
    names = set()

    class Names(pickle.Unpickler):
        def find_class(self, module, name):
            names.add(module.partition(".")[0])
            return super().find_class(module, name)

    Names(io.BytesIO(pickle.dumps(model))).load()
    assert names == {"evoke", "numpy"}
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(classifier(callbacks=[lambda record, esp: None]))


def test_a_pickle_of_another_version_warns(model, monkeypatch):
    from evoke.persistence import model as models

    monkeypatch.setattr(models, "__version__", "0.0.0")
    old = pickle.dumps(model)
    monkeypatch.undo()
    with pytest.warns(InconsistentVersionWarning, match=r"EvokeClassifier from version 0\.0\.0 of evoke"):
        loaded = pickle.loads(old)
    assert "_evoke_version" not in vars(loaded)
    assert_same(model, loaded)


def test_a_file_of_another_version_of_the_same_format(model, tmp_path, monkeypatch):
    from evoke.persistence import archive

    monkeypatch.setattr(archive, "__version__", "99.0")
    model.save(tmp_path / "model.evk")
    monkeypatch.setattr(archive, "FORMAT", 2)
    model.save(tmp_path / "newer.evk")
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(model, evoke.load(tmp_path / "model.evk"))
    with pytest.raises(evoke.ModelFileError, match=r"format 2, of evoke 99\.0, is newer than 1"):
        evoke.load(tmp_path / "newer.evk")


def test_sequences_of_one_step_with_targets_in_arrays(tmp_path):
    X, y = [np.full((1, 1), k) for k in range(6)], [np.array([k % 2]) for k in range(6)]
    model = EvokeClassifier(**TINY).fit(X, y)
    model.save(tmp_path / "model.evk")
    assert evoke.load(tmp_path / "model.evk").fitted_.per_sequence is False
