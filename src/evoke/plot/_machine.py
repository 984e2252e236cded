"""A network that reads symbols as an automaton with counters, found by running it on strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke.estimators.fitted import states_and_activations

__all__ = ["Edge", "Machine", "Node", "machine_of"]

Counts = dict[int, int | None]

# Activations below this part of the largest one of their cell are taken for zero, where signs are compared.
NOTHING = 1 / 3
# By how much activations may differ that repeat, and how many symbols in a row a cell counts that is a counter.
EQUAL, ROUNDS = 1e-6, 4
# Smaller steps are none.
STILL = 1e-9


@dataclass(frozen=True)
class Node:
    """A state: sets of activations after the same symbol with which the same symbols may follow.

    Attributes
    ----------
    symbol : str
        The symbol that was read last.
    accepted : tuple of str
        The symbols that may follow by the model's outputs.
    signs : tuple of tuple of int
        For each set of activations -1, 0 or 1 for each cell; activations of a set are nearly equal, or have these
        signs.
    """

    symbol: str
    accepted: tuple[str, ...]
    signs: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Edge:
    """What a symbol does in a state.

    Attributes
    ----------
    source, target : int
        Numbers of the states.
    symbol : str
        The symbol that is read.
    counts : dict of int to int
        By how many steps it moves counters, by the numbers of their cells; those that it does not move by the same
        number of steps each time are left out.
    at : dict of int to int
        Counters that have come to this value, in steps, each time this edge is taken, and to others where another edge
        with this symbol is.
    """

    source: int
    target: int
    symbol: str
    counts: dict[int, int]
    at: dict[int, int]


@dataclass(frozen=True)
class Machine:
    """States, the edges between them, and counters.

    Attributes
    ----------
    nodes : list of Node
        In the order of where in a string they are in the mean.
    edges : list of Edge
        In the order in which they were first used.
    steps : dict of int to float
        For each cell that counts, by how much a count moves it.
    """

    nodes: list[Node]
    edges: list[Edge]
    steps: dict[int, float]


def machine_of(
    network: Network,
    decide: Callable[[FloatArray], FloatArray],
    sequences: Sequence[FloatArray],
    symbols: Sequence[str],
    outputs: Sequence[str],
) -> Machine:
    """The automaton that is seen on some sequences.

    Parameters
    ----------
    network : Network
    decide : callable
        From activations (n, n_cells) to decision values (n, n_outputs).
    sequences : sequence of ndarray of shape (n_steps, n_inputs)
        Rows of one 1 for a symbol, and -1 for others.
    symbols, outputs : sequence of str
        Names of inputs and outputs.
    """
    runs = [states_and_activations(network, x) for x in sequences]
    read = [np.argmax(x, axis=1) for x in sequences]
    phi = np.concatenate([activations for _, activations in runs])
    largest = np.abs(phi).max(axis=0)
    signs = np.where(np.abs(phi) > NOTHING * np.maximum(largest, EQUAL), np.sign(phi), 0.0).astype(int)
    found: dict[tuple[int, tuple[int, ...]], dict[tuple[int, ...], None]] = {}
    state = []
    for k, yes, pattern in zip(np.concatenate(read), decide(phi) > 0.0, signs, strict=True):
        key = int(k), tuple(map(int, np.flatnonzero(yes)))
        found.setdefault(key, {})[tuple(map(int, pattern))] = None
        state.append(list(found).index(key))
    # in the order of where in a string they are in the mean
    place = np.concatenate([np.arange(len(letters)) / len(letters) for letters in read])
    order = np.argsort([place[np.equal(state, n)].mean() for n in range(len(found))], kind="stable")
    state = np.argsort(order)[state].tolist()
    keys = [list(found)[n] for n in order]
    nodes = [Node(symbols[k], tuple(outputs[o] for o in yes), tuple(found[k, yes])) for k, yes in keys]
    steps = _steps(runs, read)
    moves: dict[tuple[int, int, int], list[tuple[Counts, Counts]]] = {}
    first = 0
    for (states, _), letters in zip(runs, read, strict=True):
        for t in range(1, len(letters)):
            edge = state[first + t - 1], state[first + t], int(letters[t])
            seen = _in_steps(states[t] - states[t - 1], steps), _in_steps(states[t], steps)
            moves.setdefault(edge, []).append(seen)
        first += len(letters)
    edges = [
        Edge(a, b, symbols[k], _moved(moves[a, b, k]), _tested(moves, (a, b, k))) for a, b, k in moves
    ]  # fmt: skip
    return Machine(nodes, edges, steps)


def _steps(runs: list[tuple[FloatArray, FloatArray]], read: list[NDArray[np.intp]]) -> dict[int, float]:
    """Cells that move by the same step at each of several equal symbols, while all activations repeat; their steps."""
    found: dict[int, list[float]] = {}
    for (states, phi), letters in zip(runs, read, strict=True):
        moves = np.diff(states, axis=0)
        for t in range(1, len(letters) - ROUNDS + 1):
            if np.ptp(letters[t : t + ROUNDS]) or np.ptp(phi[t - 1 : t + ROUNDS], axis=0).max() > EQUAL:
                continue
            part = moves[t - 1 : t - 1 + ROUNDS]
            same = np.ptp(part, axis=0) <= EQUAL * np.abs(part[0])
            for h in np.flatnonzero(same & (np.abs(part[0]) > STILL)):
                found.setdefault(int(h), []).append(float(np.abs(part[0, h])))
    return {h: min(steps) for h, steps in sorted(found.items())}


def _in_steps(values: FloatArray, steps: dict[int, float]) -> Counts:
    """Values of counters in steps; None where that is no whole number."""
    counts: Counts = {}
    for h, step in steps.items():
        n = float(values[h] / step)
        counts[h] = round(n) if abs(n - round(n)) <= EQUAL * max(1.0, abs(n)) else None
    return counts


def _moved(seen: list[tuple[Counts, Counts]]) -> dict[int, int]:
    """What a symbol does to counters each time."""
    common = {h: {move[h] for move, _ in seen} for h in seen[0][0]}
    return {h: n for h, numbers in common.items() for n in numbers if len(numbers) == 1 and n}


def _tested(
    moves: dict[tuple[int, int, int], list[tuple[Counts, Counts]]], edge: tuple[int, int, int]
) -> dict[int, int]:
    """The values of counters that tell this edge from others of its source and symbol."""
    source, target, symbol = edge
    others = [seen for (a, b, k), found in moves.items() if (a, k) == (source, symbol) and b != target
              for seen in found]  # fmt: skip
    if not others:
        return {}
    here = {h: {value[h] for _, value in moves[edge]} for h in moves[edge][0][1]}
    return {h: n for h, values in here.items() for n in values
            if len(values) == 1 and n is not None and all(value[h] != n for _, value in others)}  # fmt: skip
