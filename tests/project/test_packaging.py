"""What the build backend adds to meson-python: no options for anybody who installs, one sentence without a compiler."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def backend(monkeypatch):
    pytest.importorskip("mesonpy")
    monkeypatch.syspath_prepend(str(TOOLS))
    return __import__("build_backend")


@pytest.mark.parametrize(
    "version, free_threaded, added",
    [
        ((3, 10), 0, ["-Dpython.allow_limited_api=false"]),
        ((3, 11), 0, []),
        ((3, 13), None, []),
        ((3, 13), 1, ["-Dpython.allow_limited_api=false"]),
    ],
)
@pytest.mark.parametrize(
    "given, passed",
    [(None, []), ({"build-dir": "b"}, []), ({"setup-args": "-Da=1"}, ["-Da=1"]), ({"setup-args": ["x"]}, ["x"])],
)
def test_the_limited_api_where_there_is_one(backend, monkeypatch, version, free_threaded, added, given, passed):
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    monkeypatch.setattr(sysconfig, "get_config_var", {"Py_GIL_DISABLED": free_threaded}.get)
    settings = backend.with_options(given)
    assert settings.get("build-dir") == (given or {}).get("build-dir")
    assert backend.arguments(settings) == [*added, *passed]


def test_without_a_compiler_there_is_one_sentence(backend, tmp_path):
    code = f"import sys; sys.path.insert(0, {str(TOOLS)!r}); import build_backend; build_backend.build_wheel('.')"
    environment = {name: value for name, value in os.environ.items() if name != "CC"} | {"PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("evoke has no wheel for ") and "install gcc or clang" in line


def test_the_conda_recipe_says_what_pyproject_and_meson_say():
    yaml, tomllib = pytest.importorskip("yaml"), pytest.importorskip("tomllib")
    root = TOOLS.parent
    recipe = yaml.safe_load((TOOLS / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    needed = recipe["requirements"]

    def apart(specs):
        return {re.match("[a-z-]+", spec)[0]: re.search(r">=\S+", spec)[0] for spec in specs if ">=" in spec}

    plain = [each for each in project["project"]["dependencies"] if ";" not in each]  # ThunderSVM has no conda package
    assert apart(needed["run"]) == apart(plain)
    built = apart(project["build-system"]["requires"])
    assert apart(needed["host"]) == built and "ninja" in needed["build"]
    assert f"version: '{recipe['context']['version']}'," in (root / "meson.build").read_text(encoding="utf-8")
    assert recipe["package"]["name"] == project["project"]["name"]
    assert recipe["about"]["summary"] == project["project"]["description"]
    for file in recipe["tests"][1]["files"]["source"]:
        assert (root / file).is_file()
