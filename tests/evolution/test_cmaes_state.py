"""CMA-ES: random numbers, saved states, bad input."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoke.cmaes import CMAES
from helpers.subpopulations import assert_same, run, sphere

shapes = st.fixed_dictionaries(
    {
        "lengths": st.lists(st.integers(1, 6), min_size=1, max_size=4),
        "population_size": st.integers(4, 12),
        "covariance": st.sampled_from(["full", "diagonal"]),
        "restart_patience": st.sampled_from([1, 3, None]),
        "n_best": st.sampled_from([1, 4]),
        "random_state": st.integers(0, 2**40),
    }
)


def coarse(genomes):
    return np.round(np.log(sphere(genomes)), 0)  # so that it stagnates


def stored(state):
    """The state as a file would give it back: scalars through JSON, arrays as they are."""
    scalars = json.loads(json.dumps({k: v for k, v in state.items() if not isinstance(v, np.ndarray)}))
    return scalars | {k: v.copy() for k, v in state.items() if isinstance(v, np.ndarray)}


# ---- randomness


def test_zero_is_a_seed_and_seeds_differ():
    assert_same(run(CMAES([3, 3], random_state=0), 10), run(CMAES([3, 3], random_state=0), 10))
    assert not np.any(CMAES([3], random_state=0).ask() == CMAES([3], random_state=1).ask())
    assert not np.any(CMAES([3]).ask() == CMAES([3]).ask())
    assert_same(CMAES([3], random_state=np.int64(7)), CMAES([3], random_state=7))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_drawn_from_once(make):
    source, same = make(3), make(3)
    a = run(CMAES([3, 3], random_state=source), 5)
    assert_same(a, run(CMAES([3, 3], random_state=same), 5))
    np.testing.assert_array_equal(source.uniform(size=3), same.uniform(size=3))


def test_global_numpy_state_is_neither_read_nor_touched():
    np.random.seed(1)
    a = run(CMAES([3, 3], random_state=0), 10)
    CMAES([3, 3])
    np.testing.assert_array_equal(np.random.random(5), np.random.RandomState(1).random_sample(5))
    assert_same(a, run(CMAES([3, 3], random_state=0), 10))


def test_every_generation_draws_its_own_numbers():
    search = CMAES([200], population_size=4, random_state=0)
    genomes = []
    for _ in range(4):
        genomes += [*search.ask()[:, 0]]
        search.tell(np.full(4, np.inf))  # the distribution stays
    correlations = np.corrcoef(genomes) - np.eye(16)
    assert np.abs(correlations).max() < 0.3


# ---- state


@settings(deadline=None, max_examples=60)
@given(shapes, st.integers(0, 14), st.booleans())
def test_resumed_run_equals_the_straight_one(shape, n_before, between):
    straight = run(CMAES(**shape), n_before, coarse)
    genomes = straight.ask() if between else None
    copied, state = copy.deepcopy(straight), stored(straight.state_dict())
    resumed = CMAES(**(shape | {"random_state": None}))
    resumed.load_state_dict(state)
    assert_same(straight, resumed)
    if between:
        for search in (straight, resumed, copied):
            search.tell(coarse(genomes))
    run(straight, 9, coarse)
    assert_same(straight, run(resumed, 9, coarse))
    assert_same(straight, run(copied, 9, coarse))


def test_a_population_is_resumed_in_its_midst():
    search = run(CMAES([2, 2], population_size=6, restart_patience=1, random_state=0), 3, lambda x: np.ones(len(x)))
    assert len(search.state_dict()["fitness"]) == 6  # half of a population of twelve
    resumed = CMAES([2, 2], population_size=6, restart_patience=1)
    resumed.load_state_dict(stored(search.state_dict()))
    assert_same(run(search, 5), run(resumed, 5))


def test_state_shares_nothing_with_the_object():
    search = run(CMAES([3, 3], random_state=0), 4)
    state = search.state_dict()
    kept = stored(state)
    other = CMAES([3, 3])
    other.load_state_dict(state)
    for value in state.values():
        if isinstance(value, np.ndarray):
            value[:] = 0
    again = CMAES([3, 3])
    again.load_state_dict(kept)
    assert_same(run(other, 2), run(again, 2))
    assert_same(run(search, 2), again)


@pytest.mark.parametrize(
    "name, value",
    [
        ("lengths", [3, 4]), ("population_size", 41), ("covariance", "diagonal"), ("restart_patience", None),
        ("restart_patience", 4), ("step_size", 0.2), ("initial", [[1.0, 2.0, 3.0], None]),
    ],
)  # fmt: skip
def test_state_of_other_parameters_is_refused(name, value):
    other = CMAES(**({"lengths": [3, 3]} | {name: value}))
    with pytest.raises(ValueError, match=name):
        CMAES([3, 3]).load_state_dict(other.state_dict())


@pytest.mark.parametrize(
    "name, value",
    [
        ("mean", np.zeros(5)), ("mean", np.full(6, np.nan)), ("mean", "x"), ("mean", np.zeros((2, 3))),
        ("path_sigma", np.zeros(7)), ("path_c", np.full(6, np.inf)), ("matrix", np.eye(6)), ("matrix", np.zeros(36)),
        ("matrix", -np.eye(6).ravel()), ("matrix", np.zeros(6)), ("sigma", 0.0), ("sigma", -1.0), ("sigma", np.nan),
        ("sigma", np.inf), ("sigma", "x"), ("sigma", None), ("sigma", np.ones(2)), ("lowest", np.nan),
        ("lowest", "x"), ("lowest", np.zeros(2)), ("idle", -1), ("idle", 10**30), ("updates", "x"), ("updates", -1),
        ("updates", 4), ("fitness", np.zeros(9)), ("fitness", np.zeros(3)), ("fitness", "x"), ("fitness", None),
        ("asked", 2), ("generation", -1), ("generation", 10**30), ("entropy", -1), ("bursts", [-1]), ("bursts", "x"),
        ("best", np.zeros(5)), ("best_fitness", np.nan), ("n_left_out", 10**30), ("stagnation", -1), ("lengths", "x"),
        ("covariance", None), ("restart_patience", {}), ("population_size", True),
    ],
)  # fmt: skip
def test_impossible_state_is_refused_by_its_key_and_changes_nothing(name, value):
    search, before = (run(CMAES([3, 3], random_state=0), 3) for _ in range(2))
    with pytest.raises((ValueError, TypeError), match=rf"state\['{name}'\]"):
        search.load_state_dict(search.state_dict() | {name: value})
    assert_same(search, before)


def test_missing_and_unknown_keys_are_named():
    state = CMAES([3, 3]).state_dict()
    state["average"] = state.pop("mean")
    with pytest.raises(ValueError, match=r"missing \['mean'\], unknown \['average'\]"):
        CMAES([3, 3]).load_state_dict(state)


def test_loading_replaces_a_pending_ask():
    fresh = CMAES([3, 3], random_state=0)
    busy = run(CMAES([3, 3], random_state=1), 3)
    busy.ask()
    busy.load_state_dict(fresh.state_dict())
    with pytest.raises(ValueError, match="before ask"):
        busy.tell(np.zeros(9))
    np.testing.assert_array_equal(busy.ask(), fresh.ask())


# ---- bad input


@pytest.mark.parametrize("shape", [(), (8,), (9, 1)])
def test_fitness_of_another_shape_is_refused_and_can_be_told_again(shape):
    search = CMAES([6], random_state=0)
    with pytest.raises(ValueError, match="before ask"):
        search.tell(np.zeros(9))
    search.ask()
    with pytest.raises(ValueError, match=r"\(9,\)"):
        search.tell(np.zeros(shape))
    search.tell(np.zeros(9))
    assert search.generation == 1


@pytest.mark.parametrize(
    "name, value, error",
    [
        ("lengths", [], ValueError), ("lengths", [3, 0], ValueError), ("lengths", [10**12], ValueError),
        ("population_size", 3, ValueError), ("population_size", 4.0, TypeError),
        ("population_size", 10**30, ValueError), ("weight_range", 0.0, ValueError), ("weight_range", [1.0], ValueError),
        ("step_size", -1.0, ValueError),
        ("step_size", [1.0, np.inf], ValueError), ("step_size", "x", TypeError), ("initial", [[0.0] * 3], ValueError),
        ("initial", [[0.0] * 3, [0.0] * 2], ValueError), ("initial", [[0.0] * 3, [np.nan] * 3], ValueError),
        ("initial", 3.0, ValueError), ("covariance", "sparse", ValueError), ("covariance", None, ValueError),
        ("restart_patience", 0, ValueError), ("restart_patience", "never", TypeError), ("n_best", 0, ValueError),
        ("random_state", -1, ValueError), ("random_state", 1.0, TypeError),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(name, value, error):
    with pytest.raises(error, match=name):
        CMAES(**({"lengths": [3, 3]} | {name: value}))


def test_a_matrix_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="covariance must be 'diagonal' for 20000 weights"):
        CMAES([10**4] * 2, covariance="full")
    assert CMAES([10**4] * 2).covariance == "diagonal"


def test_parameters_after_lengths_are_keyword_only():
    with pytest.raises(TypeError):
        CMAES([3, 3], 40)
