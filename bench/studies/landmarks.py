"""Machines on landmarks beside the exact least-squares machine: what they learn and how long they take.

    python bench/study.py landmarks [--json FILE] [--seeds 3] [--sets NAME;...] [--methods NAME;...] [--again]
                                    [--page-only]

All machines of a set have the same width and capacity, those that are best for the exact machine on 2,000 rows, except
for "by itself", which is `LandmarkLSSVC` or `LandmarkLSSVR` as a user would call it, and "separated", which is
`LandmarkSVC`. Landmarks are chosen by pivoted
Cholesky factorisation of 4 m rows, by k-means++ on 20 m rows, or are rows at equal distances. Prints tables. The exact
machine needs 3.2 GB for 20,000 rows; one seed is enough for that.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets

from evoke.svm import LSSVC, LSSVR, LandmarkLSSVC, LandmarkLSSVR, LandmarkSVC
from harness import core, measuring
from harness.report import markdown_table
from harness.results import FOLDER, LeftOut, Part, Results

RESULTS = FOLDER / "landmarks.json"
SIZES, LANDMARKS, N_TEST = (2000, 5000, 10_000, 20_000), (128, 256, 512), 5000
WIDTHS, CAPACITIES = (0.1, 0.3, 1.0, 3.0, 10.0), (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
LARGEST_WITH_SEEDS = 5000
CANDIDATES = 4  # rows that pivots are chosen from, for each landmark
CHOICES = ("pivoted Cholesky", "k-means++", "equal distances")


class Entry(NamedTuple):
    """A method, as a part of a study knows it."""

    package: str | None = None
    seeded: bool = True


class Split(NamedTuple):
    train: np.ndarray
    targets: np.ndarray
    test: np.ndarray
    expected: np.ndarray
    regression: bool


# ---------------------------------------------------------------------- data


def moons(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return datasets.make_moons(n, noise=0.3, random_state=seed)


def classification(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four classes of three clusters each; the clusters are the same for each seed, the rows are not."""
    X, y = datasets.make_classification(
        100_000, n_features=20, n_informative=8, n_redundant=4, n_classes=4, n_clusters_per_class=3, random_state=0
    )
    rows = np.random.default_rng(seed).permutation(len(X))[:n]
    return X[rows], y[rows]


