"""Engines and a fitness for them."""

import numpy as np
from hypothesis import strategies as st

shapes = st.fixed_dictionaries(
    {
        "lengths": st.lists(st.integers(1, 6), min_size=1, max_size=4),
        "subpopulation_size": st.integers(2, 20),
        "n_trials": st.integers(1, 6),
        "random_state": st.integers(0, 2**40),
    }
)


def sphere(genomes):
    """An easy fitness: the squared distance of all weights of a network from 1."""
    if isinstance(genomes, list):
        genomes = np.concatenate(genomes, axis=1)
    return np.sum((genomes.reshape(len(genomes), -1) - 1.0) ** 2, axis=1)


def run(esp, n_generations, fitness=sphere):
    for _ in range(n_generations):
        esp.tell(fitness(esp.ask()))
    return esp


def snapshot(esp):
    return [members.copy() for members in esp.subpopulations]


def assert_same(a, b):
    """Two objects in the same state, bit for bit."""
    a, b = a.state_dict(), b.state_dict()
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def members_used(esp, genomes):
    """Index of the chromosome that each network took from each subpopulation, (n_subpopulations, n_networks)."""
    parts = genomes if isinstance(genomes, list) else list(np.moveaxis(genomes, 1, 0))
    used = []
    for members, part in zip(esp.subpopulations, parts, strict=True):
        same = np.all(part[:, np.newaxis] == members, axis=2)
        assert np.all(same.sum(axis=1) == 1)
        used.append(same.argmax(axis=1))
    return np.array(used)
