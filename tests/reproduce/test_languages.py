"""The experiment on formal languages: what is learnt, the result, its table."""

import json
from contextlib import contextmanager

import pytest

from evoke import certification, reproduce, tasks
from evoke.exceptions import ParameterError

SMALL = {"runs": 2, "n_generations": 2, "n_max": 4}


@pytest.fixture(scope="module")
def small():
    return reproduce.languages(["anbn", "dyck1"], **SMALL, seed=3)


@pytest.mark.parametrize("name", tasks.LANGUAGES)
def test_training_strings_are_few_short_and_different(name):
    strings = reproduce.training_strings(name)
    assert len(set(strings)) == len(strings) <= 100
    assert max(map(len, strings)) <= 50
    for string in strings:
        tasks.language(name).next_symbols(string)


def test_training_strings_of_blocks():
    assert reproduce.training_strings("anbn", 3) == ["ab", "aabb", "aaabbb"]
    assert len(reproduce.training_strings("anbmcn+m", 10)) == 25


def test_a_run_for_each_language_and_seed(small):
    json.dumps(small, allow_nan=False)
    assert small["task"] == "languages"
    assert small["unfinished"] == []
    assert [(run["language"], run["seed"]) for run in small["runs"]] == [
        ("anbn", 3), ("anbn", 4), ("dyck1", 3), ("dyck1", 4),
    ]  # fmt: skip
    for run in small["runs"]:
        known = run["language"] in certification.LANGUAGES
        assert run["certified"] in ((True, False) if known else (None,))
        assert not run["certified"] or all(accepted in (True, None) for accepted in run["spot"].values())
        assert run["accepted"] >= 0
        assert 0.0 <= run["sampled"] <= 1.0
        assert set(run["spot"]) == {str(n) for n in reproduce.LONG_COUNTS}
        assert run["generations"] == 2
        assert run["seconds"] > 0.0


def test_seeds_give_the_same_again(small):
    again = reproduce.run_language(4, "dyck1", n_max=4, n_generations=2)
    first = small["runs"][3]
    assert {k: v for k, v in again.items() if k != "seconds"} == {k: v for k, v in first.items() if k != "seconds"}


def test_where_there_is_no_certificate_eight_searches_are_judged_by_longer_strings():
    class Seen:
        @contextmanager
        def watch(self, run):
            part = run.problem
            self.engines, self.rows = len(run.esp.engines), (len(part.train.rows), len(part.validation.rows))
            yield lambda record, esp: None

    for name, certified in (("dyck2", None), ("shuffle", None)):
        seen = Seen()
        found = reproduce.run_language(0, name, n_max=3, n_generations=1, callbacks=[seen])
        learnt = reproduce.training_strings(name, 3)
        short = [string for string in learnt if len(string) <= 0.6 * len(max(learnt, key=len))]
        assert found["certified"] is certified
        assert seen.engines == 8
        assert 0 < len(short) < len(learnt)
        assert seen.rows[0] < seen.rows[1]


def test_the_table_has_a_row_a_language_and_published_numbers(small):
    text = reproduce.markdown(small)
    assert "| anbn | 2 |" in text
    assert "| dyck1 | 2 |" in text
    assert "69.9 %, 100 %" in text


def test_progress_names_the_language():
    seen = []
    reproduce.languages("anbn", runs=1, n_generations=2, n_max=3, progress=lambda run: seen.append(run["language"]))
    assert seen
    assert set(seen) == {"anbn"}


@pytest.mark.parametrize(
    "wrong",
    [{"names": ["x"]}, {"names": []}, {"n_max": 1}, {"n_max": 41}, {"runs": 0}, {"seed": -1}, {"n_generations": 0}],
)
def test_bad_arguments(wrong):
    with pytest.raises(ParameterError, match=f"^{next(iter(wrong))} must"):
        reproduce.languages(**{"runs": 1, "n_generations": 1} | wrong)


def test_a_run_learns_from_some_string():
    with pytest.raises(ParameterError, match="strings must be at least one string"):
        reproduce.run_language(0, "anbn", strings=[])
