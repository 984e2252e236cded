"""ESP once more, one chromosome and one weight at a time: the specification that `evoke.esp` must meet bit for bit.

Only the sources of chance are shared: the key of each stream, NumPy's draws, and the core's tan(pi x) (checked
against NumPy's tangent in test_mutation.py).
"""

import math

import numpy as np

from evoke._core import dispatch

INITIAL, ASSEMBLY, MUTATION, BURST = 0, 1, 2, 3


class SlowESP:
    def __init__(self, lengths, size, trials, scale, patience, burst_scale, credit, weight_ranges, seed):
        self.lengths, self.size, self.trials, self.credit, self.seed = lengths, size, trials, credit, seed
        self.patience = patience
        self.scales, self.burst_scales = (
            value if isinstance(value, list) else [value] * len(lengths) for value in (scale, burst_scale)
        )
        self.generation, self.stagnation, self.bursts = 0, 0, []
        self.best, self.best_fitness = None, math.inf
        self.subpopulations = []
        for i, (length, bound) in enumerate(zip(lengths, weight_ranges, strict=True)):
            rng = self.rng(INITIAL, i)
            self.subpopulations.append([[rng.uniform(-bound, bound) for _ in range(length)] for _ in range(size)])

    def rng(self, purpose, subpopulation):
        key = (purpose, self.generation, subpopulation)
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=key)))

    def teams(self):
        """For each network, the index of its chromosome in every subpopulation."""
        rngs = [self.rng(ASSEMBLY, i) for i in range(len(self.lengths))]
        teams = []
        for _ in range(self.trials):
            shuffled = [rng.permutation(self.size) for rng in rngs]
            for k in range(self.size):
                teams.append([int(order[k]) for order in shuffled])
        return teams

    def networks(self):
        """For each network, its chromosomes."""
        return [
            [list(members[k]) for members, k in zip(self.subpopulations, team, strict=True)] for team in self.teams()
        ]

    def tell(self, fitness):
        fitness = [math.inf if math.isnan(f) else f for f in fitness]
        networks, teams = self.networks(), self.teams()

        self.stagnation += 1
        for f, network in zip(fitness, networks, strict=True):
            if f < self.best_fitness:
                self.best_fitness, self.best, self.stagnation = f, network, 0

        if self.best is not None and self.patience is not None and self.stagnation >= self.patience:
            self.subpopulations = [self.around(centre, i) for i, centre in enumerate(self.best)]
            self.bursts.append(self.generation)
            self.stagnation = 0
        else:
            for i, members in enumerate(self.subpopulations):
                scores = [
                    self.score([f for f, team in zip(fitness, teams, strict=True) if team[i] == k])
                    for k in range(self.size)
                ]
                self.breed(members, scores, i)
        self.generation += 1

    def score(self, shares):
        assert len(shares) == self.trials
        if self.credit == "best":
            return min(shares)
        total = 0.0
        for share in shares:  # one by one: sum() of floats is compensated from Python 3.12 on
            total += share
        return total / len(shares)

    def breed(self, members, scores, i):
        quarter = max(1, self.size // 4)
        ranking = sorted(range(self.size), key=lambda k: (scores[k], k))
        rng = self.rng(MUTATION, i)
        children = [self.noisy(members[k], self.scales[i], rng) for k in ranking[:quarter]]
        for child, place in zip(children, ranking[self.size - quarter :], strict=True):
            members[place] = child

    def around(self, centre, i):
        rng = self.rng(BURST, i)
        return [list(centre)] + [self.noisy(centre, self.burst_scales[i], rng) for _ in range(self.size - 1)]

    @staticmethod
    def noisy(chromosome, scale, rng):
        return [w + scale * float(dispatch.apply("tanpi", [rng.random() - 0.5 + 2.0**-54])[0]) for w in chromosome]
