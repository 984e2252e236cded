"""CMA-ES: the oracle, what it finds, where it starts, restarts, fitness of every kind."""

import numpy as np
import pytest

from evoke import ESP
from evoke.cmaes import CMAES
from helpers.subpopulations import assert_same, run, sphere
from oracle.cmaes import SlowCMAES


def flat(genomes):
    return np.concatenate(genomes, axis=1) if isinstance(genomes, list) else genomes.reshape(len(genomes), -1)


def ellipsoid(genomes):
    x = flat(genomes)
    return np.sum(10.0 ** (6 * np.arange(x.shape[1]) / (x.shape[1] - 1)) * x**2, axis=1)


def turned_ellipsoid(genomes):
    x = flat(genomes)
    axes, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(x.shape[1],) * 2))
    return ellipsoid(x @ axes)


def rosenbrock(genomes):
    x = flat(genomes)
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


def rastrigin(genomes):
    x = flat(genomes) - 1.0
    return np.sum(10 + x**2 - 10 * np.cos(2 * np.pi * x), axis=1)


# ---- the oracle


@pytest.mark.parametrize("lengths, size", [([3, 3], 8), ([1, 4, 2], 9), ([2], 4), ([1], 5), ([40, 40], 15)])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("failures", [0.0, 0.3, 0.9])
def test_matches_the_oracle(lengths, size, covariance, failures):
    n, patience = sum(lengths), 3
    steps, start = [0.5 + i for i in range(len(lengths))], np.linspace(-1, 1, n)
    slow = SlowCMAES(n, size, np.repeat(steps, lengths), start, covariance == "diagonal", patience, 11)
    fast = CMAES(
        lengths, population_size=size, step_size=steps, initial=np.split(start, np.cumsum(lengths)[:-1]),
        covariance=covariance, restart_patience=patience, random_state=11,
    )  # fmt: skip
    rng = np.random.default_rng(3)
    for _ in range(40):
        genomes = flat(fast.ask())
        np.testing.assert_allclose(genomes, slow.networks(), rtol=1e-8, atol=1e-9)
        fitness = np.round(sphere(genomes), 1)  # rounded: there are ties
        failed = rng.random(size) < failures
        fitness[failed] = rng.choice([np.nan, np.inf], failed.sum())
        fast.tell(fitness)
        slow.tell(fitness)
        assert fast.bursts == slow.restarts
    assert fast.bursts or len(lengths) > 1  # else the case would not cover them


# ---- what it finds


@pytest.mark.parametrize(
    "fitness, covariance, lengths, optimum, n_generations",
    [
        (sphere, "full", [5, 5], 1.0, 300), (sphere, "diagonal", [60, 60], 1.0, 900),
        (ellipsoid, "full", [5, 5], 0.0, 600), (ellipsoid, "diagonal", [5, 3], 0.0, 600),
        (turned_ellipsoid, "full", [4, 4], 0.0, 600), (rosenbrock, "full", [3, 3], 1.0, 600),
    ],
)  # fmt: skip
def test_the_optimum_is_found(fitness, covariance, lengths, optimum, n_generations):
    search = run(CMAES(lengths, covariance=covariance, step_size=1.0, random_state=0), n_generations, fitness)
    np.testing.assert_allclose(np.concatenate(list(search.best)), optimum, rtol=0, atol=1e-6)
    assert search.best_fitness < 1e-10


def test_a_diagonal_does_not_learn_what_is_turned():
    full, diagonal = (
        run(CMAES([4, 4], covariance=covariance, random_state=0), 300, turned_ellipsoid).best_fitness
        for covariance in ("full", "diagonal")
    )
    assert full < 1e-9 < 1e-2 < diagonal


def test_many_weights_have_a_diagonal():
    assert CMAES([50, 50]).covariance == "full"
    assert CMAES([50, 51]).covariance == "diagonal"


# ---- where it starts


@pytest.mark.parametrize("lengths", [[300, 300], [300, 200]])
def test_the_first_networks_have_the_deviation_of_uniform_weights(lengths):
    search = CMAES(lengths, population_size=400, weight_range=[6.0, 0.3], random_state=0)
    for part, width in zip(np.split(flat(search.ask()), [300], axis=1), (6.0, 0.3), strict=True):
        assert part.mean() == pytest.approx(0.0, abs=0.01 * width)
        assert part.std() == pytest.approx(width / np.sqrt(3), rel=0.01)
    assert CMAES([440]).n_networks == 4 + 18


def test_it_starts_from_the_networks_of_another_search():
    esp = run(ESP([6, 6], random_state=0), 20)
    search = CMAES([6, 6], initial=esp.best, step_size=0.01, random_state=0)
    np.testing.assert_allclose(search.ask().mean(axis=0), esp.best, atol=0.02)
    assert run(search, 300).best_fitness < 1e-12 < esp.best_fitness
    part = CMAES([3, 2], initial=[None, [4.0, 5.0]], step_size=[1.0, 1e-9], random_state=0).ask()
    np.testing.assert_allclose(part[1], np.tile([4.0, 5.0], (len(part[1]), 1)), atol=1e-7)


# ---- asking and telling


