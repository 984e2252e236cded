"""The command line as a whole: help, versions, missing packages, pipes, signals while modules are imported."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from evoke import __version__, reproduce, tasks
from evoke.cli import cli
from helpers.commands import ENDLESS, FEW_STRINGS, assert_clean, assert_one_line, evoke
from helpers.forks import in_forks


def test_version_and_help():
    done = evoke("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"evoke {__version__}\n", "")
    done = evoke("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for command in ("reproduce", "show-config"):
        assert command in done.stdout
    done = evoke("reproduce", "anbncn", "--help")
    assert done.returncode == 0
    for option in ("n-max", "runs", "seed", "preset", "solver", "readout", "jobs", "generations", "test-max"):
        assert f"--{option} " in done.stdout
    assert "--json " in done.stdout
    assert "--out " in done.stdout
    assert "[default: tuned]" in " ".join(done.stdout.split())


@pytest.mark.parametrize("command", ["reproduce anbncn", "fit"])
def test_help_imports_nothing_heavy(command):
    heavy = {"numpy", "pandas", "pyarrow", "scipy", "sklearn", "matplotlib", "joblib"}
    code = (
        "import sys\nfrom evoke.__main__ import main\nsys.argv[0] = 'evoke'\n"
        f"try:\n    main()\nfinally:\n    print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split(), "--help"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_installed_command(tmp_path):
    script = os.path.join(os.path.dirname(sys.executable), "evoke")
    if not os.path.exists(script):
        pytest.skip("the command is not installed beside this interpreter")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"evoke {__version__}\n")


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_hint_without_the_extra(missing):
    code = (
        "import importlib.util as u, sys\nfind = u.find_spec\n"
        f"u.find_spec = lambda name, *rest: None if name == {missing!r} else find(name, *rest)\n"
        f"sys.modules[{missing!r}] = None\n"
        "from evoke.__main__ import main\nsys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert 'pip install "click>=8.1" "rich>=13.7"' in done.stderr


def test_show_config(here):
    done = here("show-config")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"evoke: {__version__}\n" in done.stdout
    assert re.search(r"used: \w+\n", done.stdout)


def test_choices_are_those_of_the_library():
    options = {option.name: option for option in cli.commands["reproduce"].commands["anbncn"].params}
    assert set(options["preset"].type.choices) == set(reproduce.SINES_PRESETS)
    assert options["n_max"].type.max == reproduce.LARGEST_N_MAX
    for experiment in ("anbncn", "sines"):
        options = {option.name: option for option in cli.commands["reproduce"].commands[experiment].params}
        assert set(options["readout"].type.choices) == set(reproduce.SINES_PRESETS["tuned"])
    assert options["waves"].type.max == len(tasks.FREQUENCIES)


@pytest.mark.parametrize("arguments", [["reproduce", "nothing"], ["nothing"], ["--nonsense"], ["show-config", "x"]])
def test_unknown_commands(here, arguments):
    assert_one_line(here(*arguments), 2)


def test_unknown_instruction_set():
    assert_one_line(evoke(*FEW_STRINGS, EVOKE_SIMD="abacus"), 1, "EVOKE_SIMD", "abacus")
    assert_one_line(evoke("show-config", EVOKE_SIMD="abacus"), 1, "EVOKE_SIMD", "abacus")


LOST = """
import json, os, sys
from helpers.forks import forked
import evoke.reproduce, evoke.svm

def goes_away():
    read, write = os.pipe()
    os.dup2(write, 1)
    os.close(read)
    os.close(write)

def is_full():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

