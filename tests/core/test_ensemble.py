"""Networks that read the same sequences side by side."""

import numpy as np
import pytest

from evoke._core.ensemble import ensemble
from evoke._core.lstm import Network, sequences


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_networks, n_cells, n_inputs, lengths", [
    (20, 3, 4, [50]), (9, 3, 4, [10, 0, 3]), (9, 2, 1, [7] * 20), (1, 3, 4, [9]), (17, 3, 30, [4, 5]),
    (3, 33, 4, [8, 2]), (8, 1, 1, [0, 1, 2, 0]), (16, 4, 3, []), (0, 3, 2, [5]), (40, 2, 2, [9000]),
])  # fmt: skip
def test_each_has_the_bits_that_it_has_alone(n_networks, n_cells, n_inputs, lengths, dtype):
    rng = np.random.default_rng(0)
    genome = rng.normal(size=(n_networks, n_cells, 4 * (n_inputs + n_cells))).astype(dtype)
    x, offsets = rng.normal(size=(sum(lengths), n_inputs)).astype(dtype), np.cumsum([0, *lengths])
    given = rng.normal(size=(n_networks, len(lengths), 2, n_cells)).astype(dtype)
    kept = given.copy()
    for states in (None, given):
        phi, ends = ensemble(Network(genome), x, offsets, states)
        assert (phi.shape, ends.shape) == ((len(x), n_networks * n_cells), given.shape)
        for k in range(n_networks):
            alone = sequences(Network(genome[k]), x, offsets, None if states is None else states[k])
            np.testing.assert_array_equal(phi[:, k * n_cells : (k + 1) * n_cells], alone[0])
            np.testing.assert_array_equal(ends[k], alone[1])
    np.testing.assert_array_equal(given, kept)


@pytest.mark.parametrize("change, message", [
    ({"networks": Network(np.ones((2, 12)))}, "a population"), ({"x": np.ones((4, 2))}, "2 columns"),
    ({"x": np.ones(4)}, "x must be 2-D"), ({"offsets": np.array([0, 3])}, "end with the number of rows"),
    ({"states": np.zeros((3, 1, 2, 1))}, r"states must have shape \(3, 1, 2, 2\)"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(change, message):
    given = {"networks": Network(np.ones((3, 2, 12))), "x": np.ones((4, 1)), "offsets": np.array([0, 4])} | change
    with pytest.raises(ValueError, match=message):
        ensemble(**given)
