"""A network as an automaton with counters."""

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, tasks
from evoke.exceptions import ParameterError
from evoke.plot import AutomatonDisplay
from evoke.reproduce import PRESETS

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def model():
    return EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))


def test_states_and_transitions_of_a_tuned_model(model):
    display = AutomatonDisplay.from_estimator(model, "anbncn")
    nodes, edges = display.machine.nodes, display.machine.edges
    states = [f"{node.symbol}:{''.join(node.accepted)}" for node in nodes]
    assert states == ["S:a", "a:ab", "b:b", "b:c", "c:c", "c:T"]
    found = {f"{states[edge.source]} {edge.symbol} {states[edge.target]}" for edge in edges}
    assert found == {
        "S:a a a:ab", "a:ab a a:ab", "a:ab b b:b", "a:ab b b:c", "b:b b b:b", "b:b b b:c", "b:c c c:c", "b:c c c:T",
        "c:c c c:c", "c:c c c:T",
    }  # fmt: skip
    # cell 3 counts the a up and the b down, cell 4 the b up and the c down (docs/reproduction.md)
    loops = {edge.symbol: edge.counts for edge in edges if edge.source == edge.target}
    assert {h: abs(n) for h, n in loops["a"].items() if h == 3} == {3: 1}
    assert loops["b"][3] == -loops["a"][3]
    assert loops["c"][4] == -loops["b"][4]
    assert display.machine.steps[3] == display.machine.steps[4] == 1.0
    # the last b and the last c are known by a counter that comes to one value, and to others at the other b and c
    tested = {f"{states[edge.source]} {states[edge.target]}": edge.at for edge in edges}
    assert 3 in tested["b:b b:c"]
    assert 4 in tested["c:c c:T"]
    assert tested["S:a a:ab"] == {}


def test_it_is_drawn(model):
    display = AutomatonDisplay.from_estimator(model, tasks.language("anbncn"), [1, 2, 30])
    assert len(display.ax_.patches) == 6
    written = [text.get_text() for text in display.ax_.texts]
    assert {"after S", "next: a", "next: a b", "next: T"} <= set(written)
    assert set(display.texts_.values()) <= set(written)
    assert len(display.texts_) == len(display.machine.edges) == 10
    name = display.names_[3]
    loop = next(text for (a, b, _), text in display.texts_.items() if a == b == 1)
    assert loop.startswith("a\n")
    assert any(f"{name} {sign} 1" in loop for sign in ("+", "\N{MINUS SIGN}"))
    assert any(f"{name}: cell 3, in steps of 1" in text for text in written)
    plt.close("all")


def test_no_text_lies_on_another(model):
    display = AutomatonDisplay.from_estimator(model, "anbncn")
    renderer = display.figure_.canvas.get_renderer()
    display.figure_.draw(renderer)
    boxes = [text.get_window_extent(renderer) for text in display.ax_.texts if text.get_text()]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    inside = display.figure_.bbox
    assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
               for box in boxes)  # fmt: skip
    plt.close("all")


def test_a_network_that_does_not_count_has_no_counters():
    model = EvokeClassifier(n_cells=2, n_generations=2, random_state=0).fit(*tasks.anbncn(5))
    display = AutomatonDisplay.from_estimator(model, "anbncn", [1, 2])
    assert display.machine.steps == {}
    assert all(edge.counts == {} == edge.at for edge in display.machine.edges)
    assert "no counters" in [text.get_text() for text in display.ax_.texts]
    plt.close("all")


def test_what_cannot_be_drawn_is_refused(model):
    with pytest.raises(ParameterError, match="language must be"):
        AutomatonDisplay.from_estimator(model, 3)
    for counts in ([], [10_001], [2, 10**7], [(10**9,)]):
        with pytest.raises(ParameterError, match="counts must have at least one string, and no count above 10000"):
            AutomatonDisplay.from_estimator(model, "anbncn", counts)
    with pytest.raises(ParameterError, match="estimator must be an EvokeClassifier"):
        AutomatonDisplay.from_estimator(EvokeForecaster(), "anbncn")
    with pytest.raises(ParameterError, match="estimator must have 3 inputs and 3 outputs"):
        AutomatonDisplay.from_estimator(model, "anbn")
    whole = EvokeClassifier(n_generations=1, n_networks=2, random_state=0).fit(
        [np.eye(4)[:3], np.eye(4)[1:]] * 4, [0, 1] * 4
    )
    with pytest.raises(ParameterError, match="estimator must be one network"):
        AutomatonDisplay.from_estimator(whole, "anbncn")
