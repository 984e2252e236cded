"""The house: which room imports which. Imports point down only, and no files import each other in a circle."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import evoke
from helpers.public import PUBLIC

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "evoke"

# Rooms from the ground up: a room imports from the floors below it, and within itself.
FLOORS = [
    {"_validation", "_version", "metrics"},
    {"_core", "bounds", "exceptions", "hall_of_fame", "memories"},
    {"engine", "landmarks", "persistence", "sequences"},
    {"cmaes", "esp", "forecasting", "inspection", "lstm", "svm", "tasks"},
    {"config", "readouts"},
    {"evolution"},
    {"estimators"},
    {"callbacks", "certification", "export", "plot"},
    {"reproduce"},
    {"cli"},
]
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
TOP = {"evoke", "evoke.__main__"}  # the lazy entrance, whose names are looked up at first use, and the command

# `from evoke.x cimport y` and `cimport evoke.x` in Cython
CIMPORT = re.compile(
    r"^\s*(?:from\s+(?P<module>evoke[\w.]*)\s+c?import\s+(?P<names>\([^)]*\)|.*)|c?import\s+(?P<whole>evoke[\w.]*))",
    re.MULTILINE,
)


def module_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {path: module_of(path) for path in sorted(PACKAGE.rglob("*.py*")) if path.suffix in (".py", ".pyx", ".pxd")}
MODULES = set(SOURCES.values()) | {"evoke._version"}


def imports_of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name their module in full"
            yield from ((node.module, alias.name) for alias in node.names)


def imports_of_cython(text):
    for found in CIMPORT.finditer(text):
        names = re.findall(r"\w+(?:\s+as\s+\w+)?", found["names"] or "")
        yield from ((found["module"], name.split()[0]) for name in names)
        if found["whole"]:
            yield found["whole"], ""


def imported(path):
    """The modules of evoke that a file imports, wherever in the file it does so."""
    text = path.read_text(encoding="utf-8")
    for module, name in imports_of_python(text) if path.suffix == ".py" else imports_of_cython(text):
        if (module or "").split(".")[0] == "evoke":
            target = f"{module}.{name}" if f"{module}.{name}" in MODULES else module
            assert target in MODULES, f"{module_of(path)} imports {target}, which does not exist"
            yield target


def room_of(module):
    return module.split(".")[1] if module.count(".") else module


IMPORTS = {}
for _path, _module in SOURCES.items():
    IMPORTS.setdefault(_module, set()).update(set(imported(_path)) - {_module})


def test_every_room_has_a_floor():
    assert {room_of(module) for module in MODULES - TOP} == set(FLOOR_OF)
    assert len(FLOORS) <= 10


@pytest.mark.parametrize("module", sorted(set(IMPORTS) - TOP))
def test_imports_point_down(module):
    room = room_of(module)
    for other in sorted(IMPORTS[module]):
        # plain `import evoke` or a name of the entrance, such as `from evoke import load`
        assert other not in TOP or FLOOR_OF[room] >= FLOOR_OF["callbacks"], f"{module} imports the entrance"
        if other not in TOP and room_of(other) != room:
            assert FLOOR_OF[room_of(other)] < FLOOR_OF[room], f"{module} imports {other}, which is no floor below"


def test_no_circle():
    graph = {module: others - {"evoke"} for module, others in IMPORTS.items() if module != "evoke"}
    # a folder's entrance is run before any of its files, but what it takes from them is no circle by itself
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"files import each other in a circle: {' -> '.join(error.args[1])}")


def test_a_circle_and_an_arrow_up_would_be_seen():
    assert list(imports_of_python("def f():\n    from evoke.cli import cli")) == [("evoke.cli", "cli")]
    assert list(imports_of_cython("from evoke._core.lstm cimport (\n    Block, Segments,\n)\n")) == [
        ("evoke._core.lstm", "Block"), ("evoke._core.lstm", "Segments"),
    ]  # fmt: skip
    with pytest.raises(CycleError):
        TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()


@pytest.mark.parametrize("path", [f"{module}.{name}" for module, names in PUBLIC.items() for name in names])
def test_public_import_paths_work(path):
    module, name = path.rsplit(".", 1)
    scope = {}
    exec(f"from {module} import {name}", scope)
    assert scope[name] is not None


def test_the_entrance_has_every_public_module():
    assert {path.split(".")[1] for path in PUBLIC if path != "evoke"} < set(PUBLIC["evoke"])
    assert set(PUBLIC["evoke"]) == set(evoke.__all__) - {"__version__"}


def private_names(text):
    """Private names that a file defines, those that it takes from another file, and those of other objects it uses."""
    defined, taken, used = set(), set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("evoke"):
            taken |= {alias.name for alias in node.names if f"{node.module}.{alias.name}" not in MODULES}
        elif isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            (defined if own and isinstance(node.ctx, ast.Store) else set() if own else used).add(node.attr)
    named_tuple = {"_replace", "_asdict", "_fields"}
    return [{name for name in names if re.match("_[a-z]", name)} - named_tuple for names in (defined, taken, used)]


@pytest.mark.parametrize("path", [path for path in SOURCES if path.suffix == ".py"], ids=SOURCES.get)
def test_nobody_reaches_into_another_module(path):
    defined, taken, used = private_names(path.read_text(encoding="utf-8"))
    assert not taken
    assert not used - defined


def test_reaching_into_another_module_would_be_seen():
    assert private_names("from evoke.esp import _check\nesp._state = 1\nesp._stream()")[1:] == [
        {"_check"}, {"_state", "_stream"},
    ]  # fmt: skip
    defined, _, used = private_names("class A:\n    def _a(self): self._b = other._b + other._a()")
    assert used <= defined
