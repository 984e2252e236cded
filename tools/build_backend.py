"""meson-python as the build backend, and what it leaves to whoever builds.

The wheel for Python 3.11 and newer uses the limited API. Where there is none (3.10, free-threaded builds) it is turned
off, so that `pip install` of the sdist needs no options. And a machine without a C compiler gets one sentence.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

import mesonpy
from mesonpy import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

COMPILERS = ("cc", "gcc", "clang", "icx", "cl", "clang-cl", "nvc", "pgcc")  # where meson looks when CC is not set


def build_wheel(directory, config_settings=None, metadata_directory=None):
    demand_compiler()
    return mesonpy.build_wheel(directory, with_options(config_settings), metadata_directory)


def build_editable(directory, config_settings=None, metadata_directory=None):
    demand_compiler()
    return mesonpy.build_editable(directory, with_options(config_settings), metadata_directory)


def with_options(config_settings):
    """Without the limited API where this Python has none that will do; options of the caller come last and win."""
    settings = dict(config_settings or {})
    if sys.version_info < (3, 11) or sysconfig.get_config_var("Py_GIL_DISABLED"):
        settings["setup-args"] = ["-Dpython.allow_limited_api=false", *arguments(settings)]
    return settings


def arguments(settings):
    """What the caller gives to `meson setup`, as a list."""
    given = settings.get("setup-args", [])
    return [given] if isinstance(given, str) else list(given)


def demand_compiler():
    """End with one sentence where there is no C compiler."""
    named = os.environ.get("CC")
    if named or any(map(shutil.which, COMPILERS)):
        return  # meson says what is wrong with the one that is named
    where = f"{sysconfig.get_platform()}, Python {sys.version_info.major}.{sys.version_info.minor}"
    sys.exit(
        f"evoke has no wheel for {where}, and to build it from source needs a C compiler: install gcc or clang "
        "(Debian: apt install build-essential; macOS: xcode-select --install), or set CC."
    )
