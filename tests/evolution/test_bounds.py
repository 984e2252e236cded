"""Bounds of ESP and CMA-ES: nothing leaves them, what is inside keeps its bits, states keep them."""

import numpy as np
import pytest

from evoke import CMAES, ESP
from evoke.bounds import Bounds
from evoke.persistence.values import decode, encode

LENGTHS = [3, 3]
LOWER = np.array([[-1.0, 0.5, -np.inf], [-0.1, -2.0, 3.0]])
UPPER = np.array([[1.0, 0.6, 2.0], [0.1, np.inf, 9.0]])


def esp(**parameters):
    return ESP(LENGTHS, **{"subpopulation_size": 8, "n_trials": 2, "mutation_scale": 1.0, "burst_patience": 2,
                           "random_state": 0, **parameters})  # fmt: skip


def cmaes(**parameters):
    return CMAES(LENGTHS, **{"random_state": 0, **parameters})


BOTH = pytest.mark.parametrize("make", [esp, cmaes])


def evolved(search, n, target=0.0):
    seen = []
    for _ in range(n):
        genomes = search.ask()
        seen.append(genomes)
        search.tell(np.sum((genomes - target) ** 2, axis=(1, 2)))
    return np.concatenate(seen)


@BOTH
def test_no_network_leaves_them(make):
    search = make(bounds=(LOWER, UPPER))
    genomes = evolved(search, 40, target=50.0)
    assert (genomes >= LOWER).all() and (genomes <= UPPER).all()
    assert len(search.bursts) > 0 or make is cmaes
    wall = np.isfinite(UPPER)
    on_it = genomes[:, wall] == UPPER[wall]
    assert on_it.mean() < 0.01  # mirrored, not heaped up
    near = genomes[-64:][:, 0, 0].max()
    assert near > 0.9  # though the best place is there


@BOTH
def test_bounds_that_are_never_met_change_no_bit(make):
    plain, bounded = make(), make(bounds=(-1e90, 1e90))
    np.testing.assert_array_equal(evolved(plain, 20), evolved(bounded, 20))
    np.testing.assert_array_equal(plain.best, bounded.best)
    assert "lower" not in plain.state_dict()


@BOTH
@pytest.mark.parametrize("form", [
    lambda side: side, lambda side: side.ravel(), lambda side: side.tolist(), list,
])  # fmt: skip
def test_forms(make, form):
    np.testing.assert_array_equal(
        evolved(make(bounds=(form(LOWER), form(UPPER))), 5), evolved(make(bounds=[LOWER, UPPER]), 5)
    )


def test_lengths_that_differ():
    search = ESP([2, 1], subpopulation_size=4, bounds=([[0.0, -1.0], [2.0]], 4.0), random_state=0)
    for _ in range(5):
        first, second = search.ask()
        assert (first >= [0.0, -1.0]).all() and (second >= 2.0).all() and max(first.max(), second.max()) <= 4.0
        search.tell(np.arange(len(first)))
    with pytest.raises(ValueError, match=r"bounds\[0\] must be a number, one for each of 3 weights"):
        ESP([2, 1], bounds=([[0.0], [2.0, 1.0]], 4.0))


def test_mirrors():
    box = Bounds.of(([0.0, 0.0, -np.inf, -1e100], [1.0, np.inf, 5.0, 1e100]), (4,))
    found = box.mirror(np.array([
        [0.25, 7.0, -3.0, 0.0], [-0.25, -7.0, 7.0, 1.5e100], [1.25, 1.0, 5.0, -1e100], [2.25, 0.0, 1e300, 1e300],
        [-0.75, -1e308, 1e308, -1e308], [1e300, 1.0, 1.0, 1.0],
    ]))  # fmt: skip
    np.testing.assert_allclose(found[:3], [
        [0.25, 7.0, -3.0, 0.0], [0.25, 7.0, 3.0, 0.5e100], [0.75, 1.0, 5.0, -1e100],
    ])  # fmt: skip
    np.testing.assert_array_equal(found[3:5, 0], [0.25, 0.75])
    assert (found >= box.lower).all() and (found <= box.upper).all()


@BOTH
@pytest.mark.parametrize("bounds, message", [
    (3.0, r"bounds must be None or a pair \(lower, upper\), got 3.0"),
    ((0.0, 1.0, 2.0), "bounds must be None or a pair"),
    ((1.0, 0.0), r"bounds must be below each other, but those of weight 0 are not"),
    ((UPPER, UPPER), "below each other, but those of weight 0"),
    ((np.nan, 0.0), r"bounds\[0\] must not be NaN"),
    ((0.0, 1e200), r"bounds\[1\] must be infinite or within 1e\+100"),
    ((0.0, [1.0, 2.0]), r"bounds\[1\] must be a number, one for each of 6 weights"),
    ((0.0, "1"), r"bounds\[1\] must hold real numbers"),
])  # fmt: skip
def test_what_are_no_bounds(make, bounds, message):
    with pytest.raises(ValueError, match=message):
        make(bounds=bounds)


