import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoke._core import lstm
from evoke.lstm import forward
from oracle import lstm as oracle

CELLS = ("lstm", "evolino")
BIAS = (0.3, 1.5, -1.5)
WIDE = 60  # cells of networks that are too large to lie side by side
DTYPES = (np.float64, np.float32)
NEAR = {np.float64: 1e-12, np.float32: 2e-6}


def make(seed, n_inputs, n_cells, lengths, n_networks=None, scale=1.0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    shape = (n_cells, 4 * (n_inputs + n_cells))
    genome = scale * rng.normal(size=shape if n_networks is None else (n_networks, *shape))
    return genome.astype(dtype), [rng.normal(size=(length, n_inputs)).astype(dtype) for length in lengths]


def calm(genome):
    """Weights with which small differences die out: in single precision the others are chaotic."""
    return genome / (2.0 * np.sqrt(genome.shape[-1]))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("seed", range(12))
def test_equals_the_oracle(seed, cell):
    rng = np.random.default_rng(seed)
    n_inputs, n_cells = rng.integers(1, 7), rng.integers(1, 13)
    lengths = [1, *rng.integers(1, 30, rng.integers(0, 20))]
    genome, X = make(seed, n_inputs, n_cells, lengths)
    state = rng.uniform(-1.0, 1.0, (len(X), 2, n_cells))
    phi, ends = forward(genome, X, cell=cell, gate_bias=BIAS, state=state, return_state=True)
    for k, x in enumerate(X):
        expected, end = oracle.forward(genome, x, cell, BIAS, state[k])
        np.testing.assert_allclose(phi[k], expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(ends[k], end, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("n_cells", [5, 8, WIDE])
@pytest.mark.parametrize("n_networks", [1, 2, 7, 8, 9, 16, 20, 29])
def test_population_equals_its_networks_alone(n_networks, n_cells, cell, dtype):
    genomes, X = make(n_networks, 3, n_cells, [4, 1, 11], n_networks, dtype=dtype)
    genomes = genomes if dtype == np.float64 else calm(genomes)
    together = forward(genomes, X, cell=cell, gate_bias=BIAS, dtype=dtype)
    assert [phi.shape for phi in together] == [(n_networks, len(x), n_cells) for x in X]
    for k, genome in enumerate(genomes):
        for x, phi, alone in zip(X, together, forward(genome, X, cell=cell, gate_bias=BIAS, dtype=dtype), strict=True):
            assert phi.dtype == alone.dtype == dtype
            np.testing.assert_array_equal(phi[k], alone)
            expected = oracle.forward(genome.astype(np.float64), x.astype(np.float64), cell, BIAS)[0]
            np.testing.assert_allclose(alone, expected, rtol=0, atol=NEAR[dtype])


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("seed", range(8))
def test_single_precision_equals_the_oracle(seed, cell):
    rng = np.random.default_rng(seed)
    n_inputs, n_cells = rng.integers(1, 7), rng.integers(1, 40)
    lengths = [1, *rng.integers(1, 60, rng.integers(0, 40))]
    genome, X = make(seed, n_inputs, n_cells, lengths)
    genome, state = calm(genome), rng.uniform(-1.0, 1.0, (len(X), 2, n_cells))
    phi, ends = forward(genome, X, cell=cell, gate_bias=BIAS, state=state, return_state=True, dtype="float32")
    assert ends.dtype == np.float32
    for k, x in enumerate(X):
        expected, end = oracle.forward(genome, x, cell, BIAS, state[k])
        np.testing.assert_allclose(phi[k], expected, rtol=0, atol=3e-6)
        np.testing.assert_allclose(ends[k], end, rtol=1e-5, atol=3e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_arrays_of_either_precision_are_taken_in_either(cell):
    genome, X = make(3, 2, 6, [5, 9], dtype=np.float32)
    for dtype in DTYPES:
        expected = forward(genome.astype(np.float64), [x.astype(np.float64) for x in X], cell=cell, dtype=dtype)
        for same in X, [X[0], X[1].astype(np.float64)], [x.tolist() for x in X]:
            for phi, other in zip(expected, forward(genome, same, cell=cell, dtype=dtype), strict=True):
                np.testing.assert_array_equal(phi, other)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_inputs=st.integers(1, 6),
    n_cells=st.integers(1, 12),
    lengths=st.lists(st.integers(2, 20), min_size=1, max_size=18),
    cell=st.sampled_from(CELLS),
    dtype=st.sampled_from(DTYPES),
    data=st.data(),
)
def test_a_split_run_is_the_whole_run(seed, n_inputs, n_cells, lengths, cell, dtype, data):
    genome, X = make(seed, n_inputs, n_cells, lengths)
    same = dict(cell=cell, return_state=True, dtype=dtype)
    whole, end = forward(genome, X, **same)
    cuts = [data.draw(st.integers(1, length - 1)) for length in lengths]
    heads, state = forward(genome, [x[:c] for x, c in zip(X, cuts, strict=True)], **same)
    tails, last = forward(genome, [x[c:] for x, c in zip(X, cuts, strict=True)], state=state, **same)
    for phi, head, tail in zip(whole, heads, tails, strict=True):
        np.testing.assert_array_equal(phi, np.concatenate([head, tail]))
    np.testing.assert_array_equal(end, last)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_cells=st.integers(1, 12),
    lengths=st.lists(st.integers(1, 25) | st.integers(100, 200), min_size=1, max_size=20),
    cell=st.sampled_from(CELLS),
    dtype=st.sampled_from(DTYPES),
)
def test_a_sequence_does_not_feel_its_neighbours(seed, n_cells, lengths, cell, dtype):
    genome, X = make(seed, 2, n_cells, lengths)
    together, ends = forward(genome, X, cell=cell, return_state=True, dtype=dtype)
    for x, phi, end in zip(X, together, ends, strict=True):
        alone, state = forward(genome, x, cell=cell, return_state=True, dtype=dtype)
        np.testing.assert_array_equal(phi, alone)
        np.testing.assert_array_equal(end, state)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("n_cells", [4, WIDE])
def test_runs_that_share_a_beginning_equal_plain_sequences(n_cells, cell):
    # a tree of rows: stem 0..3, from its end two branches, from the end of the first of them two more
    genomes, (x,) = make(5, 2, n_cells, [14], n_networks=11)
    begin, end = np.array([0, 3, 6, 8, 10]), np.array([3, 6, 8, 10, 14])
    parent, slot = np.array([-1, 0, 0, 1, 1]), np.array([0, 1, -1, -1, -1])
    shared = lstm.population(lstm.Network(genomes, cell, BIAS), x, np.array([begin, end, parent, slot]))
    paths = {2: [0, 2], 3: [0, 1, 3], 4: [0, 1, 4]}
    for leaf, path in paths.items():
        rows = np.concatenate([np.arange(begin[k], end[k]) for k in path])
        plain = forward(genomes, x[rows], cell=cell, gate_bias=BIAS)
        np.testing.assert_array_equal(shared[:, rows], plain, err_msg=f"leaf {leaf}")


@pytest.mark.parametrize("cell", CELLS)
def test_sequences_longer_than_one_native_call(cell):
    lengths = [32767, 32768, 32769, 70001, 5]
    genome, X = make(0, 1, 2, lengths)
    whole, end = forward(genome, X, cell=cell, return_state=True)
    for x, phi, last in zip(X, whole, end, strict=True):
        np.testing.assert_array_equal(phi[-1], last[1])
        head, state = forward(genome, x[:3], cell=cell, return_state=True)
        tail, final = forward(genome, x[3:], cell=cell, state=state, return_state=True)
        np.testing.assert_array_equal(np.concatenate([head, tail]), phi)
        np.testing.assert_array_equal(final, last)
        # alone in a population, where the rows are not cut into calls
        np.testing.assert_array_equal(forward(genome[None], x, cell=cell)[0], phi)


def test_one_state_for_all_sequences():
    genome, X = make(0, 2, 3, [3, 5])
    state = np.array([[0.5, -1.0, 2.0], [0.1, 0.2, -0.3]])
    given_once = forward(genome, X, state=state)
    given_each = forward(genome, X, state=np.array([state, state]))
    for one, each, zero in zip(given_once, given_each, forward(genome, X), strict=True):
        np.testing.assert_array_equal(one, each)
        assert not np.array_equal(one, zero)


def test_arguments_are_left_as_they_were():
    genome, X = make(0, 2, 3, [3])
    state = np.ones((2, 3))
    copies = genome.copy(), X[0].copy()
    forward(genome, X, state=state, return_state=True)
    np.testing.assert_array_equal(genome, copies[0])
    np.testing.assert_array_equal(X[0], copies[1])
    np.testing.assert_array_equal(state, 1.0)


def test_any_layout_and_real_dtype_gives_the_same():
    genome, (x,) = make(0, 2, 3, [6])
    x = np.round(x * 8)
    expected = forward(genome, x)
    np.testing.assert_array_equal(forward(np.asfortranarray(genome), np.asfortranarray(x)), expected)
    np.testing.assert_array_equal(forward(genome.tolist(), x.astype(np.int32)), expected)
    np.testing.assert_array_equal(forward(genome, np.repeat(x, 2, axis=0)[::2]), expected)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    "scale, dtype", [(1e2, np.float64), (1e12, np.float64), (1e100, np.float64), (1e2, np.float32), (1e12, np.float32)]
)
def test_large_weights_saturate(scale, dtype, cell):
    genome, X = make(1, 3, 4, [50, 7], scale=scale)
    for phi in forward(genome, X, cell=cell, dtype=dtype):
        assert np.isfinite(phi).all()
        assert (np.abs(phi) <= 1.0).all()


@pytest.mark.parametrize("n_networks", [None, 3])
@pytest.mark.parametrize("dtype, size", [(np.float64, 1e200), (np.float32, 1e30)])
def test_states_that_overflow_are_refused(dtype, size, n_networks):
    genome, X = make(1, 3, 4, [9, 7], n_networks, scale=size)
    with pytest.raises(ValueError, match=f"so large that states overflow in {np.dtype(dtype)}"):
        forward(genome, [size * x for x in X], cell="evolino", dtype=dtype)


def test_gates_that_are_shut_and_open():
    # the input gate opens with the input, the forget gate is always open: the cell counts the steps with input 1
    genome = np.zeros((1, 8))
    genome[0, [0, 2]] = 1.0, 2000.0
    bias = (-1000.0, 1000.0, 1000.0)
    x = np.array([[1.0], [0.0], [1.0], [1.0]])
    phi, state = forward(genome, x, cell="evolino", gate_bias=bias, return_state=True)
    np.testing.assert_array_equal(state[0], [3.0])
    np.testing.assert_allclose(phi[:, 0], np.tanh([1.0, 1.0, 2.0, 3.0]), rtol=1e-15)
    phi, state = forward(genome, x, cell="lstm", gate_bias=bias, return_state=True)
    np.testing.assert_allclose(state[0], [3.0 * np.tanh(1.0)], rtol=1e-15)


@pytest.mark.parametrize("n_networks, n_cells", [(None, 1), (3, 1), (3, WIDE)])
@pytest.mark.parametrize("dtype, size", [(np.float64, 1e200), (np.float32, 1e30)])
def test_a_state_that_is_infinite_is_refused_though_outputs_are_not(dtype, size, n_networks, n_cells):
    genome = np.zeros((n_cells, 4 * (1 + n_cells)))
    genome[-1, 0] = size
    genome = genome if n_networks is None else np.array([genome] * n_networks)
    for X in [np.array([[size], [1.0]])], [np.array([[size], [1.0]]), np.zeros((3, 1))]:
        with pytest.raises(ValueError, match=f"states overflow in {np.dtype(dtype)}"):
            forward(genome, X, cell="evolino", dtype=dtype)


GENOME = np.zeros((2, 12))
STEPS = np.zeros((3, 1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(genome=np.zeros((2, 13))), r"genome must have shape .* got \(2, 13\)"),
        (dict(genome=np.zeros((2, 8))), r"genome must have shape .* got \(2, 8\)"),
        (dict(genome=np.zeros((0, 4))), r"genome must have shape .* got \(0, 4\)"),
        (dict(genome=np.zeros((0, 2, 12))), r"genome must have shape .* got \(0, 2, 12\)"),
        (dict(genome=np.zeros(12)), r"genome must be 2-D or 3-D, got shape \(12,\)"),
        (dict(genome=np.full((2, 12), np.nan)), "genome must be finite, got nan"),
        (dict(genome=np.full((2, 12), "a")), "genome must hold real numbers, got dtype <U1"),
        (dict(genome=np.full((2, 12), 1j)), "genome must hold real numbers, got dtype complex128"),
        (dict(X=np.zeros((3, 2))), r"X must have shape \(T, 1\) for this genome, got \(3, 2\)"),
        (dict(X=np.zeros(3)), r"X must be 2-D, got shape \(3,\)"),
        (dict(X=np.zeros((2, 3, 1))), r"X must be 2-D, got shape \(2, 3, 1\)"),
        (dict(X=np.zeros((0, 1))), r"X has no steps, got shape \(0, 1\)"),
        (dict(X=[STEPS, np.zeros((0, 1))]), r"X\[1\] has no steps, got shape \(0, 1\)"),
        (dict(X=[STEPS, np.array([[np.inf]])]), r"X\[1\] must be finite, got inf"),
        (dict(X=[]), "X must hold at least one sequence"),
        (dict(cell="gru"), r"cell must be one of \('lstm', 'evolino'\), got 'gru'"),
        (dict(cell=None), r"cell must be one of \('lstm', 'evolino'\), got None"),
        (dict(gate_bias=(0.0, 1.0)), r"gate_bias must be three finite numbers, got \(0.0, 1.0\)"),
        (dict(gate_bias=(0.0, 1.0, np.nan)), r"gate_bias must be three finite numbers, got \(0.0, 1.0, nan\)"),
        (dict(gate_bias=1.0), "gate_bias must be three finite numbers, got 1.0"),
        (dict(state=np.zeros((1, 2))), r"state must have shape \(2, 2\), got \(1, 2\)"),
        (dict(state=np.zeros((2, 2, 2))), r"state must have shape \(1, 2, 2\), got \(2, 2, 2\)"),
        (dict(state=np.full((2, 2), -np.inf)), "state must be finite, got -inf"),
        (dict(genome=np.full((2, 12), 1e39), dtype=np.float32), r"genome must be finite in float32, got 1e\+39"),
        (dict(X=[STEPS, STEPS - 1e39], dtype=np.float32), r"X\[1\] must be finite in float32, got -1e\+39"),
        (dict(dtype=np.float16), r"dtype must be one of \('float64', 'float32'\), got <class 'numpy.float16'>"),
        (dict(dtype="single precision"), r"dtype must be one of \('float64', 'float32'\), got 'single precision'"),
        (dict(dtype=32), r"dtype must be one of \('float64', 'float32'\), got 32"),
        (dict(dtype=None), r"dtype must be one of \('float64', 'float32'\), got None"),
        (dict(dtype=np.arange(2)), r"dtype must be one of \('float64', 'float32'\), got array"),
        (dict(dtype={"names": ["a"]}), r"dtype must be one of \('float64', 'float32'\), got {'names': .'a'.}"),
        (dict(X=[STEPS, np.zeros((4, 1), "M8[s]")]), r"X\[1\] must hold real numbers, got dtype datetime64"),
        (dict(genome=np.zeros((5, 2, 12)), return_state=True), r"need a single genome, .* \(5, 2, 12\)"),
        (dict(genome=np.zeros((5, 2, 12)), state=np.zeros((2, 2))), r"need a single genome, .* \(5, 2, 12\)"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        forward(**{"genome": GENOME, "X": STEPS, **arguments})


@pytest.mark.parametrize(
    "name, value", [("cell", np.ones(2)), ("return_state", np.ones(2)), ("return_state", "x"), ("X", [[[1], [1, 2]]])]
)
def test_arrays_in_the_place_of_strings_and_flags_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        forward(**({"genome": np.zeros((1, 8)), "X": np.zeros((2, 1))} | {name: value}))
