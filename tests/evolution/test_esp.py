"""Enforced SubPopulations: the oracle, assembly, selection, bursts, initial weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoke.esp import ESP
from evoke.exceptions import ParameterError
from helpers.subpopulations import assert_same, members_used, run, shapes, snapshot, sphere
from oracle.esp import SlowESP

# ---- the oracle


@pytest.mark.parametrize(
    "lengths, size, trials, patience, weight_ranges",
    [
        ([4, 4, 4], 8, 3, 2, [5.0, 5.0, 5.0]),
        ([1, 6, 3], 12, 2, 3, [1.0, 0.5, 20.0]),
        ([5], 2, 9, 1, [2.0]),
        ([2, 3], 3, 1, None, [5.0, 5.0]),
        ([300, 2], 5, 10, 2, [5.0, 5.0]),
    ],
)
@pytest.mark.parametrize("credit", ["best", "mean"])
@pytest.mark.parametrize("failures", [0.0, 0.2, 0.9])
@pytest.mark.parametrize("one_scale", [True, False])
def test_matches_the_oracle_bit_for_bit(lengths, size, trials, patience, weight_ranges, credit, failures, one_scale):
    scale, burst_scale = (
        value if one_scale else [value * (1 + i) for i in range(len(lengths))] for value in (0.3, 0.05)
    )
    slow = SlowESP(lengths, size, trials, scale, patience, burst_scale, credit, weight_ranges, seed=11)
    fast = ESP(
        lengths,
        subpopulation_size=size,
        n_trials=trials,
        mutation_scale=scale,
        burst_patience=patience,
        burst_scale=burst_scale,
        credit=credit,
        weight_range=weight_ranges,
        random_state=11,
    )
    rng = np.random.default_rng(3)
    for _ in range(12):
        genomes = fast.ask()
        expected = slow.networks()
        for i in range(len(lengths)):
            part = genomes[i] if isinstance(genomes, list) else genomes[:, i]
            np.testing.assert_array_equal(part, [network[i] for network in expected])
        fitness = np.round(rng.normal(size=size * trials), 1)  # rounded: there are ties
        failed = rng.random(size * trials) < failures
        fitness[failed] = rng.choice([np.nan, np.inf], failed.sum())
        fast.tell(fitness)
        slow.tell(fitness.tolist())

        for members, others in zip(fast.subpopulations, slow.subpopulations, strict=True):
            np.testing.assert_array_equal(members, others)
        assert (fast.generation, fast.stagnation, fast.bursts) == (slow.generation, slow.stagnation, slow.bursts)
        assert fast.best_fitness == slow.best_fitness
        assert (fast.best is None) == (slow.best is None)
        if slow.best is not None:
            for chromosome, other in zip(fast.best, slow.best, strict=True):
                np.testing.assert_array_equal(chromosome, other)
    if patience is not None:
        assert fast.bursts  # else the case would not cover them


# ---- assembly


@settings(deadline=None, max_examples=50)
@given(shapes)
def test_every_chromosome_is_used_n_trials_times_and_once_a_round(shape):
    esp = ESP(**shape)
    used = members_used(esp, esp.ask())
    size = esp.subpopulation_size
    rounds = np.sort(used.reshape(len(esp.lengths), esp.n_trials, size), axis=2)
    np.testing.assert_array_equal(rounds, np.broadcast_to(np.arange(size), rounds.shape))


def test_rounds_subpopulations_and_generations_are_shuffled_differently():
    esp = ESP([2, 2, 2], n_trials=3, random_state=0)
    orders = []
    for _ in range(3):
        used = members_used(esp, esp.ask())
        orders += [tuple(order) for order in used.reshape(-1, esp.subpopulation_size)]
        esp.tell(np.zeros(esp.n_networks))
    assert len(set(orders)) == 3 * 3 * 3


def test_equal_lengths_give_one_contiguous_array():
    esp = ESP([7, 7, 7], subpopulation_size=6, n_trials=4, random_state=0)
    genomes = esp.ask()
    assert genomes.shape == (24, 3, 7)
    assert genomes.dtype == np.float64
    assert genomes.flags.c_contiguous
    esp.tell(np.arange(24))
    np.testing.assert_array_equal(esp.best, genomes[0])


def test_unequal_lengths_give_one_array_per_subpopulation():
    esp = ESP([7, 2], subpopulation_size=6, n_trials=4, random_state=0)
    genomes = esp.ask()
    assert [part.shape for part in genomes] == [(24, 7), (24, 2)]
    esp.tell(np.arange(24)[::-1])
    for chromosome, part in zip(esp.best, genomes, strict=True):
        np.testing.assert_array_equal(chromosome, part[23])


def test_asking_again_gives_the_same_genomes_even_if_the_first_were_written_to():
    esp = ESP([3, 3], random_state=0)
    first = esp.ask()
    kept = first.copy()
    first[:] = 0.0
    np.testing.assert_array_equal(esp.ask(), kept)


@pytest.mark.parametrize("lengths", [[3, 3], [3, 1]])
def test_best_is_a_copy(lengths):
    esp = run(ESP(lengths, random_state=0), 1)
    for chromosome in esp.best:
        chromosome[:] = 0.0
    assert sphere([chromosome[np.newaxis] for chromosome in esp.best])[0] == pytest.approx(esp.best_fitness)


# ---- selection


@settings(deadline=None, max_examples=50)
@given(shapes, st.sampled_from(["best", "mean"]), st.data())
def test_selection_replaces_the_worst_quarter_by_changed_copies_of_the_top_quarter(shape, credit, data):
    esp = ESP(**shape, credit=credit, burst_patience=None)
    quarter = max(1, esp.subpopulation_size // 4)
    before = snapshot(esp)
    used = members_used(esp, esp.ask())
    seed = data.draw(st.integers(0, 2**32 - 1))
    fitness = np.random.default_rng(seed).normal(size=esp.n_networks)
    esp.tell(fitness)

    summary = np.min if credit == "best" else np.mean
    for old, new, networks in zip(before, esp.subpopulations, used, strict=True):
        scores = np.array([summary(fitness[networks == k]) for k in range(len(old))])
        ranking = np.argsort(scores, kind="stable")
        replaced = np.flatnonzero(np.any(old != new, axis=1))
        np.testing.assert_array_equal(replaced, np.sort(ranking[-quarter:]))
        assert np.all(new[ranking[-quarter:]] != old[ranking[:quarter]])  # the copies: every single weight changed


def test_copies_are_near_their_parents():
    esp = ESP([50], n_trials=1, mutation_scale=1e-3, random_state=0)
    before = snapshot(esp)[0]
    used = members_used(esp, esp.ask())[0]
    esp.tell(np.arange(40.0))  # one trial, so the order of the networks is the ranking
    shift = np.abs(esp.subpopulations[0][used[-10:]] - before[used[:10]])
    assert 0.5e-3 < np.median(shift) < 2e-3


@pytest.mark.parametrize("size, quarter", [(2, 1), (3, 1), (4, 1), (7, 1), (8, 2), (40, 10)])
def test_quarter_is_rounded_down_but_never_nothing(size, quarter):
    esp = ESP([2], subpopulation_size=size, random_state=0)
    before = snapshot(esp)[0]
    esp.ask()
    esp.tell(np.zeros(esp.n_networks))
    changed = np.any(esp.subpopulations[0] != before, axis=1)
    np.testing.assert_array_equal(np.flatnonzero(changed), np.arange(size - quarter, size))  # all tied: the last ones


def test_best_credit_forgives_a_failed_network_and_mean_credit_does_not():
    for credit, survives in (("best", True), ("mean", False)):
        esp = ESP([2], subpopulation_size=4, n_trials=2, credit=credit, random_state=0)
        used = members_used(esp, esp.ask())[0]
        fitness = np.ones(8)
        fitness[np.flatnonzero(used == 3)] = 0.0, np.nan
        before = snapshot(esp)[0][3]
        esp.tell(fitness)
        assert np.array_equal(esp.subpopulations[0][3], before) == survives


def test_nan_is_infinity():
    fitness = np.random.default_rng(0).normal(size=200)
    a, b = ESP([4, 4], random_state=0), ESP([4, 4], random_state=0)
    fitness[::3] = np.nan
    a.ask()
    a.tell(fitness)
    fitness[::3] = np.inf
    b.ask()
    b.tell(fitness)
    assert_same(a, b)


def test_tell_leaves_the_callers_fitness_alone():
    fitness = np.full(200, np.nan)
    esp = ESP([4, 4], random_state=0)
    esp.ask()
    esp.tell(fitness)
    assert np.all(np.isnan(fitness))


@pytest.mark.parametrize("credit", ["best", "mean"])
def test_overflowing_and_opposite_infinite_fitness_is_survived(credit):
    esp = ESP([2], subpopulation_size=4, n_trials=2, credit=credit, random_state=0)
    used = members_used(esp, esp.ask())[0]
    fitness = np.full(8, 1e308)
    fitness[used == 0] = -np.inf, np.inf
    fitness[used == 1] = 0.0
    before = snapshot(esp)[0]
    esp.tell(fitness)
    assert esp.best_fitness == 0.0
    # the worst of all is replaced; the means of most are infinite, and of these the last one is
    assert np.array_equal(esp.subpopulations[0][0], before[0]) == (credit == "mean")
    np.testing.assert_array_equal(esp.subpopulations[0][1], before[1])


def test_minus_infinity_is_no_fitness_that_stays_the_best_for_ever():
    esp = ESP([2], subpopulation_size=4, n_trials=2, random_state=0)
    genomes, fitness = esp.ask(), np.arange(8.0)
    fitness[0] = -np.inf
    esp.tell(fitness)
    np.testing.assert_array_equal(esp.best, genomes[1])
    assert esp.best_fitness == 1.0
    esp.take_in(genomes[0], -np.inf)
    assert esp.best_fitness == 1.0
    esp.judge_best_anew(-np.inf)
    assert esp.best is None and esp.best_fitness == np.inf


# ---- the best network and bursts


def test_best_is_kept_only_if_strictly_better():
    esp = ESP([2, 2], subpopulation_size=4, n_trials=1, random_state=0)
    first = esp.ask()
    esp.tell([3.0, 1.0, 1.0, 2.0])
    np.testing.assert_array_equal(esp.best, first[1])
    esp.ask()
    esp.tell([1.0, 1.0, 1.0, 1.0])
    np.testing.assert_array_equal(esp.best, first[1])
    third = esp.ask()
    esp.tell([1.0, 1.0, 0.5, np.nan])
    np.testing.assert_array_equal(esp.best, third[2])
    assert esp.best_fitness == 0.5


def test_nothing_told_is_no_best():
    esp = ESP([2, 2], random_state=0)
    assert esp.best is None
    assert esp.best_fitness == np.inf
    assert (esp.generation, esp.n_evaluations, esp.stagnation, esp.bursts) == (0, 0, 0, [])


def test_failed_networks_only_is_no_best_and_no_burst():
    esp = run(ESP([2, 2], burst_patience=2, random_state=0), 7, lambda genomes: np.full(len(genomes), np.nan))
    assert esp.best is None
    assert esp.best_fitness == np.inf
    assert esp.bursts == []
    assert (esp.generation, esp.stagnation, esp.n_evaluations) == (7, 7, 7 * 200)


def test_every_other_copy_may_keep_its_zeros():
    rng = np.random.default_rng(0)
    start = [rng.normal(size=(16, 9)) * (rng.random((16, 9)) < 0.5) for _ in range(2)]
    made = {}
    for keep in (False, True):
        esp = ESP([9, 9], subpopulation_size=16, n_trials=1, initial=start, keep_zeros=keep, random_state=0)
        esp.tell(sphere(esp.ask()))
        made[keep] = esp.subpopulations
    for before, plain, kept in zip(start, made[False], made[True], strict=True):
        new = np.flatnonzero((plain != before).any(axis=1))
        assert len(new) == 4
        assert (plain[new] != 0.0).all()
        sparse = [k for k in new if (kept[k] == 0.0).any()]
        assert len(sparse) == 2
        for k in new:
            was_there = kept[k] != 0.0
            np.testing.assert_array_equal(kept[k][was_there], plain[k][was_there])  # the noise is the same
            if k in sparse:
                assert any(((row == 0.0) == ~was_there).all() for row in before)


def test_keeping_zeros_is_part_of_the_state():
    esp = run(ESP([3, 3], keep_zeros=True, random_state=0), 2)
    other = ESP([3, 3], keep_zeros=True, random_state=1)
    other.load_state_dict(esp.state_dict())
    np.testing.assert_array_equal(esp.ask(), other.ask())
    with pytest.raises(ValueError, match="keep_zeros"):
        ESP([3, 3], random_state=0).load_state_dict(esp.state_dict())
    with pytest.raises(ParameterError, match="keep_zeros must be True or False, got 'no'"):
        ESP([3, 3], keep_zeros="no")


@pytest.mark.parametrize("lengths", [[3, 3], [3, 1]])
def test_burst_refills_around_the_best_network_and_keeps_it(lengths):
    esp = ESP(lengths, burst_patience=2, mutation_scale=1e-6, burst_scale=0.01, random_state=0)
    run(esp, 1)
    best = esp.best
    run(esp, 2, lambda genomes: np.full(esp.n_networks, 1e9))
    assert esp.bursts == [2]
    assert esp.stagnation == 0
    shifts = []
    for members, centre in zip(esp.subpopulations, best, strict=True):
        np.testing.assert_array_equal(members[0], centre)
        assert np.all(members[1:] != centre)
        shifts.append(np.abs(members[1:] - centre).ravel())
    assert 0.005 < np.median(np.concatenate(shifts)) < 0.02


def test_bursts_come_after_every_patience_generations_without_improvement():
    esp = ESP([2, 2], burst_patience=3, random_state=0)
    told = iter([5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 3, 3])
    stagnations = []
    for value in told:
        run(esp, 1, lambda genomes, value=value: np.full(len(genomes), float(value)))
        stagnations.append(esp.stagnation)
    assert stagnations == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 1]
    assert esp.bursts == [6, 9]


def test_no_patience_is_no_burst():
    esp = run(ESP([2, 2], burst_patience=None, random_state=0), 20, lambda genomes: np.zeros(len(genomes)))
    assert esp.bursts == []
    assert esp.stagnation == 19


def test_burst_scale_is_the_mutation_scale_unless_given():
    assert ESP([2], mutation_scale=0.7).burst_scale == 0.7
    assert ESP([2], mutation_scale=0.7, burst_scale=0.2).burst_scale == 0.2


def test_easy_problem_is_solved():
    esp = ESP([4, 4, 4], random_state=0)
    first = sphere(esp.ask()).min()
    run(esp, 150)
    assert esp.best_fitness < 1e-2 * first
    assert sphere(esp.best[np.newaxis])[0] == esp.best_fitness


# ---- initial weights


def test_initial_weights_fill_their_range():
    esp = ESP([50, 50, 20], weight_range=[0.5, 5.0, 20.0], random_state=0)
    for members, bound in zip(esp.subpopulations, [0.5, 5.0, 20.0], strict=True):
        assert np.all(np.abs(members) <= bound)
        assert members.min() < -0.95 * bound
        assert members.max() > 0.95 * bound
        assert abs(members.mean()) < 0.1 * bound


def test_the_best_can_be_judged_anew():
    esp = ESP([2, 2], subpopulation_size=4, n_trials=1, random_state=0)
    run(esp, 3)
    best, stagnation = esp.best, esp.stagnation
    esp.judge_best_anew(7)
    assert esp.best_fitness == 7.0 and esp.stagnation == stagnation
    np.testing.assert_array_equal(esp.best, best)
    esp.ask()
    esp.tell([8.0, 7.0, 6.5, 9.0])
    assert esp.best_fitness == 6.5 and not np.array_equal(esp.best, best)


@pytest.mark.parametrize("fitness", [np.inf, np.nan])
def test_a_best_network_that_fails_is_forgotten(fitness):
    esp = ESP([2, 2], subpopulation_size=4, n_trials=1, random_state=0)
    run(esp, 3)
    esp.judge_best_anew(fitness)
    assert esp.best is None and esp.best_fitness == np.inf
    other = ESP([2, 2], subpopulation_size=4, n_trials=1, random_state=1)
    other.load_state_dict(esp.state_dict())
    for one in (esp, other):
        run(one, 3)
    assert_same(esp, other)
    assert esp.best is not None


@pytest.mark.parametrize("fitness", [
    None, "a", "1", 1j, True, np.bool_(1), [1.0], np.zeros(2), np.zeros(1), 10**400, {},
], ids=lambda _: "")  # fmt: skip
def test_a_new_fitness_must_be_a_number(fitness):
    esp = ESP([2, 2], subpopulation_size=4, n_trials=1, random_state=0)
    run(esp, 3)
    before = esp.state_dict()
    with pytest.raises(ParameterError, match=r"^fitness must be a number, got "):
        esp.judge_best_anew(fitness)
    for name, value in esp.state_dict().items():
        np.testing.assert_array_equal(value, before[name])


@pytest.mark.parametrize("fitness", [7, 7.0, np.float32(7), np.int8(7)])
def test_a_new_fitness_may_be_any_number(fitness):
    esp = ESP([2, 2], subpopulation_size=4, n_trials=1, random_state=0)
    run(esp, 3)
    esp.judge_best_anew(fitness)
    assert esp.best_fitness == 7.0 and type(esp.best_fitness) is float


def test_without_a_best_network_none_can_be_judged_anew():
    esp = ESP([2, 2], subpopulation_size=4, n_trials=1, random_state=0)
    with pytest.raises(ValueError, match="no network has had a fitness below infinity"):
        esp.judge_best_anew(7)
    assert esp.best_fitness == np.inf
    esp.ask()
    esp.tell(np.full(4, np.nan))
    with pytest.raises(ValueError, match="no network has had a fitness below infinity"):
        esp.judge_best_anew(np.nan)


def test_the_first_chromosomes_of_each_subpopulation_come_from_where_it_is_said():
    given = np.arange(8.0).reshape(4, 2)
    settings = {"subpopulation_size": 4, "random_state": 3}
    drawn = ESP([3, 2, 5], **settings).subpopulations
    mixed = ESP([3, 2, 5], initial=[None, given, lambda generator, shape: generator.uniform(7, 8, shape)], **settings)
    np.testing.assert_array_equal(mixed.subpopulations[0], drawn[0])
    np.testing.assert_array_equal(mixed.subpopulations[1], given)
    assert ((mixed.subpopulations[2] >= 7) & (mixed.subpopulations[2] <= 8)).all()
    assert len(np.unique(mixed.subpopulations[2])) == 20


@pytest.mark.parametrize("name", ["mutation_scale", "burst_scale", "weight_range"])
@pytest.mark.parametrize("value, message", [
    ([0.1], "{} must be one number or one per subpopulation (2), got [0.1]"),
    ([0.1, 0.0], "{}[1] must be a positive finite number, got 0.0"),
    ([0.1, 1e200], "{}[1] must be at most 1e+100, got 1e+200"),
])  # fmt: skip
def test_scales_must_be_one_or_one_each(name, value, message):
    with pytest.raises(ParameterError) as error:
        ESP([2, 3], **{name: value})
    assert str(error.value) == message.format(name)


@pytest.mark.parametrize("scales", [{"mutation_scale": [0.1, 0.5]}, {"mutation_scale": 0.1, "burst_scale": [1, 2.0]}])
def test_a_state_has_the_scales_and_knows_others(scales):
    esp = run(ESP([2, 3], random_state=0, burst_patience=1, **scales), 5)
    again = ESP([2, 3], random_state=1, burst_patience=1, **scales)
    again.load_state_dict(esp.state_dict())
    assert_same(run(again, 5), run(esp, 5))
    name = [*scales][-1]
    with pytest.raises(ValueError, match=rf"state\['{name}'\] is .*, but this object has"):
        ESP([2, 3], burst_patience=1, **(scales | {name: 0.1})).load_state_dict(esp.state_dict())
