"""What tools read of the project: the hooks of pre-commit and the citation agree with what they repeat."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES_OF_C = "csrc/*.[ch] csrc/tests/*.[ch]"


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def loaded(name):
    return pytest.importorskip("yaml").safe_load(read(name))


def hooks():
    (repository,) = loaded(".pre-commit-config.yaml")["repos"]
    return repository["hooks"]


def test_hooks_are_the_commands_of_make_lint():
    target = re.search(r"^lint:.*\n((?:\t.*\n)+)", read("Makefile"), re.MULTILINE)[1]
    commands = re.findall(r"\$\(IN_TEST\) (.*)", target)
    assert [hook["entry"] for hook in hooks()] == [command.removesuffix(f" {FILES_OF_C}") for command in commands]


def test_hooks_have_the_versions_of_the_tools():
    wanted = read("tools/requirements.txt").split("# lint\n")[1]
    lines = [line for line in wanted.splitlines() if line and not line.startswith("#")]
    assert sorted(line for hook in hooks() for line in hook["additional_dependencies"]) == sorted(lines)


def test_hooks_look_at_the_same_files_of_c():
    (hook,) = (hook for hook in hooks() if hook.get("pass_filenames", True))
    found = {path for path in (ROOT / "csrc").rglob("*") if re.search(hook["files"], path.relative_to(ROOT).as_posix())}
    assert found == {path for pattern in FILES_OF_C.split() for path in ROOT.glob(pattern)}


def test_citation_is_of_this_version():
    citation = loaded("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert str(citation["version"]) == re.search(r"version: '([^']+)'", read("meson.build"))[1]
    assert citation["license"] == re.search(r'^license = "(.*)"', read("pyproject.toml"), re.MULTILINE)[1]
    names = [author["family-names"] for author in citation["preferred-citation"]["authors"]]
    assert names == ["Schmidhuber", "Gagliolo", "Wierstra", "Gomez"]
