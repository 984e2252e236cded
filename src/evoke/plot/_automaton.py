"""A network that accepts a language, as an automaton with counters."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evoke import tasks
from evoke._validation.errors import refusal
from evoke.estimators import EvokeClassifier
from evoke.plot._display import Display
from evoke.plot._machine import Machine, machine_of
from evoke.plot._style import COLOURS

__all__ = ["AutomatonDisplay"]

# Counts of the strings that are read, for each free count.
COUNTS = (1, 2, 3, 40)
# Symbols are read one by one.
MOST_COUNT = 10_000
# Inches: boxes, the distance of their middles, and how deep arcs below them reach for each box that they pass.
WIDTH, HEIGHT, APART, DEPTH = 1.2, 0.8, 2.45, 0.75
LETTERS, MINUS = "xyzuvwpqrs", "\N{MINUS SIGN}"


class AutomatonDisplay(Display):
    """A network that accepts a language, as an automaton with counters.

    It is what was seen on some strings, not what is proved of all. A state is drawn for each symbol that was read last,
    together with the symbols that may follow by the model's outputs. It stands for one or several sets of activations:
    those of a set are nearly equal, or have the same signs. A cell is a counter where its state moves by the same step
    at each of several equal symbols while all activations repeat. Edges tell the symbol that is read, by how many steps
    it moves each counter, if by the same number each time, and the value that a counter has come to where this decides
    between two edges. Create a display with `from_estimator`.

    Parameters
    ----------
    machine : Machine
        States (`nodes`), `edges`, and the `steps` of cells that count.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    texts_ : dict of (int, int, str) to str
        What is written on the edge from a state to a state, by their numbers, with a symbol.
    names_ : dict of int to str
        Names of the counters, by the numbers of their cells.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.plot import AutomatonDisplay
    >>> from evoke.reproduce import PRESETS
    >>> model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))
    >>> display = AutomatonDisplay.from_estimator(model, "anbncn")
    >>> [(node.symbol, "".join(node.accepted)) for node in display.machine.nodes]
    [('S', 'a'), ('a', 'ab'), ('b', 'b'), ('b', 'c'), ('c', 'c'), ('c', 'T')]
    """

    def __init__(self, *, machine: Any) -> None:
        self.machine = machine
        self.names_ = {h: LETTERS[k] if k < len(LETTERS) else f"x{h}" for k, h in enumerate(machine.steps)}

    @classmethod
    def from_estimator(cls, estimator: Any, language: Any, counts: Any = None, *, ax: Any = None) -> AutomatonDisplay:
        """Draw a fitted classifier.

        Parameters
        ----------
        estimator : EvokeClassifier
            One network, read at every step by an output for each symbol.
        language : str or Language
            One whose strings have counts, such as "anbncn"; see `evoke.tasks.language`.
        counts : iterable of int or of tuples of int, optional
            Counts of the strings that are read, at most 10,000. By default 1, 2, 3 and 40, or all combinations of
            these. Counters are only found in long strings.
        ax
            As in `plot`.

        Returns
        -------
        AutomatonDisplay

        Raises
        ------
        ParameterError
            A model of another kind or of other symbols; counts that are too large or that the language does not have.
        """
        language = tasks.language(language) if isinstance(language, str) else language
        if not isinstance(language, tasks.Language):
            raise refusal("language", "be the name of a language, or a Language", language)
        if not isinstance(estimator, EvokeClassifier):
            raise refusal("estimator", "be an EvokeClassifier", estimator)
        check_is_fitted(estimator)
        model = estimator.fitted_
        if model.per_sequence or len(model.networks) > 1 or model.preparation is not None:
            raise refusal("estimator", "be one network that reads X as it is, with targets at every step", estimator)
        if counts is None:
            counts = list(product(COUNTS, repeat=language.n_counts))
        if isinstance(counts, Iterable):
            counts = list(counts)
            numbers = [n for each in counts for n in (each if isinstance(each, tuple | list) else [each])]
            if not numbers or any(isinstance(n, Integral) and n > MOST_COUNT for n in numbers):
                raise refusal("counts", f"have at least one string, and no count above {MOST_COUNT}", counts)
        sequences, legal = language.encode_counts(counts)
        n_inputs, n_outputs = sequences[0].shape[1], legal[0].shape[1]
        if not model.multilabel or (model.n_inputs, model.n_outputs) != (n_inputs, n_outputs):
            demand = f"have {n_inputs} inputs and {n_outputs} outputs of their own for {language.name}"
            raise refusal("estimator", demand, (model.n_inputs, model.n_outputs))
        symbols, outputs = f"S{language.symbols}", f"{language.symbols}T"
        return cls(machine=machine_of(model.network, model.readout.decide, sequences, symbols, outputs)).plot(ax)

    def plot(self, ax: Any = None) -> AutomatonDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        AutomatonDisplay
            Itself.
        """
        ax = self._take_ax(ax)
        machine: Machine = self.machine
        for k, node in enumerate(machine.nodes):
            self._box(k, node)
        self.texts_ = {}
        for edge in machine.edges:
            text = "\n".join([edge.symbol, *self._lines(edge)])
            self.texts_[edge.source, edge.target, edge.symbol] = text
            self._arrow(edge.source, edge.target, text)
        width, _ = self._size()
        ax.set(xlim=(-0.9, width - 0.9), ylim=(-self._below(), self._above()), xticks=[], yticks=[])
        ax.axis("off")
        counters = "; ".join(f"{self.names_[h]}: cell {h}, in steps of {step:g}" for h, step in machine.steps.items())
        ax.text(-0.9, self._above(), f"counters {counters}" if counters else "no counters", va="top", fontsize=9,
                color="0.3")  # fmt: skip
        return self

    def _lines(self, edge):
        """What an edge does to counters, two in a line, and the values that it tells."""
        moves = [f"{self.names_[h]} {'+' if n > 0 else MINUS} {abs(n)}" for h, n in edge.counts.items()]
        yield from (", ".join(moves[k : k + 2]) for k in range(0, len(moves), 2))
        tests = [f"{self.names_[h]} = {n}".replace("-", MINUS) for h, n in edge.at.items()]
        yield from (f"to {', '.join(tests[k : k + 2])}" for k in range(0, len(tests), 2))

    def _box(self, k, node):
        from matplotlib.patches import FancyBboxPatch

        last = node.accepted == ("T",)
        corner = k * APART - WIDTH / 2, -HEIGHT / 2
        self.ax_.add_patch(FancyBboxPatch(
            corner, WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=0.15", facecolor="white",
            edgecolor=COLOURS[2] if last else COLOURS[0], linewidth=1.8,
        ))  # fmt: skip
        sets = len(node.signs)
        self.ax_.text(k * APART, 0.16, f"after {node.symbol}", ha="center", va="center", fontsize=9, color="0.3")
        self.ax_.text(k * APART, -0.06, f"next: {' '.join(node.accepted) or 'nothing'}", ha="center", va="center",
                      fontsize=11)  # fmt: skip
        if sets > 1:
            self.ax_.text(k * APART, -0.27, f"{sets} sets of activations", ha="center", va="center", fontsize=6.5,
                          color="0.4")  # fmt: skip

    def _arrow(self, source, target, text):
        """An arrow: to the next box between the two, to the same box above it, and any other below."""
        style = {"arrowstyle": "-|>", "color": "0.25", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13}
        words = {"ha": "center", "fontsize": 9, "linespacing": 1.15}
        x, y = source * APART, target * APART
        if source == target:
            begin, end, curve = (x + 0.22, HEIGHT / 2), (x - 0.22, HEIGHT / 2), "arc3,rad=1.6"
            self.ax_.text(x, HEIGHT / 2 + 0.45, text, va="bottom", **words)
        elif target == source + 1:
            begin, end, curve = (x + WIDTH / 2, 0.0), (y - WIDTH / 2, 0.0), "arc3,rad=0"
            self.ax_.text((x + y) / 2, 0.06, text, va="bottom", **words)
        else:
            n, forward = abs(target - source), np.sign(target - source)
            begin, end = (x + 0.25 * forward, -HEIGHT / 2), (y - 0.25 * forward, -HEIGHT / 2)
            span, depth = abs(end[0] - begin[0]), DEPTH * (n - 1 + (forward < 0))
            curve = f"arc3,rad={2.0 * depth / span * forward}"
            self.ax_.text((x + y) / 2, -HEIGHT / 2 - depth - 0.06, text, va="top", **words)
        self.ax_.annotate("", end, begin, arrowprops=style | {"connectionstyle": curve})

    def _height_of(self, chosen):
        """Lines of text on those edges, in inches."""
        lines = [2 + len(list(self._lines(edge))) for edge in self.machine.edges if chosen(edge.source, edge.target)]
        return 0.16 * max(lines, default=0)

    def _above(self):
        return HEIGHT / 2 + 0.65 + self._height_of(lambda a, b: a == b or b == a + 1)

    def _below(self):
        spans = [abs(b - a) - 1 + (b < a) for a, b in ((edge.source, edge.target) for edge in self.machine.edges)
                 if b not in (a, a + 1)]  # fmt: skip
        return HEIGHT / 2 + 0.1 + DEPTH * max(spans, default=0) + self._height_of(lambda a, b: b not in (a, a + 1))

    def _size(self) -> tuple[float, float]:
        return 1.8 + APART * (len(self.machine.nodes) - 1), self._above() + self._below()
