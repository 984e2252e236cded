"""Formal languages: what may follow is checked against definitions of each language by enumeration."""

import re
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from evoke import EvokeClassifier, tasks
from evoke.exceptions import ParameterError
from evoke.reproduce import PRESETS
from evoke.tasks import LANGUAGES, language


def balanced(string, pairs):
    while True:
        shorter = string
        for pair in pairs:
            shorter = shorter.replace(pair, "")
        if shorter == string:
            return string == ""
        string = shorter


def depth(string):
    return max(np.cumsum([1 if symbol in "([" else -1 for symbol in string]), default=0)


def blocks(pattern, law):
    def belongs(string):
        match = re.fullmatch(pattern, string)
        return bool(match) and law(*map(len, match.groups()))

    return belongs


BELONGS = {
    "anbn": blocks("(a+)(b+)", lambda a, b: a == b),
    "anb2n": blocks("(a+)(b+)", lambda a, b: 2 * a == b),
    "anbncn": blocks("(a+)(b+)(c+)", lambda a, b, c: a == b == c),
    "anbncndn": blocks("(a+)(b+)(c+)(d+)", lambda a, b, c, d: a == b == c == d),
    "anbncndnen": blocks("(a+)(b+)(c+)(d+)(e+)", lambda a, b, c, d, e: a == b == c == d == e),
    "anbmcn+m": blocks("(a+)(b+)(c+)", lambda a, b, c: a + b == c),
    "anbmBmAn": blocks("(a+)(b+)(B+)(A+)", lambda a, b, B, A: a == A and b == B),
    "dyck1": lambda s: balanced(s, ["()"]),
    "dyck2": lambda s: balanced(s, ["()", "[]"]) and depth(s) <= 2,
    "shuffle": lambda s: all(balanced("".join(c for c in s if c in pair), [pair]) for pair in ("()", "[]")),
    "wcwR": lambda s: len(s) >= 3 and s == s[::-1] and re.fullmatch("[ab]+c[ab]+", s) is not None,
}
# so that all strings up to it can be listed
LONGEST = {"anbncndn": 8, "anbncndnen": 5, "anbmBmAn": 8, "dyck2": 8, "shuffle": 8}
LONGEST |= dict.fromkeys(("anbn", "anb2n", "dyck1"), 12)


def test_every_language_is_defined():
    assert set(BELONGS) == set(LANGUAGES)


@pytest.mark.parametrize("name", LANGUAGES)
def test_members_and_what_may_follow(name):
    lang, longest = language(name), LONGEST.get(name, 9)
    members = {
        string
        for length in range(longest + 1)
        for string in map("".join, product(lang.symbols, repeat=length))
        if BELONGS[name](string)
    }
    after = defaultdict(set)
    for string in members:
        for k, symbol in enumerate(string + "T"):
            after[string[:k]].add(symbol)
    for string in members:
        found = lang.next_symbols(string)
        assert len(found) == len(string) + 1
        # nothing that is seen may be missing; and all that may follow is seen where strings are long enough for it
        factor = 2 if "(" in lang.symbols else 1 + len(lang.symbols)
        for k, following in enumerate(found):
            assert after[string[:k]] <= set(following)
            if factor * (k + 1) <= longest:
                assert after[string[:k]] == set(following), (string, k)
    for string in map("".join, product(lang.symbols, repeat=min(longest, 5))):
        if string not in members:
            with pytest.raises(ParameterError, match=r"^string must be a string of the language"):
                lang.next_symbols(string)


