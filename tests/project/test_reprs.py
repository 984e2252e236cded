"""Objects that people print say what they are and how far they have got."""

import numpy as np
import pytest

from evoke import CMAES, ESP, EvokeClassifier, EvokeForecaster, EvokeRegressor, tasks

TINY = {"n_generations": 1, "n_cells": 2, "subpopulation_size": 8, "random_state": 0}


def test_streams():
    X, y = tasks.anbncn(4)
    stream = EvokeClassifier(**TINY).fit(X, y).stream()
    assert repr(stream) == "<ClassifierStream of 4 features, 1 network of 2 cells, nothing read>"
    stream.predict(X[0])
    stream.step(X[1][0])
    assert repr(stream).endswith(f", {len(X[0]) + 1} steps read>")
    stream.reset()
    sum(1 for _ in stream.repeat(X[0][1:2], 10**6))
    assert repr(stream).endswith(", 1000000 steps read>")
    x = np.random.default_rng(0).normal(size=(12, 6, 1))
    stream = EvokeRegressor(**TINY, n_networks=3).fit(x, x[:, 0, 0]).stream()
    assert repr(stream) == "<Stream of 1 feature, 3 networks of 2 cells, nothing read>"


def test_streams_of_series():
    y = tasks.superimposed_sines(2, 60)
    stream = EvokeForecaster(**TINY).fit(y).stream()
    assert repr(stream) == "<SeriesStream of 1 value a step, 2 cells, nothing read>"
    stream.step(y[0])
    assert repr(stream).endswith(", 1 step read>")
    stream = EvokeForecaster(**TINY).fit(np.stack([y, y], axis=1), X=y[:, None]).stream()
    assert repr(stream) == "<SeriesStream of 2 values a step beside 1 external input, 2 cells, nothing read>"


@pytest.mark.parametrize("kind", [ESP, CMAES])
def test_engines(kind):
    engine = kind((8, 8, 1), random_state=0)
    name = kind.__name__
    start = f"<{name} of chromosomes: 2 of 8 numbers and 1 of 1 number; "
    assert repr(engine) == start + "0 generations, no fitness yet>"
    n = engine.n_networks
    engine.ask()
    engine.tell(np.arange(n) + 1.5)
    assert repr(engine) == start + "1 generation, best fitness 1.5>"


def test_several_engines():
    X, y = tasks.anbncn(3)
    model = EvokeClassifier(**TINY, n_islands=2).fit(X, y)
    start = "<Islands of chromosomes: 2 of 24 numbers; 1 generation, best fitness "
    assert repr(model.fitted_.run.esp).startswith(start)


def test_displays():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from evoke import plot

    record = {"generation": 1, "burst": False, "best_fitness": 1.0, "generation_best": 1.0, "generation_median": 2.0,
              "train_error": 0.5, "validation_error": 0.5}  # fmt: skip
    display = plot.HistoryDisplay(history=[record])
    assert repr(display) == "<HistoryDisplay of history: 1 item; not drawn>"
    display.plot(ax=Figure())
    assert repr(display) == "<HistoryDisplay of history: 1 item; drawn>"
    display = plot.PredictionDisplay(predicted=np.zeros((9, 1)), true=None, names=["y"])
    assert repr(display) == (
        "<PredictionDisplay of predicted: array (9, 1), names: 1 item, steps: False, per_sequence: False; not drawn>"
    )
