"""Certificates for balanced brackets: what is certified is so, and nothing that drifts is."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from evoke import EvokeClassifier, certify, tasks
from evoke._core.kernel import Kernel
from evoke._core.lstm import Network
from evoke.certification.checker import CertificateError, check, claim
from evoke.certification.counters import lower_end
from evoke.cli import cli
from evoke.readouts import FittedReadout
from evoke.reproduce import PRESETS, training_strings
from helpers.weights import changed

DYCK1 = tasks.language("dyck1")
OPEN, CLOSED = np.array([[-1.0, 1, -1], [-1, -1, 1]])
MOST = 2**52


@pytest.fixture(scope="module")
def any_model():
    X, y = DYCK1.encode(["()", "(())"])
    tiny = {"n_cells": 1, "kernel": "linear", "n_generations": 1, "subpopulation_size": 4, "n_trials": 1}
    return EvokeClassifier(**tiny, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def counter(any_model):
    """Makes models of one cell that counts, and of a threshold between its activations at depths 0 and 1."""

    def make(*, start=0.0, closing=1.0, forget=1.0, threshold=0.4):
        network = any_model.fitted_.network
        weights = np.zeros((1, 4, 4))
        weights[0, 1:, :3] = -200.0  # of three inputs one is 1 and two are -1: gates are open whatever is read
        weights[0, 0, 1:3] = (100 - np.arctanh(start)) / 2, -(100 + np.arctanh(start)) / 2
        for gate, value in ((1, closing), (2, forget)):
            if value < 1.0:
                net = np.log(value / (1 - value)) - network.gate_bias[gate - 1]
                # the input gate is not quite open for ")" alone, the forget gate for both brackets
                weights[0, gate, :3] = (-net, -100, -100) if gate == 2 else (-50 - net / 2, -50 - net / 2, -100)
        readout = FittedReadout(np.eye(1), np.array([[0.0, 1.0, -1.0]]), np.array([1.0, -threshold, threshold]),
                                np.zeros(3), np.ones(3, dtype=bool), Kernel("linear"))  # fmt: skip
        model = copy.copy(any_model)
        network = Network(weights.reshape(1, -1), network.cell, network.gate_bias)
        model.fitted_ = replace(model.fitted_, network=network, readout=readout)
        return model

    return make


@pytest.fixture(scope="module")
def trained():
    # one that tells apart what it has read by more than the depth and the last symbol
    X, y = DYCK1.encode(training_strings("dyck1"))
    return EvokeClassifier(**PRESETS["languages"], random_state=1004).fit(X, y, X_val=X, y_val=y)


def walk(rng, n, most, p=0.5):
    """A beginning of a string that is at most so deep, as +1 and -1."""
    steps, depth = [], 0
    for _ in range(n):
        steps.append(1 if depth == 0 or (depth < most and rng.random() < p) else -1)
        depth += steps[-1]
    return steps


def follows(model, steps):
    """Whether all outputs are right, at all steps."""
    depths = np.cumsum([0, *steps])
    x = np.where(np.array([0, *steps])[:, None] > 0, OPEN, CLOSED)
    x[0] = 1, -1, -1
    decisions = model.decision_function([x])[0]
    return np.array_equal(decisions > 0, np.stack([depths >= 0, depths > 0, depths == 0], axis=1))


def checked(certificate, model, path):
    model.save(path)
    return check(certificate.to_json(), path)


def test_an_exact_counter_is_certified_for_any_depth(counter, tmp_path):
    model = counter()
    certificate = certify(model, "dyck1")
    assert certificate.certified
    assert certificate.up_to == MOST
    assert certificate.margin == pytest.approx(np.tanh(1) - 0.4)
    up_to, margin = checked(certificate, model, tmp_path / "model.evk")
    assert up_to == MOST
    assert certificate.margin <= margin <= certificate.margin + 1e-9
    assert certificate.proof.slopes == (1.0,)
    assert certify(model, DYCK1).up_to == MOST
    assert claim(certificate.to_json()).startswith("dyck1: ")


@pytest.mark.parametrize("up_to", [1, 2, 8, 12, 13, 1000])
def test_any_depth_can_be_asked_for(counter, tmp_path, up_to):
    certificate = certify(counter(), "dyck1", up_to)
    assert (certificate.certified, certificate.up_to) == (True, up_to)
    assert checked(certificate, counter(), tmp_path / "model.evk")[0] == up_to


@pytest.mark.slow
def test_trained_networks_are_certified(trained, tmp_path):
    certificate = certify(trained, "dyck1")
    assert certificate.up_to == MOST
    up_to, margin = checked(certificate, trained, tmp_path / "model.evk")
    assert up_to == MOST
    assert margin >= certificate.margin
    rng = np.random.default_rng(0)
    for most in (1, 2, 5, 30):
        assert follows(trained, walk(rng, 3000, most))


def test_it_says_what_it_rests_on(counter):
    certificate = certify(counter(), "dyck1")
    facts = json.loads(certificate.to_json())
    assert facts["language"] == "dyck1"
    assert len(facts["boxes"]) == len(facts["invariants"]) == len(certificate.in_words())
    assert certificate.in_words()[1].startswith("depth 1, after (: cell 0 is at 1; ")
    assert any("and more" in text and "and 1 for each depth" in text for text in certificate.in_words())


@pytest.mark.parametrize("leak", [1e-3, 1e-4])
def test_what_fades_is_not_certified(counter, leak):
    # whatever was counted is forgotten while brackets are opened and closed, however slowly
    model = counter(forget=1 - leak)
    assert DYCK1.accepts(model, 20)
    rejected = [1, *[1, -1] * int(10 / leak)]
    assert follows(model, rejected[:20])
    assert not follows(model, rejected)
    assert certify(model, "dyck1").up_to < 2


@pytest.mark.parametrize("less", [1e-2, 1e-3, 1e-6, 1e-12])
def test_counters_that_drift_are_not_certified(counter, less):
    # closed brackets count a little less than open ones
    model = counter(closing=1 - less)
    assert DYCK1.accepts(model, 20)
    if less >= 1e-3:
        assert not follows(model, [1, -1] * int(1 / less))
    certificate = certify(model, "dyck1")
    assert not certificate.certified
    assert certificate.up_to == 0
    assert certificate.reason


def test_what_large_numbers_round_away_limits_the_depth(counter, tmp_path):
    # 0.45 is rounded to 0.5 on the way to the largest depths, and beyond the threshold when back at depth 0
    model = counter(start=0.45, threshold=0.44)
    certificate = certify(model, "dyck1")
    assert not certificate.certified
    assert 2**40 <= certificate.up_to < MOST
    assert DYCK1.accepts(model, certificate.up_to)
    rejected = next(k for k in range(40, 53) if not DYCK1.accepts(model, 2**k))
    assert certificate.up_to < 2**rejected
    assert checked(certificate, model, tmp_path / "model.evk")[0] == certificate.up_to


def test_what_rounding_takes_for_whole_is_no_limit(counter, tmp_path):
    # within 2^-30 of a whole number: rounded to it, and never beyond
    model = counter(start=2.0**-31)
    certificate = certify(model, "dyck1")
    assert certificate.up_to == MOST
    assert checked(certificate, model, tmp_path / "model.evk")[0] == MOST


def test_no_certificate_is_wrong(counter, tmp_path):
    reached = []
    for seed in range(16):  # bench/study.py certificates has trained networks too
        rng = np.random.default_rng(seed)
        parent = counter(start=(0.0, 0.3)[seed % 3 == 0], threshold=(0.4, 0.45)[seed % 3 == 0])
        genome = parent.fitted_.network.genome.copy()
        if seed % 2:
            genome *= 1 + 10.0 ** rng.uniform(-14, -0.5) * rng.standard_normal(genome.shape)
        else:
            genome.flat[rng.integers(genome.size, size=2)] *= 10.0 ** rng.uniform(-2, 0, 2)
        model = changed(parent, genome)
        certificate = certify(model, "dyck1", 2**30)
        reached.append(certificate.up_to)
        if certificate.up_to == 0:
            continue
        assert DYCK1.accepts(model, certificate.up_to, 10**6) is not False
        for most, p in ((1, 0.5), (2, 0.5), (3, 0.5), (20, 0.6), (100, 0.7)):
            assert follows(model, walk(rng, 2000, min(most, certificate.up_to), p))
        assert checked(certificate, model, tmp_path / "model.evk")[0] == certificate.up_to
    assert 4 < sum(n == 2**30 for n in reached) < 14
    assert 0 in reached


def test_ends_hold_however_sums_are_rounded():
    rng = np.random.default_rng(1)
    unit, slope, most = Fraction(1), 1.0, 2**52
    for _ in range(3000):
        end = Fraction(float(rng.integers(-3, 4) - 2.0 ** -float(rng.uniform(0, 60)) * rng.integers(0, 2)))
        found = lower_end(end, unit, slope, (3, most))
        assert found <= end + Fraction(2) ** -52
        for depth in (3, int(2 ** rng.uniform(2, 51.9)), most - 1):
            state = float(found + depth)  # the least that a state can be
            assert state >= found + depth
            assert state + slope >= found + depth + 1
            assert state - slope >= found + depth - 1


def deepest(facts):
    return next(box for box in facts["boxes"] if box["depth"] == facts["threshold"])


def shift(box, low, high):
    box["cells"] = [[a + low, b + high] for a, b in box["cells"]]


SPOILS = {
    "a deeper claim than floating point counts": lambda facts: facts.update(up_to=2**53),
    "a depth that is none": lambda facts: facts.update(up_to=0),
    "a depth that is no integer": lambda facts: facts.update(up_to=8.5),
    "another slope": lambda facts: facts.update(slopes=[0.5]),
    "no slope": lambda facts: facts.update(slopes=[0.0]),
    "another unit": lambda facts: facts.update(units=[3.0]),
    "a unit that is too small": lambda facts: facts.update(units=[2.0**-10]),
    "a box that is elsewhere": lambda facts: shift(facts["boxes"][1], 1.0, 1.0),
    "a box that is too narrow": lambda facts: shift(deepest(facts), 0.5, 0.0),
    "a box whose ends are rounded": lambda facts: shift(deepest(facts), -0.3, 0.3),
    "an empty box": lambda facts: shift(facts["boxes"][2], 0.5, -0.5),
    "activations that are too wide": lambda facts: facts["boxes"][2].update(phi=[[-1.0, 1.0]]),
    "activations of nothing": lambda facts: facts["boxes"][2].update(phi=[[0.0, 0.0]]),
    "activations that are no numbers": lambda facts: facts["boxes"][2].update(phi=[[float("nan"), 1.0]]),
    "a box of another depth": lambda facts: facts["boxes"][2].update(depth=facts["boxes"][2]["depth"] + 1),
    "a bracket that leads elsewhere": lambda facts: facts["boxes"][1].update(opens=[0]),
    "a bracket that leads nowhere": lambda facts: facts["boxes"][1].update(opens=[]),
    "a bracket that leads to a box that is not there": lambda facts: facts["boxes"][1].update(opens=[-1]),
    "deeper brackets that are not closed": lambda facts: deepest(facts).update(closes=deepest(facts)["closes"][:1]),
    "no boxes": lambda facts: facts.update(boxes=[]),
    "the first box is another one": lambda facts: facts.update(boxes=facts["boxes"][1:]),
    "another threshold": lambda facts: facts.update(threshold=facts["threshold"] + 1),
    "another language": lambda facts: facts.update(language="dyck2"),
    "a part is missing": lambda facts: facts.pop("units"),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_what_does_not_hold_is_seen(counter, tmp_path, spoil):
    model, path = counter(), tmp_path / "model.evk"
    certificate = certify(model, "dyck1")
    assert checked(certificate, model, path)[0] == MOST
    facts = json.loads(certificate.to_json())
    SPOILS[spoil](facts)
    with pytest.raises(CertificateError):
        check(json.dumps(facts), path)


def test_a_certificate_of_another_model(counter, tmp_path):
    text, path = certify(counter(), "dyck1").to_json(), tmp_path / "model.evk"
    for other in (counter(forget=0.999), counter(closing=0.999), counter(threshold=0.8), counter(start=0.3)):
        other.save(path)
        with pytest.raises(CertificateError):
            check(text, path)


def test_commands(counter, tmp_path):
    model, file = tmp_path / "model.evk", tmp_path / "certificate.json"
    counter().save(model)
    done = CliRunner().invoke(cli, ["certify", str(model), "--language", "dyck1", "--json", str(file)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"dyck1: certified up to {MOST}\n")
    done = CliRunner().invoke(cli, ["check-certificate", str(file), str(model)])
    assert done.exit_code == 0, done.output
    assert "of any length, by depth: holds up to 4503599627370496" in done.output
