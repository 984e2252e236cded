"""Docstrings: what the API reference lists is documented by the rules of numpydoc; all examples run."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import evoke
import evoke.svm

PAGES = sorted((Path(__file__).parents[2] / "docs" / "api").glob("*.rst"))
API = "\n".join(path.read_text() for path in PAGES if path.name != "index.rst")
# Whole names of what is listed there.
LISTED = [
    f"{module}.{name}"
    for module, names in re.findall(r"currentmodule:: (\S+)\n(.*?)(?=\n\.\. current|\Z)", API, re.DOTALL)
    for name in re.findall(r"^   (\w+)$", names, re.MULTILINE)
]
MODULES = [module.name for module in pkgutil.walk_packages(evoke.__path__, "evoke.") if "__main__" not in module.name]

# Rules of numpydoc that are not ours.
IGNORED = {
    "ES01": "an extended summary, where one line says it",
    "SA01": "See Also",
    "EX01": "examples of every method; classes must have one",
    "PR04": "the type of a parameter that is as in another function, which is named",
    "RT03": "a description of what is returned, where its type and shape say it",
    "SS05": "the verb of the summary in the infinitive, which takes every word that ends in s for a verb",
}


# Users do not make these: they have attributes, and no parameters.
MADE_BY_US = {"Certificate", "ClassifierStream", "FittedReadout", "Interrupted", "SeriesStream", "Simplified", "Size",
              "Solution", "Stream"}  # fmt: skip
COMPILED = {"Kernel"}  # classes without a signature that Python could read
TOOLS = {"SinesSplit", "check_picture", "file_stem", "picture"}  # for the command line
HOOKS = {"restore", "watch"}  # of callbacks, called by the loop: described once, at `evoke.evolution.Run`


def documented(name):
    """The thing of this name, and the public methods and properties of a class that are ours."""
    yield name
    module, short = name.rsplit(".", 1)
    thing = getattr(importlib.import_module(module), short)
    if inspect.isclass(thing):
        for attribute, value in inspect.getmembers(thing):
            value = value.fget if isinstance(value, property) else value
            ours = inspect.isroutine(value) and (getattr(value, "__module__", None) or "").startswith("evoke")
            if ours and not attribute.startswith("_") and attribute not in HOOKS:
                yield f"{name}.{attribute}"


@pytest.mark.parametrize("name", LISTED)
def test_docstrings_are_complete(name):
    validate = pytest.importorskip("numpydoc.validate").validate
    module, short = name.rsplit(".", 1)
    thing = getattr(importlib.import_module(module), short)
    if short in MADE_BY_US or (inspect.isclass(thing) and issubclass(thing, Exception)):
        ignored_of_the_thing = {*IGNORED, "PR01"}
    elif short in COMPILED:
        ignored_of_the_thing = {*IGNORED, "PR02"}
    else:
        ignored_of_the_thing = set(IGNORED) - ({"EX01"} if inspect.isclass(thing) else set())
    problems = [
        f"{which}: {code} {text}"
        for which in documented(name)
        for code, text in validate(which)["errors"]
        if code not in (ignored_of_the_thing if which == name else IGNORED)
    ]
    assert not problems, "\n".join(problems)


def test_everything_public_is_listed():
    listed = {name.rsplit(".", 1)[1] for name in LISTED}
    for module in ("", ".callbacks", ".exceptions", ".plot", ".reproduce", ".estimators.streams", ".svm", ".tasks"):
        home = importlib.import_module(f"evoke{module}")
        public = {name for name in home.__all__ if callable(getattr(home, name))} - TOOLS
        assert not public - listed


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    pytest.importorskip("click") if ".cli" in name else None
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


# ---------------------------------------------------------------- what several classes have in common

FAMILIES = {
    "estimators": (evoke.EvokeClassifier, evoke.EvokeRegressor, evoke.EvokeForecaster),
    "machines": (evoke.svm.SVC, evoke.svm.SVR, evoke.svm.LSSVC, evoke.svm.LSSVR),
}
# Entries that say different things in different classes.
OWN = {
    "estimators": {"C", "objective", "readout", "scale", "washout", "validation", "genome_", "n_features_in_",
                   "n_outputs_", "X", "y", "X_val", "y_val", "sample_weight", "refit", "max_seconds",
                   "n_networks", "n_landmarks"},
    "machines": {"C", "tol", "max_iter", "support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_",
                 "coef_", "n_iter_", "dual_gap_", "y"},
}  # fmt: skip


def entries(docstring):
    """The entries of a docstring by name: "type" and description, without the default and what "auto" stands for."""
    text = re.split(r"\n(?:See Also|References|Examples)\n", inspect.cleandoc(docstring))[0]
    found = re.findall(r"^([\w, ]+) : (.*)\n((?: {4}.*\n|\n(?= {4}))*)", text + "\n", re.MULTILINE)
    found = [(name, kind.replace(' or "auto"', ""), re.sub(r'\n *"auto"[:,].*', "", body, flags=re.DOTALL))
             for name, kind, body in found]  # fmt: skip
    return {name: (re.sub(r", default.*", "", kind), body.strip()) for name, kind, body in found}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("of", ["class", "fit"])
def test_what_classes_have_in_common_is_said_in_the_same_words(family, of):
    said = {}
    for cls in FAMILIES[family]:
        for name, entry in entries((cls if of == "class" else cls.fit).__doc__).items():
            if name not in OWN[family]:
                said.setdefault(name, {}).setdefault(entry, []).append(cls.__name__)
    assert len(said) > 1 and any(len(classes) > 1 for texts in said.values() for classes in texts.values())
    assert not {name: texts for name, texts in said.items() if len(texts) > 1}


@pytest.mark.parametrize("cls", [cls for family in FAMILIES.values() for cls in family])
def test_every_parameter_is_documented_with_its_default(cls):
    documented_entries = dict(re.findall(r"^    (\w+) : (.*)$", cls.__doc__, re.MULTILINE))
    for name, parameter in inspect.signature(cls).parameters.items():
        default = re.search(r"default=(.*)$", documented_entries[name])[1]
        assert ast.literal_eval(default) == parameter.default, (name, documented_entries[name])
