"""The package as it is installed: its version, its files, and what importing it does to the process."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evoke

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = Path(evoke.__file__).parent
SOURCES = sorted((ROOT / "src" / "evoke").rglob("*.py*"))


def test_one_version():
    declared = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text()).group(1)
    assert evoke.__version__ == declared == importlib.metadata.version("evoke")


@pytest.mark.parametrize("source", [s for s in SOURCES if s.suffix == ".py"], ids=lambda s: s.name)
def test_every_module_is_listed_in_meson_build(source):
    relative = source.relative_to(ROOT / "src" / "evoke")
    listing = (ROOT / "src" / "evoke" / "meson.build").read_text()
    assert f"'{relative.as_posix()}'" in listing


@pytest.mark.parametrize("source", [s for s in SOURCES if s.suffix == ".pyx"], ids=lambda s: s.name)
def test_every_extension_is_built(source):
    __import__(f"evoke.{source.stem}")


def test_import_leaves_subnormal_numbers_alone():
    # a shared object linked with -ffast-math would set the flush-to-zero mode of the whole process
    code = "import evoke._kernels, sys; tiny = float(sys.argv[1]); print(tiny / 2)"
    result = subprocess.run([sys.executable, "-c", code, "1e-310"], capture_output=True, text=True, check=True)
    assert float(result.stdout) == 1e-310 / 2 > 0


def test_import_is_silent_and_starts_no_threads():
    code = "import threading, evoke; print(threading.active_count())"
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert (result.stdout.strip(), result.stderr) == ("1", "")
