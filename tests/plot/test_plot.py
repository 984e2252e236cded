"""The displays of any evolution and any series, and what all displays share."""

import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from evoke import EvokeClassifier, EvokeForecaster, reproduce, tasks
from evoke.plot import (
    ContinuationDisplay,
    FreeRunDisplay,
    GeneralisationDisplay,
    HistoryDisplay,
    PredictionDisplay,
    check_picture,
    picture,
)
from helpers.figures import legend

mpl = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")

FIELDS = ("best_fitness", "generation_best", "generation_median", "train_error", "validation_error")
Y = tasks.superimposed_sines(2, 60)


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
    assert [ax.get_title("left") for ax in display.axes_] == ["a", "b", ""]
    assert legend(display.axes_[-1]) == ["a", "b"]
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
        ([np.nan], [np.nan], "y_true must be finite"),
        ([0.0], {"run": [np.nan]}, "y_generated has no finite value in 'run'"),
    ],
)
def test_bad_series_are_named(true, generated, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        FreeRunDisplay.from_predictions(true, generated)


def test_results_without_a_run_to_draw(result):
    with pytest.raises(ValueError, match=r"^results must have a free run"):
        FreeRunDisplay.from_results([result | {"free_run": None}])
    with pytest.raises(ValueError, match=r"^results must have .* same number of waves"):
        FreeRunDisplay.from_results([result, result | {"waves": 3}])
    with pytest.raises(ValueError, match=r"^results must be of the task sines, got \['anbncn'\]"):
        FreeRunDisplay.from_results([{"task": "anbncn"}])


def test_arguments_of_other_types_are_named():
    for display in (FreeRunDisplay, GeneralisationDisplay):
        with pytest.raises(TypeError, match=r"^results must be dicts .* got 1$"):
            display.from_results([1])
    for accepted in ([1], {10: [1]}):
        with pytest.raises(TypeError, match=r"^accepted must map training lengths"):
            GeneralisationDisplay.from_accepted(accepted)
    with pytest.raises(TypeError, match=r"^ax must be Matplotlib's Axes or a figure, got 5$"):
        HistoryDisplay.from_history(history(1.0), ax=5)
    with pytest.raises(TypeError, match=r"^axes must be Matplotlib's Axes or a figure, got 'x'$"):
        FreeRunDisplay.from_predictions(Y, Y, axes="x")
    classifier = EvokeClassifier(n_generations=1, subpopulation_size=4, random_state=0).fit(*tasks.anbncn(3))
    for draw in (lambda: ContinuationDisplay.from_estimator(classifier, 3),
                 lambda: FreeRunDisplay.from_estimator(classifier, Y)):  # fmt: skip
        with pytest.raises(TypeError, match=r"^estimator must be an EvokeForecaster, got EvokeClassifier$"):
            draw()


# ---- history


def history(*fitness, bursts=()):
    return [
        {"generation": k, "burst": k in bursts, **dict.fromkeys(FIELDS, value)} for k, value in enumerate(fitness, 1)
    ]


def test_fitness_and_bursts_are_drawn():
    records = history(9.0, 4.0, 4.0, bursts=[2])
    records[1] |= {"generation_best": 5.0, "generation_median": 7.0}
    display = HistoryDisplay.from_history(records)
    drawn = {field: line.get_xydata().tolist() for field, line in display.lines_.items()}
    assert drawn == {
        "generation_median": [[1, 9], [2, 7], [3, 4]],
        "generation_best": [[1, 9], [2, 5], [3, 4]],
        "best_fitness": [[1, 9], [2, 4], [3, 4]],
    }
    assert [segment[:, 0].tolist() for segment in display.bursts_.get_segments()] == [[2, 2]]
    assert legend(display.ax_) == ["burst", "median of the generation", "best of the generation", "best so far"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("generation", "fitness")
    display.figure_.canvas.draw()


def test_many_bursts_are_marked_at_the_edge():
    for n, foot in ((50, 0.0), (51, 0.95)):
        display = HistoryDisplay.from_history(history(*[1.0] * n, bursts=range(n + 1)))
        segments = display.bursts_.get_segments()
        assert len(segments) == n
        assert segments[0][:, 1].tolist() == [foot, 1.0]


def test_errors_in_the_place_of_fitness():
    records = [record | {"train_error": 1.0, "validation_error": 3.0} for record in history(4.0, 4.0)]
    display = HistoryDisplay.from_history(records, errors=True)
    assert {field: line.get_ydata().tolist() for field, line in display.lines_.items()} == {
        "train_error": [1, 1], "validation_error": [3, 3], "best_fitness": [4, 4],
    }  # fmt: skip
    assert display.bursts_ is None
    assert display.ax_.get_ylabel() == "error"


@pytest.mark.parametrize(
    "fitness, scale",
    [
        ([9, 4], "linear"),
        ([300, 0.1], "log"),
        ([300, 2, 0], "symlog"),
        ([20, 0], "linear"),
        ([0, 0], "linear"),
        ([np.inf, 300, 0.1], "log"),
        ([np.inf], "linear"),
    ],
)
def test_axis_of_the_fitness(fitness, scale):
    display = HistoryDisplay.from_history(history(*fitness))
    assert display.ax_.get_yscale() == scale
    display.figure_.canvas.draw()


def test_history_of_an_estimator():
    model = EvokeClassifier(n_generations=2, subpopulation_size=8, random_state=0)
    with pytest.raises(NotFittedError):
        HistoryDisplay.from_estimator(model)
    model.fit(*tasks.anbncn(4))
    figure, axes = plt.subplots(1, 2)
    display = HistoryDisplay.from_estimator(model, ax=axes[1])
    assert (display.figure_, display.ax_) == (figure, axes[1])
    best = [record["best_fitness"] for record in model.history_]
    np.testing.assert_array_equal(display.lines_["best_fitness"].get_ydata(), best)
    assert not axes[0].lines


def test_histories_that_lack_something_are_named():
    with pytest.raises(ValueError, match=r"^history must have at least one record"):
        HistoryDisplay.from_history([])
    records = history(2.0, 1.0)
    del records[1]["burst"], records[1]["best_fitness"]
    with pytest.raises(ValueError, match=r"^history\[1\] must have the fields best_fitness, burst$"):
        HistoryDisplay.from_history(records)


# ---- files, and what all displays share


def test_picture_is_a_png_with_something_in_it(result):
    before = plt.get_fignums()
    results = [result, result | {"free_run": None}, result | {"preset": "paper"}]
    file = BytesIO(picture(lambda figure: FreeRunDisplay.from_results(results, axes=figure)))
    image = mpl.image.imread(file, format="png")
    assert image.shape == (150 * 6.6, 150 * 9, 4)
    for colour in ("white", "#0072B2", "#D55E00"):  # paper, and the lines of both runs
        assert np.isclose(image, mpl.colors.to_rgba(colour), atol=1 / 255).all(axis=2).sum() > 500
    assert plt.get_fignums() == before


def test_other_kinds():
    check_picture("svg")

    def draw(figure):
        return HistoryDisplay.from_history(history(2.0, 1.0), ax=figure)

    assert b"</svg>" in picture(draw, "svg")
    for check in (check_picture, lambda kind: picture(draw, kind)):
        with pytest.raises(ValueError, match=r"png.*, not 'xyz'"):
            check("xyz")


def test_a_part_of_a_figure_is_divided():
    figure = plt.figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    display = FreeRunDisplay.from_predictions(Y, Y + 1, axes=left)
    HistoryDisplay.from_history(history(2.0, 1.0), ax=right)
    assert list(left.axes) == list(display.axes_)
    assert len(figure.axes) == 3
    with pytest.raises(ValueError, match=r"^axes must be 1"):
        HistoryDisplay.from_history(history(2.0, 1.0), ax=display.axes_)


def test_matplotlib_is_imported_when_something_is_drawn():
    code = "import sys, evoke.plot; assert 'matplotlib' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_hint_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for draw in (lambda: check_picture("png"), lambda: HistoryDisplay.from_history(history(2.0, 1.0))):
        with pytest.raises(ImportError, match=r'pip install "matplotlib>=3\.9"'):
            draw()


def test_display_of_a_continuation():
    context, generated = np.arange(200.0).reshape(100, 2), np.ones((10, 2))
    display = ContinuationDisplay.from_series(generated, context=context, names=["a", "b"])
    assert [ax.get_ylabel() for ax in display.axes_] == ["a", "b"]
    assert legend(display.axes_[0]) == ["series", "generated"]
    told, drawn = display.axes_[1].lines
    np.testing.assert_array_equal(told.get_xydata(), np.column_stack([np.arange(-49, 1), context[50:, 1]]))
    np.testing.assert_array_equal(drawn.get_xydata(), np.column_stack([np.arange(11), [199.0, *generated[:, 1]]]))
    assert display.lines_[1] is drawn
    alone = ContinuationDisplay.from_series([3.0])
    np.testing.assert_array_equal(alone.lines_[0].get_xydata(), [[1.0, 3.0]])
    with pytest.raises(ValueError, match=r"^context must have the 2 column"):
        ContinuationDisplay.from_series(generated, context=[1.0])
    with pytest.raises(ValueError, match=r"^names must be 2"):
        ContinuationDisplay.from_series(generated, names=["a"])
    model = EvokeForecaster(n_generations=2, random_state=0).fit(tasks.superimposed_sines(1, 40))
    display = ContinuationDisplay.from_estimator(model, 7)
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), model.generate(7))


