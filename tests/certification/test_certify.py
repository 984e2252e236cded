"""Certificates: what is certified is so."""

import json
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeRegressor, certify, tasks
from evoke.certification import FAMILIES, Family, Phase
from evoke.certification.checker import check
from evoke.certification.families import strings_of
from evoke.exceptions import ParameterError
from evoke.reproduce import PRESETS
from helpers.weights import changed


def test_tuned_models_are_certified_as_far_as_floating_point_counts(models, tmp_path):
    for k, model in enumerate(models):
        certificate = certify(model, "anbncn")
        assert certificate.certified
        assert certificate.up_to == 2**52
        assert 0.9 < certificate.margin < 1.1
        path = tmp_path / f"{k}.evk"
        model.save(path)
        up_to, margin = check(certificate.to_json(), path)
        assert up_to == 2**52
        assert margin >= certificate.margin - 1e-6
        assert tasks.anbncn_accepts(model, 3000)


def test_the_margin_is_one_that_strings_have(models):
    certificate = certify(models[0], "anbncn", 200)
    margins, accepted = tasks.anbncn_margins(models[0], 200)
    assert accepted.all()
    assert 0 <= margins.min() - certificate.margin < 1e-9


@pytest.mark.parametrize(("factor", "rejected"), [(0.0313, 100), (0.051039236424475005, 3000), (0.0707, 30_000)])
def test_drifts_are_not_certified_beyond_their_limit(models, factor, rejected):
    # with smaller weights the gates are not quite open, and counters leak: known limits
    model = changed(models[0], models[0].genome_ * factor)
    assert not tasks.anbncn_accepts(model, rejected)
    certificate = certify(model, "anbncn")
    assert not certificate.certified
    assert certificate.up_to < rejected
    assert certificate.reason
    assert certificate.up_to == 0 or tasks.anbncn_accepted(model, certificate.up_to) == certificate.up_to


