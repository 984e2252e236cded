"""Series among several that are too short for any features: they are no rows, wherever they stand."""

import numpy as np
import pytest

from evoke import EvokeForecaster

LONG = np.sin(np.arange(40.0)) + 0.1 * np.random.default_rng(0).normal(size=40)


def fitted(*lengths):
    model = EvokeForecaster(n_cells=3, validation="rolling", n_networks=2, random_state=0)
    return model.fit([LONG[:length] for length in lengths])


@pytest.mark.parametrize("lengths", [(1, 40), (3, 40), (8, 40), (1, 2, 40), (40, 3, 40)])
def test_a_series_without_rows_may_come_first(lengths):
    assert np.isfinite(fitted(*lengths).generate(5)).all()


@pytest.mark.parametrize("lengths", [(2, 2), (3, 3, 3), (1, 4)])
def test_series_of_which_none_has_rows(lengths):
    with pytest.warns(UserWarning, match="too few to train networks"):
        assert np.isfinite(fitted(*lengths).generate(2)).all()