print(json.dumps([forked(command, globals()[stdout]) for stdout, command in json.loads(sys.argv[1])]))
"""


def test_reader_that_goes_away(tmp_path):
    commands = [["goes_away", ["show-config"]], ["goes_away", [*FEW_STRINGS, "--json", "a.json"]]]
    assert in_forks(LOST, commands, cwd=tmp_path) == [[1, ""]] * 2
    assert json.loads((tmp_path / "a.json").read_text())["task"] == "anbncn"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_stdout():
    commands = [
        FEW_STRINGS, ["show-config"], ["--version"], ["--help"], ["reproduce", "-h"], ["reproduce", "all", "--help"],
    ]  # fmt: skip
    said = "Error: cannot write to stdout: No space left on device\n"
    assert in_forks(LOST, [["is_full", command] for command in commands]) == [[1, said]] * len(commands)


@pytest.mark.parametrize("arguments", [ENDLESS, ["show-config"], ["--version"], ["reproduce", "--help"]])
def test_closed_stdout(arguments):
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "evoke", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert_one_line(done, 1, "Error: cannot write to stdout: it is closed")


def test_errors_are_no_data_where_stderr_is_closed(tmp_path):
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-m", "evoke", "info", tmp_path / "none.evk"],
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")


@pytest.fixture
def as_stdout():
    """Puts another file in the place of file descriptor 1, as a redirection of the shell does."""
    before = os.dup(1)
    yield lambda file: os.dup2(file.fileno(), 1)
    os.dup2(before, 1)
    os.close(before)


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "link.json", "stdout.txt"])
def test_stdout_is_no_file_to_replace(here, as_stdout, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproduce, "anbncn", lambda **arguments: pytest.fail("the work was begun"))
    (tmp_path / "link.json").symlink_to("/dev/stdout")
    command = [*ENDLESS, "--json", place]
    if place != "stdout.txt":
        read, write = os.pipe()
        with os.fdopen(read), os.fdopen(write, "w") as pipe:
            as_stdout(pipe)
            assert_one_line(here(*command), 1, f"cannot write {place}: not a regular file")
    with open(tmp_path / "stdout.txt", "w") as stdout:
        as_stdout(stdout)
        assert_one_line(here(*command), 1, f"cannot write {place}: it is already open, as stdout or stderr")
    assert_clean(tmp_path, "link.json", "stdout.txt")


def test_stdout_of_a_process_is_no_file_to_replace(tmp_path):
    with open(tmp_path / "stdout.txt", "w") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "evoke", *ENDLESS, "--json", "/dev/stdout"],
            stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "it is already open" in done.stderr
    assert_clean(tmp_path, "stdout.txt")


def test_no_such_file(here, tmp_path):
    for command in (["fit", "x.csv", "--target", "a", "-o", "a.evk"], ["predict", "x.evk", "x.csv"], ["info", "x.evk"]):
        assert_one_line(here(*command), 2, "does not exist")
    assert_one_line(here("info", tmp_path), 2, "is a directory")


def test_the_home_folder_is_meant_by_a_tilde(here, data, model, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    done = here("predict", f"~/{model.name}", f"~/{data.name}", "--out=~/out.csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.csv").exists()


def test_the_manual_has_every_option():
    manual = (Path(__file__).parents[2] / "docs" / "guide" / "command_line.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## `evoke ([\w-]+)`\n(.*?)(?=^## )", manual, re.MULTILINE | re.DOTALL))
    assert set(sections) == set(cli.commands)
    for name, command in cli.commands.items():
        for part in getattr(command, "commands", {name: command}).values():
            options = [option for parameter in part.params for option in parameter.opts if option.startswith("-")]
            for option in options:
                assert re.search(rf"`?{option}\b", sections[name]), f"{part.name} {option}"


# ---- interrupts at the moment at which a module is looked for

PLACES = ["click", "evoke.cli", "numpy", "sklearn.base", "evoke._validation.arrays"]

INTERRUPTED = """
import json, os, signal, sys
from helpers.forks import forked

def interrupt(place):
    class Finder:
        def find_spec(name, *_):
            if name == place:
                os.kill(os.getpid(), signal.SIGINT)

    sys.meta_path.insert(0, Finder)

commands, places = map(json.loads, sys.argv[1:])
results = []
for place in places:
    if place == "sklearn.base":
        import numpy, pandas, scipy.linalg
    if place == "evoke._validation.arrays":
        import sklearn.base, sklearn.utils.validation
    results += [[place, command[0], *forked(command, lambda: interrupt(place))] for command in commands]
print(json.dumps(results))
"""


def test_interrupts_of_imports(data, model):
    out = model.with_name("out.csv")
    commands = [
        ["fit", data, "--target", "side", "--features", "step", "-o", out], ["predict", model, data, "-o", out],
        ["info", model],
    ]  # fmt: skip
    expected = [[place, command[0], 130, "Error: interrupted\n"] for place in PLACES for command in commands]
    assert in_forks(INTERRUPTED, commands, PLACES) == expected
    assert not out.exists()