def test_display_of_values():
    predicted, true = np.ones((10, 2)), np.arange(20.0).reshape(10, 2)
    display = PredictionDisplay.from_predictions(predicted, true, names=["a", "$^$"])
    assert [ax.get_ylabel() for ax in display.axes_] == ["a", "$^$"]
    assert legend(display.axes_[0]) == ["target", "predicted"]
    target, drawn = display.axes_[1].lines
    np.testing.assert_array_equal(target.get_xydata(), np.column_stack([np.arange(10), true[:, 1]]))
    np.testing.assert_array_equal(drawn.get_ydata(), predicted[:, 1])
    assert (display.lines_[1], drawn.get_drawstyle()) == (drawn, "default")
    display.figure_.canvas.draw()
    assert PredictionDisplay.from_predictions([0, 1, 1]).lines_[0].get_drawstyle() == "steps-mid"


def test_display_of_labels():
    display = PredictionDisplay.from_predictions(["up", "down", "up"], ["up", "up", "sideways"], classes=["up", "down"])
    (ax,) = display.axes_
    assert [label.get_text() for label in ax.get_yticklabels()] == ["up", "down", "sideways"]
    target, drawn = ax.lines
    assert target.get_ydata().tolist() == [0.0, 0.0, 2.0]
    assert drawn.get_ydata().tolist() == [0.0, 1.0, 0.0]
    assert drawn.get_drawstyle() == "steps-mid"
    assert PredictionDisplay.from_predictions(["b", "a"]).classes.tolist() == ["a", "b"]


