"""What this installation runs on."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import Any

from evoke._core import dispatch
from evoke._validation.parameters import check_choice
from evoke._version import __version__

__all__ = ["show_config"]

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "thundersvm-cpu", "click", "rich")


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Print (or return) versions, the instruction set in use and the state of ThunderSVM.

    Parameters
    ----------
    mode : {"stdout", "dict"}
        ``"dict"`` returns the information instead of printing it.

    Returns
    -------
    dict or None
        The information, with ``mode="dict"``.

    Raises
    ------
    ParameterError
        Another mode.
    """
    check_choice("mode", mode, ("stdout", "dict"))
    from evoke.svm import _thundersvm

    config: dict[str, Any] = {
        "evoke": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "simd": {"used": dispatch.simd(), "supported": dispatch.supported(), "compiled": dispatch.compiled()},
        "packages": {package: _version_of(package) for package in PACKAGES},
        "thundersvm": _thundersvm.info(),
    }
    if mode == "dict":
        return config
    for key, value in config.items():
        if isinstance(value, dict):
            print(f"{key}:")
            for name, item in value.items():
                print(f"  {name}: {', '.join(item) if isinstance(item, list) else item}")
        else:
            print(f"{key}: {value}")
    return None
