"""Methods on a^n b^n c^n: trained on n = 1..10, how far do they generalise?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from evoke import EvokeClassifier, tasks
from evoke.reproduce import PRESETS
from harness import peer
from harness.report import Report, Settings

N_MAX, TEST_MAX = 10, 1000
NOTE = f"""The result is the largest m such that every string n = 1..m is accepted, up to {TEST_MAX:,}; more is better.
Trained on n = 1..{N_MAX}; evoke and PI-Evolino (`readout="pinv"`) train their readouts on the first half of them and
evolve on all. A window shows a machine only the last steps, so it must fail where the next symbol depends on earlier
ones. MB is the largest memory of the process, libraries included. Parameters are the numbers that a model decides by.
The LSTMs trained by gradient are described in `bench/harness/gradient.py`; the seeds of the classic one are trained
together, and each counts an equal share of the time."""


def measure(settings: Settings) -> Report:
    title = f"a^n b^n c^n, trained on n = 1..{3 if settings.quick else N_MAX}: strings accepted"
    return Report([peer.table(__name__, title, NOTE, METHODS, settings.quick, max)])


def evolved(preset: str, readout: str, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    X, y = tasks.anbncn(3 if quick else N_MAX)
    parameters = PRESETS[preset] | {"readout": readout} | ({"n_generations": 1} if quick else {})
    runs = []
    for seed in seeds:
        made, model = peer.timed(seed, lambda s=seed: EvokeClassifier(**parameters, random_state=s).fit(X, y))
        runs.append(made | {"result": tasks.anbncn_accepted(model, TEST_MAX)})
    return runs, peer.size_of(model)


class Window:
    """A support vector machine for each output that sees the last `width` steps, zeros before the start."""

    def __init__(self, width: int):
        self.width = width

    def rows(self, x: np.ndarray) -> np.ndarray:
        before = np.concatenate([np.zeros((self.width - 1, x.shape[1])), x])
        return np.lib.stride_tricks.sliding_window_view(before, self.width, axis=0).reshape(len(x), -1)

    def fit(self, X: list[np.ndarray], y: list[np.ndarray]) -> Window:
        rows, labels = np.concatenate([self.rows(x) for x in X]), np.concatenate(y)
        self.machines = [SVC(C=100.0).fit(rows, column) for column in labels.T]
        return self

    def decision_function(self, X: list[np.ndarray]) -> list[np.ndarray]:
        return [np.column_stack([m.decision_function(self.rows(x)) for m in self.machines]) for x in X]


def window(width: int, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    X, y = tasks.anbncn(3 if quick else N_MAX)
    made, model = peer.timed(seeds[0], lambda: Window(width).fit(X, y))
    size = sum(map(peer.size_of_machine, model.machines))
    return [made | {"result": tasks.anbncn_accepted(model, 3 * N_MAX)}], size


def gradient(name: str, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    from harness import gradient

    return getattr(gradient, name)(seeds, quick)


METHODS: dict[str, tuple[peer.Method, int, str | None]] = {
    "evoke, tuned": (partial(evolved, "tuned", "svm"), 10, None),
    "evoke, paper": (partial(evolved, "paper", "svm"), 10, None),
    "evoke, least squares": (partial(evolved, "tuned", "lssvm"), 10, None),
    "PI-Evolino, tuned": (partial(evolved, "tuned", "pinv"), 10, None),
    "PI-Evolino, paper": (partial(evolved, "paper", "pinv"), 10, None),
    "LSTM by gradient, classic": (partial(gradient, "classic"), 5, "torch"),
    "LSTM by gradient, modern": (partial(gradient, "modern"), 5, "torch"),
    "SVM on 5 steps": (partial(window, 5), 1, None),
    "SVM on 31 steps": (partial(window, 31), 1, None),
}
