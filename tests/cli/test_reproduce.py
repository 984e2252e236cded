"""evoke reproduce: options, tables and files, failures, progress, signals."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import warnings

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from evoke import reproduce, tasks
from evoke.cli.drawn_tables import drawn
from evoke.reproduce import _anbncn as grammar
from evoke.reproduce import _sines as waves
from helpers.commands import ENDLESS, FEW_STRINGS, OnTerminal, assert_clean, assert_one_line, evoke

SINES = ["reproduce", "sines", "--runs", "1", "--generations", "1", "--readout", "pinv"]
ALL = ["reproduce", "all", "--runs", "1", "--generations", "1", "--test-max", "5"]
STEMS = [reproduce.file_stem(task, **more) for task, more in reproduce.EXPERIMENTS]


@pytest.fixture
def quick_experiments(monkeypatch):
    """Few networks per generation, and short strings instead of those of millions of symbols."""
    accepts = tasks.anbncn_accepts
    monkeypatch.setattr(tasks, "anbncn_accepts", lambda model, n: accepts(model, min(n, 10)))
    for presets in (reproduce.PRESETS, *reproduce.SINES_PRESETS.values()):
        for preset in presets.values():
            monkeypatch.setitem(preset, "subpopulation_size", 4)
            monkeypatch.setitem(preset, "n_trials", 1)


def test_table_on_stdout_files_and_silence(here, tmp_path):
    out = tmp_path / "new" / "folder"
    done = here(*FEW_STRINGS, "--seed", 3, "--json", tmp_path / "a.json", "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert_clean(tmp_path, "a.json", "new")
    assert_clean(out, "anbncn-N10.json", "anbncn-N10.md")
    result = json.loads((tmp_path / "a.json").read_text())
    assert (out / "anbncn-N10.json").read_text() == (tmp_path / "a.json").read_text()
    assert (out / "anbncn-N10.md").read_text() == done.stdout == reproduce.markdown(result)
    expected = reproduce.anbncn(runs=1, n_generations=2, test_max=20, seed=3)
    assert [run | {"seconds": 0} for run in result["runs"]] == [run | {"seconds": 0} for run in expected["runs"]]


def test_every_option_arrives(here, monkeypatch):
    seen = {}

    def anbncn(**arguments):
        seen.update(arguments)
        raise RuntimeError("enough\nis enough")

    monkeypatch.setattr(reproduce, "anbncn", anbncn)
    options = "--n-max 20 --runs 3 --seed 4 --preset paper --solver native --readout svm --jobs 2 --generations 5"
    done = here("reproduce", "anbncn", *options.split(), "--test-max", 6)
    assert_one_line(done, 1, "Error: enough is enough")
    assert seen == {
        "n_max": 20, "runs": 3, "seed": 4, "preset": "paper", "solver": "native", "readout": "svm", "n_jobs": 2,
        "n_generations": 5, "test_max": 6, "progress": None,
    }  # fmt: skip
    here("reproduce", "anbncn")
    assert seen == {
        "n_max": 10, "runs": 20, "seed": 0, "preset": "tuned", "solver": "auto", "readout": "svm", "n_jobs": 1,
        "n_generations": None, "test_max": 2000, "progress": None,
    }  # fmt: skip


def test_more_jobs_than_runs(here):
    done = here(*FEW_STRINGS, "--jobs", "1000000")
    assert (done.returncode, done.stderr) == (0, "")


def test_files_are_replaced(here, tmp_path):
    target = tmp_path / "a.json"
    target.write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    done = here(*FEW_STRINGS, "--json", str(link))
    assert done.returncode == 0, done.stderr
    assert link.is_symlink()
    assert json.loads(target.read_text())["task"] == "anbncn"
    assert_clean(tmp_path, "a.json", "link.json")


def test_a_failed_write_leaves_the_old_file(here, tmp_path, monkeypatch):
    target = tmp_path / "a.json"
    target.write_text("old")

    def fsync(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    done = here(*FEW_STRINGS, "--json", str(target))
    assert done.returncode == 1
    assert done.stderr == f"Error: cannot write {target}: No space left on device\n"
    assert target.read_text() == "old"
    assert_clean(tmp_path, "a.json")


def test_a_failed_run_fails_the_command(here, tmp_path, monkeypatch):
    def run(seed, *rest):
        raise FloatingPointError("all\nlost")

    monkeypatch.setattr(grammar, "run_anbncn", run)
    done = here(*FEW_STRINGS, "--runs", "5", "--json", str(tmp_path / "a.json"))
    assert done.returncode == 1
    assert done.stderr.startswith("Error: failed, 0 of 5 runs finished; seed 0: FloatingPointError: all lost after 0")
    assert done.stderr.endswith(f"; ...; written to {tmp_path / 'a.json'}\n")
    assert done.stderr.count("\n") == 1
    assert "FloatingPointError: all lost" in done.stdout
    assert len(json.loads((tmp_path / "a.json").read_text())["unfinished"]) == 5


def test_warnings_of_one_kind_are_counted(here, monkeypatch):
    one = grammar.run_anbncn

    def run(*arguments):
        for k in range(3):
            warnings.warn(f"trouble\nnumber {k}", RuntimeWarning, stacklevel=1)
            warnings.warn("for who wrote a package", DeprecationWarning, stacklevel=1)
        return one(*arguments)

    monkeypatch.setattr(grammar, "run_anbncn", run)
    done = here(*FEW_STRINGS)
    assert done.returncode == 0
    assert done.stderr == "RuntimeWarning: trouble number 0\nRuntimeWarning: 2 more of this kind\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--runs", "0"], ["--runs", "two"], ["--runs", "1.5"], ["--n-max", "1"], ["--n-max", "101"],
        ["--n-max", "-5"], ["--test-max", "0"], ["--jobs", "0"], ["--jobs", "-1"], ["--generations", "0"],
        ["--seed", "-1"], ["--seed", "x"], ["--preset", "best"], ["--solver", "libsvm"], ["--readout", "knn"],
        ["--nonsense"], ["--runs"], ["stray"], ["--json", ""], ["--json", "-"], ["--out", ""], ["--out", "-"],
    ],
)  # fmt: skip
def test_wrong_usage(here, arguments):
    done = here("reproduce", "anbncn", *arguments)
    assert_one_line(done, 2)


@pytest.mark.parametrize("option, place, word", [
    ("--json", "folder", "not a regular file"),
    ("--json", "file/a.json", "Not a directory"),
    ("--json", "missing/a.json", "No such file or directory"),
    ("--json", "/proc/evoke.json", "/proc/evoke.json"),
    ("--json", "/dev/null", "not a regular file"),
    ("--json", "x" * 300, "File name too long"),
    ("--out", "file", "file: not a folder"),
    ("--out", "file/folder", "Not a directory"),
    ("--out", "/proc/evoke", "/proc/evoke"),
    ("--out", "taken", "not a regular file"),
])  # fmt: skip
def test_unwritable_targets_are_told_before_the_work(here, tmp_path, monkeypatch, option, place, word):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "taken" / "anbncn-N10.md").mkdir(parents=True)
    if place.startswith("/") and not os.path.isdir(os.path.dirname(place)):
        pytest.skip("no such place on this system")
    monkeypatch.setattr(reproduce, "anbncn", lambda **arguments: pytest.fail("the work was begun"))
    done = here(*FEW_STRINGS, option, str(tmp_path / place))
    assert_one_line(done, 1, f"Error: cannot write {tmp_path / place}", word)
    assert (tmp_path / "file").read_text() == "mine"
    assert_clean(tmp_path, "folder", "file", "taken")
    assert_clean(tmp_path / "folder")


def test_broken_thundersvm(tmp_path):
    library = tmp_path / "libthundersvm.so"
    library.write_bytes(b"not a library")
    done = evoke(*FEW_STRINGS, "--solver", "thundersvm", EVOKE_THUNDERSVM_LIB=str(library))
    assert_one_line(done, 1, "thundersvm", str(library))


def test_figure_of_the_runs(here, tmp_path):
    pytest.importorskip("matplotlib")
    done = here(*FEW_STRINGS, "--plot", str(tmp_path / "a.svg"))
    assert (done.returncode, done.stderr) == (0, "")
    assert_clean(tmp_path, "a.svg")
    assert "</svg>" in (tmp_path / "a.svg").read_text()


def test_no_run_of_the_strings_to_draw(here, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")

    def fail(*arguments):
        raise FloatingPointError("all lost")

    monkeypatch.setattr(grammar, "run_anbncn", fail)
    done = here(*FEW_STRINGS, "--plot", str(tmp_path / "a.png"))
    assert done.returncode == 1
    assert done.stderr.endswith("; no run to draw; nothing was written\n")
    assert_clean(tmp_path)


def test_sines_table_files_and_figure(here, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    done = here(*SINES, "--seed", 3, "--out", out, "--json", tmp_path / "a.json", "--plot", tmp_path / "a.png")
    assert (done.returncode, done.stderr) == (0, "")
    assert_clean(tmp_path, "a.json", "a.png", "out")
    assert_clean(out, "sines-2.json", "sines-2.md")
    result = json.loads((tmp_path / "a.json").read_text())
    assert (out / "sines-2.json").read_text() == (tmp_path / "a.json").read_text()
    assert (out / "sines-2.md").read_text() == done.stdout == reproduce.markdown(result)
    expected = reproduce.sines(runs=1, n_generations=1, readout="pinv", seed=3)
    assert [run | {"seconds": 0} for run in result["runs"]] == [run | {"seconds": 0} for run in expected["runs"]]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_every_option_of_the_sines_arrives(here, monkeypatch):
    seen = {}

    def sines(**arguments):
        seen.update(arguments)
        raise RuntimeError("enough")

    monkeypatch.setattr(reproduce, "sines", sines)
    options = "--waves 3 --runs 3 --seed 4 --preset paper --solver native --readout lssvm --jobs 2 --generations 5"
    assert_one_line(here("reproduce", "sines", *options.split()), 1, "Error: enough")
    assert seen == {
        "waves": 3, "runs": 3, "seed": 4, "preset": "paper", "solver": "native", "readout": "lssvm", "n_jobs": 2,
        "n_generations": 5, "progress": None,
    }  # fmt: skip
    here("reproduce", "sines")
    assert seen == {
        "waves": 2, "runs": 20, "seed": 0, "preset": "tuned", "solver": "auto", "readout": "svm", "n_jobs": 1,
        "n_generations": None, "progress": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [["--waves", "0"], ["--waves", "9"], ["--n-max", "10"], ["--test-max", "5"], ["--readout", "knn"], ["--plot"],
     ["--plot", ""], ["--plot", "-"]],
)  # fmt: skip
def test_wrong_usage_of_the_sines(here, arguments):
    assert_one_line(here("reproduce", "sines", *arguments), 2)


def test_thundersvm_with_another_readout(here):
    assert_one_line(here(*SINES, "--solver", "thundersvm"), 1, "solver='thundersvm'", "readout='pinv'")


@pytest.mark.parametrize("place, word", [
    ("folder.png", "not a regular file"), ("missing/a.png", "No such file"), ("a.xyz", "not 'xyz'"), ("a", "not ''"),
])  # fmt: skip
def test_figures_that_cannot_be_written_are_told_before_the_work(here, tmp_path, monkeypatch, place, word):
    pytest.importorskip("matplotlib")
    (tmp_path / "folder.png").mkdir()
    monkeypatch.setattr(reproduce, "sines", lambda **arguments: pytest.fail("the work was begun"))
    assert_one_line(here(*SINES, "--plot", str(tmp_path / place)), 1, word)
    assert_clean(tmp_path, "folder.png")


def test_figures_without_matplotlib(here, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    monkeypatch.setattr(reproduce, "sines", lambda **arguments: pytest.fail("the work was begun"))
    assert_one_line(here(*SINES, "--plot", str(tmp_path / "a.png")), 1, 'pip install "matplotlib>=3.9"')
    assert_one_line(here(*SINES, "--plot", str(tmp_path / "no" / "a.png")), 1, "cannot write", "No such file")
    assert_clean(tmp_path)


def test_nothing_to_draw(here, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    one = waves.run_sines
    monkeypatch.setattr(waves, "run_sines", lambda *a: one(*a) | {"sse": None, "nrmse": None, "generated": None})
    done = here(*SINES, "--plot", str(tmp_path / "a.png"), "--json", str(tmp_path / "a.json"))
    assert done.returncode == 1
    assert done.stderr == f"Error: no run to draw; written to {tmp_path / 'a.json'}\n"
    assert "| infinite |" in done.stdout
    assert_clean(tmp_path, "a.json")


def test_all_needs_a_folder(here):
    assert_one_line(here("reproduce", "all"), 2, "--out")


def test_all(here, quick_experiments, tmp_path):
    pytest.importorskip("matplotlib")
    done = here(*ALL, "--jobs", 2, "--seed", 5, "--out", tmp_path / "new")
    assert (done.returncode, done.stderr) == (0, "")
    names = [f"{stem}{suffix}" for stem in STEMS for suffix in (".json", ".md")]
    assert_clean(tmp_path / "new", "report.md", "sines-2.png", *names)
    report = (tmp_path / "new" / "report.md").read_text()
    assert report == done.stdout
    assert "](sines-2.png)" in report
    assert "Incomplete" not in report
    for stem, (task, more) in zip(STEMS, reproduce.EXPERIMENTS, strict=True):
        result = json.loads((tmp_path / "new" / f"{stem}.json").read_text())
        assert result["task"] == task
        assert more.items() <= result.items()
        assert [run["seed"] for run in result["runs"]] == [5]
        assert (tmp_path / "new" / f"{stem}.md").read_text() == reproduce.markdown(result)
        assert f"]({stem}.md)" in report


def test_all_without_matplotlib(here, quick_experiments, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    done = here(*ALL, "--out", str(tmp_path))
    assert done.returncode == 0
    assert done.stderr.startswith("Warning: sines-2.png will not be drawn: ")
    assert 'pip install "matplotlib>=3.9"' in done.stderr
    assert done.stderr.count("\n") == 1
    names = [f"{stem}{suffix}" for stem in STEMS for suffix in (".json", ".md")]
    assert_clean(tmp_path, "report.md", *names)
    assert "No figure: a figure needs Matplotlib" in done.stdout
    assert done.stdout == (tmp_path / "report.md").read_text()


def test_interrupt_of_all_keeps_what_is_done(here, quick_experiments, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    one = reproduce.anbncn

    def anbncn(**arguments):
        if arguments["readout"] == "lssvm":
            result = one(**arguments) | {"interrupted": True, "runs": []}
            result["unfinished"] = [{"seed": 0, "reason": "interrupted", "fitness": 0.5, "generations": 1,
                                     "evaluations": 200, "seconds": 0.1}]  # fmt: skip
            raise reproduce.Interrupted(result)
        return one(**arguments)

    monkeypatch.setattr(reproduce, "anbncn", anbncn)
    done = here(*ALL, "--out", str(tmp_path))
    assert done.returncode == 130
    assert done.stderr == (
        f"Error: interrupted, 2 of 18 experiments done; {STEMS[2]}: interrupted, 0 of 1 runs finished; seed 0: "
        f"interrupted after 1 generation, best fitness 0.5; written to {tmp_path / 'report.md'}\n"
    )
    assert_clean(tmp_path, "report.md", *(f"{stem}{suffix}" for stem in STEMS[:3] for suffix in (".json", ".md")))
    assert "Incomplete: 2 of 18 experiments done." in done.stdout
    assert json.loads((tmp_path / f"{STEMS[2]}.json").read_text())["interrupted"] is True


def test_a_failed_run_does_not_end_all(here, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")

    def fail(seed, *rest):
        raise FloatingPointError("all lost")

    for module, name in ((grammar, "run_anbncn"), (waves, "run_sines")):
        monkeypatch.setattr(module, name, fail)
    done = here(*ALL, "--out", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.count("all lost") == 18
    assert "Incomplete" not in done.stdout
    assert not (tmp_path / "sines-2.png").exists()


@pytest.mark.parametrize("place", ["report.md", "sines-2.png", "sines-2-paper-svm.json"])
def test_targets_of_all_are_checked_before_the_work(here, tmp_path, monkeypatch, place):
    pytest.importorskip("matplotlib")
    (tmp_path / place).mkdir()
    monkeypatch.setattr(reproduce, "anbncn", lambda **arguments: pytest.fail("the work was begun"))
    assert_one_line(here(*ALL, "--out", str(tmp_path)), 1, place, "not a regular file")
    assert_clean(tmp_path, place)


def test_progress_on_a_terminal():
    terminal = OnTerminal(*FEW_STRINGS, "--runs", 2)
    status, stdout = terminal.finish()
    assert status == 0
    assert "fitness" in terminal.shown
    assert "2/2" in terminal.shown
    assert "| G-LSTM, published | 29 |" in stdout
    assert "\x1b" not in stdout


def test_interrupt_of_all(tmp_path):
    pytest.importorskip("matplotlib")
    terminal = OnTerminal("reproduce", "all", "--out", tmp_path)
    terminal.wait_for("fitness ")
    assert "1/18 anbncn-N10-paper-svm, run 1/20" in terminal.shown
    terminal.process.send_signal(signal.SIGINT)
    status, stdout = terminal.finish()
    assert status == 130
    assert "Traceback" not in terminal.shown
    assert "Error: interrupted, 0 of 18 experiments done" in terminal.shown
    assert stdout == (tmp_path / "report.md").read_text()
    assert_clean(tmp_path, "report.md", *(f"{STEMS[0]}{suffix}" for suffix in (".json", ".md")))


@pytest.mark.parametrize("number, jobs", [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGTERM, 1)])
def test_interrupt(tmp_path, number, jobs):
    target = tmp_path / "a.json"
    terminal = OnTerminal(*ENDLESS, "--jobs", jobs, "--json", target)
    terminal.wait_for("fitness ")
    terminal.process.send_signal(number)
    status, stdout = terminal.finish()
    assert status == 130
    assert "Traceback" not in terminal.shown
    assert "Error: interrupted, 0 of 100000 runs finished; seed " in terminal.shown
    assert f"written to {target}" in terminal.shown.replace("\r\n", "")
    assert "Interrupted: 0 of 100000 runs finished" in stdout
    result = json.loads(target.read_text())
    assert result["interrupted"] is True
    assert result["runs"] == []
    assert 1 <= len(result["unfinished"]) <= 2 * jobs
    best = max(result["unfinished"], key=lambda run: run["generations"])
    assert best["generations"] >= 1
    assert best["fitness"] is not None
    assert len(best["genome"]) == 5
    assert_clean(tmp_path, "a.json")


def test_tables_are_drawn_on_a_terminal(tmp_path):
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "150", "PYTHONIOENCODING": "utf-8"}
    words = [sys.executable, "-m", "evoke", *FEW_STRINGS, "--out", str(tmp_path)]
    process = subprocess.Popen(words, stdout=slave, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # what Linux says when the other end is closed
        while piece := os.read(master, 65536):
            shown += piece
    os.close(master)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    text = shown.decode().replace("\r\n", "\n")
    markdown = (tmp_path / "anbncn-N10.md").read_text()
    assert "|---|" in markdown and "|---|" not in text
    assert text == drawn(markdown, 150)


@pytest.mark.parametrize("lines, edge", [(True, "│"), (False, "|")])
def test_what_is_drawn_is_what_the_markdown_says(lines, edge):
    text = drawn("# A title\n\n| a | b [red] |\n|---|---|\n| 1 | :cat: 2 |\n\nThe *end*.\n", 60, lines=lines)
    rows = [line.strip(edge).split(edge) for line in text.splitlines() if line.startswith(edge)]
    cells = [[cell.strip() for cell in row] for row in rows if not set("".join(row)) <= set("+-")]
    assert cells == [["a", "b [red]"], ["1", ":cat: 2"]]
    assert text.splitlines()[0] == "A title" and text.splitlines()[-1] == "The *end*."
    assert text.isascii() != lines
