"""evoke info --html: a page that begins with a sequence of a table."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from evoke import EvokeClassifier, tasks
from helpers.commands import assert_one_line


def test_a_page_with_an_example(here, model, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("other,step,walk\n0,1,a\n0,-1,a\n0,5,b\n0,1,a\n")
    done = here("info", model, "--html", tmp_path / "page.html", "--example", table)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "page.html").read_text()
    assert done.stdout == f"{tmp_path / 'page.html'}: {len(text.encode()):,} bytes\n"
    assert "<h1>walks</h1>" in text.replace(model.stem, "walks")
    assert json.loads(re.search(r'id="page">(.*?)</script>', text)[1])["example"] == [[1.0], [-1.0], [1.0]]


def test_a_page_whose_steps_are_symbols(here, tmp_path):
    X, y = tasks.anbncn(3)
    saved = EvokeClassifier(n_generations=1, subpopulation_size=4, n_cells=2, random_state=0).fit(X, y)
    saved.save(tmp_path / "words.evk")
    assert here("info", tmp_path / "words.evk", "--html", tmp_path / "page.html", "--symbols", "Sabc").returncode == 0
    page = json.loads(re.search(r'id="page">(.*?)</script>', (tmp_path / "page.html").read_text())[1])
    assert np.array_equal(page["example"], 2.0 * np.eye(4) - 1.0)


def test_an_example_without_the_column_that_tells_sequences_apart(here, model, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("step\n1\n")
    assert_one_line(here("info", model, "--html", tmp_path / "page.html", "--example", table), 1, "walk")


@pytest.mark.parametrize("options, words", [
    ("--example table.csv", "--example is for the page of --html"),
    ("--symbols ab", "--symbols is for the page of --html"),
    ("--json --html page.html", "--json and --html are two forms"),
    ("--html page.html --symbols ab", "symbols must be one text of 1 different characters"),
])  # fmt: skip
def test_what_is_refused(here, model, tmp_path, options, words):
    (tmp_path / "table.csv").write_text("step\n1\n")
    options = [str(tmp_path / each) if "." in each else each for each in options.split()]
    assert_one_line(here("info", model, *options), 2 if "must" not in words else 1, words)
    assert not (tmp_path / "page.html").exists()


def test_a_page_of_the_model_file_itself_is_refused(here, model):
    before = model.read_bytes()
    assert here("info", model, "--html", model).returncode == 2
    assert model.read_bytes() == before