@pytest.mark.parametrize("name", LANGUAGES)
def test_phases_are_strings_of_the_language(name):
    lang = language(name)
    counts = [(1,), (2,), (5,)] if lang.n_counts == 1 else [(1, 1), (1, 3), (4, 1), (3, 5)]
    strings = lang.strings(counts)
    assert all(map(BELONGS[name], strings))
    for quick, slow in zip(lang.encode_counts(counts), lang.encode(strings), strict=True):
        for a, b in zip(quick, slow, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype


@pytest.mark.parametrize("name", LANGUAGES)
def test_samples_belong_and_repeat(name):
    lang = language(name)
    drawn = lang.sample(200, random_state=5)
    assert drawn == lang.sample(200, random_state=5) != lang.sample(200, random_state=6)
    assert all(map(BELONGS[name], drawn))
    assert len(set(drawn)) > 3


def test_counts_are_geometric():
    lengths = np.array([len(string) // 2 for string in language("anbn").sample(20_000, 0, p=0.3)])
    for k in (1, 2, 3):
        assert (lengths == k).mean() == pytest.approx(0.3 * 0.7 ** (k - 1), abs=0.01)
    empty = np.mean([not string for string in language("dyck1").sample(20_000, 0, p=0.3)])
    assert empty == pytest.approx(0.7, abs=0.01)


def test_the_strings_of_the_paper():
    for a, b in zip(tasks.anbncn([1, 2, 7]), language("anbncn").encode_counts([1, 2, 7]), strict=True):
        for x, z in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, z)


def test_two_counts_from_one_number():
    assert language("anbmcn+m").strings(2) == ["abcc", "abbccc", "aabccc", "aabbcccc"]


def test_targets_that_are_seen():
    anbn = language("anbn")
    _, y = anbn.encode(["ab", "aaabbb", "ab"], targets="seen")
    assert ["".join("abT"[k] for k in row.nonzero()[0]) for row in y[0]] == ["a", "ab", "T"]
    assert ["".join("abT"[k] for k in row.nonzero()[0]) for row in y[1]] == ["a", "ab", "a", "b", "b", "b", "T"]


class Oracle:
    """A model that is right; `wrong` is the step where an output is not, of all that are read."""

    def __init__(self, lang, counts, wrong=None):
        (_,), (y,) = lang.encode_counts([counts])
        self.right = np.where(y > 0, 1.0, -1.0)
        if wrong is not None:
            self.right[wrong] *= -1.0
        self.n = 0

    def stream(self):
        self.n = 0
        return self

    def decision_function(self, X):
        self.n += len(X)
        return self.right[self.n - len(X) : self.n]


@pytest.mark.parametrize("name", LANGUAGES)
def test_acceptance_needs_every_step(name):
    lang = language(name)
    counts = (3, 2)[: lang.n_counts]
    assert lang.accepts(Oracle(lang, counts), counts)
    assert lang.predicts(Oracle(lang, counts), counts)
    n_steps = len(Oracle(lang, counts).right)
    certain = (Oracle(lang, counts).right > 0).sum(axis=1) == 1
    for step in range(n_steps):
        assert not lang.accepts(Oracle(lang, counts, step), counts)
        assert lang.predicts(Oracle(lang, counts, step), counts) == (not certain[step])


@pytest.fixture(scope="module")
def counting():
    return EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))


def test_long_strings_as_step_by_step(counting):
    lang = language("anbncn")
    assert lang.accepts(counting, 10**9)
    assert not lang.accepts(EvokeClassifier(n_generations=2, random_state=0).fit(*tasks.anbncn(3)), 10**9)
    assert lang.accepts(counting, 10**9, max_read=10) is None
    assert lang.predicts(counting, 10**9)
    assert lang.predicted(counting, 50) == 50
    for n in (1, 7, 500, 3000):
        ((x,), (y,)) = lang.encode_counts([n])
        assert lang.accepts(counting, n) == np.array_equal(counting.decision_function(x) > 0, y > 0)
    assert lang.accepted(counting, 60) == tasks.anbncn_accepted(counting, 60) == 60


def test_all_pairs_up_to_the_first_that_fails():
    lang = language("anbmcn+m")

    class Model:
        def decision_function(self, X):
            found = []
            for x in X:
                a, b = (int((x[:, k] > 0).sum()) for k in (1, 2))
                y = lang.encode_counts([(a, b)])[1][0]
                found.append(np.where(y > 0, 1.0, -1.0) * (-1.0 if (a, b) == (2, 5) else 1.0))
            return found

    assert lang.accepted(Model(), 4) == 4
    assert lang.accepted(Model(), 9) == 4


@pytest.mark.parametrize(
    "call",
    [
        lambda: language("nothing"),
        lambda: language(None),
        lambda: language("anbn").strings(0),
        lambda: language("anbn").strings([(1, 2)]),
        lambda: language("anbmBmAn").strings([3]),
        lambda: language("anbn").strings("ab"),
        lambda: language("anbn").strings([10**9]),
        lambda: language("anbn").sample(-1),
        lambda: language("anbn").sample(1, p=0.0),
        lambda: language("anbn").sample(1, random_state="x"),
        lambda: language("anbn").encode("ab"),
        lambda: language("anbn").encode(["aab"]),
        lambda: language("anbn").encode(["ab"], targets="both"),
        lambda: language("anbn").accepts(None, 1),
        lambda: language("anbn").accepts(Oracle(language("anbn"), (1,)), 0),
        lambda: language("anbn").accepted(None, 1),
        lambda: language("anbn").predicted(None, 1),
        lambda: language("anbn").accepts(Oracle(language("anbn"), (1,)), 1, max_read=0),
    ],
)
def test_bad_arguments(call):
    with pytest.raises(ParameterError):
        call()
