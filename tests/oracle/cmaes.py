"""CMA-ES once more, as in Hansen's tutorial (2016), with NumPy's linear algebra: what `evoke.cmaes` must agree with.

The sampling factor is Cholesky's, and the path of the step size is that of the numbers before it (Krause et al. 2016).
Only the normal numbers are shared, which are rounded to multiples of 2^-32.
"""

import numpy as np


class SlowCMAES:
    def __init__(self, n, size, steps, start, diagonal, patience, seed):
        self.n, self.base, self.steps, self.start = n, size, np.asarray(steps), np.asarray(start)
        self.diagonal, self.patience, self.seed = diagonal, patience, seed
        self.generation, self.restarts = 0, []
        self.begin()

    def begin(self):
        n = self.n
        self.size = self.base * 2 ** min(9, len(self.restarts))
        self.mean, self.sigma, self.C = self.start.copy(), 1.0, np.eye(n)
        self.p_sigma, self.p_c, self.updates = np.zeros(n), np.zeros(n), 0
        self.numbers, self.fitness = np.empty((0, n)), []
        self.best, self.idle = np.inf, 0

        lam = self.size
        mu = lam // 2
        raw = np.log((lam + 1) / 2) - np.log(np.arange(1, lam + 1))
        good, bad = raw[:mu], raw[mu:]
        self.mu_eff = good.sum() ** 2 / (good**2).sum()
        mu_eff_bad = bad.sum() ** 2 / (bad**2).sum()
        more = (n + 2) / 3 if self.diagonal else 1
        self.c_1 = min(1, more * 2 / ((n + 1.3) ** 2 + self.mu_eff))
        mass = 0.25 + self.mu_eff + 1 / self.mu_eff - 2
        self.c_mu = min(1 - self.c_1, more * 2 * mass / ((n + 2) ** 2 + self.mu_eff))
        if self.diagonal:
            self.c_sigma = self.mu_eff**0.5 / (n**0.5 + self.mu_eff**0.5)
        else:
            self.c_sigma = (self.mu_eff + 2) / (n + self.mu_eff + 5)
        self.d_sigma = 1 + 2 * max(0, ((self.mu_eff - 1) / (n + 1)) ** 0.5 - 1) + self.c_sigma
        self.c_c = (4 + self.mu_eff / n) / (n + 4 + 2 * self.mu_eff / n)
        alpha = 0.0
        if self.c_mu > 0:
            alpha = min(
                1 + self.c_1 / self.c_mu, 1 + 2 * mu_eff_bad / (self.mu_eff + 2),
                (1 - self.c_1 - self.c_mu) / (n * self.c_mu),
            )  # fmt: skip
        self.w = np.concatenate([good / good.sum(), alpha * bad / -bad.sum()])

    def draw(self):
        stream = np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(0, self.generation, 0)))
        return np.round(np.random.Generator(stream).standard_normal((self.base, self.n)) * 2**32) / 2**32

    def networks(self):
        return self.mean + self.sigma * self.steps * (self.draw() @ np.linalg.cholesky(self.C).T)

    def tell(self, fitness):
        self.numbers, self.fitness = np.concatenate([self.numbers, self.draw()]), [*self.fitness, *fitness]
        if len(self.fitness) == self.size:
            self.update()
        self.generation += 1

    def update(self):
        fitness = np.nan_to_num(self.fitness, nan=np.inf, posinf=np.inf)
        order = np.argsort(fitness, kind="stable")
        self.idle = 0 if fitness.min() < self.best or self.best == np.inf else self.idle + 1
        self.best = min(self.best, fitness.min())
        if fitness.min() < np.inf:
            self.learn(self.numbers[order])
        self.numbers, self.fitness = np.empty((0, self.n)), []
        if self.idle >= self.patience:
            self.restarts.append(self.generation)
            self.begin()

    def learn(self, z):
        n, w, mu = self.n, self.w, self.size // 2
        A = np.linalg.cholesky(self.C)
        y = z @ A.T
        y_w = w[:mu] @ y[:mu]
        self.mean = self.mean + self.sigma * self.steps * y_w
        self.updates += 1
        c = self.c_sigma
        self.p_sigma = (1 - c) * self.p_sigma + (c * (2 - c) * self.mu_eff) ** 0.5 * np.linalg.solve(A, y_w)
        expected = n**0.5 * (1 - 1 / (4 * n) + 1 / (21 * n**2))
        length = np.linalg.norm(self.p_sigma)
        h = length / (1 - (1 - c) ** (2 * self.updates)) ** 0.5 < (1.4 + 2 / (n + 1)) * expected
        c = self.c_c
        self.p_c = (1 - c) * self.p_c + h * (c * (2 - c) * self.mu_eff) ** 0.5 * y_w
        w_o = np.where(w >= 0, w, w * n / np.sum(z**2, axis=1))
        rest = 1 + self.c_1 * (1 - h) * c * (2 - c) - self.c_1 - self.c_mu * w.sum()
        C = rest * self.C + self.c_1 * np.outer(self.p_c, self.p_c) + self.c_mu * (y.T * w_o) @ y
        self.C = np.diag(np.diag(C)) if self.diagonal else C
        self.sigma *= np.exp(min(1, self.c_sigma / self.d_sigma * (length / expected - 1)))
