"""Files hold any characters; none that a terminal obeys reaches one."""

import os
import pty
import subprocess
import sys
import zipfile

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from evoke import ModelFileError, load
from helpers.commands import QUICK, csv

RED = "\x1b[31m"
ODD = ["\x1b", "\x07", "\x9b", "\x7f", "\u202e", "\u2028", "\r"]


def is_plain(text):
    return not any(odd in text for odd in ODD)


@pytest.fixture
def odd_table(tmp_path):
    text = f"walk,{RED}x,side\u202e\n" + "".join(f"{k // 3},{k},{'left' if k % 2 else RED}\n" for k in range(12))
    return csv(tmp_path, text)


@pytest.fixture
def odd_model(here, odd_table, tmp_path):
    fit = ["--target", "side\u202e", "--sequence", "walk", *QUICK, "-o", tmp_path / "model.evk"]
    done = here("fit", odd_table, *fit)
    assert done.returncode == 0
    assert is_plain(done.stdout + done.stderr)
    return tmp_path / "model.evk"


def test_info_shows_them_as_escapes(here, odd_model):
    done = here("info", odd_model)
    assert is_plain(done.stdout)
    assert "features: \\x1b[31mx" in done.stdout and "classes: \\x1b[31m, left" in done.stdout


def on_terminal(*arguments):
    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "evoke", *map(str, arguments)], stdout=slave, stderr=slave,
                               stdin=subprocess.DEVNULL, env=os.environ | {"TERM": "dumb"})  # fmt: skip
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:  # what Linux says when the other end is closed
        pass
    os.close(master)
    assert process.wait() == 0
    return text.decode().replace("\r\n", "\n")


def test_tables_on_a_terminal_have_escapes_and_others_what_is_predicted(here, odd_model, odd_table, tmp_path):
    shown = on_terminal("predict", odd_model, odd_table)
    assert is_plain(shown) and shown.startswith("walk,side\\u202e\n")
    raw = here("predict", odd_model, odd_table).stdout
    assert raw.startswith("walk,side\u202e\n")
    here("predict", odd_model, odd_table, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == raw


@pytest.mark.parametrize("arguments", [
    ("fit", "TABLE", "--target", "none", "-o", "out.evk"), ("fit", "TABLE", "--target", f"{RED}x", "-o", "out.evk"),
    ("fit", "TABLE", "--target", "walk", "--task", "regress", "--features", "side\u202e", "-o", "out.evk"),
    ("predict", f"no{RED}file", "TABLE"), (f"{RED}",), ("info", f"--{RED}"),
])  # fmt: skip
def test_errors_have_escapes(here, odd_table, arguments):
    done = here(*[odd_table if word == "TABLE" else word for word in arguments])
    assert done.returncode != 0
    assert is_plain(done.stderr)


@pytest.mark.parametrize("name", [f"{RED}.npy", f"{RED}", "n" * 60000 + ".npy"])
def test_names_of_entries_have_escapes(here, model, name):
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr(name, b"")
    done = here("info", model)
    assert done.returncode == 1
    assert is_plain(done.stderr) and len(done.stderr) < 500
    with pytest.raises(ModelFileError) as error:
        load(model)
    assert is_plain(str(error.value)) and len(str(error.value)) < 500
