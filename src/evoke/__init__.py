"""evoke: evolved recurrent networks with support vector readouts for learning from sequences.

Schmidhuber, Gagliolo, Wierstra and Gomez, "Evolino for Recurrent Support Vector Machines" (2005).
"""

from __future__ import annotations

import importlib
import os
import warnings
from typing import TYPE_CHECKING, Any

from evoke._version import __version__

if TYPE_CHECKING:
    from evoke import (
        callbacks,
        certification,
        cmaes,
        esp,
        estimators,
        evolution,
        exceptions,
        export,
        inspection,
        lstm,
        plot,
        readouts,
        reproduce,
        sequences,
        svm,
        tasks,
    )
    from evoke.certification import certify, simplify
    from evoke.cmaes import CMAES
    from evoke.config import show_config
    from evoke.esp import ESP
    from evoke.estimators import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
    from evoke.exceptions import ModelFileError

# Loaded at first use: scikit-learn alone takes longer to import than all of evoke. A module has no home but itself.
_HOME = {
    "CMAES": "evoke.cmaes",
    "ESP": "evoke.esp",
    "EvokeClassifier": "evoke.estimators",
    "EvokeForecaster": "evoke.estimators",
    "EvokeRegressor": "evoke.estimators",
    "ModelFileError": "evoke.exceptions",
    "callbacks": None,
    "certification": None,
    "certify": "evoke.certification",
    "cmaes": None,
    "esp": None,
    "estimators": None,
    "evolution": None,
    "exceptions": None,
    "export": None,
    "inspection": None,
    "load": "evoke.estimators",
    "lstm": None,
    "metrics": None,
    "plot": None,
    "readouts": None,
    "reproduce": None,
    "sequences": None,
    "show_config": "evoke.config",
    "simplify": "evoke.certification",
    "svm": None,
    "tasks": None,
}

__all__ = [
    "CMAES",
    "ESP",
    "EvokeClassifier",
    "EvokeForecaster",
    "EvokeRegressor",
    "ModelFileError",
    "__version__",
    "callbacks",
    "certification",
    "certify",
    "cmaes",
    "esp",
    "estimators",
    "evolution",
    "exceptions",
    "export",
    "inspection",
    "load",
    "lstm",
    "metrics",
    "plot",
    "readouts",
    "reproduce",
    "sequences",
    "show_config",
    "simplify",
    "svm",
    "tasks",
]


def _warn_of_the_other_project(folder: str) -> None:
    """Warn where the distribution `evoke`, which is not ours, is installed in this folder too."""
    try:
        names = os.listdir(folder)
    except OSError:  # a zip file, say
        return
    if any(name.lower().startswith("evoke-") and name.endswith((".dist-info", ".egg-info")) for name in names):
        warnings.warn(
            f"two distributions in {folder} have a package called evoke: evoke-learn, this one, and evoke, another "
            "project. They overwrite each other's files. Keep one of them: pip uninstall evoke evoke-learn, then "
            "install it again.",
            stacklevel=3,
        )


_warn_of_the_other_project(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'evoke' has no attribute {name!r}")
    home = _HOME[name]
    value = importlib.import_module(f"evoke.{name}") if home is None else getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
