"""The hall of fame, and chromosomes of one's own to start from."""

import numpy as np
import pytest

from evoke.esp import ESP
from evoke.exceptions import ParameterError

SETTINGS = {"subpopulation_size": 8, "n_trials": 3, "n_best": 5, "random_state": 0}


def sphere(genomes):
    return (genomes**2).sum(axis=(1, 2))


def run(esp, n=20):
    """All networks with their fitness, generation after generation."""
    genomes = []
    for _ in range(n):
        genomes.append(esp.ask())
        esp.tell(sphere(genomes[-1]))
    return np.concatenate(genomes)


def alike(a, b):
    return 2 * (a == b).all(axis=1).sum() > len(a)


def expected_hall(genomes, n):
    """By the book: in the order of their fitness, unless like one before."""
    hall = []
    for k in np.argsort(sphere(genomes), kind="stable"):
        if len(hall) < n and not any(alike(genomes[k], other) for other in hall):
            hall.append(genomes[k])
    return np.array(hall)


@pytest.mark.parametrize("n_best", [2, 5, 300])
@pytest.mark.parametrize("n_generations", [1, 3, 20])
def test_the_best_networks_that_are_not_alike(n_best, n_generations):
    esp = ESP([3, 3, 3], **(SETTINGS | {"n_best": n_best}))
    genomes = run(esp, n_generations)
    expected = expected_hall(genomes, n_best)
    hall = np.array(esp.hall)
    # generation by generation: one that a better network kept out may be like none in the end
    assert len(hall) <= len(expected)
    if n_generations == 1:
        np.testing.assert_array_equal(hall, expected)
    np.testing.assert_array_equal(hall[0], expected[0])
    np.testing.assert_allclose(esp.hall_fitness, sphere(hall), rtol=1e-15)
    assert esp.hall_fitness == sorted(esp.hall_fitness)
    assert not any(alike(a, b) for i, a in enumerate(hall) for b in hall[:i])
    np.testing.assert_array_equal(esp.best, hall[0])
    assert esp.best_fitness == esp.hall_fitness[0]


def test_one_is_kept_by_default():
    esp = ESP([3, 3], random_state=0)
    assert esp.hall == esp.hall_fitness == []
    run(esp, 3)
    np.testing.assert_array_equal(esp.hall, [esp.best])
    assert esp.hall_fitness == [esp.best_fitness]
    assert not {"hall", "hall_fitness", "n_best"} & set(esp.state_dict())


def test_the_hall_does_not_change_the_evolution():
    several, one = ESP([3, 3, 3], **SETTINGS), ESP([3, 3, 3], **(SETTINGS | {"n_best": 1}))
    np.testing.assert_array_equal(run(several), run(one))


def test_subpopulations_of_different_lengths():
    esp = ESP([2, 5], **SETTINGS)
    for _ in range(4):
        parts = esp.ask()
        esp.tell(sum((part**2).sum(axis=1) for part in parts))
    fitness = [sum((part**2).sum() for part in network) for network in esp.hall]
    np.testing.assert_allclose(fitness, esp.hall_fitness)


def test_infinite_fitness_does_not_enter():
    esp = ESP([3, 3, 3], **SETTINGS)
    esp.ask()
    fitness = np.full(24, np.inf)
    fitness[[4, 9]] = 2.0, np.nan
    esp.tell(fitness)
    assert esp.hall_fitness == [2.0]


def test_a_state_continues_to_the_same_end():
    esp = ESP([3, 3, 3], **SETTINGS)
    run(esp, 5)
    state = esp.state_dict()
    other = ESP([3, 3, 3], **(SETTINGS | {"random_state": 7}))
    other.load_state_dict(state)
    run(esp, 5)
    assert len(other.hall) == 5
    run(other, 5)
    np.testing.assert_array_equal(other.hall, esp.hall)
    with pytest.raises(ValueError, match="n_best"):
        ESP([3, 3, 3], **(SETTINGS | {"n_best": 6})).load_state_dict(state)
    broken = ("hall", state["hall"][:-1]), ("hall", state["hall"] * np.nan), ("hall_fitness", np.zeros((2, 2)))
    for name, value in broken:
        with pytest.raises(ValueError, match="hall"):
            other.load_state_dict(state | {name: value})


def test_the_hall_is_judged_anew():
    esp = ESP([3, 3, 3], **SETTINGS)
    run(esp)
    hall = np.array(esp.hall)
    esp.judge_best_anew([3.0, np.inf, 1.0, np.nan, 2.0])
    np.testing.assert_array_equal(esp.hall, hall[[2, 4, 0]])
    assert esp.hall_fitness == [1.0, 2.0, 3.0]
    assert esp.best_fitness == 1.0
    np.testing.assert_array_equal(esp.best, hall[2])
    with pytest.raises(ValueError, match="fitness must have shape"):
        esp.judge_best_anew([1.0])
    esp.judge_best_anew([np.inf] * 3)
    assert esp.best is None
    assert esp.hall == []


# ---------------------------------------------------------------- initial


def test_chromosomes_of_ones_own():
    mine = [np.arange(24.0).reshape(8, 3), -np.arange(24.0).reshape(8, 3)]
    esp = ESP([3, 3], subpopulation_size=8, n_trials=1, random_state=0, initial=mine)
    np.testing.assert_array_equal(esp.subpopulations, mine)
    run(esp, 3)
    np.testing.assert_array_equal(mine[0], np.arange(24.0).reshape(8, 3))  # they are copied


def test_a_function_draws_them():
    def draw(generator, shape):
        return generator.normal(size=shape)

    esp = ESP([3, 4], subpopulation_size=8, random_state=3, initial=draw)
    again = ESP([3, 4], subpopulation_size=8, random_state=3, initial=draw)
    for a, b in zip(esp.subpopulations, again.subpopulations, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(esp.subpopulations[0], esp.subpopulations[1][:, :3])


@pytest.mark.parametrize("initial, message", [
    ([np.zeros((8, 3))], "initial must be a sequence of 2 arrays"),
    ("normal", "initial must be a sequence of 2 arrays, got 'normal'"),
    ([np.zeros((8, 3)), np.zeros((8, 4))], r"initial\[1\] must have shape \(8, 3\), got \(8, 4\)"),
    ([np.zeros((8, 3)), np.full((8, 3), np.nan)], r"initial\[1\] must be finite, got nan"),
    (lambda generator, shape: np.zeros(3), r"initial\[0\] must have shape \(8, 3\), got \(3,\)"),
])  # fmt: skip
def test_what_it_cannot_start_from(initial, message):
    with pytest.raises(ValueError, match=message):
        ESP([3, 3], subpopulation_size=8, initial=initial)


def test_how_many_are_kept():
    for n_best in 0, 1.5, None:
        with pytest.raises(ParameterError, match="n_best must be an integer of at least 1"):
            ESP([3], n_best=n_best)
