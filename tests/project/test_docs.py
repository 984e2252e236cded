"""The documents: their Python examples run, their tables are those of docs/results, their links lead somewhere."""

import re
import runpy
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import readme_tables

from helpers.forks import in_forks

ROOT = readme_tables.ROOT
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
# Their Python blocks are a program; what cannot run here is marked as py.
README = ROOT / "README.md"
EXAMPLES = [path for path in DOCUMENTS if path != README and "```python\n" in path.read_text(encoding="utf-8")]


def names(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


def example(path):
    real_data = "from aeon.datasets import" in path.read_text(encoding="utf-8")
    return pytest.param(path, id=str(path.relative_to(ROOT)), marks=[pytest.mark.realdata] * real_data)


def python_blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def announced(program):
    """What the comments after `print` say that it prints."""
    return re.findall(r"^print\(.*\)  # (.*?)(?=: |$)", program, re.MULTILINE)


@pytest.mark.parametrize("path", [example(path) for path in EXAMPLES])
@pytest.mark.filterwarnings("ignore:::aeon", "ignore:::numba")
@pytest.mark.timeout(600)  # a busy machine takes long for the tutorial
def test_examples_run_in_their_order(path, capsys, monkeypatch, tmp_path):
    text = path.read_text(encoding="utf-8")
    for package in ("aeon", "pandas", "matplotlib", "onnxruntime"):
        if re.search(rf"^(import|from) {package}\b", text, re.MULTILINE):
            pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    program = "\n".join(python_blocks(text))
    namespace = {}
    exec(compile(program, path.name, "exec"), namespace)
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert len(lines) >= program.count("print(")
    if path.parent.name == "guide":
        assert set(announced(program)) <= set(lines)
    if path.name == "tutorial.md":
        assert printed == "".join(re.findall(r"```python\n[^`]*```\n\n```\n(.*?)```", text, re.DOTALL))
    if path.name == "reproduction.md":
        assert printed == "[1.] [-1.]\n[1.] [-1.]\n"  # as the comments beside it say


@pytest.mark.parametrize("number", range(3))
def test_each_example_of_the_readme_runs_alone(number, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    program = python_blocks(README.read_text(encoding="utf-8"))[number]
    exec(compile(program, README.name, "exec"), {})
    assert capsys.readouterr().out.splitlines() == announced(program)
    assert list(tmp_path.iterdir()) == []


# Runs the commands in forks of one process, which share the time of its imports, and what is between them in a shell.
MANUAL = """
import json, os, shlex, subprocess, sys
from helpers.forks import forked
import evoke.reproduce, evoke.svm, matplotlib.figure, pandas

silent = lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
results = []
for part in json.loads(sys.argv[1]):
    if part.startswith("evoke "):
        results.append([part, *forked(shlex.split(part)[1:], silent)])
    else:
        subprocess.run(["sh", "-e", "-c", part], check=True)
print(json.dumps(results))
"""


def test_the_manual_of_the_command_line_runs(tmp_path):
    for package in ("click", "matplotlib", "pandas"):
        pytest.importorskip(package)
    text = (ROOT / "docs" / "guide" / "command_line.md").read_text(encoding="utf-8")
    script = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    commands = in_forks(MANUAL, re.split(r"^(evoke .*\n)", script, flags=re.MULTILINE), cwd=tmp_path)
    assert len(commands) == script.count("evoke ") > 10
    assert [(command, said) for command, status, said in commands if status != 0] == []
    sides, walks = ((tmp_path / name).read_text().splitlines() for name in ("sides.csv", "walks.csv"))
    assert len(sides) == len(walks) == 161
    assert sum(said.split(",")[1] == walk.split(",")[2] for said, walk in zip(sides, walks, strict=True)) > 150
    note = "Note: the target {!r} is text, so it is classified.\n".format
    continued = "Note: continuing after generation 20 of 40.\n"
    said = "".join(said for _, _, said in commands)
    scores = re.compile(r"Note: (accuracy|MASE) .*\n")  # of all that is predicted here the targets are known
    assert len(scores.findall(said)) == script.count("evoke predict ")
    assert scores.sub("", said) == note("side") + note("end") + 3 * note("side") + continued
    assert len((tmp_path / "continued.csv").read_text().splitlines()) == 101
    written = {"walks.evk", "series.evk", "decisions.csv", "expected.csv", "expected.png", "continued.png", "sines.png"}
    assert written <= {path.name for path in tmp_path.iterdir()}


def test_tables_are_those_of_the_results(capsys):
    assert readme_tables.main(["--check"]) == 0, capsys.readouterr().out


def test_a_table_that_was_changed_is_found(monkeypatch, tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    text = readme_tables.filled("<!-- table: results -->\n<!-- end -->\n")
    assert "| 1..10 | 1..29 | 1..53 | 1..257 |" in text
    (tmp_path / "README.md").write_text(text.replace("257", "258"))
    monkeypatch.setattr(readme_tables, "ROOT", tmp_path)
    assert readme_tables.main(["--check"]) == 1
    assert "README.md: tables differ" in capsys.readouterr().out
    assert readme_tables.main([]) == 0
    assert (tmp_path / "README.md").read_text() == text


@pytest.mark.parametrize("path", DOCUMENTS, ids=names(DOCUMENTS))
def test_links_lead_to_files(path):
    for link in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link


INSIDE = [ROOT / "CONTRIBUTING.md", *(ROOT / "docs" / f"{name}.md" for name in ("design", "performance", "trust"))]


def named_places(text):
    """Files that a text names in backticks, and the names that it says are in them: `file: name, Class.name`."""
    endings = "py|pyx|pxd|c|h|md|toml|build|txt|rst|json|sh"
    for path, things in re.findall(rf"`([\w./-]+\.(?:{endings}))(?:: ([^`]+))?`", text):
        yield path, re.findall(r"\w+", things)


@pytest.mark.parametrize("path", INSIDE, ids=names(INSIDE))
def test_places_in_the_code_exist(path):
    for file, things in named_places(path.read_text(encoding="utf-8")):
        found = [folder / file for folder in (ROOT, ROOT / "src" / "evoke") if (folder / file).exists()]
        assert found, file
        source = found[0].read_text(encoding="utf-8")
        for thing in things:
            assert re.search(rf"\b{re.escape(thing)}\b", source), f"{thing} is not in {file}"


def test_contributing_has_every_room_and_the_floors_of_the_layers():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = set(text.split("## Where things are\n\n```\n")[1].split("```")[0].split())
    rooms = {path.name + "/" * path.is_dir() for path in (ROOT / "src" / "evoke").iterdir()}
    rooms = {room for room in rooms if room.endswith((".py", "/")) and not room.startswith("__")}
    assert rooms <= tree
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= {re.sub(r"^_|\.py$|/$", "", room) for room in tree}
    floors = [set(re.findall(r"`(\w+)`", line)) for line in re.findall(r"^\d+\. (`.*)$", text, re.MULTILINE)]
    layers = runpy.run_path(str(ROOT / "tests" / "project" / "test_layers.py"))["FLOORS"]
    assert floors[: len(layers)] == [floor - {"_version"} for floor in layers]


@pytest.mark.parametrize("path", sorted(readme_tables.RESULTS.glob("*.json")), ids=lambda path: path.name)
def test_results_name_no_path_of_a_machine(path):
    assert not re.search(r'"[^"]*/(home|root|usr|opt|tmp|work)/', path.read_text(encoding="utf-8"))
