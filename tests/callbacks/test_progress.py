"""Progress: on a terminal, in a notebook, as lines in files and pipes."""

import io
import itertools
import re
import sys
import threading
from types import SimpleNamespace

import pytest

from evoke.callbacks import Progress, progress
from helpers.watched import CLASSES, Stop, X, assert_same_model, cut, tiny


class Terminal(io.StringIO):
    def isatty(self):
        return True


# ---- on a terminal


def test_progress_on_a_terminal(capsys, monkeypatch):
    before = set(threading.enumerate())
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", Terminal())
        model = tiny(Progress(), warm_start=True).fit(X, CLASSES)
        first = sys.stderr.getvalue()
        model.fit(X, CLASSES)
        shown = sys.stderr.getvalue()[len(first) :]
    assert "6/6" in first and f"fitness {model.best_fitness_:.4g}" in shown and "12/12" in shown
    for thread in set(threading.enumerate()) - before:  # rich has told it to end
        thread.join(60)
    assert set(threading.enumerate()) == before
    assert capsys.readouterr().out == ""


def test_progress_ends_with_the_run(monkeypatch):
    before = set(threading.enumerate())
    monkeypatch.setattr(sys, "stderr", Terminal())
    cut(tiny(Progress()), 2)
    for thread in set(threading.enumerate()) - before:  # rich has told it to end
        thread.join(60)
    assert set(threading.enumerate()) == before


def test_progress_without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ImportError, match="Progress needs rich: pip install rich"):
        tiny(Progress()).fit(X, CLASSES)


# ---- lines


def test_a_short_run_is_one_line(capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)  # which lines do not need
    model = tiny(Progress()).fit(X, CLASSES)
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(rf"generation 6 of 6, fitness {model.best_fitness_:.4g}, 0:\d\d:\d\d\n", err)


def test_lines_of_a_long_run(capfd, monkeypatch):
    monkeypatch.setattr(progress, "monotonic", itertools.count(step=3.0).__next__)
    model = tiny(Progress(), n_generations=20).fit(X, CLASSES)
    lines = capfd.readouterr().err.splitlines()
    generations = [float(re.match(r"generation ([\d.]+) of 20, (fitness|no fitness)", line)[1]) for line in lines]
    assert generations == sorted(set(generations)) and generations[-1] == 20
    assert 2 < len(lines) < 40  # each call of the clock took three seconds, of which ten are between two lines
    assert f"fitness {model.best_fitness_:.4g}" in lines[-1]


def test_lines_are_a_hundred_at_most(capfd, monkeypatch):
    monkeypatch.setattr(progress, "monotonic", itertools.count(step=1000.0).__next__)
    tiny(Progress(), n_generations=300).fit(X, CLASSES)
    assert 90 <= len(capfd.readouterr().err.splitlines()) <= 101


def test_a_run_that_is_cut_says_how_far_it_got(capfd):
    cut(tiny(Progress()), 2)
    assert capfd.readouterr().err.startswith("generation 2 of 6, ")


def test_nothing_is_said_where_nothing_happened(capfd):
    with pytest.raises(Stop):
        tiny(Progress(), Raising()).fit(X, CLASSES)
    assert capfd.readouterr().err == ""


class Raising:
    def watch(self, run):
        raise Stop


def test_without_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    tiny(Progress()).fit(X, CLASSES)


# ---- within a generation


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_evaluated_is_told_within_a_generation(n_jobs):
    shares, threads = [], set()

    class Listening:
        def watch(self, run):
            run.listeners.append(lambda share: (shares.append(share), threads.add(threading.get_ident())))
            return Nothing()

    model = tiny(Listening(), n_generations=1, subpopulation_size=20, n_jobs=n_jobs).fit(X, CLASSES)
    assert_same_model(model, tiny(n_generations=1, subpopulation_size=20).fit(X, CLASSES))
    assert shares == sorted(shares) and 0 < len(shares) and 0 <= shares[0] and shares[-1] <= 1
    assert threads == {threading.get_ident()}
    if n_jobs == 1:
        assert shares == [0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0]  # blocks of eight, then of four


class Nothing:
    def __enter__(self):
        return lambda record, esp: None

    def __exit__(self, *error):
        pass


# ---- in a notebook


def pretend_to_be_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, bar):
            shown.append(render(bar))

    def display(bar, display_id):
        shown.append(render(bar))
        return Handle()

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return shown


def render(bar):
    bundle = bar._repr_mimebundle_(include=(), exclude=())
    assert "<pre" in bundle["text/html"]
    return bundle["text/plain"]


def test_progress_in_a_notebook(capfd, monkeypatch):
    pytest.importorskip("rich")
    shown = pretend_to_be_a_notebook(monkeypatch)
    model = tiny(Progress()).fit(X, CLASSES)
    assert "0/6" in shown[0] and "no fitness yet" in shown[0]
    assert "6/6" in shown[-1] and f"fitness {model.best_fitness_:.4g}" in shown[-1]
    assert capfd.readouterr() == ("", "")


def test_a_notebook_is_not_flooded(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(progress, "monotonic", itertools.count(step=0.011).__next__)
    shown = pretend_to_be_a_notebook(monkeypatch)
    tiny(Progress(), n_generations=200).fit(X, CLASSES)
    assert 2 < len(shown) < 100  # of the 600 times that something is known


NOTEBOOK = """
import numpy as np
from evoke import EvokeClassifier, tasks
from evoke.callbacks import Progress
model = EvokeClassifier(n_generations=7, callbacks=[Progress()], random_state=0).fit(*tasks.anbncn(3))
"""


def test_in_a_real_notebook():
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    nbclient.NotebookClient(notebook, timeout=120).execute()
    (output,) = notebook.cells[0].outputs
    assert output["output_type"] == "display_data"
    for kind in ("text/plain", "text/html"):
        assert "7/7" in re.sub(r"<[^>]*>", "", output["data"][kind])
