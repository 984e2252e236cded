"""What `tools/pages.py` sees in documents: dead links, missing pictures, and what does not fit."""

import importlib.util
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("pages", Path(__file__).parents[2] / "tools" / "pages.py")
pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pages)

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
TEXT = "<!doctype html><html style='overflow-x: hidden'><body style='margin: 0'><article>{}</article>"


@pytest.fixture
def site(tmp_path):
    def make(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.html").write_text(TEXT.format(text))
        return tmp_path, sorted(path.name for path in tmp_path.glob("*.html"))

    return make


def test_links_that_lead_nowhere(site):
    root, paths = site(
        a="<h1 id='top'>A</h1> <a href='b.html#deep%20place'>b</a> <a href='#top'>a</a> <a href='https://c.invalid/x'>c</a>"
        "<a href='gone.html'>d</a> <a href='b.html#nowhere'>e</a> <a href='#nor-here'>f</a> <img src='gone.png'>",
        b="<p id='deep place'>B</p> <a href='./a.html'>a</a>",
    )
    assert pages.broken(root, paths) == [
        ("a.html", "no page gone.html"), ("a.html", "no such place: b.html#nowhere"),
        ("a.html", "no such place: #nor-here"), ("a.html", "no page gone.png"),
    ]  # fmt: skip


@pytest.mark.skipif(pages.browser() is None, reason="needs chromium")
def test_what_a_browser_sees(site):
    wide = "<div style='width: {}px'>wide</div>"
    root, paths = site(
        fits=f"<img src='{PIXEL}'> <p>Text that fits every window, as it is broken into lines.</p>{wide.format(380)}",
        picture="<img src='gone.png'>",
        phone=wide.format(500),
        scrolled=f"<div class='table-wrapper' style='overflow-x: auto'>{wide.format(1500)}</div>",
        cut=f"<div class='table-wrapper' style='overflow-x: hidden'>{wide.format(1000)}</div>",
        table=f"<table><td>{wide.format(600)}</table>",
    )
    found = {}
    for page, what in pages.seen(root, paths, pages.browser(), None):
        found.setdefault(page.removesuffix(" px"), []).append(what.split(":")[0].split(" at ")[0])
    assert found == {
        "picture.html at 1280": ["no picture"], "picture.html at 390": ["no picture"],
        "phone.html at 390": ["wider than the window"], "scrolled.html at 1280": ["to be scrolled"],
        "cut.html at 390": ["cut off"], "table.html at 390": ["wider than the window", "cut off"],
    }  # fmt: skip
