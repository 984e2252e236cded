"""The study of languages: its runs, its page and its file."""

import pytest

from harness import languages, languages_page
from harness.results import FOLDER, Results
from studies import languages as study


def run_of(part, name, seed, **others):
    spot = {"10000": True, "1000000": True, "1000000000": seed == 0}
    return {
        "part": part, "set": name, "method": "preset", "seed": seed, "load": 1.0, "accepted": 10 * (seed + 1),
        "certified": seed == 0, "sampled": 1.0 - 0.5 * seed, "spot": spot, "fitness": 0.0, "generations": 4 + seed,
        "evaluations": 800, "seconds": 1.0 + seed,
    } | others  # fmt: skip


def results(*runs):
    found = Results()
    found.head = {"seeds": 2, "machine": {"cores": 2, "evoke": "1"}}
    found.runs = list(runs)
    return found


def test_a_run_of_each_part():
    of_language = study.LANGUAGES.measure("anbn", "preset", 1)
    of_choice = study.FEWEST.measure("1..3", "preset", 1)
    for run in (of_language, of_choice):
        assert not {"language", "seed"} & set(run)
        assert run["accepted"] >= 1
    assert of_language["certified"]


def test_page_counts_runs(tmp_path):
    found = results(*(run_of("languages", "anbn", seed) for seed in (0, 1)),
                    run_of("languages", "dyck1", 0, certified=None), run_of("fewest", "1..3", 0))  # fmt: skip
    languages_page.write(found, tmp_path)
    text = (tmp_path / "languages.md").read_text()
    assert "| anbn | 10, 20 | 2 | 1 | 15 | 12.5 to 17.5 | 10 | 1 | 2 | 2 | 1 | 4.5 | 1.5 | 100 %, 100 % |" in text
    assert "| dyck1 | 100, 20 | 1 | - | 10 |" in text
    assert "| 1..3 | 1 | 1 |" in text
    assert "made of 4 runs" in text
    assert "Not measured: anb2n, anbncn," in text


def test_choices_are_of_the_language():
    assert languages.CHOICES["1..3"] == (1, 2, 3)
    assert all(min(counts) >= 1 for counts in languages.CHOICES.values())


@pytest.mark.skipif(not study.RESULTS.exists(), reason="nothing has been measured")
def test_the_page_is_that_of_the_results():
    found = Results(study.RESULTS)
    assert found.of("languages")
    assert found.of("fewest")
    assert languages_page.page(found) == (FOLDER.parent / "languages.md").read_text()
