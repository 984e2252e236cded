"""Classes that only the held-out part has are told of, by name and with what to do."""

import warnings

import numpy as np
import pytest

from evoke import EvokeClassifier

rng = np.random.default_rng(1)
X = [rng.normal(size=(length, 2)) for length in (5, 4, 6, 5, 4, 5)]
SORTED = ["a", "a", "b", "b", "c", "c"]


def tiny(**parameters):
    parameters = {"validation": "half", **parameters}
    return EvokeClassifier(n_cells=2, n_generations=1, subpopulation_size=4, n_trials=1, random_state=0, **parameters)


def steps(labels, X=X):
    """Each sequence's label at each of its steps."""
    return [np.repeat(label, len(x)) for x, label in zip(X, labels, strict=True)]


def told(*data, **more):
    """What the only warning of a fit says."""
    parameters = more.pop("parameters", {})
    with pytest.warns(UserWarning, match="the held-out part has") as caught:
        tiny(**parameters).fit(*data, **more)
    assert [warning.filename for warning in caught] == [__file__]
    return str(caught[0].message)


@pytest.mark.parametrize("kind", [np.array, steps])
@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
def test_sorted_sequences(kind, readout):
    assert told(X, kind(SORTED), parameters={"readout": readout}) == (
        "the held-out part has class(es) ['c'], which the training part lacks: the model cannot learn them. "
        "As validation='half' holds out what comes last, shuffle the sequences, or pass X_val and y_val"
    )


@pytest.mark.parametrize("kind", [np.array, steps])
@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
def test_a_single_class_is_left(kind, readout):
    text = told(X, kind(["no"] * 3 + ["yes"] * 3), parameters={"readout": readout})
    assert "has class(es) ['yes'], which the training part lacks (it has only ['no']): the model cannot" in text
    text = told(X, kind([7, 7, 7, 5, 6, 7]), parameters={"readout": readout})
    assert "has class(es) [5, 6], which the training part lacks (it has only [7]): the model cannot" in text


@pytest.mark.parametrize("labels, lacking, only", [([0] * 6 + [1] * 4, [1], [0]), ([1] * 6 + [0] * 4, [0], [1]),
                                                   ([1, 0] * 3 + [2, 3, 2, 1], [2, 3], None)])  # fmt: skip
def test_the_steps_of_one_sequence(labels, lacking, only):
    text = told(rng.normal(size=(10, 2)), labels)
    assert f"has class(es) {lacking}, which" in text
    assert text.endswith("holds out what comes last, pass X_val and y_val")
    assert f"(it has only {only})" in text if only else "only" not in text


def test_other_parts_are_held_out():
    assert "As validation=0.2 holds out" in told(X, list("ababac"), parameters={"validation": 0.2})
    tiny(validation=0.2).fit(X, list("abcabc"))


def test_outputs_that_are_never_on_in_the_training_part():
    y = [np.zeros((len(x), 3), dtype=int) for x in X]
    y[0][2, 0] = y[5][0, 0] = y[5][1, 2] = 1
    assert "has output(s) [2], which the training part lacks: the model cannot" in told(X, y)
    y[2][0, 2] = 1
    tiny().fit(X, y)  # the second is never on


def test_what_is_not_trained_on_or_not_judged_does_not_count():
    y = steps("ababab")
    y[0][0] = y[3][0] = "c"
    tiny().fit(X, y)
    tiny(washout=1).fit(X, y)  # nowhere
    y[3][1] = "c"
    assert "['c']" in told(X, y, parameters={"washout": 1})
    weights = [np.ones(len(x)) for x in X]
    weights[0][0] = 0.0
    assert "['c']" in told(X, y, sample_weight=weights)
    weights[3][:2] = 0.0
    tiny().fit(X, y, sample_weight=weights)


def test_sequences_that_are_given_to_be_held_out():
    tiny().fit(X, SORTED, X_val=X[::2], y_val=SORTED[::2])
    y = steps("ababab")
    y[0][0] = "c"
    text = told(X, y, X_val=X[:1], y_val=[np.array(["a", "a", "c", "a", "b"])], parameters={"washout": 1})
    assert "has class(es) ['c'], which the training part lacks: the model cannot learn them" in text
    assert text.endswith(". X needs sequences with them, after the washout")


def test_it_comes_before_the_run():
    def never(_record, _esp):
        raise AssertionError

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="shuffle the sequences"):
            tiny(callbacks=[never]).fit(X, SORTED)
