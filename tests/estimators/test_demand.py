"""What users of such tools report, as small cases: of every estimator, readout and kind of target alike.

The numbers are those of the cases in the list that the tests follow. Of saved models (18) see test_persistence.py, of
checkpoints (21) test_callbacks.py, of bad parameters (15) `test_bad_parameters_are_named_before_any_work` in
test_estimators.py, test_regressor.py and test_forecaster.py and `test_bad_parameters` of the machines in test_svm.py,
of searches and pipelines (19) test_routing.py, of scikit-learn's own checks the files of the estimators and machines.
"""

import os
import signal
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.sequences import from_padded
from evoke.svm import LSSVC, LSSVR, SVC, SVR

TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)


class Kind(NamedTuple):
    """An estimator and a kind of targets, made of the sequences."""

    cls: type
    targets: Callable[[Any], Any]
    decide: str
    per_sequence: bool = False
    columns: tuple[int, ...] = ()

    def fit(self, model, X, held_out=None):
        more = {} if held_out is None else dict(X_val=held_out, y_val=self.targets(held_out))
        if self.cls is EvokeForecaster:
            return model.fit(self.targets(X), X, **more)
        return model.fit(X, self.targets(X), **more)

    def decisions(self, model, X):
        """The most exact answer that the model gives."""
        if self.cls is EvokeForecaster:
            return model.predict_one_step(self.targets(X), X)
        return getattr(model, self.decide)(X)

    def score(self, model, X):
        return model.score(self.targets(X), X) if self.cls is EvokeForecaster else model.score(X, self.targets(X))


def of_steps(function):
    """Targets of 2-D sequences in a list, or of one."""
    return lambda X: function(X) if isinstance(X, np.ndarray) and X.ndim == 2 else [function(np.asarray(x)) for x in X]


def of_sequences(function):
    return lambda X: np.array([function(x) for x in X])


KINDS = {
    "classifier": Kind(EvokeClassifier, of_steps(lambda x: (x[:, 0] > 0).astype(int)), "decision_function"),
    "three classes": Kind(EvokeClassifier, of_steps(lambda x: np.digitize(x[:, 1], [-0.4, 0.4])), "decision_function",
                          columns=(3,)),
    "several labels": Kind(EvokeClassifier, of_steps(lambda x: (x > 0).astype(int)), "decision_function", columns=(2,)),
    "a label a sequence": Kind(EvokeClassifier, of_sequences(lambda x: "ba"[int(x[-1][0] > 0)]), "decision_function",
                               True),
    "regressor": Kind(EvokeRegressor, of_steps(lambda x: x[:, 0] - x[:, 1]), "predict"),
    "several values": Kind(EvokeRegressor, of_steps(lambda x: x**2), "predict", columns=(2,)),
    "a value a sequence": Kind(EvokeRegressor, of_sequences(lambda x: x[-1][1]), "predict", True),
    "forecaster": Kind(EvokeForecaster, of_steps(lambda x: x[:, 0] / 2), "predict_one_step"),
    "forecaster of two": Kind(EvokeForecaster, of_steps(lambda x: x / 2), "predict_one_step", columns=(2,)),
}  # fmt: skip
READOUTS = ["svm", "lssvm", "pinv"]
PER_STEP = [name for name in KINDS if not KINDS[name].per_sequence]
of_all_kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
of_all_steps = pytest.mark.parametrize("kind", [KINDS[name] for name in PER_STEP], ids=PER_STEP)
of_all_readouts = pytest.mark.parametrize("readout", READOUTS)
of_all_estimators = pytest.mark.parametrize("kind", [KINDS["classifier"], KINDS["regressor"], KINDS["forecaster"]],
                                            ids=["classifier", "regressor", "forecaster"])  # fmt: skip


def ragged(*lengths, seed=7):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(length, 2)) for length in lengths]


TRAIN = ragged(3, 7, 4, 5, 6, 4, 5, 8, seed=8)
EQUAL = ragged(5, 5, 5, 5, seed=0)


def tiny(kind, **parameters):
    return kind.cls(**{**TINY, "C": 100.0, **parameters})


def flat(answer):
    """The answers of all steps, or one a sequence, in one array."""
    return np.concatenate(answer) if isinstance(answer, list) else answer


