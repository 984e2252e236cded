"""Machines on landmarks read the steps of several networks: units, seeds, files, samples, odd parameters."""

from dataclasses import replace

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeRegressor, load
from evoke._core.kernel import decide, gram
from evoke._core.landmarks import Sums, solve
from evoke._core.lstm import Network
from evoke.callbacks import Checkpoint
from evoke.estimators.blocks import activation_blocks
from evoke.estimators.joined_sequences import AT_A_TIME, _PooledRows
from evoke.estimators.joined_steps import settled_features
from evoke.estimators.pooling import Pooling
from evoke.sequences.blocks import row_blocks
from evoke.sequences.containers import as_sequences
from evoke.sequences.preparation import Preparation

SMALL = {
    "readout": "landmarks", "n_generations": 2, "subpopulation_size": 8, "n_networks": 4, "n_landmarks": 40,
    "fit_samples": 400, "random_state": 0,
}  # fmt: skip


def leaky_sums(n, seed=0, decay=0.9):
    rng = np.random.default_rng(seed)
    X, value, sums = rng.normal(size=(n, 2)), 0.0, np.empty(n)
    for t in range(n):
        value = decay * value + X[t, 0]
        sums[t] = value
    return X, sums


X, SUMS = leaky_sums(3000)
X_TEST, SUMS_TEST = leaky_sums(2000, seed=1)
LABELS = np.where(SUMS > 1.0, "high", np.where(SUMS < -1.0, "low", "middle"))
LABELS_TEST = np.where(SUMS_TEST > 1.0, "high", np.where(SUMS_TEST < -1.0, "low", "middle"))


@pytest.fixture(scope="module")
def classifier():
    return EvokeClassifier(**SMALL).fit(X, LABELS)


@pytest.fixture(scope="module")
def regressor():
    return EvokeRegressor(**SMALL).fit(X, SUMS)


# ---------------------------------------------------------------- what is learned


def test_learns_what_one_step_does_not_say(classifier, regressor):
    assert classifier.score(X_TEST, LABELS_TEST) > 0.8  # the most frequent label: 0.36
    assert regressor.score(X_TEST, SUMS_TEST) > 0.9
    assert len(classifier.readout_.support_vectors) <= 40


def test_many_steps_are_read_so_by_default():
    long, sums = leaky_sums(1_000)
    settings = {"n_generations": 1, "subpopulation_size": 4, "n_networks": 2, "random_state": 0}
    model = EvokeRegressor(**settings).fit(long, sums)
    assert len(model.readout_.support_vectors) == 512
    assert len(model.fitted_.networks) <= 2
    exact = EvokeRegressor(**settings | {"n_networks": "auto"}).fit(long[:300], sums[:300])
    assert exact.readout_.support_vectors.shape[1] == 10  # one network


def test_ridge_reads_steps_by_a_linear_machine():
    model = EvokeRegressor(**SMALL | {"readout": "ridge"}).fit(X, SUMS)
    assert model.readout_.kernel.name == "linear"
    assert np.array_equal(model.readout_.support_vectors, np.eye(model.readout_.support_vectors.shape[1]))
    assert model.score(X_TEST, SUMS_TEST) > 0.9


def test_the_readout_is_the_machine_of_the_normal_equations(regressor):
    """Trained anew on the activations of all steps, with the kernel, the landmarks and the C of the model."""
    model = regressor.fitted_
    phi = model.scaling.apply(np.concatenate([a for _, a in activation_blocks(
        model.networks, model.read(X), model.preparation)]))  # fmt: skip
    z, kernel = model.readout.support_vectors, model.readout.kernel
    k = np.exp(-kernel.gamma * ((phi[:, None] - z) ** 2).sum(axis=2))
    y = (SUMS - SUMS.mean()) / SUMS.std()
    errors = []
    for C in (0.01, 1.0, 100.0, 1e4, 1e6):
        sums = Sums(kernel, z, 1)
        sums.add(phi, y[:, None])
        solved = solve(sums.total, gram(z, kernel), C, 1)
        ours = (regressor.predict(X) - SUMS.mean()) / SUMS.std()
        errors.append(np.abs(decide(phi, z, solved.dual_coef, solved.intercept, kernel)[:, 0] - ours).max())
        c, b = solved.dual_coef[:, 0], solved.intercept[0]
        gradient = k.T @ (k @ c + b - y) + gram(z, kernel) @ c / C
        assert np.abs(gradient).max() < 1e-7 * len(y)
        assert abs((k @ c + b - y).sum()) < 1e-7 * len(y)
    assert min(errors) < 1e-9


