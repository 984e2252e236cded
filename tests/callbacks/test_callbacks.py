"""Callbacks: construction, protocol, early stopping, the log."""

import copy
import pickle
import re
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from evoke import callbacks
from evoke.callbacks import Checkpoint, EarlyStopping, HistoryLog, Progress
from evoke.evolution.run import Run
from evoke.exceptions import ParameterError
from helpers.watched import CLASSES, VALUES, Stop, X, assert_same_model, read_log, stop_at, tiny

# ---- construction


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: EarlyStopping(), "patience=None and target=None"),
        (lambda: EarlyStopping(patience=0), "patience must be an integer of at least 1, got 0"),
        (lambda: EarlyStopping(patience=2.0), "patience must be an integer of at least 1, got 2.0"),
        (lambda: EarlyStopping(patience=True), "patience must be an integer of at least 1, got True"),
        (lambda: EarlyStopping(target=np.nan), "target must be a finite number of at least 0, got nan"),
        (lambda: EarlyStopping(target="0"), "target must be a finite number of at least 0, got '0'"),
        (lambda: EarlyStopping(3, min_delta=-1.0), "min_delta must be a finite number of at least 0, got -1.0"),
        (lambda: EarlyStopping(3, relative_delta="x"), "relative_delta must be a finite number of at least 0, got 'x'"),
        (lambda: Checkpoint(3), "path must be a path, got 3"),
        (lambda: Checkpoint(""), "path must be a path, got ''"),
        (lambda: Checkpoint(None), "path must be a path, got None"),
        (lambda: Checkpoint("a.evk", every=0), "every must be an integer of at least 1, got 0"),
        (lambda: Checkpoint("a.evk", every=1.5), "every must be an integer of at least 1, got 1.5"),
        (lambda: Checkpoint("a.evk", resume="no"), "resume must be True or False, got 'no'"),
        (lambda: HistoryLog(b"a.csv"), "path must be a path, got b'a.csv'"),
        (lambda: HistoryLog("a\0.csv"), r"path must be a path without NUL characters, got 'a\\x00.csv'"),
        (lambda: Checkpoint("a\0b"), r"path must be a path without NUL characters, got 'a\\x00b'"),
        (lambda: Checkpoint("a\ud800"), r"path must be a path, got 'a\\ud800'"),
        (lambda: HistoryLog("a.txt"), r"path must end in \.csv or \.jsonl, got 'a.txt'"),
        (lambda: HistoryLog("csv"), r"path must end in \.csv or \.jsonl, got 'csv'"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


@pytest.mark.parametrize("bad", [Progress, print, [3], [Progress], [Progress()] * 2 + [None]])
def test_what_is_no_callback(bad):
    with pytest.raises(ValueError, match=r"^callbacks must be None or a list of functions or of evoke\.callbacks, got"):
        tiny().set_params(callbacks=bad).fit(X, CLASSES)


@pytest.mark.parametrize("bad", [lambda record: None, lambda record, esp, run: None, lambda: None])
def test_callbacks_of_other_parameters(bad):
    with pytest.raises(ValueError, match=r"^callbacks\[0\] must take the arguments \(record, esp\), got <function"):
        tiny(bad).fit(X, CLASSES)


class Watching:
    """An object whose methods are what they are given as."""

    def __init__(self, **methods):
        vars(self).update(methods)


class Untrue:
    def __bool__(self):
        raise RuntimeError


FUNCTION = r"callbacks[1].watch must yield a function (record, esp), got "


@pytest.mark.parametrize("bad, message", [
    (Watching(watch=3), "callbacks[1] must have the method watch, got <"),
    (Watching(watch=None), "callbacks[1] must have the method watch, got <"),
    (Watching(watch=lambda run: nullcontext(print), restore=3), "callbacks[1] must have the method restore, got <"),
    (Watching(watch=lambda run: None), "callbacks[1].watch must return a context manager, got None"),
    (Watching(watch=lambda run: print), "callbacks[1].watch must return a context manager, got <built-in"),
    (Watching(watch=lambda run: nullcontext()), f"{FUNCTION}None"),
    (Watching(watch=lambda run: nullcontext(3)), f"{FUNCTION}3"),
    (Watching(watch=lambda run: nullcontext(lambda record: None)), f"{FUNCTION}<function"),
    (Watching(watch=lambda run: nullcontext(lambda *_: np.zeros(3))), "callbacks[1] must return what is true or"),
    (lambda record, esp: np.zeros(3), "callbacks[1] must return what is true or false, got array([0., 0., 0.])"),
    (lambda record, esp: Untrue(), "callbacks[1] must return what is true or false, got <"),
], ids=lambda _: "")  # fmt: skip
def test_callbacks_that_break_the_protocol(bad, message):
    before, ended = tiny().fit(X, CLASSES), []

    @contextmanager
    def watch(run):
        try:
            yield lambda record, esp: None
        finally:
            ended.append(True)

    model = tiny(Watching(watch=watch), bad, n_generations=9, warm_start=True)
    model.fitted_ = before.fitted_
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}"):
        model.fit(X, CLASSES)
    assert len(model.history_) == 6 + ("return what" in message)  # the generation is done all the same
    assert len(ended) == ("must have" not in message)