def assert_equal(found, expected):
    """Lists of arrays, or arrays, with the same bits."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def assert_same_model(a, b):
    np.testing.assert_array_equal(a.genome_, b.genome_)
    assert a.history_ == b.history_
    for name in ("support_vectors", "dual_coef", "intercept"):
        np.testing.assert_array_equal(getattr(a.readout_, name), getattr(b.readout_, name))


# ---- 1 to 5: sequences and their containers


@of_all_kinds
@of_all_readouts
def test_sequences_of_one_step_01(kind, readout):
    X = [np.array([[1.0, 2.0]]), np.array([[-1.0, -2.0]]), np.array([[0.5, 0.1]]), np.array([[-0.5, 1.0]])]
    model = kind.fit(tiny(kind, readout=readout, validation=0.25), X)
    shapes = [np.shape(part) for part in kind.decisions(model, X)]
    assert shapes == [kind.columns if kind.per_sequence else (1, *kind.columns)] * 4
    with pytest.raises(ValueError, match=r"washout=1 leaves nothing of [Xy]\[2\], which has 1 steps"):
        kind.fit(tiny(kind, readout=readout, washout=1), [TRAIN[0], TRAIN[1], X[0], TRAIN[2]])


@of_all_kinds
@of_all_readouts
def test_ragged_lists_02(kind, readout):
    model, X = kind.fit(tiny(kind, readout=readout), TRAIN), ragged(3, 7, 1, seed=1)
    together = kind.decisions(model, X)
    if not kind.per_sequence:
        assert isinstance(together, list) and [len(part) for part in together] == [3, 7, 1]
    for x, expected in zip(X, together, strict=True):
        np.testing.assert_array_equal(kind.decisions(model, [x])[0], expected)


@of_all_kinds
def test_equivalent_containers_03(kind):
    objects = np.empty(4, dtype=object)
    objects[:] = EQUAL
    padded = np.full((4, 8, 2), np.nan)
    padded[:, :5] = EQUAL
    expected = kind.fit(tiny(kind), EQUAL)
    containers = [objects, tuple(EQUAL), from_padded(padded), [x.tolist() for x in EQUAL]]
    if kind.cls is not EvokeForecaster:  # whose series may have one dimension, so that lists say how many there are
        containers.append(np.array(EQUAL))
    for X in containers:
        model = kind.fit(tiny(kind), X)
        assert_same_model(model, expected)
        assert_equal(kind.decisions(model, X), kind.decisions(expected, EQUAL))


@of_all_steps
@of_all_readouts
def test_one_2d_array_is_one_sequence_04(kind, readout):
    x = ragged(12)[0]
    model = kind.fit(tiny(kind, readout=readout), x)
    assert kind.decisions(model, x).shape == (12, *kind.columns)
    assert_same_model(model, kind.fit(tiny(kind, readout=readout), [x]))
    np.testing.assert_array_equal(kind.decisions(model, x), kind.decisions(model, [x])[0])


@pytest.mark.parametrize("call", [
    lambda x: EvokeClassifier(**TINY).fit(x, x > 0), lambda x: EvokeRegressor(**TINY).fit(x, x),
    lambda x: EvokeRegressor(**TINY).fit(EQUAL, EQUAL).predict(x), lambda x: EvokeForecaster(**TINY).fit(x, x),
    lambda x: EvokeRegressor(**TINY).fit([x, x], [x, x]),
])  # fmt: skip
def test_a_1d_array_gets_a_hint_04(call):
    with pytest.raises(ValueError, match=r"reshape\(-1, 1\)"):
        call(np.arange(10.0))


@of_all_kinds
@of_all_readouts
def test_the_state_is_reset_between_sequences_05(kind, readout):
    model, X = kind.fit(tiny(kind, readout=readout), TRAIN), ragged(4, 6, 2, seed=3)
    expected = kind.decisions(model, X)
    assert_equal(kind.decisions(model, X), expected)
    assert_equal(kind.decisions(model, X[::-1]), expected[::-1])
    np.testing.assert_array_equal(kind.decisions(model, [X[1]])[0], expected[1])


# ---- 6 to 8: state, washout, free runs


@pytest.mark.parametrize("name", [name for name in KINDS if KINDS[name].cls is not EvokeForecaster])
@of_all_readouts
def test_a_stream_reads_in_pieces_and_predict_leaves_it_alone_06(name, readout):
    kind = KINDS[name]
    model, x = kind.fit(tiny(kind, readout=readout), TRAIN), ragged(20, seed=2)[0]
    stream, whole = model.stream(), getattr(model.stream(), kind.decide)(x)
    first = getattr(stream, kind.decide)(x[:8])
    kind.decisions(model, TRAIN)
    np.testing.assert_array_equal(np.concatenate([first, getattr(stream, kind.decide)(x[8:])]), whole)
    if not kind.per_sequence:
        np.testing.assert_array_equal(whole, kind.decisions(model, x))


@of_all_steps
@pytest.mark.filterwarnings("ignore:the held-out part has class")  # there are three steps to learn from
def test_washout_counts_in_every_sequence_07(kind):
    X, held_out = ragged(5, 4), ragged(9, seed=1)
    for washout, n_rows in ((3, 2 + 1), (0, 5 + 4)):
        # this readout keeps every row that it is trained on
        model = kind.fit(tiny(kind, readout="lssvm", washout=washout), X, held_out)
        assert len(model.readout_.support_vectors) == n_rows
        assert [len(part) for part in kind.decisions(model, X)] == [5, 4]


@of_all_readouts
@pytest.mark.parametrize("columns", [1, 2])
def test_generate_is_a_loop_over_its_own_output_08(readout, columns):
    y = np.column_stack([np.sin(np.arange(120) / 4), np.cos(np.arange(120) / 4)])[:, :columns]
    model = EvokeForecaster(**TINY, readout=readout, C=100.0).fit(y)
    found = model.generate(20, context=y[:50])
    assert found.shape == (20, columns)
    stream, value, loop = model.stream(), np.zeros(columns), []
    for told in y[:50]:
        stream.step(value)
        value = told
    for _ in range(20):
        value = stream.step(value)
        loop.append(value)
    np.testing.assert_array_equal(found, loop)
    np.testing.assert_array_equal(model.generate(20, context=y[:50]), found)
    assert model.generate(0, context=y[:50]).shape == model.generate(0).shape == (0, columns)


# ---- 9 to 10: types of numbers and what is none


CHANGES = {
    "Fortran": np.asfortranarray, "negative stride": lambda x: x[::-1].copy()[::-1], "read-only": lambda x: x.copy(),
    "every second": lambda x: x.repeat(2, axis=0)[::2],
    **{name: lambda x, name=name: x.astype(name) for name in ("float32", "int64", "bool", "object", ">f8")},
}  # fmt: skip


@of_all_kinds
@pytest.mark.parametrize("name", CHANGES)
def test_dtype_and_layout_change_nothing_09(kind, name):
    X = [(x > 0).astype(float) for x in EQUAL]
    expected = kind.fit(tiny(kind), X)
    changed = [CHANGES[name](x) for x in X]
    for x in changed:
        x.flags.writeable = False
    model = tiny(kind)
    y = kind.targets(X)
    model.fit(y, changed) if kind.cls is EvokeForecaster else model.fit(changed, y)
    assert_same_model(model, expected)
    found = model.predict_one_step(y, changed) if kind.cls is EvokeForecaster else getattr(model, kind.decide)(changed)
    assert_equal(found, kind.decisions(expected, X))
    for x, same in zip(changed, X, strict=True):
        np.testing.assert_array_equal(np.asarray(x, dtype=float), same)


@of_all_kinds
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_is_refused_before_any_work_10(kind, value, monkeypatch):
    bad = [x.copy() for x in EQUAL]
    bad[2][3, 1] = value
    fitted = kind.fit(tiny(kind), EQUAL)
    monkeypatch.setattr("evoke.estimators.base.evolve", None)
    monkeypatch.setattr("evoke._core.lstm.sequences", None)
    y = kind.targets(EQUAL)
    of_X = r"X\[2\] contains NaN or infinity: .* at step 3, column 1"
    for call in (lambda: tiny(kind).fit(y, bad), lambda: fitted.predict_one_step(y, bad)) if (
        kind.cls is EvokeForecaster
    ) else (lambda: tiny(kind).fit(bad, y), lambda: fitted.predict(bad), lambda: fitted.transform(bad)):
        with pytest.raises(ValueError, match=of_X):
            call()
    if kind.per_sequence and kind.cls is EvokeClassifier:
        return  # its labels are text
    y = np.array(y, dtype=float)
    y[(2,) if kind.per_sequence else (2, 3)] = value
    with pytest.raises(ValueError, match=r"y.*\[2\]"):
        tiny(kind).fit(list(y), EQUAL) if kind.cls is EvokeForecaster else tiny(kind).fit(EQUAL, list(y))


def test_nan_in_what_is_to_be_continued_10():
    # a run that diverges: test_a_run_that_diverges_says_where in test_forecaster.py
    model = EvokeForecaster(**TINY).fit(np.sin(np.arange(40.0)))
    with pytest.raises(ValueError, match="context contains NaN or infinity: nan at step 7"):
        model.generate(3, context=np.where(np.arange(10) == 7, np.nan, 1.0))


# ---- 11 to 14: targets


@of_all_readouts
@pytest.mark.parametrize("value", [3.0, -3.0, 0.0, 1e6])
def test_a_constant_target_11(readout, value):
    size = abs(value) + 1e-3
    for y in ([np.full(len(x), value) for x in TRAIN], np.full(len(TRAIN), value)):
        model = EvokeRegressor(**TINY, readout=readout).fit(TRAIN, y)
        assert np.abs(flat(model.predict(TRAIN)) - value).max() <= 1.1e-3 * size
        assert np.isfinite(model.score(TRAIN, y))


@pytest.mark.parametrize("machine", [SVR(epsilon=0.1), LSSVR(), SVR(solver="thundersvm", epsilon=0.1)])
def test_a_constant_target_of_a_machine_11(machine):
    machine.fit(EQUAL[0], np.full(5, 3.0))
    np.testing.assert_allclose(machine.predict(EQUAL[0]), 3.0, atol=0.1 if isinstance(machine, SVR) else 1e-12)
    assert np.isfinite(machine.score(EQUAL[0], np.full(5, 3.0)))
    if isinstance(machine, SVR):
        assert machine.n_support_ == 0 and machine.intercept_ == pytest.approx(3.0)


@of_all_readouts
@pytest.mark.parametrize("solver", ["native", "thundersvm"])
@pytest.mark.parametrize("label", ["a", 0, 1.5, True])
def test_a_single_class_12(readout, solver, label):
    # within cross-validation: test_a_fold_with_a_single_class_fails_alone in test_estimators.py
    for y in ([label] * len(TRAIN), [[label] * len(x) for x in TRAIN]):
        with pytest.raises(ValueError, match=f"y has 1 class, .*{label}"):
            EvokeClassifier(**TINY, readout=readout, solver=solver).fit(TRAIN, y)
    for machine in (SVC(solver=solver), LSSVC()):
        with pytest.raises(ValueError, match="class"):
            machine.fit(TRAIN[0], [label] * 3)


LABELS = {
    "strings": ["no", "yes"], "negative": [-7, -2], "halves": [0.5, 1.5], "beyond float32": [2**24, 2**24 + 1],
    "bool": [False, True], "objects": np.array(["x", "yy"], dtype=object), "three": [-1.5, 0.25, 7.0],
    "uint8": np.array([3, 200], dtype=np.uint8),
}  # fmt: skip


@of_all_readouts
@pytest.mark.parametrize("name", LABELS)
def test_labels_keep_their_kind_13(readout, name):
    labels = np.asarray(LABELS[name])
    codes = [np.arange(len(x)) % len(labels) for x in TRAIN]
    last = np.array([c[-1] for c in codes])
    for y in ([labels[::-1][c] for c in codes], labels[::-1][last]):
        model = EvokeClassifier(**TINY, readout=readout).fit(TRAIN, y)
        assert model.classes_.dtype == labels.dtype and model.classes_.tolist() == labels.tolist()
        predicted = flat(model.predict(TRAIN))
        assert predicted.dtype == labels.dtype and set(predicted.tolist()) <= set(labels.tolist())
    for machine in (SVC(), LSSVC()):
        machine.fit(np.concatenate(TRAIN), np.concatenate([labels[c] for c in codes]))
        assert machine.classes_.dtype == labels.dtype and machine.classes_.tolist() == labels.tolist()
        assert machine.predict(TRAIN[0]).dtype == labels.dtype


@of_all_readouts
@pytest.mark.parametrize("first", [0, 1])
def test_the_sign_says_the_second_class_14(readout, first):
    names = np.array(["zebra", "ant"] if first else ["ant", "zebra"])
    y = [names[c] for c in KINDS["classifier"].targets(TRAIN)]
    for targets in (y, np.array([labels[-1] for labels in y])):
        model = EvokeClassifier(**TINY, readout=readout).fit(TRAIN, targets)
        decisions, predicted = flat(model.decision_function(TRAIN)), flat(model.predict(TRAIN))
        assert model.classes_.tolist() == ["ant", "zebra"] and decisions.ndim == 1
        np.testing.assert_array_equal(predicted, np.where(decisions > 0, "zebra", "ant"))


@of_all_kinds
@of_all_readouts
def test_the_order_of_the_sequences_does_not_matter_14(kind, readout):
    held_out = ragged(6, 5, 4, seed=5)
    parameters = dict(readout=readout, n_generations=1, tol=1e-8)
    model = kind.fit(tiny(kind, **parameters), TRAIN, held_out)
    shuffled = kind.fit(tiny(kind, **parameters), [TRAIN[k] for k in (5, 2, 7, 0, 1, 6, 4, 3)], held_out)
    np.testing.assert_array_equal(shuffled.genome_, model.genome_)
    for one, other in zip(kind.decisions(model, held_out), kind.decisions(shuffled, held_out), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


# ---- 16 to 17: the same again


@of_all_kinds
@of_all_readouts
def test_the_number_of_jobs_changes_nothing_16(kind, readout):
    many = dict(readout=readout, subpopulation_size=12, n_trials=3)  # several blocks of networks
    expected = kind.fit(tiny(kind, **many), TRAIN)
    for n_jobs in (2, -1, 3):
        model = kind.fit(tiny(kind, **many, n_jobs=n_jobs), TRAIN)
        assert_same_model(model, expected)
        assert_equal(kind.decisions(model, TRAIN), kind.decisions(expected, TRAIN))


@of_all_estimators
def test_seeds_17(kind):
    def genome(seed):
        return kind.fit(tiny(kind, random_state=seed), TRAIN).genome_

    for make in (lambda: 0, lambda: np.int64(7), lambda: np.random.SeedSequence(7), lambda: np.random.default_rng(7),
                 lambda: np.random.RandomState(7)):  # fmt: skip
        np.random.seed(3)
        before = genome(make())
        np.random.random(100)
        state = np.random.get_state()
        np.testing.assert_array_equal(genome(make()), before)
        for one, other in zip(np.random.get_state(), state, strict=True):
            np.testing.assert_array_equal(one, other)
    assert not np.array_equal(genome(0), genome(1))
    assert not np.array_equal(genome(None), genome(None))


# ---- 19 to 21: manners


@of_all_kinds
def test_clone_and_parameters_19(kind):
    model = tiny(kind)
    before = model.get_params()
    assert kind.fit(model, TRAIN) is model
    assert model.get_params() == before == clone(model).get_params()
    assert not any(name.endswith("_") for name in vars(clone(model)))
    assert np.isfinite(kind.score(model, TRAIN))
    again = clone(model).set_params(**{name: before[name] for name in ("C", "n_cells")})
    assert_same_model(kind.fit(again, TRAIN), model)


@of_all_estimators
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_long_fit_and_keeps_the_best_20(kind, n_jobs):
    n_threads = threading.active_count()
    begun = []

    def interrupt_later(record, _esp):
        if not begun:
            begun.append(threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)))
            begun[0].start()

    model = tiny(kind, n_generations=10**9, n_jobs=n_jobs, callbacks=[interrupt_later])
    with pytest.raises(KeyboardInterrupt):
        kind.fit(model, TRAIN)
    begun[0].join()
    assert len(model.history_) >= 1 and np.isfinite(kind.score(model, TRAIN))
    assert threading.active_count() == n_threads
    kind.fit(model.set_params(n_generations=2, callbacks=None), TRAIN)
    assert_same_model(model, kind.fit(tiny(kind), TRAIN))


@of_all_estimators
def test_silence_21(kind, capfd):
    # of an import: test_importing_writes_no_file in test_estimators.py
    model = kind.fit(tiny(kind, n_jobs=2), TRAIN)
    kind.decisions(model, TRAIN)
    assert capfd.readouterr() == ("", "")