# 10^8 is about the limit of such a slip: a smaller one is lost when floating point rounds the counter
@pytest.mark.parametrize(
    ("scale", "rejected"), [(0.02, 5_000), (0.03, 300_000), pytest.param(0.046, 30_000_000, marks=pytest.mark.slow)]
)
def test_counters_that_slip_are_not_certified_beyond_their_limit(models, scale, rejected):
    # forget gates that no longer quite reach 1: what was counted fades
    genome = models[0].genome_.copy()
    genome.reshape(len(genome), 4, -1)[:, 2] *= scale
    model, language = changed(models[0], genome), tasks.language("anbncn")
    assert language.accepts(model, (100,))
    assert language.accepts(model, (rejected // 5,))
    assert not language.accepts(model, (rejected,))
    assert certify(model, "anbncn").up_to < rejected


def test_how_long_a_counter_can_slip():
    """The least that a gate, or a step, can fall short of 1; a state is fma(f, s, i z), rounded once."""
    gate, lost, n = 1 - Fraction(1, 2**53), Fraction(0), 0
    for octave in range(53):
        each = Fraction(1, 2 ** (52 - octave))  # what a step loses while the counter is in this octave
        for counter in (2.0**octave + 2.0 * each, 1.5 * 2.0**octave, 2.0 ** (octave + 1) - 2.0):
            if octave > 2:
                assert Fraction(float(gate * Fraction(float(counter)) + 1)) == Fraction(float(counter)) + 1 - each
        if lost + 2**octave * each > Fraction(1, 2):
            n = 2**octave + int((Fraction(1, 2) - lost) / each) + 1
            break
        lost += 2**octave * each
    assert abs(n - 78_293_677) < 100  # within what ties at the powers of 2 change; the sum is over whole octaves
    step = 1.0 - 2.0**-27
    assert 2.0**25 + step == Fraction(2.0**25) + Fraction(step)  # lost again and again, up to 2^26 times 2^-27
    assert all(2.0**octave + 2.0**-20 + step == 2.0**octave + 2.0**-20 + 1.0 for octave in (27, 30, 31))


def spoilt(rng, genome):
    """Weights with noise, small changes of some, or smaller weights."""
    genome, kind = genome.copy(), rng.integers(4)
    some = rng.integers(genome.size, size=rng.integers(1, 8))
    if kind == 0:
        genome *= 1 + 10.0 ** rng.uniform(-14, -0.3) * rng.standard_normal(genome.shape)
    elif kind == 1:
        genome *= 10.0 ** rng.uniform(-2, 0)
    elif kind == 2:
        genome.flat[some] += rng.standard_normal(len(some)) * 10.0 ** rng.uniform(-3, 3)
    else:
        genome.flat[some] *= 10.0 ** rng.uniform(-3, 0)
    return genome


@pytest.mark.slow
def test_no_certificate_is_wrong(models, tmp_path):
    path, reached = tmp_path / "model.evk", []
    for seed in range(40):  # bench/study.py certificates has a thousand
        rng = np.random.default_rng(seed)
        model = changed(models[seed % 3], spoilt(rng, models[seed % 3].genome_))
        certificate = certify(model, "anbncn", 4000)
        reached.append(certificate.up_to)
        if certificate.up_to == 0:
            continue
        assert tasks.anbncn_accepted(model, min(certificate.up_to, 40)) == min(certificate.up_to, 40)
        for n in {certificate.up_to, certificate.up_to - 1, int(rng.integers(1, 4001))}:
            assert not 1 <= n <= certificate.up_to or tasks.anbncn_accepts(model, n), (seed, n)
        if seed % 10 == 0:
            model.save(path)
            assert check(certificate.to_json(), path)[0] == certificate.up_to
    assert 12 < sum(n == 4000 for n in reached) < 36
    assert 0 in reached


def test_small_counts_alone(models):
    assert certify(models[0], "anbncn", 3).certified
    assert certify(models[0], "anbncn", 3).up_to == 3


def test_a_language_of_other_strings_is_refused_by_the_network(models):
    # a network for a^n b^n c^n does not expect a^n b^n c^2n
    phases = [Phase((k + 1,), (1 + (k == 2),), ((k, k + 1),) if k == 0 else ((k,),), (0, 1) if k == 0 else (k + 1,))
              for k in range(3)]  # fmt: skip
    certificate = certify(models[0], Family("anbnc2n", 4, 4, 0, (0,), tuple(phases)))
    assert not certificate.certified
    assert certificate.up_to == 0
    assert "margin" in certificate.reason


def test_counts_of_the_families():
    strings = {"anbn": (3, 3), "anb2n": (3, 6), "anbncndnen": (3,) * 5}
    for name, lengths in strings.items():
        family = FAMILIES[name]
        assert tuple(family.length(phase, (3,)) for phase in family.phases) == lengths
    two = FAMILIES["anbmcn+m"]
    assert [two.length(phase, (2, 5)) for phase in two.phases] == [2, 5, 7]


def test_languages_of_tasks_are_those_of_their_names():
    for name in FAMILIES:
        assert strings_of(tasks.language(name)) is strings_of(name) is FAMILIES[name]
    assert strings_of(tasks.language("dyck1")) is strings_of("dyck1")


@pytest.mark.parametrize("name", sorted({*tasks.LANGUAGES} - {*FAMILIES, "dyck1"}))
def test_a_part_of_a_language_is_not_certified_as_the_whole(name):
    with pytest.raises(ParameterError, match="language must be a Family or one of"):
        strings_of(tasks.language(name))


@pytest.mark.parametrize("language", [None, 3, SimpleNamespace(phases=(), encode=None), SimpleNamespace(name="anbn")])
def test_what_is_no_language(language):
    with pytest.raises(ParameterError, match="language must be a Family or one of"):
        strings_of(language)


@pytest.mark.parametrize("name", ["anb2n", "dyck1"])
def test_a_family_has_no_name_of_another(name):
    with pytest.raises(ParameterError, match="language must have another name than"):
        strings_of(replace(FAMILIES["anbn"], name=name))


def test_two_counts(models):
    # strings of two counts, of which the network cannot read all: no certificate, but an answer
    certificate = certify(models[0], Family(
        "anbmcn", 4, 4, 0, (0,),
        (Phase((1,), (1, 0), ((0, 1),), (0, 1)), Phase((2,), (0, 1), ((1,),), (1, 2)),
         Phase((3,), (1, 0), ((2,),), (3,))),
    ), 10)  # fmt: skip
    assert not certificate.certified
    assert certificate.up_to == 0


def test_json_says_what_is_claimed(models):
    certificate = certify(models[0], "anbncn")
    facts = json.loads(certificate.to_json())
    assert facts["certified"] is True
    assert facts["language"] == "anbncn"
    assert facts["up_to"] == 2**52
    assert len(facts["invariants"]) == 3 * certificate.proof.period == len(certificate.in_words())


def test_what_cannot_be_certified_is_refused(models):
    strings, legal = tasks.anbncn(2)
    tiny = {"n_cells": 2, "n_generations": 1, "subpopulation_size": 4, "n_trials": 1, "random_state": 0}
    with pytest.raises(ParameterError, match="language must be a Family or one of"):
        certify(models[0], "abc")
    for up_to in (0, 2**52 + 1, 1.5):
        with pytest.raises(ParameterError, match="up_to must be"):
            certify(models[0], "anbncn", up_to)
    with pytest.raises(ParameterError, match="model must have 3 inputs and 3 outputs of their own for anbn"):
        certify(models[0], "anbn")
    regressor = EvokeRegressor(**tiny).fit(strings, [rows * 1.0 for rows in legal])
    with pytest.raises(ParameterError, match="model must be an EvokeClassifier"):
        certify(regressor, "anbncn")
    many = EvokeClassifier(**tiny, readout="landmarks", n_networks=2).fit(*tasks.anbncn(4))
    with pytest.raises(ParameterError, match="model must be one network"):
        certify(many, "anbncn")
    pooled = EvokeClassifier(n_generations=1, subpopulation_size=4, n_networks=2, random_state=0)
    pooled.fit([*strings] * 4, [0, 1] * 4)
    with pytest.raises(ParameterError, match="model must be one network"):
        certify(pooled, "anbncn")
    for parameters in ({"washout": 1}, {"kernel": "poly"}):
        model = EvokeClassifier(**{**PRESETS["tuned"], **tiny, **parameters}).fit(strings, legal)
        with pytest.raises(ParameterError, match="model must have"):
            certify(model, "anbncn")


FINE = {"word": (1,), "count": (1,), "within": ((0,),), "end": (1,)}


@pytest.mark.parametrize("phase", [
    {"word": ()}, {"word": (7,)}, {"word": 1}, {"count": (0,)}, {"count": (-1,)}, {"count": (1.5,)}, {"count": ()},
    {"count": (True,)}, {"count": (10**9,)}, {"within": ()}, {"within": ((9,),)}, {"within": None}, {"end": None},
])  # fmt: skip
def test_phases_that_are_none(phase):
    Family("own", 2, 2, 0, (0,), (Phase(**FINE),))
    with pytest.raises(ParameterError, match=r"phases\[0\]\."):
        Family("own", 2, 2, 0, (0,), (Phase(**(FINE | phase)),))


@pytest.mark.parametrize("name, value", [
    ("name", None), ("name", ""), ("name", "\x1b[31m"), ("name", "a" * 201), ("n_inputs", 3.0), ("n_outputs", 0),
    ("start", 2), ("start", None), ("after_start", (9,)), ("after_start", None), ("phases", None), ("phases", ()),
    ("phases", [Phase(**FINE)]), ("phases", (Phase(**FINE), 3)),
    ("phases", (Phase(**FINE), Phase(**FINE | {"count": (1, 1)}))),
    ("phases", (Phase(**FINE | {"count": (150,)}), Phase(**FINE | {"count": (150,)}))),
    ("phases", (Phase(**FINE | {"count": (1, 0)}),)), ("phases", (Phase(**FINE | {"count": (1, 1, 1, 1)}),)),
])  # fmt: skip
def test_families_that_are_none(name, value):
    family = {"name": "own", "n_inputs": 2, "n_outputs": 2, "start": 0, "after_start": (0,), "phases": (Phase(**FINE),)}
    Family(**family)
    with pytest.raises(ParameterError, match=f"{name} must"):
        Family(**family | {name: value})