# ---------------------------------------------------------------- blocks of steps


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_blocks_are_those_of_all_at_once(classifier, size):
    model = classifier.fitted_
    pieces = [X_TEST[:11], X_TEST[11:12], X_TEST[12:19], X_TEST[19:60]]
    sequences = model.read(pieces)
    blocks = list(activation_blocks(model.networks, sequences, model.preparation, size=size))
    assert [rows.start for rows, _ in blocks] == [0, *(rows.stop for rows, _ in blocks[:-1])]
    assert np.array_equal(np.concatenate([phi for _, phi in blocks]), model.activations(model.inputs(sequences)))


def test_many_short_sequences_share_a_block():
    offsets = np.arange(0, 1001, 10)
    blocks = list(row_blocks(offsets, 100))
    assert len(blocks) == 10
    assert all(len(part) == 11 and not continues for _, part, continues in blocks)


def test_streams_read_step_by_step_what_predict_reads(classifier, regressor):
    for model in (classifier, regressor):
        reader = model.stream()
        steps = np.concatenate([reader.predict(X_TEST[:7]), [reader.step(x) for x in X_TEST[7:20]]])
        assert np.array_equal(steps, model.predict(X_TEST[:20]))


def test_many_whole_sequences_are_read_a_few_blocks_at_a_time(monkeypatch):
    monkeypatch.setattr("evoke.estimators.sequence.MOST_LEFT_OUT", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 100, 1))
    y = X[:, :, 0].sum(axis=1) > 0.0
    read, values = [], Pooling.values
    monkeypatch.setattr(Pooling, "values", lambda self, *given: (read.append(1), values(self, *given))[1])
    settings = {"n_generations": 1, "subpopulation_size": 8, "n_networks": 4, "random_state": 0}
    one, two = (EvokeClassifier(n_jobs=n, **settings).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.decision_function(X[:100]), two.decision_function(X[:100]))
    assert one.score(X, y) > 0.9
    assert np.isfinite(one.loo_decision_function_).sum() == 1000  # a third, by which it was chosen
    assert one.predict_proba(X[:5]).shape == (5, 2)

    model = one.fitted_
    problem = replace(caught_problem(EvokeClassifier(**settings), X, y), inputs=model.inputs(model.read(X)))
    rows = _PooledRows(problem, model.network.genome, model.pooling, 0)
    read.clear()
    next(iter(rows.blocks(1, lambda call, items: [call(item) for item in items])))  # as a pool has them: all at once
    assert len(read) == AT_A_TIME


# ---------------------------------------------------------------- seeds, workers, files


def test_equal_bits_for_any_number_of_threads(regressor):
    threads = EvokeRegressor(**SMALL | {"n_jobs": 3}).fit(X, SUMS)
    assert np.array_equal(threads.predict(X_TEST), regressor.predict(X_TEST))
    assert threads.history_ == regressor.history_


def test_a_run_that_is_resumed_ends_as_one_that_is_not(tmp_path, regressor):
    path = tmp_path / "run.evk"

    def stop(record, _esp):
        return record["generation"] == 1

    EvokeRegressor(**SMALL, callbacks=[Checkpoint(path), stop]).fit(X, SUMS)
    resumed = EvokeRegressor(**SMALL, callbacks=[Checkpoint(path, resume=True)]).fit(X, SUMS)
    assert resumed.history_ == regressor.history_
    assert np.array_equal(resumed.predict(X_TEST), regressor.predict(X_TEST))


def test_warm_start_goes_on_with_larger_samples(regressor):
    model = EvokeRegressor(**SMALL | {"n_generations": 1}, warm_start=True)
    model.fit(X, SUMS).fit(X, SUMS)
    assert len(model.history_) == 2
    assert model.history_[0] == regressor.history_[0]


def test_files_hold_all(tmp_path, classifier, regressor):
    for model in (classifier, regressor):
        model.save(tmp_path / "model.evk")
        again = load(tmp_path / "model.evk")
        assert np.array_equal(again.predict(X_TEST), model.predict(X_TEST))
        assert np.array_equal(again.transform(X_TEST), model.transform(X_TEST))


# ---------------------------------------------------------------- units, weights, washout


def test_units_do_not_matter(regressor):
    unit, offset = np.array([1e3, 1e-4]), np.array([5.0, -3e-4])
    other = EvokeRegressor(**SMALL).fit(X * unit + offset, SUMS * 40.0 - 7.0)
    expected = regressor.predict(X_TEST) * 40.0 - 7.0
    assert np.abs(other.predict(X_TEST * unit + offset) - expected).max() < 1e-7 * np.abs(expected).max()


def test_constant_features_and_huge_offsets():
    strange = np.column_stack([X, np.full(len(X), 3.0), 1.7e9 + np.arange(len(X))])
    model = EvokeRegressor(**SMALL).fit(strange, SUMS)
    assert np.isfinite(model.predict(strange)).all()


