"""Simpler networks: smaller, still certified, and ordinary fitted classifiers."""

import itertools
import time

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeRegressor, certification, certify, load, simplify, tasks
from evoke.certification import FAMILIES, checker, simplification
from evoke.exceptions import ParameterError
from evoke.reproduce import PRESETS
from helpers.weights import changed


@pytest.fixture(scope="module")
def model():
    """A tuned model that is simplified in a few seconds."""
    return EvokeClassifier(**PRESETS["tuned"], random_state=SEED).fit(*tasks.anbncn(10))


@pytest.fixture(scope="module")
def small(model):
    return simplify(model, "anbncn")


SEED = 1002


def check_whole(small):
    """That the readout is linear, with small whole numbers."""
    assert small.after.kernel == "linear"
    assert small.after.n_support == 0
    readout = small.model.readout_
    assert np.array_equal(readout.support_vectors, np.eye(small.after.n_cells))
    numbers = np.append(readout.dual_coef, readout.intercept)
    assert np.array_equal(numbers, np.rint(numbers))
    assert np.abs(numbers).max() <= 9
    assert small.after.n_coefficients == np.count_nonzero(numbers)


def test_a_tuned_network_becomes_small_and_stays_certified(model, small, tmp_path):
    assert small.finished
    assert small.certificate.certified
    assert small.certificate.up_to == certify(model, "anbncn").up_to == 2**52
    assert small.before.n_cells == 5
    assert small.before.n_weights == 180
    assert small.after.n_cells <= 3
    assert small.after.n_weights <= 15
    assert small.after.largest_weight <= 500 < small.before.largest_weight / 100
    weights = np.abs(small.model.genome_[small.model.genome_ != 0.0])
    assert len(weights) == small.after.n_weights
    assert set(weights) <= {digit * unit for digit in range(1, 10) for unit in (1, 10, 100)}
    check_whole(small)
    assert certify(small.model, "anbncn").up_to == 2**52
    small.model.save(tmp_path / "small.evk")
    assert checker.check(small.certificate.to_json(), tmp_path / "small.evk")[0] == 2**52


def test_it_is_an_ordinary_classifier(small, tmp_path):
    X, y = tasks.anbncn(10)
    model, path = small.model, tmp_path / "small.evk"
    assert model.get_params()["n_cells"] == small.after.n_cells
    assert all(np.array_equal(a, b) for a, b in zip(model.predict(X), y, strict=True))
    assert tasks.anbncn_accepted(model, 300) == 300
    assert tasks.anbncn_accepts(model, 10**6)
    model.save(path)
    again = load(path)
    decisions = zip(again.decision_function(X), model.decision_function(X), strict=True)
    assert all(np.array_equal(a, b) for a, b in decisions)
    assert again.get_params() == model.get_params()
    # evolution goes on from there: it knows the network that it began with
    again.set_params(warm_start=True, n_generations=1).fit(X, y)
    assert again.n_evaluations_ == 200
    assert again.genome_.shape == model.genome_.shape
    assert certify(again, "anbncn").up_to > 0
    assert again.fit(X, y).n_evaluations_ == 400


def test_it_says_what_it_did(small):
    text = str(small)
    assert text.startswith("before: 5 cells, 180 weights up to ")
    assert f"\nafter:  {small.after.n_cells} cells, {small.after.n_weights} weights up to " in text
    assert f"certified up to {2**52}, least margin " in text
    assert "not finished" not in text
    assert small.n_tried > small.n_proofs > 0
    assert small.certificate.margin >= 0.01


def test_time_that_is_up_and_an_interrupt_leave_what_was_reached(model, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(simplification, "time", type("Clock", (), {"monotonic": lambda: next(clock)}))
    part = simplify(model, "anbncn", max_seconds=100)
    assert not part.finished
    assert part.n_tried <= 100
    assert certify(part.model, "anbncn").up_to == 2**52
    assert "not finished" in str(part)
    monkeypatch.setattr(simplification, "time", time)
    calls = itertools.count()
    certified = simplification.Trials.certified

    def interrupted(self, draft):
        if next(calls) == 2:
            raise KeyboardInterrupt
        return certified(self, draft)

    monkeypatch.setattr(simplification.Trials, "certified", interrupted)
    part = simplify(model, "anbncn")
    assert not part.finished
    assert part.certificate.up_to == certify(part.model, "anbncn").up_to == 2**52


def test_it_repeats(model, small):
    again = simplify(model, "anbncn")
    assert np.array_equal(again.model.genome_, small.model.genome_)
    assert again.certificate.to_json() == small.certificate.to_json()
    assert (again.n_tried, again.n_proofs) == (small.n_tried, small.n_proofs)


def test_counts_that_are_read_one_by_one(model, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(simplification, "time", type("Clock", (), {"monotonic": lambda: next(clock)}))
    part = simplify(model, "anbncn", 8, n_max=6, max_seconds=400)
    assert part.certificate.certified
    assert part.certificate.up_to == 8
    assert part.after.n_cells < 5
    assert tasks.anbncn_accepted(part.model, 8) == 8


def test_what_cannot_be_simplified_is_refused(model):
    wrong = changed(model, np.zeros_like(model.genome_))
    with pytest.raises(ParameterError, match="model must be certified for some count"):
        simplify(wrong, "anbncn")
    with pytest.raises(ParameterError, match="model must be an EvokeClassifier"):
        simplify(EvokeRegressor(), "anbncn")
    with pytest.raises(ParameterError, match="language must be"):
        simplify(model, "anbncnd")
    for name, value in ("n_max", 0), ("n_max", 1.5), ("max_seconds", 0), ("max_seconds", "long"):
        with pytest.raises(ParameterError, match=f"{name} must"):
            simplify(model, "anbncn", **{name: value})
    with pytest.raises(ParameterError, match="n_max must be at most 23, as all strings of the family may have 26000"):
        simplify(model, "anbmcn+m", n_max=24)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_strings_of_a_family_are_those_of_the_language(name):
    family, language = FAMILIES[name], tasks.language(name)
    for counts in itertools.product((1, 2, 5), repeat=family.n_counts):
        inputs, legal = family.encode(counts)
        (x,), (y,) = language.encode_counts([counts])
        assert np.array_equal(inputs, x)
        assert np.array_equal(legal, y > 0)


def test_words_of_several_symbols():
    family = certification.Family("(ab)^n c^n", 4, 4, 0, (0,), (
        certification.Phase((1, 2), (1,), ((1,), (0, 2)), (2,)), certification.Phase((3,), (1,), ((2,),), (3,)),
    ))  # fmt: skip
    inputs, legal = family.encode([2])
    assert inputs.argmax(axis=1).tolist() == [0, 1, 2, 1, 2, 3, 3]
    assert [row.nonzero()[0].tolist() for row in legal] == [[0], [1], [0, 2], [1], [2], [2], [3]]