@pytest.mark.parametrize("answer", [None, 0, np.False_, np.array([0]), np.array(False), ""])
def test_what_a_callback_may_return(answer):
    assert len(tiny(lambda record, esp: answer).fit(X, CLASSES).history_) == 6


def test_they_are_copied_pickled_and_cloned(tmp_path):
    every = [Progress(), EarlyStopping(patience=3), Checkpoint(tmp_path / "a.evk"), HistoryLog(tmp_path / "a.csv")]
    assert {type(callback).__name__ for callback in every} == set(callbacks.__all__)
    model = tiny(*every)
    for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.callbacks == every and other.callbacks[2] is not every[2]
    model.fit(X, CLASSES)
    assert pickle.loads(pickle.dumps(model)).callbacks == every  # nothing of the run has stayed in them
    assert_same_model(clone(model).fit(X, CLASSES), model)


def test_in_a_grid_search_with_processes(tmp_path):
    model = tiny(Progress(), EarlyStopping(patience=2))
    search = GridSearchCV(model, {"C": [1.0, 10.0]}, cv=2, n_jobs=2).fit(np.stack([x[:4] for x in X + X]), [0, 1] * 4)
    assert search.best_estimator_.history_


# ---- the protocol


def test_what_watches_is_told_of_beginning_and_end():
    seen = []

    class Watching:
        def restore(self, run):
            seen.append(("restore", run.esp.generation))

        @contextmanager
        def watch(self, run):
            seen.append(("begin", run.n_generations, len(run.history)))
            try:
                yield lambda record, esp: seen.append((record["generation"], esp is run.esp, record is run.history[-1]))
            finally:
                seen.append(("end", run.esp.generation))

    model = tiny(lambda record, _esp: seen.append("function"), Watching(), n_generations=2, warm_start=True)
    model.fit(X, CLASSES)
    generation = ["function", (1, True, True), "function", (2, True, True)]
    assert seen == [("restore", 0), ("begin", 2, 0), *generation, ("end", 2)]
    del seen[:]
    with pytest.raises(Stop):
        model.set_params(callbacks=[*model.callbacks, stop_at(3)]).fit(X, CLASSES)
    assert seen == [("restore", 2), ("begin", 4, 2), "function", (3, True, True), ("end", 3)]


def test_the_model_so_far_is_that_of_a_shorter_run():
    models = []

    class Watching:
        @contextmanager
        def watch(self, run):
            assert not hasattr(run.model(), "genome_")
            yield lambda _record, _esp: models.append(copy.deepcopy(run.model()))

    model = tiny(Watching(), n_generations=3)
    model.fit(X, CLASSES)
    for k, so_far in enumerate(models, start=1):
        assert_same_model(so_far, tiny(n_generations=k).fit(X, CLASSES))
    assert so_far.predict(X)[0].shape == (5,)


def test_the_model_so_far_is_that_of_the_best_network_where_another_had_its_fitness():
    found = []

    class Watching:
        @contextmanager
        def watch(self, run):
            def exchange(_record, esp):
                run.model()
                fitness, other = esp.best_fitness, 2.0 * esp.best
                esp.judge_best_anew(np.inf)
                esp.take_in(other, fitness)
                found.append((run.model().genome_, other))

            yield exchange

    tiny(Watching(), n_generations=2).fit(X, CLASSES)
    assert len(found) == 2
    for genome, other in found:
        np.testing.assert_array_equal(genome, other)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_a_restore_that_fails_leaves_nothing_of_it(kind):
    other = tiny().fit(X, CLASSES)

    class Half:
        def restore(self, run):
            run.history.extend(other.history_)
            run.esp.load_state_dict(other.fitted_.run.esp.state_dict())
            raise kind

        def watch(self, run):
            raise AssertionError

    model = tiny(Half())
    with pytest.raises(kind):
        model.fit(X, CLASSES)
    assert not hasattr(model, "genome_")
    assert_same_model(model.set_params(callbacks=None).fit(X, CLASSES), other)


# ---- early stopping