def test_a_start_outside_is_refused():
    chromosomes = [np.zeros((8, 3)), np.full((8, 3), 0.5)]
    message = r"initial\[1\] must be within the bounds -0.2 and 0.2 at row 0, weight 0, got 0.5"
    with pytest.raises(ValueError, match=message):
        esp(bounds=(-0.2, 0.2), initial=chromosomes)
    with pytest.raises(ValueError, match=r"initial\[0\] must be within"):
        esp(bounds=(-0.2, 0.2), initial=lambda generator, shape: np.ones(shape))
    with pytest.raises(ValueError, match=r"weight_range must reach into the bounds 7 and 8 of weight 0 .* initial"):
        esp(bounds=(7.0, 8.0))
    assert (esp(bounds=(7.0, 8.0), initial=[np.full((8, 3), 7.5)] * 2).ask() == 7.5).all()
    with pytest.raises(ValueError, match=r"initial must be within the bounds -0.2 and 0.2 at weight 3, got 0.5"):
        cmaes(bounds=(-0.2, 0.2), initial=[[0.0, 0, 0], [0.5, 0, 0]])
    assert (cmaes(bounds=(7.0, 8.0), step_size=1e-3).ask() < 7.1).all()  # begins where it is nearest to 0


def test_a_network_from_outside_is_not_taken_in():
    search = esp(bounds=(-1.0, 1.0))
    search.tell(np.arange(len(search.ask())))
    with pytest.raises(ValueError, match=r"network\[0\] must be within the bounds"):
        search.take_in(np.full((2, 3), 2.0), 0.0)
    search.take_in(np.full((2, 3), 0.5), -5.0)
    assert (search.best == 0.5).all()


@BOTH
def test_states_keep_them(make):
    straight, search = (make(bounds=(LOWER, UPPER)) for _ in range(2))
    evolved(straight, 12)
    evolved(search, 5)
    other = make(bounds=(LOWER, UPPER), random_state=9)
    other.load_state_dict(search.state_dict())
    arrays = {}
    restored = decode(encode(search, "search", arrays), arrays)
    for each in (other, restored):
        evolved(each, 7)
        np.testing.assert_array_equal(each.best, straight.best)
    with pytest.raises(ValueError, match="wrong keys"):
        make().load_state_dict(search.state_dict())
    with pytest.raises(ValueError, match="this object has"):
        make(bounds=(-9.0, 9.0)).load_state_dict(search.state_dict())
    outside = {**search.state_dict(), "best": np.full(6, 1.5)}
    with pytest.raises(ValueError, match=r"state\['best'\] must be within the bounds"):
        search.load_state_dict(outside)


def test_a_state_with_chromosomes_outside_is_refused():
    search = esp(bounds=(-1.0, 1.0))
    state = search.state_dict()
    with pytest.raises(ValueError, match=r"state\['weights'\]\[0\] must be within the bounds -1 and 1 at row 0"):
        search.load_state_dict({**state, "weights": state["weights"] + 3.0})


# ---- what is infinite


@BOTH
def test_told_minus_infinity_a_state_is_as_good_as_the_search(make):
    search, other = make(), make()
    for _ in range(3):
        fitness = np.sum(search.ask() ** 2, axis=(1, 2))
        fitness[0] = -np.inf
        search.tell(fitness)
    assert np.isfinite(search.best_fitness)
    other.load_state_dict(search.state_dict())
    np.testing.assert_array_equal(evolved(other, 5), evolved(search, 5))


@BOTH
def test_a_state_with_minus_infinity_is_refused(make):
    """No network could ever be better: the search would burst, or start anew, for ever."""
    search = make()
    evolved(search, 2)
    state = search.state_dict()
    for name in ("best_fitness", "lowest"):
        if name in state:
            with pytest.raises(ValueError, match=rf"state\['{name}'\] must not be NaN or -infinity"):
                search.load_state_dict({**state, name: -np.inf})
    if make is cmaes:
        large = cmaes(restart_patience=1)
        for _ in range(40):
            large.tell(np.zeros(len(large.ask())))
        state = large.state_dict()
        assert len(state["fitness"]) > 0  # half of a population that has doubled
        with pytest.raises(ValueError, match=r"state\['fitness'\] must not have NaN or -infinity"):
            large.load_state_dict({**state, "fitness": np.full_like(state["fitness"], -np.inf)})
    evolved(search, 2)
