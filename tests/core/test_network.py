import pickle

import numpy as np
import pytest

from evoke._core import lstm
from evoke._core.free_run import run_free
from evoke._core.kernel import Kernel
from evoke._core.lstm import Network
from evoke.estimators import EvokeRegressor
from evoke.exceptions import ParameterError
from evoke.readouts import FittedReadout


@pytest.mark.parametrize("shape", [(2, 12), (5, 2, 12)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_network_is_its_genome_cell_and_biases(shape, dtype):
    genome = np.ones(shape, dtype)
    network = Network(genome, "evolino", (0.1, 0.2, 0.3))
    assert network.genome.dtype == dtype and np.shares_memory(network.genome, genome)
    np.testing.assert_array_equal(network.genome, genome)
    assert (network.cell, network.gate_bias) == ("evolino", (0.1, 0.2, 0.3))
    assert (network.n_cells, network.n_inputs) == (2, 1)
    again = pickle.loads(pickle.dumps(network))
    np.testing.assert_array_equal(again.genome, genome)
    assert (again.genome.dtype, again.cell, again.gate_bias) == (dtype, network.cell, network.gate_bias)


@pytest.mark.parametrize("name", ["genome", "cell", "gate_bias", "n_cells", "n_inputs"])
def test_a_network_cannot_be_changed(name):
    network = Network(np.ones((2, 12)))
    with pytest.raises(AttributeError):
        setattr(network, name, getattr(network, name))


def test_nobody_can_change_the_shape_of_a_network():
    genome = np.arange(24.0).reshape(2, 12)
    network = Network(genome)
    x, offsets = np.ones((3, 1)), np.array([0, 3])
    expected = lstm.sequences(network, x, offsets)[0]
    network.genome.shape = (4, 6)
    network.genome.dtype = np.float32
    genome.shape = (1, 24)
    assert network.genome.shape == (2, 12) and network.genome.dtype == np.float64
    np.testing.assert_array_equal(lstm.sequences(network, x, offsets)[0], expected)


def test_the_genome_of_an_estimator_keeps_its_shape():
    model = EvokeRegressor(n_cells=2, n_generations=1, subpopulation_size=4, n_trials=1, random_state=0)
    X = np.random.default_rng(0).normal(size=(12, 1))
    model.fit(X, X[:, 0])
    expected = model.predict(X)
    model.genome_.shape = (4, 6)
    assert model.genome_.shape == (2, 12)
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("genome", [
    np.zeros(12), np.zeros((1, 1, 2, 12)), np.zeros((2, 12), int), np.zeros((2, 12), ">f8"),
    np.zeros((2, 12), order="F"), np.zeros((2, 13)), np.zeros((2, 4)),
    np.zeros((0, 4)), np.zeros((0, 0)), np.zeros((2, 0)), np.zeros((2, 8)), np.zeros((3, 0, 4)), np.zeros((3, 2, 8)),
])  # fmt: skip
def test_genomes_of_another_kind_are_refused(genome):
    with pytest.raises(ValueError, match="genome"):
        Network(genome)


@pytest.mark.parametrize("genome", [None, [[1.0]], "genome", 1.0, {}])
def test_a_genome_must_be_an_array(genome):
    with pytest.raises(ParameterError, match="genome must be an array, got "):
        Network(genome)


def test_a_population_may_be_empty_or_hold_what_is_no_network():
    table = np.array([[0], [3], [-1], [-1]])
    assert lstm.population(Network(np.zeros((0, 2, 12))), np.zeros((3, 1)), table).shape == (0, 3, 2)
    assert np.isnan(lstm.population(Network(np.full((1, 2, 12), np.nan)), np.zeros((3, 1)), table)).all()


def test_unknown_cells_and_missing_biases_are_refused():
    with pytest.raises(ValueError, match=r"cell must be one of \('lstm', 'evolino'\), got 'gru'"):
        Network(np.zeros((2, 12)), "gru")
    with pytest.raises(ValueError, match="gate_bias must be three finite numbers"):
        Network(np.zeros((2, 12)), "lstm", (0.0, 1.0))


def test_one_network_is_no_population():
    table = np.array([[0], [3], [-1], [-1]])
    with pytest.raises(ValueError, match="dimensions"):
        lstm.population(Network(np.zeros((2, 12))), np.zeros((3, 1)), table)
    with pytest.raises(ValueError, match="dimensions"):
        lstm.sequences(Network(np.zeros((1, 2, 12))), np.zeros((3, 1)), np.array([0, 3]))


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"table must have shape \(4, n_segments\), got \(3, 1\)"):
        lstm.population(Network(np.zeros((1, 2, 12))), np.zeros((3, 1)), np.zeros((3, 1), np.int64))


def test_shapes_that_do_not_fit_are_refused():
    network, offsets = Network(np.zeros((2, 12))), np.array([0, 3])
    with pytest.raises(ValueError, match="state must have shape"):
        lstm.sequences(network, np.zeros((3, 1)), offsets, np.zeros((1, 2, 1)))
    with pytest.raises(ValueError, match="rows have 2 columns, but the network has 1 inputs"):
        lstm.sequences(network, np.zeros((3, 2)), offsets)

    def free(state=(2, 2), sv=(4, 2), coef=(4, 1)):
        readout = FittedReadout(np.zeros(sv), np.zeros(coef), np.zeros(1), np.zeros(1), np.ones(1, bool), Kernel())
        run_free(network, np.zeros((3, 1)), np.zeros(state), 0.3, readout)

    free()
    for odd in (dict(state=(2, 1)), dict(state=(1, 2)), dict(sv=(4, 3)), dict(coef=(3, 1)), dict(coef=(4, 2))):
        with pytest.raises(ValueError, match=r"shape|fit"):
            free(**odd)
