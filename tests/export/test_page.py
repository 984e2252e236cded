"""The web page of a model: it computes what the model does, and takes what a person types or draws."""

import html
import json
import os
import re
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, tasks
from evoke.exceptions import ParameterError
from evoke.export import html_page, to_html
from evoke.reproduce import PRESETS
from harness.exports import KINDS, coefficients, said

SMALL = {"n_generations": 1, "n_cells": 2, "subpopulation_size": 4, "random_state": 0}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")


def page_of(text):
    return json.loads(re.search(r'id="page">(.*?)</script>', text, re.DOTALL)[1])


def read(text, Z, label=False):
    """What the script of a page says of sequences."""
    V8 = pytest.importorskip("py_mini_racer").MiniRacer
    page = page_of(text)
    name = "page_rolling.js" if "members" in page["plan"] else "page_model.js"
    script = files("evoke.export").joinpath(name).read_text(encoding="utf-8")
    assert script in text
    context = V8()
    context.eval(script)
    context.eval(f"const model = evokeModel({json.dumps(page['plan'])});")
    say = "model.label(model.step(x))" if label else "model.step(x)"
    one = "(rows) => { model.reset(); return rows.map((x) => " + say + "); }"
    return json.loads(context.eval(f"JSON.stringify({json.dumps([z.tolist() for z in Z])}.map({one}))"))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_a_stream(kind, seed):
    model, Z = KINDS[kind](np.random.default_rng(seed))
    scale = 1.0 + coefficients(model)
    for found, wanted in zip(read(html_page(model), Z), said(model, Z), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("kind", ["classes of steps", "whole sequences", "last step"])
def test_labels(kind):
    for seed in (2, 3):
        model, Z = KINDS[kind](np.random.default_rng(seed))
        found = [labels[-1] for labels in read(html_page(model), Z, label=True)]
        last = [y if np.ndim(y) == 0 else y[-1] for y in model.predict(Z)]
        assert found == [(y > 0).tolist() if np.ndim(y) else str(y) for y in last]


def test_no_text_of_a_model_ends_the_script():
    pd = pytest.importorskip("pandas")
    bad = "</script><script>alert(1)</script><!--"
    X = [pd.DataFrame({bad: [0.0, 1.0, -1.0]}), pd.DataFrame({bad: [1.0, 1.0, 2.0]})] * 3
    model = EvokeClassifier(**SMALL).fit(X, [bad, "&amp;"] * 3)
    text = html_page(model, title=bad)
    assert text.count("<script") == 2
    assert html.escape(bad) in text
    assert page_of(text)["names"] == [bad]
    assert bad in page_of(text)["plan"]["labels"]


@pytest.fixture(scope="module")
def strings():
    X, y = tasks.anbncn(5)
    return EvokeClassifier(**PRESETS["tuned"] | {"n_generations": 20}, random_state=0).fit(X, y), X


@pytest.mark.parametrize(("arguments", "name"), [
    ({"symbols": "Sab"}, "symbols"), ({"symbols": "Saab"}, "symbols"), ({"symbols": "S bc"}, "symbols"),
    ({"symbols": 4}, "symbols"), ({"X": np.zeros((2, 3))}, "X"), ({"X": np.full((2, 4), np.nan)}, "X"),
    ({"X": np.zeros((0, 4))}, "X"), ({"X": np.zeros((5001, 4))}, "X"), ({"X": [["a"] * 4]}, "X"),
    ({"X": np.zeros((2, 4)), "symbols": "Sabc"}, "X"), ({"title": " "}, "title"), ({"title": 3}, "title"),
    ({"title": "half \ud800"}, "title"), ({"symbols": ""}, "symbols"),
])  # fmt: skip
def test_what_does_not_fit_is_named(strings, arguments, name, tmp_path):
    with pytest.raises(ParameterError, match=f"^{name} must"):
        to_html(strings[0], tmp_path / "page.html", **arguments)
    assert os.listdir(tmp_path) == []


def shown(path, script, size="1280,900"):
    """What a page shows after a script, in a browser: its elements by their names."""
    text = path.read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>")
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={size}", f"--user-data-dir={path}.d",
         "--virtual-time-budget=5000", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    return done.stdout


def element(dom, name):
    return html.unescape(re.search(rf'id="{name}"[^>]*>(.*?)</', dom, re.DOTALL)[1])


@needs_chromium
def test_a_string_that_is_typed(strings, tmp_path):
    model, X = strings
    path = tmp_path / "page.html"
    to_html(model, path, X=X[1], symbols="Sabc")
    dom = shown(path, """
const box = document.querySelector("#edit input");
box.value = "Saaabb";
box.dispatchEvent(new Event("input"));
document.body.dataset.wide = document.documentElement.scrollWidth > innerWidth;
""", "390,800")
    assert "computes what Python does" in element(dom, "check")
    X, _ = tasks.language("anbncn").encode(["aaabbbccc"])
    outputs = page_of(path.read_text())["outputs"]
    legal = [name for name, value in zip(outputs, model.decision_function(X[0])[5], strict=True) if value > 0]
    assert element(dom, "say") == f"After the last step: {' '.join(legal)}"
    assert 'data-wide="false"' in dom  # on a phone
    dom = shown(path, 'box.value = "Sax"; box.dispatchEvent(new Event("input"));')
    assert element(dom, "wrong") == '"x" is none of S a b c'


@needs_chromium
def test_a_series_that_is_drawn(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = [rng.normal(size=(30, 1)) + (2.0 if label else -2.0) for label in y]
    model = EvokeClassifier(**SMALL).fit(X, np.array(["low", "high"])[y])
    assert [*model.predict([X[0], X[1]])] == ["low", "high"]
    path = tmp_path / "page.html"
    to_html(model, path, X=np.r_[X[0][:29], [[4.0]]])
    dom = shown(path, """
const point = (type, t, y) => {
  const svg = document.querySelector("#draw svg"), box = svg.getBoundingClientRect();
  const given = { bubbles: true, buttons: 1, clientX: box.left + 56 + (box.width - 64) * t / 29,
                  clientY: box.top + box.height * y / 170 };
  svg.dispatchEvent(new PointerEvent(type, given));
};
document.body.dataset.before = document.getElementById("say").textContent;
point("pointerdown", 0, 20);
for (let t = 1; t < 30; t++) point("pointermove", t, 20);
""")
    assert 'data-before="The sequence: low"' in dom
    assert element(dom, "say") == "The sequence: high"


@needs_chromium
def test_numbers_that_are_too_large_have_no_answer(strings, tmp_path):
    path = tmp_path / "page.html"
    to_html(strings[0], path, X=np.full((2, 4), 1e308))
    dom = shown(path, "")
    assert element(dom, "wrong") == "step 1: the numbers are too large for this page"
    assert element(dom, "say") == ""


def test_a_page_in_the_home_folder(strings, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    to_html(strings[0], "~/page.html")
    assert (tmp_path / "page.html").is_file()


@needs_chromium
def test_a_series_that_goes_on(tmp_path):
    y = np.sin(0.3 * np.arange(150))
    model = EvokeForecaster(**SMALL | {"n_cells": 4, "n_generations": 5}, validation="half", washout=20).fit(y)
    path = tmp_path / "page.html"
    to_html(model, path)
    dom = shown(path, """
const n = document.querySelector("#edit input");
n.value = 7;
n.dispatchEvent(new Event("input"));
""")
    said = float(element(dom, "say").removeprefix("After the last step: "))
    assert said == pytest.approx(model.generate(7)[-1].item(), rel=1e-5)


@needs_chromium
def test_a_series_of_many_runs_that_goes_on(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 1))
    y = np.sin(0.3 * np.arange(90)) + X[:, 0]
    model = EvokeForecaster(n_networks=4, n_cells=3, random_state=0).fit(y, X=X)
    path = tmp_path / "page.html"
    to_html(model, path, X=np.array([[1.0], [0.5], [0.25]]))
    dom = shown(path, """
const box = document.querySelector("#edit textarea");
box.value = "1\\n-1";
box.dispatchEvent(new Event("input"));
""")
    assert "computes what Python does" in element(dom, "check")
    said = float(element(dom, "say").removeprefix("After the last step: "))
    assert said == pytest.approx(model.generate(2, X=np.array([[1.0], [-1.0]]))[-1], rel=1e-5)
    assert 'id="history" hidden' in dom
