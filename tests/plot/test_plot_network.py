"""The displays of what a network does: activations and kernel matrix."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, tasks
from evoke.plot import ActivationDisplay, KernelMatrixDisplay
from helpers.figures import legend

pytest.importorskip("matplotlib")

Y = tasks.superimposed_sines(2, 60)


# ---- activations


def test_cells_are_drawn_one_below_the_other():
    phi = np.array([[1.0, 0.0], [-0.5, 0.25], [0.0, -1.0]])
    display = ActivationDisplay.from_activations(phi, start=7)
    (ax,) = display.axes_
    assert [line.get_xdata().tolist() for line in display.lines_] == [[7, 8, 9]] * 2
    np.testing.assert_allclose([line.get_ydata() for line in display.lines_], np.array([[0.0], [1.0]]) - 0.45 * phi.T)
    assert ax.yaxis_inverted()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["1", "2"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("t", "cell (bands: ±1)")
    display.figure_.canvas.draw()


@pytest.mark.parametrize("size, band", [(0.2, "0.2"), (0.6, "1"), (3.0, "3"), (0.0, "1")])
def test_bands_fit_the_activations(size, band):
    display = ActivationDisplay.from_activations(size * np.array([[1.0], [-1.0], [np.nan]]))
    assert display.axes_[0].get_ylabel() == f"cell (bands: ±{band})"
    reach = np.abs(display.lines_[0].get_ydata()[:2])
    np.testing.assert_allclose(reach, 0.45 * size / float(band))


def test_outputs_and_symbols_below_the_activations():
    phi, outputs = np.zeros((5, 3)), np.arange(10.0).reshape(5, 2)
    display = ActivationDisplay.from_activations(phi, outputs=outputs, symbols="Saabb", output_names="xy")
    _, below, strip = display.axes_
    np.testing.assert_array_equal([line.get_ydata() for line in display.output_lines_], outputs.T)
    assert legend(below) == ["x", "y"]
    assert display.blocks_ == [("S", 0, 1), ("a", 1, 3), ("b", 3, 5)]
    assert [(text.get_text(), text.get_position()[0]) for text in strip.texts] == [("S", 0), ("a", 1.5), ("b", 3.5)]
    borders = [line.get_xdata()[0] for line in below.lines if line.get_linestyle() == ":"]
    assert borders == [0.5, 2.5]


def test_many_symbols_are_not_written_over_each_other():
    display = ActivationDisplay.from_activations(np.zeros((300, 1)), symbols="ab" * 100 + "c" * 100)
    assert [text.get_text() for text in display.axes_[-1].texts] == ["c"]
    assert len(display.blocks_) == 201
    assert not [line for line in display.axes_[0].lines if line.get_linestyle() == ":"]


def test_inputs_where_there_are_no_symbols():
    inputs = np.arange(18.0).reshape(3, 6)
    display = ActivationDisplay.from_activations(np.zeros((3, 1)), inputs=inputs)
    np.testing.assert_array_equal([line.get_ydata() for line in display.input_lines_], inputs.T)
    assert legend(display.axes_[-1]) == ["1", "2", "3", "4", "5", "6"]
    assert display.axes_[-1].get_ylabel() == "input"
    assert display.images_ == {}


def test_many_cells_outputs_and_inputs_are_images():
    """Each with a row a column, from the first step on, and colours that are symmetric about zero."""
    rng = np.random.default_rng(0)
    values = {"activations": rng.uniform(-0.2, 0.2, (5, 13)), "outputs": rng.normal(size=(5, 7)),
              "inputs": rng.normal(size=(5, 30))}  # fmt: skip
    display = ActivationDisplay.from_activations(**values, output_names="abcdefg", start=3)
    assert (display.lines_, display.output_lines_, display.input_lines_) == ([], [], [])
    for ax, (name, expected) in zip(display.axes_, values.items(), strict=True):
        image = display.images_[name]
        np.testing.assert_array_equal(image.get_array(), expected.T)
        assert image.get_clim() == (-np.abs(expected).max(), np.abs(expected).max())
        assert image.get_extent() == [2.5, 7.5, expected.shape[1] - 0.5, -0.5]
        assert ax.get_xlim() == (2.5, 7.5)
    cells, outputs, inputs = ([text.get_text() for text in ax.get_yticklabels()] for ax in display.axes_)
    assert cells == [str(k) for k in range(1, 14)]
    assert outputs == list("abcdefg")
    assert inputs == [str(k) for k in range(1, 31, 2)]
    display.figure_.canvas.draw()
    assert len({ax.get_position().width for ax in display.axes_}) == 1
    whole = ActivationDisplay.from_activations(np.full((2, 13), 0.7)).images_["activations"]
    assert whole.get_clim() == (-1.0, 1.0)


def test_activations_of_a_classifier():
    classifier = EvokeClassifier(n_generations=1, subpopulation_size=8, random_state=0).fit(*tasks.anbncn(3))
    X, _ = tasks.anbncn([4])
    display = ActivationDisplay.from_estimator(classifier, X[0], output_names="abcT")
    np.testing.assert_array_equal(display.activations, classifier.transform(X)[0])
    np.testing.assert_array_equal(display.outputs, classifier.decision_function(X)[0])
    np.testing.assert_array_equal(display.inputs, X[0])
    assert len(display.axes_) == 3
    with pytest.raises(ValueError, match=r"^sequence must be one sequence.*\(1, 13, 4\)"):
        ActivationDisplay.from_estimator(classifier, X)
    with pytest.raises(ValueError, match=r"^sequence is not an array of numbers"):
        ActivationDisplay.from_estimator(classifier, [X[0], X[0][:2]])


def test_classes_are_the_names_of_outputs():
    x = np.linspace(-1.0, 1.0, 30)[:, None]
    y = np.repeat(["low", "middle", "high"], 10)
    model = EvokeClassifier(n_generations=1, subpopulation_size=8, random_state=0).fit([x, x], [y, y])
    assert legend(ActivationDisplay.from_estimator(model, x).axes_[1]) == ["high", "low", "middle"]


@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])
@pytest.mark.parametrize("settings", [
    {"n_networks": 1, "pool": "last"}, {"n_networks": 2}, {"n_networks": 2, "n_points": 4},
])  # fmt: skip
def test_outputs_of_whole_sequences_are_those_for_the_sequence_so_far(estimator, settings):
    X = np.random.default_rng(0).normal(size=(12, 9, 2))
    model = estimator(subpopulation_size=8, random_state=0, **settings).fit(X, np.arange(12) % 3)
    display = ActivationDisplay.from_estimator(model, X[0])
    np.testing.assert_array_equal(display.activations, model.transform([X[0]])[0])
    answer = model.predict if estimator is EvokeRegressor else model.decision_function
    for t, outputs in enumerate(display.outputs):
        np.testing.assert_array_equal(outputs, np.ravel(answer([X[0][: t + 1]])))
    if estimator is EvokeClassifier:
        assert legend(display.axes_[1]) == ["0", "1", "2"]


def test_activations_of_the_other_estimators():
    settings = {"n_generations": 1, "subpopulation_size": 8, "readout": "pinv", "random_state": 0}
    regressor = EvokeRegressor(**settings).fit(Y[:-1, None], Y[1:])
    display = ActivationDisplay.from_estimator(regressor, Y[:-1, None])
    np.testing.assert_array_equal(display.output_lines_[0].get_ydata(), regressor.predict(Y[:-1, None]))
    forecaster = EvokeForecaster(washout=5, **settings).fit(Y)
    display = ActivationDisplay.from_estimator(forecaster, Y)
    np.testing.assert_array_equal(display.output_lines_[0].get_ydata(), forecaster.predict_one_step(Y))


@pytest.mark.parametrize(
    "more, message",
    [
        ({"activations": [1.0]}, "activations must be 2-D"),
        ({"outputs": np.zeros((2, 1))}, "outputs must have the 3 steps of activations, got 2"),
        ({"inputs": np.zeros(3)}, "inputs must be 2-D"),
        ({"symbols": "ab"}, "symbols must have the 3 steps of activations, got 2"),
        ({"output_names": "ab"}, "output_names must name 0 outputs, got 2"),
        ({"outputs": np.zeros((3, 1)), "output_names": "ab"}, "output_names must name 1 outputs, got 2"),
    ],
)
def test_bad_activations_are_named(more, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ActivationDisplay.from_activations(**{"activations": np.zeros((3, 2))} | more)


# ---- kernel matrix


def test_kernel_of_activations():
    phi = np.random.default_rng(0).normal(size=(5, 2))
    support = [True, False, False, True, False]
    display = KernelMatrixDisplay.from_activations(phi, gamma=0.5, support=support, groups=[2])
    np.testing.assert_array_equal(display.image_.get_array(), rbf_kernel(phi, gamma=0.5))
    assert display.support_.get_ydata().tolist() == [0, 3]
    assert legend(display.ax_) == ["support vector"]
    assert display.ax_.get_xlabel() == display.ax_.get_ylabel() == "step, in time order"
    across, along = display.ax_.lines[:2]
    assert (across.get_ydata()[0], along.get_xdata()[0]) == (1.5, 1.5)
    display.figure_.canvas.draw()
    display = KernelMatrixDisplay.from_activations(phi, kernel="poly", gamma=0.5, coef0=1.0, degree=2)
    np.testing.assert_array_equal(display.matrix, polynomial_kernel(phi, gamma=0.5, coef0=1.0, degree=2))
    assert display.support_ is None


def test_rows_by_class():
    phi = np.arange(4.0)[:, None]
    display = KernelMatrixDisplay.from_activations(
        phi, kernel="linear", labels=["b", "a", "b", "a"], support=[True, False, False, False]
    )
    np.testing.assert_array_equal(display.matrix, np.outer([1, 3, 0, 2], [1, 3, 0, 2]))
    assert display.support_.get_ydata().tolist() == [2]
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["a", "b"]
    assert display.ax_.get_yticks().tolist() == [0.5, 2.5]
    labels = np.array([[1, 1], [0, 1], [1, 1], [0, 1]])
    for names, expected in (("xy", ["y", "xy"]), (None, ["01", "11"])):
        display = KernelMatrixDisplay.from_activations(phi, labels=labels, output_names=names)
        assert display.group_names == expected
    assert display.ax_.get_ylabel() == "step, by class"


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
def test_kernel_of_an_estimator(readout):
    X, y = tasks.anbncn(5)
    model = EvokeClassifier(n_generations=1, subpopulation_size=8, readout=readout, random_state=0).fit(X, y)
    display = KernelMatrixDisplay.from_estimator(model, X)
    phi, fitted = np.concatenate(model.transform(X)), model.readout_
    kernel = phi @ phi.T if readout == "pinv" else rbf_kernel(phi, gamma=model.readout_.gamma)
    np.testing.assert_allclose(display.matrix, kernel, rtol=1e-12, atol=1e-12)
    assert display.groups.tolist() == [4, 11, 21, 34]
    if readout == "pinv":
        assert display.support is None
    else:
        marked = phi[display.support]
        assert {row.tobytes() for row in marked} == {row.tobytes() for row in fitted.support_vectors}
    together = KernelMatrixDisplay.from_estimator(model, np.concatenate(X), lengths=[len(x) for x in X])
    np.testing.assert_array_equal(together.matrix, display.matrix)
    by_class = KernelMatrixDisplay.from_estimator(model, X, y, output_names="abcT")
    assert by_class.group_names == ["T", "c", "b", "a", "ab"]
    assert by_class.groups.tolist() == [5, 20, 30, 35]


def test_kernel_with_one_label_a_sequence():
    X, y = [np.zeros((2, 1)), np.ones((3, 1))] * 2, np.array(["p", "q", "p", "q"])
    model = EvokeClassifier(n_generations=1, subpopulation_size=8, random_state=0).fit(X, y)
    display = KernelMatrixDisplay.from_estimator(model, X, y)
    assert display.group_names == ["p", "q"]
    assert display.groups.tolist() == [4]


@pytest.mark.parametrize(
    "more, message",
    [
        ({"activations": [1.0]}, "activations must be 2-D"),
        ({"support": [True]}, "support must have the 3 rows of activations, got 1"),
        ({"labels": [1, 2]}, "labels must have the 3 rows of activations, got 2"),
        ({"activations": [[np.nan]]}, "activations must be finite, got nan"),
    ],
)
def test_bad_rows_are_named(more, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        KernelMatrixDisplay.from_activations(**{"activations": np.zeros((3, 2))} | more)


def test_a_matrix_too_large_to_be_drawn_is_refused_at_once(monkeypatch):
    model = EvokeClassifier(n_cells=2, n_generations=1, subpopulation_size=4, random_state=0).fit(*tasks.anbncn(3))
    monkeypatch.setattr(EvokeClassifier, "transform", lambda self, X: pytest.fail("the work was begun"))
    with pytest.raises(ValueError, match=r"^X must have at most 3000 steps, .* got 3001$"):
        KernelMatrixDisplay.from_estimator(model, np.zeros((3001, 4)))
    with pytest.raises(ValueError, match=r"^activations must have at most 3000 rows, .* got 3001$"):
        KernelMatrixDisplay.from_activations(np.zeros((3001, 2)))
