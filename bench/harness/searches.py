"""What the study `searches` compares: ESP, CMA-ES, a local search and random networks, on equally many networks.

All are asked by the same estimators, so that problem, readout and test are the same. Networks begin uniform in the
range that the estimator has, but for CMA-ES, which begins with their mean and deviation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, tasks
from evoke.engine import Engine
from evoke.reproduce import anbncn_parameters, sines_parameters
from evoke.tasks import SINES_SPLIT
from harness import core, narma
from harness.results import Part

BUDGETS = (400, 1200, 3000)
MOST_STRINGS = 10_000  # networks after which a search that has not learned the strings is given up
LIMIT = 1000  # all strings up to this n are to be accepted
N_STEPS = 500


class Drawn(Engine):
    """Networks drawn evenly from the range, in every generation anew."""

    n_networks = 20

    def __init__(self, lengths: tuple[int, ...], weight_range: float, random_state: Any):
        super().__init__(lengths, 1, random_state)
        self.weight_range = weight_range
        self.genomes: np.ndarray | None = None

    def ask(self) -> Any:
        self.genomes = self.propose(np.random.Generator(self._stream(0, 0)))
        return self._joined(self.parts())

    def propose(self, generator: np.random.Generator) -> np.ndarray:
        shape = (self.n_networks, sum(self.lengths))
        return generator.uniform(-self.weight_range, self.weight_range, shape)

    def parts(self) -> list[np.ndarray]:
        return np.split(self.genomes, np.cumsum(self.lengths)[:-1], axis=1)

    @property
    def _is_asked(self) -> bool:
        return self.genomes is not None

    def _told(self) -> Any:
        return np.tile(np.arange(self.n_networks), (len(self.lengths), 1)), self.parts()

    def _advance(self, fitness: np.ndarray) -> None:
        self.genomes = None

    def _parameters(self) -> dict[str, Any]:
        return {}

    def _own_state(self) -> dict[str, Any]:
        return {}

    def _check_own(self, state: Any, counts: Any) -> None:
        return None

    def _load_own(self, own: Any, is_asked: bool) -> None:
        self.genomes = None


class Local(Drawn):
    """After 100 networks that are drawn, normal steps from the best so far, longer after each success.

    The step grows by a half when one of 20 networks is better, and shrinks by a tenth when none is.
    """

    n_drawn = 100

    def __init__(self, lengths: tuple[int, ...], weight_range: float, random_state: Any):
        super().__init__(lengths, weight_range, random_state)
        self.step = 0.1 * weight_range

    def propose(self, generator: np.random.Generator) -> np.ndarray:
        if self.generation * self.n_networks < self.n_drawn or self.best is None:
            return super().propose(generator)
        centre = np.concatenate(list(self.best))
        return centre + self.step * generator.standard_normal((self.n_networks, len(centre)))

    def _advance(self, fitness: np.ndarray) -> None:
        super()._advance(fitness)
        if self.generation * self.n_networks >= self.n_drawn:
            self.step *= 1.5 if self.stagnation == 0 else 0.9


@dataclass(frozen=True)
class Search:
    """`make` makes the engine of an estimator, in place of its own; `parameters` are those of the estimator."""

    parameters: dict[str, Any]
    make: Callable[..., Engine] | None = None
    package: str | None = None
    seeded: bool = True


METHODS = {
    "ESP": Search({}), "CMA-ES": Search({"search": "cmaes"}), "local": Search({}, Local), "random": Search({}, Drawn),
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """`pose(seed)` gives an estimator, what it is fitted to, and its error on a test; `most` networks are judged."""

    pose: Callable[[int], tuple[Any, tuple[Any, ...], Callable[[Any], float]]]
    error: str
    most: int = BUDGETS[-1]


def sines(readout: str) -> Callable[[int], Any]:
    def pose(_seed: int) -> Any:
        y = tasks.superimposed_sines(2, SINES_SPLIT.test_end)
        known, test = np.split(y, [SINES_SPLIT.validation_end])

        def error(model: Any) -> float:
            with np.errstate(over="ignore"):
                return float(((model.generate(len(test)) - test) ** 2).sum())

        parameters = sines_parameters("tuned", readout, 2)
        return EvokeForecaster(**parameters, washout=SINES_SPLIT.washout, validation="half"), (known,), error

    return pose


def strings(_seed: int) -> Any:
    model = EvokeClassifier(**anbncn_parameters("tuned", "svm"))
    return model, tasks.anbncn(10), lambda fitted: float(LIMIT - tasks.anbncn_accepted(fitted, LIMIT))


def signs(seed: int) -> Any:
    """Whether a leaky sum of the first of three columns of noise is positive, at every step."""
    rng = np.random.default_rng(seed)
    X, total, y = rng.standard_normal((3 * N_STEPS, 3)), 0.0, np.empty(3 * N_STEPS, dtype=int)
    for t, x in enumerate(X):
        total = 0.9 * total + x[0]
        y[t] = total > 0.0

    def error(model: Any) -> float:
        return float((model.predict(X) != y)[N_STEPS:].mean())

    return EvokeClassifier(readout="svm"), (X[:N_STEPS], y[:N_STEPS]), error


def narma_steps(seed: int) -> Any:
    u, y = narma.series(seed)

    def error(model: Any) -> float:
        return float(tasks.nrmse(y[narma.N_TRAIN :], model.predict(u)[narma.N_TRAIN :]))

    return EvokeRegressor(readout="svm"), (u[:N_STEPS], y[:N_STEPS]), error


TASKS = {
    "two sines, pinv": Task(sines("pinv"), "SSE of the free run"),
    "two sines, lssvm": Task(sines("lssvm"), "SSE of the free run"),
    "a^n b^n c^n": Task(strings, "strings not accepted", MOST_STRINGS),
    "signs of sums": Task(signs, "share of wrong decisions"),
    "NARMA-10": Task(narma_steps, "NRMSE"),
}


class Watch:
    """A callback that notes fitness and test error where budgets are spent, and ends a run that needs no more."""

    def __init__(self, task: Task, error: Callable[[Any], float]):
        self.task, self.test = task, error
        self.fitness: list[float | None] = []
        self.error: list[float | None] = []
        self.learned: int | None = None

    @contextmanager
    def watch(self, run: Any) -> Iterator[Callable[[dict[str, Any], Engine], bool]]:
        lowest = np.inf

        def look(record: dict[str, Any], esp: Engine) -> bool:
            nonlocal lowest
            n = record["n_evaluations"]
            # the strings are tested where all decisions on the shorter ones are right
            is_worth_it = self.task.most == MOST_STRINGS and self.learned is None
            if is_worth_it and record["best_fitness"] < min(1.0, lowest) and self.test(run.model()) == 0.0:
                self.learned = n
            lowest = record["best_fitness"]
            # a budget is spent by the generation that comes nearest to it
            while len(self.fitness) < len(BUDGETS) and n + esp.n_networks / 2 > BUDGETS[len(self.fitness)]:
                self.fitness.append(finite(lowest))
                self.error.append(finite(self.error_of(run.model())))
            return len(self.fitness) == len(BUDGETS) and (self.learned is not None or n >= self.task.most)

        yield look

    def error_of(self, model: Any) -> float:
        try:
            return self.test(model)
        except (FloatingPointError, ValueError):  # a free run that diverges, a model without a network
            return np.inf


def finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def measure(name: str, method: str, seed: int) -> dict[str, Any]:
    task, search = TASKS[name], METHODS[method]
    model, data, error = task.pose(seed)
    watch = Watch(task, error)
    model.set_params(**search.parameters, random_state=seed, callbacks=[watch], n_generations=10**4)
    begin = time.perf_counter()
    with core.searched_by(search.make):
        model.fit(*data)
    made = {"fitness": watch.fitness, "error": watch.error, "seconds": time.perf_counter() - begin}
    return made | ({"networks": watch.learned} if task.most == MOST_STRINGS else {})


SEARCHES = Part(tuple(TASKS), METHODS, measure)
