"""The examples run, without a warning of ours, and learn what they are meant to show."""

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# What an example needs beyond evoke, and what it must print: a pattern of a number, and the range it must lie in
EXPECTED = {
    "anbncn": (None, r"up to n = (\d+) ", 300, 300),
    "sines": (None, r"squared error over 300 steps: (\S+)", 0.0, 1e-6),
    "own_sequences": (None, r"unseen: (\S+) of", 0.85, 1.0),
    "japanese_vowels": ("aeon", r"accuracy (\S+) with", 0.97, 1.0),
    "sunspots": ("statsmodels", r"1921 to 1955: (\S+),", 0.0, 0.2),
}

pytestmark = [
    pytest.mark.examples,
    *(
        pytest.mark.filterwarnings(f"ignore:::{module}")
        for module in ("aeon", "numba", "statsmodels", "pandas", "xarray")
    ),
]


def run(name, capsys, monkeypatch):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        pass
    else:
        plt.switch_backend("agg")
        monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


def example(name):
    return pytest.param(name, marks=[pytest.mark.realdata] * (EXPECTED[name][0] is not None))


@pytest.mark.parametrize("name", [example(name) for name in EXPECTED])
def test_example(name, capsys, monkeypatch):
    package, pattern, least, most = EXPECTED[name]
    if package is not None:
        pytest.importorskip(package)
    printed = run(name, capsys, monkeypatch)
    assert least <= float(re.search(pattern, printed)[1]) <= most


@pytest.mark.parametrize("name", [name for name, (package, *_) in EXPECTED.items() if package])
def test_an_example_says_which_package_is_missing(name, capsys, monkeypatch):
    package = EXPECTED[name][0]
    monkeypatch.setitem(sys.modules, f"{package}.datasets", None)  # the import fails
    with pytest.raises(SystemExit, match=f"pip install {package}"):
        run(name, capsys, monkeypatch)


@pytest.mark.parametrize("name", EXPECTED)
def test_example_has_a_title_for_the_gallery(name):
    title, underline = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").split("\n")[1:3]
    assert underline == "=" * len(title)
