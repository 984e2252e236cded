import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import matplotlib as mpl
import matplotlib.image

mpl.use("Agg")

import matplotlib.pyplot as plt

from evoke import EvokeForecaster, reproduce, tasks
from evoke.plot import FreeRunDisplay, check_picture, picture

Y = tasks.superimposed_sines(2, 60)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def result():
    return reproduce.sines(runs=1, n_generations=1, readout="pinv")


def test_series_output_and_error_are_drawn():
    generated = Y + 0.1 * np.arange(60)
    display = FreeRunDisplay.from_predictions(Y, generated, start=11)
    output, errors = display.axes_
    series, drawn = output.lines
    np.testing.assert_array_equal(series.get_xydata(), np.column_stack([np.arange(11, 71), Y]))
    np.testing.assert_array_equal(drawn.get_ydata(), generated)
    (line,) = errors.lines
    np.testing.assert_allclose(line.get_ydata(), 0.1 * np.arange(60), atol=1e-12)
    assert errors.get_yscale() == "log"
    assert display.lines_ == [drawn, line]
    low, high = output.get_ylim()
    assert low < Y.min()
    assert Y.max() < high < generated.max()
    display.figure_.canvas.draw()


def test_several_runs_have_an_axis_each():
    display = FreeRunDisplay.from_predictions(Y, {"a": Y, "b": 2 * Y})
    assert [ax.get_title() for ax in display.axes_] == ["a", "b", ""]
    assert [text.get_text() for text in display.axes_[-1].get_legend().get_texts()] == ["a", "b"]
    display.figure_.canvas.draw()  # also with errors of zero on a logarithmic axis


def test_given_axes_are_used():
    figure, axes = plt.subplots(2)
    display = FreeRunDisplay.from_predictions(Y, Y + 1, axes=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes)
    with pytest.raises(ValueError, match=r"^axes must be 2"):
        FreeRunDisplay.from_predictions(Y, Y, axes=axes[:1])


def test_from_estimator():
    model = EvokeForecaster(washout=5, n_generations=1, readout="pinv", random_state=0).fit(Y[:40])
    display = FreeRunDisplay.from_estimator(model, Y[40:], start=41)
    np.testing.assert_array_equal(display.generated["EvokeForecaster"], model.generate(20))
    display = FreeRunDisplay.from_estimator(model, Y[30:], context=Y[:30], name="later")
    np.testing.assert_array_equal(display.generated["later"], model.generate(30, context=Y[:30]))


def test_from_results(result):
    display = FreeRunDisplay.from_results([result])
    (name,) = display.generated
    assert name.startswith("readout pinv, preset tuned: seed 0, SSE ")
    np.testing.assert_array_equal(display.true, tasks.superimposed_sines(2, 300, start=701))
    np.testing.assert_array_equal(display.generated[name], result["free_run"]["generated"])
    assert display.start == 701


@pytest.mark.parametrize(
    "true, generated, message",
    [
        (Y, Y[1:], "y_generated must have the 60 steps"),
        (Y[:, None], Y, "y_true must be 1-D"),
        (Y, Y[:, None], "y_generated must be 1-D"),
        ([], [], "y_true must be 1-D and not empty"),
        (Y, {}, "y_generated must hold at least one"),
    ],
)
def test_bad_series_are_named(true, generated, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        FreeRunDisplay.from_predictions(true, generated)


def test_results_without_a_run_to_draw(result):
    with pytest.raises(ValueError, match=r"^results must have a run"):
        FreeRunDisplay.from_results([result | {"free_run": None}])
    with pytest.raises(ValueError, match=r"^results must have .* same waves"):
        FreeRunDisplay.from_results([result, result | {"waves": 3}])


def test_picture_is_a_png_with_something_in_it(result):
    before = plt.get_fignums()
    file = BytesIO(picture([result, result | {"free_run": None}, result | {"preset": "paper"}]))
    image = mpl.image.imread(file, format="png")
    assert image.shape == (150 * 6.6, 150 * 9, 4)
    for colour in ("white", "C0", "C1"):  # paper, and the lines of both runs
        assert np.isclose(image, mpl.colors.to_rgba(colour), atol=1 / 255).all(axis=2).sum() > 500
    assert plt.get_fignums() == before


def test_other_kinds(result):
    check_picture("svg")
    assert b"</svg>" in picture([result], "svg")
    with pytest.raises(ValueError, match=r"png.*, not 'xyz'"):
        check_picture("xyz")


def test_matplotlib_is_imported_when_something_is_drawn():
    code = "import sys, evoke.plot; assert 'matplotlib' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_hint_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with pytest.raises(ImportError, match=r'pip install "matplotlib>=3\.8"'):
        check_picture("png")