def test_display_of_what_an_estimator_says():
    X, y = tasks.anbncn(4)
    model = EvokeClassifier(n_cells=2, n_generations=1, subpopulation_size=4, random_state=0).fit(X, y)
    display = PredictionDisplay.from_estimator(model, X[3], y[3], names="abcT")
    np.testing.assert_array_equal(display.predicted, model.predict(X)[3])
    np.testing.assert_array_equal(display.true, y[3])
    labels = [np.where(part[:, 0] > 0, "yes", "no") for part in y]
    display = PredictionDisplay.from_estimator(model.fit(X, labels), X[3])
    assert display.classes.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match=r"^y is needed for an estimator fitted with a target per sequence"):
        PredictionDisplay.from_estimator(model.fit(X, ["a", "b", "a", "b"]), X[3])
    with pytest.raises(NotFittedError):
        PredictionDisplay.from_estimator(EvokeClassifier(), X[3])


def test_display_of_sequences_with_one_label_each():
    said, true = ["a", "b", "b", "a", "b"], ["a", "b", "a", "c", "b"]
    display = PredictionDisplay.from_sequences(said, true, classes=["b", "a"], names=["end"])
    assert display.matrices_[0].tolist() == [[2, 0, 0], [1, 1, 0], [0, 1, 0]]  # rows are the true ones
    (ax,) = display.axes_
    assert [label.get_text() for label in ax.get_xticklabels()] == ["b", "a", "c"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("end, predicted", "end, true")
    assert [text.get_text() for text in ax.texts] == list("200110010")
    display.figure_.canvas.draw()
    several = PredictionDisplay.from_sequences(np.array([[0, 1], [1, 1]]), np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert [matrix.tolist() for matrix in several.matrices_] == [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]
    with pytest.raises(ValueError, match=r"^y_true is needed"):
        PredictionDisplay.from_sequences(said, None)


def test_display_of_sequences_with_one_value_each():
    display = PredictionDisplay.from_sequences([1.0, 3.0], [2.0, 5.0])
    (ax,) = display.axes_
    line, points = ax.lines
    assert line.get_xydata().tolist() == [[1.0, 1.0], [5.0, 5.0]]
    assert points.get_xydata().tolist() == [[2.0, 1.0], [5.0, 3.0]]
    assert display.matrices_ == []


def test_display_of_what_an_estimator_says_of_sequences():
    X, labels = np.random.default_rng(0).normal(size=(8, 5, 1)), list("aabbabab")
    model = EvokeClassifier(n_generations=1, n_cells=2, subpopulation_size=8, random_state=0).fit(X, labels)
    display = PredictionDisplay.from_estimator(model, X, labels)
    said = model.predict(X)
    expected = [[sum((np.array(labels) == true) & (said == one)) for one in "ab"] for true in "ab"]
    assert display.matrices_[0].tolist() == expected


def test_one_generation_is_drawn_as_points():
    display = HistoryDisplay.from_history(history(2.0))
    ax = display.ax_
    assert ax.get_xlim() == (0.0, 2.0) and ax.get_xticks().tolist() == [1.0]
    sizes = {field: (line.get_marker(), line.get_markersize()) for field, line in display.lines_.items()}
    assert sizes["generation_best"] == ("o", 10.0) and sizes["best_fitness"] == ("o", 5.0)  # both can be seen
    display.figure_.canvas.draw()


@pytest.mark.parametrize("predicted, more, message", [
    ([], {}, "y_predicted must be (n_steps,)"), (np.zeros((2, 2, 2)), {}, "y_predicted must be (n_steps,)"),
    (Y, {"y_true": Y[1:]}, "y_true must have the shape of y_predicted, (60, 1), got (59, 1)"),
    (Y, {"names": ["a", "b"]}, "names must be 1"),
])  # fmt: skip
def test_bad_predictions_are_named(predicted, more, message):
    with pytest.raises(ValueError) as refused:
        PredictionDisplay.from_predictions(predicted, **more)
    assert str(refused.value).startswith(message)


def test_several_displays_in_one_picture():
    drawn = []

    def draw(figure):
        drawn.append(ContinuationDisplay.from_series(Y, axes=figure))
        return drawn[-1]

    assert picture({"a": draw, "$^$": draw}).startswith(b"\x89PNG")
    figure = drawn[0].figure_.figure
    assert [part.get_suptitle() for part in figure.subfigs] == ["a", "$^$"]
    assert figure.get_size_inches().tolist() == [9.0, 2 * (0.8 + 1.8)]
