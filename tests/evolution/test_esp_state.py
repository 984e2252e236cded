"""Enforced SubPopulations: random numbers, saved states, bad input."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoke.esp import ESP
from helpers.subpopulations import assert_same, members_used, run, shapes, snapshot, sphere

# ---- randomness


def test_each_generation_and_subpopulation_draws_its_own_noise():
    esp = ESP([30, 30], burst_patience=2, mutation_scale=1.0, random_state=0)
    noises = []
    for _ in range(6):  # generations 2 and 4 end in a burst
        before = snapshot(esp)
        used = members_used(esp, esp.ask())
        best = esp.best
        fitness = np.arange(1.0, esp.n_networks + 1)
        esp.tell(fitness)
        for i, (old, new) in enumerate(zip(before, esp.subpopulations, strict=True)):
            if esp.bursts and esp.bursts[-1] == esp.generation - 1:
                noises.append(new[1] - best[i])
            else:
                scores = np.array([fitness[used[i] == k].min() for k in range(len(old))])
                ranking = np.argsort(scores)
                noises.append(new[ranking[-10]] - old[ranking[0]])
    assert esp.bursts == [2, 4]
    noises = np.array(noises)
    for k in range(len(noises)):
        for m in range(k):
            assert not np.any(np.isclose(noises[k], noises[m], rtol=1e-6, atol=0))


def test_subpopulations_start_different():
    a, b = ESP([30, 30], random_state=0).subpopulations
    assert not np.any(a == b)


def test_zero_is_a_seed_and_seeds_differ():
    assert_same(run(ESP([3, 3], random_state=0), 10), run(ESP([3, 3], random_state=0), 10))
    assert not np.any(ESP([3], random_state=0).subpopulations[0] == ESP([3], random_state=1).subpopulations[0])
    assert_same(ESP([3], random_state=np.int64(7)), ESP([3], random_state=7))


def test_none_is_a_fresh_seed_every_time():
    assert not np.any(ESP([3]).subpopulations[0] == ESP([3]).subpopulations[0])


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_drawn_from_once(make):
    source = make(3)
    a, b = ESP([3, 3], random_state=source), ESP([3, 3], random_state=source)
    assert not np.any(a.subpopulations[0] == b.subpopulations[0])
    run(a, 5)
    same = make(3)
    assert_same(a, run(ESP([3, 3], random_state=same), 5))
    ESP([3, 3], random_state=same)
    np.testing.assert_array_equal(source.uniform(size=3), same.uniform(size=3))


def test_seed_sequences_and_their_children():
    parent = np.random.SeedSequence(3)
    first, second = parent.spawn(2)
    a, b = ESP([3], random_state=first), ESP([3], random_state=second)
    assert not np.any(a.subpopulations[0] == b.subpopulations[0])
    assert_same(a, ESP([3], random_state=np.random.SeedSequence(3).spawn(1)[0]))
    assert parent.n_children_spawned == 2


def test_global_numpy_state_is_neither_read_nor_touched():
    np.random.seed(1)
    a = run(ESP([3, 3], random_state=0), 10)
    ESP([3, 3])
    np.testing.assert_array_equal(np.random.random(5), np.random.RandomState(1).random_sample(5))
    np.random.random(100)
    assert_same(a, run(ESP([3, 3], random_state=0), 10))


# ---- state


def stored(state):
    """The state as a file would give it back: scalars through JSON, arrays as they are."""
    scalars = json.loads(json.dumps({k: v for k, v in state.items() if not isinstance(v, np.ndarray)}))
    return scalars | {k: v.copy() for k, v in state.items() if isinstance(v, np.ndarray)}


@settings(deadline=None, max_examples=40)
@given(shapes, st.integers(0, 8), st.booleans(), st.sampled_from([None, 1, 2]))
def test_resumed_run_equals_the_straight_one(shape, n_before, between, patience):
    def fitness(genomes):
        return np.round(np.log(sphere(genomes)), 1)  # coarse, so that it stagnates

    straight = run(ESP(**shape, burst_patience=patience), n_before, fitness)
    genomes = straight.ask() if between else None
    state = stored(straight.state_dict())
    resumed = ESP(**(shape | {"random_state": None}), burst_patience=patience)
    resumed.load_state_dict(state)
    assert_same(straight, resumed)
    if between:
        straight.tell(fitness(genomes))
        resumed.tell(fitness(genomes))
    assert_same(run(straight, 5, fitness), run(resumed, 5, fitness))


def test_state_shares_nothing_with_the_object():
    esp = run(ESP([3, 3], burst_patience=1, random_state=0), 4, lambda genomes: np.ones(len(genomes)))
    state = esp.state_dict()
    kept = stored(state)
    other = ESP([3, 3], burst_patience=1)
    other.load_state_dict(state)
    for value in state.values():
        if isinstance(value, np.ndarray):
            value[:] = 0
    run(other, 2)
    again = ESP([3, 3], burst_patience=1)
    again.load_state_dict(kept)
    assert_same(esp, again)


def test_loading_replaces_a_pending_ask():
    fresh = ESP([3, 3], random_state=0)
    state = fresh.state_dict()
    busy = run(ESP([3, 3], random_state=1), 3)
    busy.ask()
    busy.load_state_dict(state)
    with pytest.raises(ValueError, match="before ask"):
        busy.tell(np.zeros(200))
    np.testing.assert_array_equal(busy.ask(), fresh.ask())


@pytest.mark.parametrize(
    "name, value",
    [
        ("lengths", [3, 4]),
        ("subpopulation_size", 41),
        ("n_trials", 4),
        ("mutation_scale", 0.2),
        ("burst_patience", None),
        ("burst_scale", 0.2),
        ("credit", "mean"),
        ("weight_range", [5.0, 1.0]),
    ],
)
def test_state_of_other_parameters_is_refused(name, value):
    other = ESP(**({"lengths": [3, 3]} | {name: value}))
    with pytest.raises(ValueError, match=name):
        ESP([3, 3]).load_state_dict(other.state_dict())


@pytest.mark.parametrize(
    "name, value, error",
    [
        ("weights", np.zeros(239), ValueError),
        ("weights", np.zeros((2, 120)), ValueError),
        ("best", np.zeros(5), ValueError),
        ("best", np.zeros(0), ValueError),
        ("best_fitness", np.nan, ValueError),
        ("best_fitness", np.inf, ValueError),
        ("bursts", np.zeros((2, 2), dtype=int), ValueError),
        ("generation", -1, ValueError),
        ("stagnation", -1, ValueError),
        ("generation", 1.5, TypeError),
        ("entropy", None, TypeError),
        ("entropy", -1, ValueError),
    ],
)
def test_impossible_state_is_refused_and_changes_nothing(name, value, error):
    esp = run(ESP([3, 3], random_state=0), 2)
    before = run(ESP([3, 3], random_state=0), 2)
    state = run(ESP([3, 3], random_state=1), 3).state_dict() | {name: value}
    with pytest.raises(error, match=name if name != "best_fitness" else "best"):
        esp.load_state_dict(state)
    assert_same(esp, before)


def test_missing_and_unknown_keys_are_named():
    state = ESP([3, 3]).state_dict()
    state["weight"] = state.pop("weights")
    with pytest.raises(ValueError, match=r"missing \['weights'\], unknown \['weight'\]"):
        ESP([3, 3]).load_state_dict(state)


# ---- bad input


def test_tell_before_ask_is_refused():
    esp = ESP([2])
    with pytest.raises(ValueError, match="before ask"):
        esp.tell(np.zeros(200))
    esp.ask()
    esp.tell(np.zeros(200))
    with pytest.raises(ValueError, match="before ask"):
        esp.tell(np.zeros(200))


@pytest.mark.parametrize("shape", [(), (199,), (200, 1), (5, 40)])
def test_fitness_of_another_shape_is_refused_and_can_be_told_again(shape):
    esp = ESP([2], random_state=0)
    esp.ask()
    with pytest.raises(ValueError, match=r"\(200,\)"):
        esp.tell(np.zeros(shape))
    esp.tell(np.zeros(200))
    assert esp.generation == 1


@pytest.mark.parametrize(
    "name, value, error",
    [
        ("lengths", [], ValueError),
        ("lengths", 3, ValueError),
        ("lengths", [[3, 3]], ValueError),
        ("lengths", [3, 0], ValueError),
        ("lengths", [3, 2.0], TypeError),
        ("subpopulation_size", 1, ValueError),
        ("subpopulation_size", 4.0, TypeError),
        ("n_trials", 0, ValueError),
        ("n_trials", True, TypeError),
        ("mutation_scale", 0.0, ValueError),
        ("mutation_scale", np.nan, ValueError),
        ("mutation_scale", "0.1", TypeError),
        ("burst_patience", 0, ValueError),
        ("burst_scale", np.inf, ValueError),
        ("credit", "max", ValueError),
        ("credit", None, ValueError),
        ("weight_range", -1.0, ValueError),
        ("weight_range", [1.0], ValueError),
        ("weight_range", [1.0, 0.0], ValueError),
        ("weight_range", None, TypeError),
        ("random_state", -1, ValueError),
        ("random_state", 1.0, TypeError),
        ("random_state", np.random, TypeError),
    ],
)
def test_bad_parameters_are_named(name, value, error):
    with pytest.raises(error, match=name):
        ESP(**({"lengths": [3, 3]} | {name: value}))


def test_parameters_after_lengths_are_keyword_only():
    with pytest.raises(TypeError):
        ESP([3, 3], 40)


@pytest.mark.parametrize(
    "name, value",
    [
        ("lengths", [10**12]), ("lengths", [10**30, 1]), ("subpopulation_size", 10**30), ("n_trials", 10**30),
        ("weight_range", 1e308), ("weight_range", [1.0, 1e101]), ("mutation_scale", 1e101), ("burst_scale", 1e308),
        ("credit", np.array([1.0, 2.0])), ("n_trials", 10**6), ("subpopulation_size", 10**6), ("lengths", [10**7] * 2),
    ],
)  # fmt: skip
def test_what_cannot_be_held_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        ESP(**({"lengths": [300, 300], "subpopulation_size": 40} | {name: value}))


@pytest.mark.parametrize(
    "fitness", ["x", {}, None, 1j, ["a"] * 4, [1.0, None, 2.0, 3.0], np.zeros(4, complex), [[1], [1, 2]]]
)
def test_fitness_that_is_not_numbers_is_refused_by_name(fitness):
    esp = ESP([2], subpopulation_size=4, n_trials=1)
    esp.ask()
    with pytest.raises(ValueError, match="fitness"):
        esp.tell(fitness)
    assert esp.generation == 0


@pytest.mark.parametrize("state", [None, 3, 1.5, True, "x", np.array(2)])
def test_state_that_is_no_mapping_is_refused(state):
    with pytest.raises(TypeError, match="state must be a mapping"):
        ESP([3, 3]).load_state_dict(state)


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_trials", True), ("asked", 10**30), ("asked", 2), ("bursts", [1.0, 2.0]), ("bursts", "x"), ("bursts", None),
        ("bursts", [10**30]), ("bursts", [-1]), ("bursts", np.inf), ("best_fitness", "x"), ("best_fitness", None),
        ("best_fitness", np.zeros(2)), ("best_fitness", 1j), ("best", "x"), ("weights", "x"),
        ("weights", np.zeros(24, complex)), ("entropy", np.zeros(2)), ("generation", [1, 2]), ("generation", 10**30),
        ("stagnation", "x"), ("lengths", "x"), ("credit", None), ("burst_patience", {}),
        ("weight_range", [[1], [1, 2]]), ("n_left_out", -1), ("n_left_out", 10**30), ("n_left_out", "x"),
    ],
)  # fmt: skip
def test_wrong_value_in_a_state_is_refused_by_its_key(name, value):
    parameters = {"lengths": [3, 3], "subpopulation_size": 4, "n_trials": 1}
    esp, before = run(ESP(**parameters, random_state=0), 2), run(ESP(**parameters, random_state=0), 2)
    with pytest.raises((ValueError, TypeError), match=rf"state\['{name}'\]"):
        esp.load_state_dict(esp.state_dict() | {name: value})
    assert_same(esp, before)


@pytest.mark.parametrize("name", ["mutation_scale", "burst_scale", "weight_range"])
def test_scales_in_single_precision(name):
    single, double = (run(ESP([3, 3], random_state=0, **{name: kind(0.5)}), 2) for kind in (np.float32, float))
    assert_same(single, double)


def test_weights_that_are_not_finite_are_refused():
    esp = ESP([3, 3], subpopulation_size=2, n_trials=1, random_state=0)
    state = esp.state_dict()
    state["weights"] = np.full_like(state["weights"], np.nan)
    with pytest.raises(ValueError, match="must be finite"):
        esp.load_state_dict(state)
