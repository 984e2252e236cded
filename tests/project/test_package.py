"""The package as it is installed: its version, its files, and what importing it does to the process."""

import ast
import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evoke

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = Path(evoke.__file__).parent
SOURCES = sorted((ROOT / "src" / "evoke").rglob("*.py*"))


def test_one_version():
    declared = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text()).group(1)
    assert evoke.__version__ == declared == importlib.metadata.version("evoke-learn")


@pytest.mark.parametrize("source", [s for s in SOURCES if s.suffix in (".py", ".pyi")], ids=lambda s: s.name)
def test_every_module_is_listed_in_meson_build(source):
    relative = source.relative_to(ROOT / "src" / "evoke")
    listing = (ROOT / "src" / "evoke" / "meson.build").read_text()
    assert f"'{relative.as_posix()}'" in listing


@pytest.mark.parametrize("source", [s for s in SOURCES if s.suffix == ".pyx"], ids=lambda s: s.name)
def test_every_extension_is_built(source):
    importlib.import_module(f"evoke._core.{source.stem}")


def signature(function):
    """Names and defaults of the parameters of a function in a stub."""
    names = [argument.arg for argument in function.args.args]
    defaults = [ast.literal_eval(default) for default in function.args.defaults]
    return dict.fromkeys(names, inspect.Parameter.empty) | dict(zip(names[::-1], defaults[::-1], strict=False))


@pytest.mark.parametrize("source", [s for s in SOURCES if s.suffix == ".pyx"], ids=lambda s: s.name)
def test_stubs_agree_with_the_compiled_modules(source):
    module = importlib.import_module(f"evoke._core.{source.stem}")
    stub = {}
    for node in ast.parse(source.with_suffix(".pyi").read_text()).body:
        stub |= {node.name: node} if isinstance(node, ast.ClassDef | ast.FunctionDef) else {}
        stub |= {node.target.id: node} if isinstance(node, ast.AnnAssign) else {}
    functions = {name for name, thing in vars(module).items() if type(thing).__name__ == "cython_function_or_method"}
    assert {name for name in functions if not name.startswith("_")} <= set(stub)
    for name, node in stub.items():
        thing = getattr(module, name)
        if isinstance(node, ast.AnnAssign):
            annotation = ast.unparse(node.annotation)
            assert type(thing) is int if annotation == "int" else all(type(value) is str for value in thing)
            assert annotation in ("int", "tuple[str, ...]", "dict[str, tuple[int, ...]]")
            continue
        functions = {thing: node}
        if isinstance(node, ast.ClassDef):
            if issubclass(thing, tuple):  # a named one
                assert tuple(field.target.id for field in node.body) == thing._fields
                continue
            methods = [method for method in node.body if method.name != "__init__"]  # compiled, it has no signature
            assert {m.name for m in methods} == {m for m in vars(thing) if not m.startswith("_")}
            functions = {getattr(thing, method.name): method for method in methods if not method.decorator_list}
        for function, described in functions.items():
            parameters = inspect.signature(function).parameters
            assert signature(described) == {name: parameter.default for name, parameter in parameters.items()}


def test_type_checkers_find_the_package_typed():
    assert (INSTALLED / "py.typed").is_file()


def test_import_leaves_subnormal_numbers_alone():
    # a shared object linked with -ffast-math would set the flush-to-zero mode of the whole process
    code = "import evoke._core.dispatch, sys; tiny = float(sys.argv[1]); print(tiny / 2)"
    result = subprocess.run([sys.executable, "-c", code, "1e-310"], capture_output=True, text=True, check=True)
    assert float(result.stdout) == 1e-310 / 2 > 0


def test_names_are_listed_before_they_are_loaded():
    code = "import evoke; print(*dir(evoke)); assert not hasattr(evoke, 'nothing')"
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(evoke.__all__) <= set(names)


def test_every_name_is_an_attribute_in_a_fresh_process():
    # each name is asked for as if it were the first; NumPy and scikit-learn, which take long, are loaded only once
    code = """
import sys, evoke
for name in evoke.__all__:
    for loaded in [module for module in sys.modules if module.startswith("evoke.")]:
        if loaded.split(".")[1] != "_core":
            del sys.modules[loaded]
            vars(evoke).pop(loaded.split(".")[1], None)
    assert getattr(evoke, name) is not None
    print(name)
"""
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert names == evoke.__all__


def test_import_loads_nothing_heavy():
    code = "import sys, evoke; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"click", "joblib", "matplotlib", "numpy", "pandas", "rich", "scipy", "sklearn"}
    assert "evoke" in loaded
    assert not heavy & set(loaded)


def test_import_is_silent_and_starts_no_threads():
    code = "import threading, evoke; print(threading.active_count())"
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert (result.stdout.strip(), result.stderr) == ("1", "")


@pytest.mark.parametrize("name", ["evoke-2.1.0.dist-info", "Evoke-2.1.0.dist-info", "evoke-0.1.egg-info"])
def test_the_other_project_of_this_name_is_noticed(name, tmp_path):
    (tmp_path / name).mkdir()
    (tmp_path / "evoke_learn-0.1.0.dist-info").mkdir()
    with pytest.warns(UserWarning, match="pip uninstall evoke evoke-learn"):
        evoke._warn_of_the_other_project(str(tmp_path))


def test_nothing_is_said_of_other_neighbours(tmp_path):
    for name in ("evoke_learn-0.1.0.dist-info", "evoke", "evoked-1.dist-info", "evoke-data"):
        (tmp_path / name).mkdir()
    evoke._warn_of_the_other_project(str(tmp_path))  # a warning is an error in these tests
    evoke._warn_of_the_other_project(str(tmp_path / "evoke.zip"))
