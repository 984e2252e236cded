import numpy as np
import pytest

from evoke.sequences.transformation import Transformation

Y = np.exp(np.random.default_rng(0).normal(size=(30, 2)).cumsum(axis=0) / 5)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("lags", [(), (1,), (4,), (4, 1), (1, 1), (3, 2, 1)])
@pytest.mark.parametrize("origin", [6, 20])
def test_what_is_transformed_can_be_undone(log, lags, origin):
    transformation = Transformation(log, lags)
    w = transformation.apply(Y)
    assert np.isnan(w[: transformation.start]).all()
    assert np.isfinite(w[transformation.start :]).all()
    paths = np.stack([w[origin:], w[origin:]])
    np.testing.assert_allclose(transformation.undo(Y, origin, paths), np.stack([Y[origin:]] * 2), rtol=1e-12)
    # what comes after the origin is not looked at
    known = np.concatenate([Y[:origin], np.full((30 - origin, 2), 1e9)])
    np.testing.assert_array_equal(transformation.undo(known, origin, paths), transformation.undo(Y, origin, paths))
    np.testing.assert_allclose(
        transformation.undo_one_step(Y, w)[transformation.start :], Y[transformation.start :], rtol=1e-12
    )


def test_by_hand():
    y = np.array([[1.0], [3.0], [2.0], [5.0]])
    np.testing.assert_array_equal(Transformation(False, (2, 1)).apply(y)[:, 0], [np.nan, np.nan, np.nan, 1.0])
    np.testing.assert_array_equal(Transformation(True, ()).apply(y), np.log(y))
    np.testing.assert_array_equal(Transformation(False, (1,)).undo(y, 4, np.array([[1.0], [1.0]])), [[6.0], [7.0]])


def test_an_exponential_that_overflows_is_infinite_and_silent():
    assert Transformation(True, ()).undo(Y, 30, np.full((1, 2), 1e4)).tolist() == [[np.inf, np.inf]]