def expected_end(fitness, patience, target, min_delta, relative_delta=0.0):
    """The generation after which a run with these best fitnesses ends, or None: as it is defined, in one look."""
    least = [np.inf]
    for k, value in enumerate(fitness, start=1):
        is_better = all(value < least[-1] - delta for delta in (min_delta, relative_delta * least[-1])) or k == 1
        least.append(value if is_better else least[-1])
        if target is not None and value <= target:
            return k
        if patience is not None and k >= patience and least[k] == least[k - patience]:
            return k
    return None


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20), st.none() | st.integers(1, 5), st.none() | st.integers(0, 9),
    st.integers(0, 2), st.sampled_from([0.0, 0.25, 0.5]), st.integers(0, 20),
)  # fmt: skip
def test_the_generation_of_the_end(steps, patience, target, min_delta, relative_delta, n_before):
    """A run that begins with a part of the history ends where one from the beginning does."""
    fitness = np.minimum.accumulate(np.array(steps, dtype=float)).tolist()
    if patience is None and target is None:
        patience = 1
    end = expected_end(fitness, patience, target, min_delta, relative_delta)
    records = [{"best_fitness": value} for value in fitness]
    run = Run(None, None, len(records), records[:n_before])
    found = None
    with EarlyStopping(patience, target, min_delta, relative_delta).watch(run) as ended:
        for k, record in enumerate(records[n_before:], start=n_before + 1):
            if run.stopped:
                break
            if ended(record, None):
                found = k
                break
    if end is not None and end <= n_before:
        assert run.stopped and found is None
    else:
        assert not run.stopped and found == end


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_patience_does_not_depend_on_the_jobs(n_jobs):
    straight = tiny(n_generations=40, subpopulation_size=12).fit(X, CLASSES)
    end = expected_end([record["best_fitness"] for record in straight.history_], 3, None, 0.0)
    assert end < 40
    model = tiny(EarlyStopping(patience=3), n_generations=40, subpopulation_size=12, n_jobs=n_jobs).fit(X, CLASSES)
    assert model.history_ == straight.history_[:end]
    assert_same_model(model, tiny(n_generations=end, subpopulation_size=12).fit(X, CLASSES))


def test_patience_over_warm_starts():
    model = tiny(EarlyStopping(patience=3), n_generations=40).fit(X, CLASSES)
    end = len(model.history_)
    pieces = tiny(EarlyStopping(patience=3), n_generations=2, warm_start=True)
    for _ in range(20):
        pieces.fit(X, CLASSES)
    assert_same_model(pieces, model)
    assert 2 < end < 40


def test_records_of_other_data_do_not_count():
    target = EarlyStopping(target=tiny().fit(X, CLASSES).best_fitness_)
    model = tiny(target, warm_start=True).fit(X, CLASSES)
    n_before = len(model.history_)
    opposite = [1 - labels for labels in CLASSES]
    random = [np.arange(len(x)) // 2 % 2 for x in X]
    model.fit(X, random)
    assert len(model.history_) > n_before and model.fitted_.run.first == n_before
    model.fit(X, random)
    assert model.fitted_.run.first == n_before
    n_before = len(model.history_)
    model.set_params(C=1.0).fit(X, opposite)
    assert model.fitted_.run.first == n_before


# ---- the log


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_the_log_is_the_history(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    seen = []
    model = tiny(HistoryLog(path), lambda record, _esp: seen.append(read_log(path)[-1] == record), warm_start=True)
    model.fit(X, CLASSES)
    assert read_log(path) == model.history_ and len(model.history_) == 6
    assert seen == [True] * 6
    assert list(read_log(path)[0]) == list(model.history_[0])
    model.fit(X, CLASSES)  # goes on
    assert read_log(path) == model.history_ and len(model.history_) == 12
    model.set_params(warm_start=False).fit(X, VALUES_AS_CLASSES)  # begins anew
    assert read_log(path) == model.history_ and len(model.history_) == 6
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


VALUES_AS_CLASSES = [(values > 0).astype(int) for values in VALUES]


def test_what_is_not_finite(tmp_path):
    record = {"generation": 1, "best_fitness": np.inf, "generation_best": np.nan, "burst": False}
    for name in ("a.csv", "a.jsonl"):
        with HistoryLog(tmp_path / name).watch(Run(None, None, 1)) as append:
            append(record, None)
    assert (tmp_path / "a.csv").read_text() == "generation,best_fitness,generation_best,burst\n1,inf,nan,False\n"
    assert read_log(tmp_path / "a.jsonl") == [{**record, "best_fitness": None, "generation_best": None}]


@pytest.mark.parametrize("name", ["data.csv", "data.jsonl"])
@pytest.mark.parametrize("content", [b"time,value\n1,2\n", b"\xff\x00\xff", b'{"gen": 1}\n', b"generation"])
def test_other_files_are_not_overwritten(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"data\.(csv|jsonl)' is not a log of generations"):
        tiny(HistoryLog(path)).fit(X, CLASSES)
    assert path.read_bytes() == content


def test_a_log_of_two_fits_at_once(tmp_path):
    path = tmp_path / "a.csv"
    other = tiny(HistoryLog(path))
    model = tiny(HistoryLog(path), lambda record, _esp: record["generation"] == 2 and not other.fit(X, CLASSES))
    with pytest.raises(ValueError, match=r"a\.csv' was changed during the fit: every fit needs a path of its own"):
        model.fit(X, CLASSES)
    assert read_log(path) == other.history_
    assert len(model.history_) == 3  # what was done is kept


@pytest.mark.parametrize("kind", [HistoryLog, Checkpoint])
def test_a_folder_that_is_not_there_is_told_before_any_work(tmp_path, kind):
    def fail(record, esp):
        raise AssertionError

    with pytest.raises(FileNotFoundError, match="nowhere"):
        tiny(kind(tmp_path / "nowhere" / "a.csv"), fail).fit(X, CLASSES)
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(OSError, match=r"a\.csv"):
        tiny(kind(tmp_path / "a.csv"), fail).fit(X, CLASSES)