def friedman(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return datasets.make_friedman1(n, n_features=10, noise=1.0, random_state=seed)


def prices(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Like prices of houses: around some centres in the plane, by income, age and rooms, with a long tail."""
    rng, places = np.random.default_rng(seed), np.random.default_rng(0)
    centres, sizes = places.uniform(-3.0, 3.0, (12, 2)), places.uniform(0.2, 0.8, 12)
    worth, at = places.lognormal(0.0, 0.5, 12), rng.integers(0, 12, n)
    place = centres[at] + sizes[at, np.newaxis] * rng.normal(size=(n, 2))
    income, age, rooms = rng.gamma(3.0, 1.0, n), rng.uniform(0.0, 50.0, n), rng.poisson(5.0, n)
    distances = ((place[:, np.newaxis] - centres) ** 2).sum(axis=2) / sizes**2
    near = (worth * np.exp(-0.5 * distances)).sum(axis=1)
    price = near * (1.0 + 0.3 * income) + 0.2 * income * np.log1p(rooms) - 0.004 * age * income
    noise = rng.normal(scale=0.15, size=n)
    return np.column_stack([place, income, age, rooms]), price * np.exp(noise)


@cache
def digits(n: int, seed: int) -> Split:
    """Images moved by a pixel at most; those of the test are of other digits."""
    X, y = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    sides = []
    for rows in order[:1297], order[1297:]:
        images = X[rows].reshape(-1, 8, 8)
        moved = [np.roll(images, (i, j), (1, 2)).reshape(-1, 64) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        mixed = np.random.default_rng(seed + 1).permutation(9 * len(rows))
        sides += [np.concatenate(moved)[mixed], np.tile(y[rows], 9)[mixed]]
    if n > len(sides[0]):
        raise LeftOut(f"there are {len(sides[0])} rows to train on")
    return Split(sides[0][:n], sides[1][:n], sides[2], sides[3], False)


SETS = {"moons": moons, "classification": classification, "friedman1": friedman, "prices": prices, "digits": digits}
REGRESSION = ("friedman1", "prices")


@cache
def split(name: str, n: int, seed: int) -> Split:
    """Rows to train on and to test by, scaled; values of regression in units of their deviation."""
    if name == "digits":
        found = digits(n, seed)
    else:
        X, y = SETS[name](n + N_TEST, seed)
        found = Split(X[:n], y[:n], X[n:], y[n:], name in REGRESSION)
    mean, deviation = found.train.mean(axis=0), found.train.std(axis=0)
    deviation = np.where(deviation > 0.0, deviation, 1.0)
    found = found._replace(train=(found.train - mean) / deviation, test=(found.test - mean) / deviation)
    if not found.regression:
        return found
    mean, deviation = found.targets.mean(), found.targets.std()
    return found._replace(targets=(found.targets - mean) / deviation, expected=(found.expected - mean) / deviation)


# ---------------------------------------------------------------------- machines


@cache
def pair(name: str) -> tuple[float, float]:
    """gamma and C with which the exact machine is best on 2,000 rows."""
    data = split(name, 2000, 100)
    mean = 2.0 * data.train.var(axis=0).sum()
    machine = LSSVR if data.regression else LSSVC
    grid = [(width / mean, C) for width in WIDTHS for C in CAPACITIES]
    return max(grid, key=lambda each: machine(gamma=each[0], C=each[1]).fit(*data[:2]).score(*data[2:4]))


def places(data: Split, choice: str, m: int, gamma: float, seed: int) -> np.ndarray:
    n = len(data.train)
    if choice == "pivoted Cholesky":
        n_candidates = min(n, CANDIDATES * m)
        return core.pivots(data.train[np.arange(n_candidates) * n // n_candidates], m, gamma)
    if choice == "k-means++":
        return core.spread(data.train, m, seed)
    return data.train[np.arange(m) * n // m]


def score_of(decisions: np.ndarray, data: Split) -> float:
    """R^2, or the share of correct labels of one machine for each class."""
    if data.regression:
        return float(1.0 - ((decisions[:, 0] - data.expected) ** 2).mean() / data.expected.var())
    return float((decisions.argmax(axis=1) == data.expected).mean())


def measure(of: str, method: str, seed: int) -> dict[str, Any]:
    name, rows = of.split()
    n = int(rows)
    if n > LARGEST_WITH_SEEDS and method == "exact" and seed > 0:
        raise LeftOut("one seed is enough for the exact machine on so many rows")
    data, (gamma, C) = split(name, n, seed), pair(name)
    if method == "separated" and data.regression:
        raise LeftOut("there are no classes")
    begin = time.process_time()
    if method in ("exact", "by itself", "separated"):
        if method == "exact":
            model = (LSSVR if data.regression else LSSVC)(gamma=gamma, C=C)
        elif method == "separated":
            model = LandmarkSVC(random_state=seed)
        else:
            model = (LandmarkLSSVR if data.regression else LandmarkLSSVC)(random_state=seed)
        model.fit(data.train, data.targets)
        seconds = time.process_time() - begin
        return {"score": float(model.score(data.test, data.expected)), "seconds": seconds}
    m, choice = method.split(maxsplit=1)
    if int(m) >= n:
        raise LeftOut(f"{m} landmarks are all of the rows")
    chosen = places(data, choice, int(m), gamma, seed)
    targets = data.targets[:, np.newaxis]
    if not data.regression:
        targets = np.where(targets == np.arange(targets.max() + 1), 1.0, -1.0)
    decide = core.train_on_landmarks(data.train, targets, chosen, gamma, C)
    seconds = time.process_time() - begin
    return {"score": score_of(decide(data.test), data), "seconds": seconds}


METHODS = {
    "exact": Entry(), "by itself": Entry(), "separated": Entry(),
    **{f"{m} {choice}": Entry() for m in LANDMARKS for choice in CHOICES},
    "2048 k-means++": Entry(),
}  # fmt: skip
PARTS = {"landmarks": Part(tuple(f"{name} {n}" for name in SETS for n in SIZES), METHODS, measure)}


# ---------------------------------------------------------------------- tables


def median(runs: list[dict[str, Any]], of: str, method: str, key: str) -> float | None:
    values = [run[key] for run in runs if run["set"] == of and run["method"] == method and key in run]
    return float(np.median(values)) if values else None


def points(runs: list[dict[str, Any]], of: str, method: str) -> str:
    """By how many points more than the exact machine has: the median over seeds, with the least and the most."""
    scores = {(run["seed"], run["method"]): run["score"] for run in runs if run["set"] == of and "score" in run}
    gains = [100.0 * (score - scores[seed, "exact"]) for (seed, which), score in scores.items()
             if which == method and (seed, "exact") in scores]  # fmt: skip
    return f"{np.median(gains):+.2f} ({min(gains):+.2f} to {max(gains):+.2f})" if gains else "-"


def tables(results: Results) -> str:
    runs = results.of("landmarks")
    accuracy, seconds = [], []
    for of in PARTS["landmarks"].sets:
        exact = median(runs, of, "exact", "score")
        if exact is None:
            continue
        shown = [method for method in METHODS if method != "exact"]
        gains = {each: points(runs, of, each) for each in shown}
        accuracy.append({"set": of, "exact": f"{100.0 * exact:.2f}", **gains})
        seconds.append({"set": of, **{each: median(runs, of, each, "seconds") or "-" for each in METHODS}})
    return f"{markdown_table(accuracy)}\n\n{markdown_table(seconds)}"


def main(arguments: list[str] | None = None) -> None:
    options = measuring.parse(measuring.make_parser(__doc__, RESULTS), arguments)
    measuring.measure_parts(PARTS, PARTS, options)
    print(tables(Results(options.json)))


if __name__ == "__main__":
    main()
