"""The display of the importance of features."""

import numpy as np
import pytest
from sklearn.base import clone

from evoke import EvokeClassifier
from evoke.exceptions import ParameterError
from evoke.inspection import permutation_importance
from evoke.plot import ImportanceDisplay, picture

plt = pytest.importorskip("matplotlib.pyplot")

IMPORTANCES = np.array([[0.1, 0.3], [0.0, -0.1], [0.5, 0.4]])


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 9, 2)), np.arange(20) % 2
    X[:, :, 1] += 2 * y[:, None]
    return EvokeClassifier(n_cells=2, subpopulation_size=10, n_networks=2, random_state=0).fit(X, y), X, y


def labels(display):
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_the_most_important_is_on_top():
    display = ImportanceDisplay.from_importances(IMPORTANCES, names=["a", "b", "$c"])
    assert labels(display) == ["b", "a", "$c"]
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], [-0.05, 0.2, 0.45])
    np.testing.assert_array_equal(display.dots_.get_xdata(), [0.0, -0.1, 0.1, 0.3, 0.5, 0.4])
    np.testing.assert_array_equal(display.dots_.get_ydata(), [0, 0, 1, 1, 2, 2])
    display.figure_.canvas.draw()


def test_names_of_ones_own_and_none():
    assert labels(ImportanceDisplay.from_importances(IMPORTANCES)) == ["feature 1", "feature 0", "feature 2"]
    with pytest.raises(ValueError, match=r"^names must be 3, one for each feature, got 2$"):
        ImportanceDisplay.from_importances(IMPORTANCES, names="ab")


@pytest.mark.parametrize("most, drawn", [(2, ["feature 0", "feature 2"]), (1, ["feature 2"]), (None, 3), (9, 3)])
def test_only_the_most_important(most, drawn):
    display = ImportanceDisplay.from_importances(IMPORTANCES, max_features=most)
    assert labels(display)[-1] == "feature 2"
    assert labels(display) == drawn if isinstance(drawn, list) else len(labels(display)) == drawn


def test_from_estimator(fitted):
    model, X, y = fitted
    figure, ax = plt.subplots()
    display = ImportanceDisplay.from_estimator(model, X, y, n_repeats=3, random_state=0, ax=ax)
    assert (display.figure_, display.ax_) == (figure, ax)
    expected = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances
    np.testing.assert_array_equal(display.importances, expected)
    assert labels(display)[-1] == "feature 1"
    assert picture(lambda figure: ImportanceDisplay.from_estimator(model, X, y, ax=figure))[1:4] == b"PNG"


def test_names_of_data_frames(fitted):
    pd = pytest.importorskip("pandas")
    model, X, y = fitted
    frames = [pd.DataFrame(x, columns=["noise", "level"]) for x in X]
    display = ImportanceDisplay.from_estimator(clone(model).fit(frames, y), frames, y, random_state=0)
    assert labels(display) == ["noise", "level"]


def test_what_it_refuses(fitted):
    model, X, y = fitted
    with pytest.raises(ParameterError, match=r"^scoring must be one score for a display, got accuracy, f1$"):
        ImportanceDisplay.from_estimator(model, X, y, scoring=["accuracy", "f1"])
    with pytest.raises(ParameterError, match=r"^max_features must be an integer of at least 1, got 0$"):
        ImportanceDisplay.from_importances(IMPORTANCES, max_features=0)
    for wrong in ([], [0.1, 0.2], np.nan, "x"):
        with pytest.raises((ValueError, TypeError), match=r"^importances must "):
            ImportanceDisplay.from_importances(wrong)
