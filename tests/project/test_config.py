import os

import pytest

import evoke
from evoke import show_config
from evoke._core import dispatch


def test_as_a_dictionary():
    config = show_config("dict")
    assert config["evoke"] == evoke.__version__
    assert config["cpus"] == os.cpu_count()
    assert config["simd"]["used"] == dispatch.simd()
    assert config["simd"]["used"] in config["simd"]["supported"]
    assert set(config["simd"]["supported"]) <= set(config["simd"]["compiled"])
    assert config["packages"]["numpy"].count(".") >= 1
    assert isinstance(config["thundersvm"], dict)


def test_a_package_that_is_not_installed_has_no_version(monkeypatch):
    monkeypatch.setattr("evoke.config.PACKAGES", ("numpy", "no-such-package-anywhere"))
    assert show_config("dict")["packages"]["no-such-package-anywhere"] is None


def test_printed(capsys):
    assert show_config() is None
    captured = capsys.readouterr()
    assert captured.err == ""
    lines = captured.out.splitlines()
    config = show_config("dict")
    assert f"evoke: {evoke.__version__}" in lines
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == list(config)
    assert f"  used: {config['simd']['used']}" in lines
    for name, version in config["packages"].items():
        assert f"  {name}: {version}" in lines


def test_dict_prints_nothing(capsys):
    show_config("dict")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("mode", ["dicts", "", None, 1, ["dict"]])
def test_another_mode(mode):
    with pytest.raises(ValueError, match=r"mode must be one of \('stdout', 'dict'\), got"):
        show_config(mode)