def test_steps_without_weight_and_in_the_washout_do_not_count(regressor):
    weights = np.ones(len(X))
    weights[1000:1500] = 0.0
    changed = SUMS.copy()
    changed[1000:1500] = 1e3
    changed[:20] = -1e3
    first, second = (
        EvokeRegressor(**SMALL, washout=20).fit(X, y, sample_weight=weights).predict(X_TEST) for y in (SUMS, changed)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, regressor.predict(X_TEST))


def test_sequences_of_all_lengths():
    ends = np.cumsum([1, 2, 3, 50, 400, 10, 10, 10, 1, 900])
    pieces, sums = np.split(X[: ends[-1]], ends[:-1]), np.split(SUMS[: ends[-1]], ends[:-1])
    model = EvokeRegressor(**SMALL).fit(pieces, sums)
    assert [len(values) for values in model.predict(pieces)] == [len(piece) for piece in pieces]


def test_few_steps():
    for n in (2, 3, 10):
        model = EvokeRegressor(**SMALL).fit(X[:n], SUMS[:n])
        assert np.isfinite(model.predict(X[:n])).all()
    with pytest.raises(ValueError, match="n_samples=1"):
        EvokeRegressor(**SMALL).fit(X[:1], SUMS[:1])


# ---------------------------------------------------------------- samples


def test_samples_are_fresh_grow_and_lie_within_the_sequences():
    problem = caught_problem(EvokeRegressor(**SMALL), X, SUMS)
    sizes = []
    for generation in range(6):
        posed, again = problem.at(generation), problem.at(generation)
        assert posed.digest == again.digest
        sizes.append(len(posed.train.rows) + len(posed.validation.rows))
        parts = posed.train, posed.validation
        trained, held = ({tuple(posed.segments.rows[row]) for row in part.rows} for part in parts)
        assert not trained & held
        assert len(trained) + len(held) == sizes[-1]
        read = {tuple(row) for row in posed.segments.rows}
        assert read <= {tuple(row) for row in problem.preparation.apply(problem.X).rows}
    assert np.abs(np.array(sizes[:3]) - [400, 800, 1600]).max() <= 32
    assert sizes[2:] == [sizes[2]] * 4  # it grows twice
    assert problem.at(0).digest != problem.at(1).digest


def caught_problem(model, X, y):
    """The problem of the fit of a model, caught on its way."""
    caught = []

    class Catch:
        def watch(self, run):
            from contextlib import contextmanager

            @contextmanager
            def watching():
                caught.append(run.problem)
                yield lambda record, esp: True

            return watching()

    model.set_params(callbacks=[Catch()]).fit(X, y)
    return caught[0]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "n_landmarks must be"),
        ({"n_landmarks": 2.5}, "n_landmarks must be"),
        ({"fit_samples": 1}, "fit_samples must be"),
        ({"kernel": "poly"}, "kernel must have its default"),
        ({"solver": "native"}, "solver must have its default"),
        ({"pool": ("mean",)}, "pool must have its default"),
        ({"n_points": 3}, "n_points must have its default"),
        ({"validation": 0.3}, "validation must have its default"),
        ({"refit": True}, "refit must have its default"),
        ({"C": "evolve"}, "C must be a number or 'auto'"),
        ({"readout": "svm", "n_networks": "auto"}, "n_landmarks must be 'auto' without"),
    ],
)
def test_parameters_that_do_not_go_together(parameters, message):
    with pytest.raises(ValueError, match=message):
        EvokeRegressor(**SMALL | parameters).fit(X, SUMS)


def test_one_target_a_sequence_and_held_out_data_are_refused():
    with pytest.raises(ValueError, match="readout must be another where y has one target a sequence"):
        EvokeClassifier(**SMALL).fit([X[:50], X[50:100]], [0, 1])
    with pytest.raises(ValueError, match="X_val and y_val have no part"):
        EvokeRegressor(**SMALL).fit(X, SUMS, X_val=X_TEST, y_val=SUMS_TEST)


# ---------------------------------------------------------------- what is left out


def test_what_depends_on_the_first_steps_for_ever_is_not_read():
    class Problem:
        X = as_sequences(np.random.default_rng(0).normal(size=(4000, 1)))
        preparation = Preparation.of(X, lags=(), scaled=False)

    def cell(forget):
        """A cell that adds up a tenth of its input; each gate reads the input, the constant and the cell."""
        return [0.1, 0.0, 0.0, *(0.0, 20.0, 0.0), *(0.0, forget, 0.0), *(0.0, 20.0, 0.0)]

    networks = [Network(np.array([cell(forget)]), "lstm", (0.0, 0.0, 0.0)) for forget in (2.0, 40.0)]
    assert settled_features(Problem, networks).tolist() == [True, False]
    Problem.X = as_sequences(np.ones((500, 1)))
    assert settled_features(Problem, networks) is None  # too short to tell
    Problem.X = as_sequences([np.ones((400, 1))] * 11)
    assert settled_features(Problem, networks) is None  # there are many beginnings
