"""Methods on superimposed sines: how well do they continue alone for 300 steps?"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVR

from evoke import EvokeForecaster, tasks
from evoke.reproduce import sines_parameters
from evoke.tasks import SINES_SPLIT
from harness import peer
from harness.report import Report, Settings

WAVES = (2, 5)
WINDOW = 40
NOTE = f"""The result is the sum of squared errors over the steps {SINES_SPLIT.validation_end + 1} to
{SINES_SPLIT.test_end}, generated without looking at them; less is better. All methods know the
{SINES_SPLIT.validation_end} steps before. The echo state network (reservoirpy, 300 units) is tuned by a random search
over spectral radius, leak, input scale and ridge, as its guide recommends: it learns the first 400 steps and is judged
on the next 300, which it generates, with the mean of two seeds. The seconds do not include the tuning. A sum of K sines
obeys a linear recurrence of 2 K values, so the linear window of {WINDOW} values is exact, and evolution cannot beat it.
With five waves evoke's support vector machines take minutes per run and are left out."""
N_CANDIDATES = 30
UNITS = 300


def measure(settings: Settings) -> Report:
    report = Report()
    for waves in WAVES[:1] if settings.quick else WAVES:
        methods = {name: entry for name, entry in METHODS.items() if name.endswith(f", {waves} waves")}
        title = f"{waves} superimposed sines: squared error of the free run"
        report.tables.append(peer.table(__name__, title, NOTE, methods, settings.quick, min))
    return report


def data(waves: int) -> tuple[np.ndarray, np.ndarray]:
    return np.split(tasks.superimposed_sines(waves, SINES_SPLIT.test_end), [SINES_SPLIT.validation_end])


def error(test: np.ndarray, generated: np.ndarray) -> float | None:
    """None where the run diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        value = float(((np.ravel(generated) - test) ** 2).sum())
    return value if np.isfinite(value) else None


def evolved(readout: str, waves: int, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    known, test = data(waves)
    parameters = sines_parameters("tuned", readout, waves)
    if quick:
        parameters |= {"n_generations": 1, "subpopulation_size": 4, "n_trials": 1}
    runs = []
    for seed in seeds:
        model = EvokeForecaster(**parameters, washout=SINES_SPLIT.washout, random_state=seed)
        made, _ = peer.timed(seed, lambda m=model: m.fit(known))
        try:
            result = error(test, model.generate(len(test)))
        except FloatingPointError:
            result = None
        runs.append(made | {"result": result})
    return runs, peer.size_of(model)


def linear(waves: int, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    known, test = data(waves)
    made, values = peer.timed(
        seeds[0], lambda: tasks.linear_window(np.concatenate([known, test]), len(known), len(test), WINDOW)
    )
    return [made | {"result": error(test, values)}], WINDOW


def window(waves: int, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    """Support vector regression on the last WINDOW values, with C, epsilon and gamma chosen by the last 300 known."""
    known, test = data(waves)

    def fit(values, C, epsilon, gamma):
        rows = np.lib.stride_tricks.sliding_window_view(values, WINDOW)
        return SVR(C=C, epsilon=epsilon, gamma=gamma, max_iter=200_000).fit(rows[:-1], values[WINDOW:])

    def free(machine, values, n):
        values = list(values[-WINDOW:])
        for _ in range(n):
            values.append(machine.predict([values[-WINDOW:]])[0])
        return np.array(values[WINDOW:])

    def choose():
        grid = [(1e3, 1e-3, 1e-2)] if quick else list(itertools.product((1e2, 1e4), (1e-3, 1e-5), (1e-3, 1e-2)))
        split = SINES_SPLIT.train_end
        judged = [error(known[split:], free(fit(known[:split], *p), known[:split], len(known) - split)) for p in grid]
        return grid[int(np.argmin([np.inf if e is None else e for e in judged]))]

    parameters = choose()
    made, machine = peer.timed(seeds[0], lambda: fit(known, *parameters))
    return [made | {"result": error(test, free(machine, known, len(test)))}], peer.size_of_machine(machine)


def echo_state(waves: int, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    known, test = data(waves)
    rng = np.random.default_rng(0)
    split = SINES_SPLIT.train_end

    def judge(parameters):
        runs = (echo(known[:split], len(known) - split, seed, **parameters) for seed in (1000, 1001))
        errors = [error(known[split:], values) for values in runs]
        return np.mean([np.inf if e is None else e for e in errors])

    candidates = [
        {"sr": 10.0 ** rng.uniform(-0.7, 0.2), "lr": 10.0 ** rng.uniform(-1.0, 0.0),
         "input_scaling": 10.0 ** rng.uniform(-1.5, 0.5), "ridge": 10.0 ** rng.uniform(-12.0, -2.0)}
        for _ in range(1 if quick else N_CANDIDATES)
    ]  # fmt: skip
    parameters = min(candidates, key=judge)
    runs = []
    for seed in seeds:
        made, generated = peer.timed(seed, lambda s=seed: echo(known, len(test), s, **parameters))
        runs.append(made | {"result": error(test, generated)})
    # non-zero weights of the reservoir and of its input at the default connectivity, and the trained readout
    return runs, round(0.1 * UNITS * (UNITS + 1)) + UNITS + 1


def echo(known: np.ndarray, n: int, seed: int, *, ridge: float, **settings: float) -> np.ndarray:
    """The next n values, generated by a network that has learnt `known`."""
    from reservoirpy.nodes import Reservoir, Ridge

    reservoir, readout = Reservoir(UNITS, seed=seed, **settings), Ridge(ridge=ridge)
    states = reservoir.run(known[:-1, None])
    readout.fit(states[SINES_SPLIT.washout :], known[SINES_SPLIT.washout + 1 :, None])
    value, values = known[-1:, None], []
    for _ in range(n):
        value = np.atleast_2d(readout.run(reservoir.run(value)))
        values.append(value[0, 0])
    return np.array(values)


METHODS: dict[str, tuple[peer.Method, int, str | None]] = {
    f"{name}, {waves} waves": (partial(function, waves), n_seeds, package)
    for waves in WAVES
    for name, function, n_seeds, package in (
        ("evoke", partial(evolved, "svm"), 3, None),
        ("evoke, least squares", partial(evolved, "lssvm"), 5, None),
        ("PI-Evolino", partial(evolved, "pinv"), 5, None),
        ("echo state network", echo_state, 5, "reservoirpy"),
        ("SVM on 40 values", window, 1, None),
        ("linear window of 40 values", linear, 1, None),
    )
    if waves == 2 or name != "evoke"  # minutes per run
}