def test_asking_again_gives_the_same_networks_even_if_the_first_were_written_to():
    for lengths in ([3, 3], [3, 1]):
        search = CMAES(lengths, random_state=0)
        first = search.ask()
        kept = flat(first).copy()
        for part in first:
            part[:] = 0.0
        np.testing.assert_array_equal(flat(search.ask()), kept)
        search.tell(-np.arange(search.n_networks))
        np.testing.assert_array_equal(np.concatenate(list(search.best)), kept[-1])
        assert search.best_fitness == 1 - search.n_networks


def test_equal_lengths_give_one_contiguous_array():
    genomes = CMAES([7, 7, 7], population_size=6).ask()
    assert genomes.shape == (6, 3, 7) and genomes.dtype == np.float64 and genomes.flags.c_contiguous
    assert [part.shape for part in CMAES([7, 2], population_size=6).ask()] == [(6, 7), (6, 2)]


def test_only_the_order_of_fitness_counts():
    a, b = (CMAES([3, 3], random_state=0) for _ in range(2))
    for _ in range(20):
        fitness = sphere(a.ask())
        a.tell(fitness)
        b.ask()
        b.tell(np.log(fitness))
    np.testing.assert_array_equal(a.ask(), b.ask())


def test_nan_is_infinity_and_the_callers_fitness_is_left_alone():
    a, b = (CMAES([3, 3], random_state=0) for _ in range(2))
    for k in range(10):
        fitness = sphere(a.ask())
        fitness[k % 7 :: 3] = np.nan
        kept = fitness.copy()
        a.tell(fitness)
        np.testing.assert_array_equal(fitness, kept)
        b.ask()
        b.tell(np.where(np.isnan(fitness), np.inf, fitness))
    assert_same(a, b)


def test_networks_that_all_fail_give_no_direction():
    search = CMAES([3, 3], restart_patience=4, random_state=0)
    before = search.state_dict()
    for failed in (np.inf, np.nan):
        for _ in range(4):
            search.ask()
            search.tell(np.full(search.n_networks, failed))
    assert search.best is None and search.bursts == []
    for name in ("mean", "sigma", "matrix"):
        np.testing.assert_array_equal(search.state_dict()[name], before[name])
    assert np.isfinite(run(search, 1).best_fitness)


def test_minus_infinity_is_a_network_that_failed():
    search = CMAES([2, 2], random_state=0)
    genomes, fitness = search.ask(), np.zeros(search.n_networks)
    fitness[0] = -np.inf
    search.tell(fitness)
    np.testing.assert_array_equal(search.best, genomes[1])
    assert search.best_fitness == 0.0


def test_networks_that_were_left_out_do_not_count():
    search = CMAES([2, 2], population_size=10, random_state=0)
    search.ask()
    search.tell(np.r_[np.zeros(7), [np.nan] * 3], n_evaluated=7)
    assert run(search, 2).n_evaluations == 27


def test_the_hall_has_the_best_of_all_generations():
    search, seen = CMAES([2, 2], n_best=5, random_state=0), []
    for _ in range(10):
        fitness = sphere(search.ask())
        seen += fitness.tolist()
        search.tell(fitness)
    assert search.hall_fitness == sorted(seen)[:5]
    np.testing.assert_allclose(sphere(np.stack(search.hall)), search.hall_fitness)


# ---- restarts


def test_it_starts_anew_with_twice_the_population_over_two_generations():
    search = CMAES([2, 2], population_size=6, restart_patience=1, random_state=0)
    first = search.state_dict()
    for generation in range(4):
        search.ask()
        search.tell(np.ones(6))
        # a population better than none, one that is not better, and then populations of two generations
        assert search.bursts == ([] if generation < 1 else [1])
    state = search.state_dict()
    assert state["updates"] == 1 and state["idle"] == 0 and search.stagnation == 2
    for name in ("sigma", "mean", "matrix"):
        assert np.array_equal(CMAES([2, 2], population_size=6).state_dict()[name], first[name])
    run(search, 2, lambda genomes: np.ones(len(genomes)))
    assert search.bursts == [1, 5] and search.n_networks == 6 and search.n_evaluations == 36


def test_restarts_leave_a_local_optimum():
    search = run(CMAES([3], random_state=0), 3000, rastrigin)
    assert search.bursts and search.best_fitness < 1e-9
    assert run(CMAES([3], restart_patience=None, random_state=0), 150, rastrigin).best_fitness > 0.5


def test_a_distribution_that_is_too_narrow_or_too_wide_starts_anew():
    narrow = run(CMAES([2], restart_patience=None, random_state=0), 400)
    wide = run(CMAES([2], restart_patience=None, random_state=0), 400, lambda genomes: flat(genomes)[:, 0])
    for search in (narrow, wide):
        assert search.bursts
        assert np.isfinite(flat(search.ask())).all()


# ---- another task


def test_another_fitness_of_the_best_network_forgets_what_was_low():
    search = run(CMAES([2, 2], restart_patience=5, random_state=0), 30)
    same, other = search.state_dict(), search.best_fitness
    search.judge_best_anew(other)
    np.testing.assert_equal(search.state_dict(), same)
    search.judge_best_anew(7.0)
    assert search.best_fitness == 7.0 and search.state_dict()["lowest"] == np.inf
    search.judge_best_anew(np.nan)
    assert search.best is None
