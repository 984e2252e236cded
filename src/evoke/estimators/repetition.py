"""The same steps read very many times: skipped ahead where what follows is known to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from evoke._core import lstm
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray

__all__ = ["read_repeatedly"]

FIRST_REPEATS = 32  # read before anything is skipped
ROWS_AT_ONCE = 65536  # bounds the memory
LONGEST_CYCLE = 8  # in repeats: activations may come back after so many of them
SATURATED = 22.0  # from here on the core's tanh is +-1 for all numbers, as its exp is clamped
PROBE = 2.0**900  # f PROBE + i z = PROBE only if f = 1, whatever i z is
TINY = 2.0**-100  # activations below may drift, if no sum is changed by them in its last bit
MOST_CELLS = 64  # for which that is tried
ULPS = 2**52  # of a number are from 2^52 to 2^53 where its exponent stays the same


def read_repeatedly(
    networks: list[Network],
    states: list[FloatArray],
    rows: FloatArray,
    times: int,
    settled: Callable[[FloatArray, float], bool],
) -> Iterator[tuple[FloatArray, int]]:
    """Activations while `rows` are read `times` times, as pairs (phi, how often in a row); `states` are moved along.

    Where activations have come back to the same bits, the gates, which read nothing else, open in the same way again.
    A state is then bound to repeat if it has repeated, and to go on counting if it does that (`_Walk`).

    Parameters
    ----------
    networks : list of Network
    states : list of ndarray of shape (1, 2, n_cells)
        Those of each network; replaced in the list.
    rows : ndarray of shape (n_steps, n_inputs)
        What is read.
    times : int
        How often, without a limit.
    settled : callable
        ``settled(phi, radius)``: whether activations that differ from `phi` by up to `radius` will do as well. Those
        that are given for what is skipped may lie so far from the true ones; states stay exact.
    """
    repeats = FIRST_REPEATS
    while times > 0:
        now = min(times, repeats)
        phi = _read(networks, states, np.tile(rows, (now, 1)))
        yield phi, 1
        times -= now
        cycle = _cycle(phi, len(rows))
        if not cycle or times < 4 * cycle:
            repeats = min(2 * repeats, max(1, ROWS_AT_ONCE // len(rows)))
            continue
        walk = _Walk(networks, states, np.tile(rows, (cycle, 1)), phi[-1])
        yield walk.phi, 1
        times -= 2 * cycle
        skipped = walk.skip(times // cycle - 1, settled)
        if skipped:
            yield walk.phi[len(walk.phi) // 2 :], skipped
            times -= skipped * cycle
            repeats = 4 * cycle
        else:
            repeats = min(2 * repeats, max(1, ROWS_AT_ONCE // len(rows)))


def _read(networks: list[Network], states: list[FloatArray], rows: FloatArray) -> FloatArray:
    offsets = np.array([0, len(rows)])
    parts = []
    for k, network in enumerate(networks):
        phi, states[k] = lstm.sequences(network, rows, offsets, states[k])
        parts.append(phi)
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _bits(values: FloatArray) -> NDArray[np.int64]:
    return np.ascontiguousarray(values).view(np.int64)


def _cycle(phi: FloatArray, n_rows: int) -> int:
    """After how many repeats activations came back to the same bits, but for tiny ones; 0 if they did not."""
    for cycle in range(1, LONGEST_CYCLE + 1):
        length = cycle * n_rows
        if 2 * length <= len(phi) and not _changed(phi[-length:], phi[-2 * length : -length]).any():
            return cycle
    return 0


def _changed(first: FloatArray, second: FloatArray) -> NDArray[np.bool_]:
    """Which cells have other bits, and are not tiny in both."""
    tiny = (np.abs(first) < TINY) & (np.abs(second) < TINY)
    return ((_bits(first) != _bits(second)) & ~tiny).any(axis=0)


class _Walk:
    """Two cycles, step by step, and what follows from them.

    Let activations be the same in both, from the step before the first. Then so are the gates i, f, o and the input z
    of each step, and the state follows s <- fl(f s + i z) with constants. A cell whose states were the same in both
    cycles repeats them for ever. One with f = 1 adds constants; as long as the exponent of s stays the same, each sum
    is rounded on the same grid. It can depend on s only through ties, which end on even numbers: if there is one in the
    cycle, all states after it have the parity that they had in the cycle before. So the steps of the second cycle are
    those of all later ones up to the end of the binade. Beyond `SATURATED` tanh(s) does not change, and so activations
    stay the same, which was to be shown for the next cycle. The activation of a tiny state drifts with it; the net
    inputs are sums that are rounded after each term, so they grow, or fall, with each activation, and are constant
    where they are the same for its least and its largest value (`_undisturbed`).
    """

    def __init__(self, networks: list[Network], states: list[FloatArray], rows: FloatArray, before: FloatArray):
        self._networks, self._states, self._rows = networks, states, rows
        visited, activations = [self._cells()], [before]
        for row in np.concatenate([rows, rows]):
            activations.append(_read(networks, states, row[None])[0])
            visited.append(self._cells())
        self._visited, self._before = np.array(visited), np.array(activations)
        self.phi = self._before[1:]

    def _cells(self) -> FloatArray:
        """States s of all cells."""
        return np.concatenate([state[0, 0] for state in self._states])

    def skip(self, most: int, settled: Callable[[FloatArray, float], bool]) -> int:
        """Skip as many cycles as are known to follow, up to `most`; how many these are.

        Activations of tiny states are those of the step before then, until the next step is read.
        """
        length = len(self._rows)
        first, second = self._visited[: length + 1], self._visited[length:]
        moving = np.flatnonzero((_bits(first) != _bits(second)).any(axis=0))
        bounds = np.zeros(len(second[0]))
        counted = {}
        for cell, adds in zip(moving.tolist(), self._adds(moving), strict=True):
            found = _count(self._visited[:, cell], length) if adds else None
            if found is None:
                return 0
            step, room, bounds[cell] = found
            counted[cell] = step
            most = min(most, room)
        drifting = bounds > 0.0
        changed = _bits(self._before[: length + 1]) != _bits(self._before[length:])
        if most < 1 or (changed.any(axis=0) & ~drifting).any():
            return 0
        if drifting.any() and not (self._undisturbed(bounds) and settled(self.phi[-length:], 2.0 * bounds.sum())):
            return 0
        after = second[-1].copy()
        for cell, step in counted.items():
            after[cell] += most * step  # exact: multiples of an ulp within a binade
        begin = 0
        for k, network in enumerate(self._networks):
            self._states[k] = self._states[k].copy()
            self._states[k][0, 0] = after[begin : begin + network.n_cells]
            begin += network.n_cells
        return most

    def _adds(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the forget gates of these cells are exactly 1 at every step of the cycle, by the core itself."""
        if not len(cells):
            return np.ones(0, dtype=bool)
        length = len(self._rows)
        opened, begin = [], 0
        for network in self._networks:
            H = network.n_cells
            probes = np.empty((length, 2, H))
            probes[:, 0], probes[:, 1] = PROBE, self._before[:length, begin : begin + H]
            _, after = lstm.sequences(network, self._rows, np.arange(length + 1), probes)
            # the other cell's output depends on o s, and may change where s does
            opened.append((after[:, 0] == PROBE).all(axis=0) & (network.cell == "lstm"))
            begin += H
        return np.concatenate(opened)[cells]

    def _undisturbed(self, bounds: FloatArray) -> bool:
        """Whether no net input of the cycle changes in any bit while activations move from -bounds to bounds."""
        begin = 0
        for network in self._networks:
            cells = slice(begin, begin + network.n_cells)
            begin += network.n_cells
            if network.n_cells > MOST_CELLS:
                return False
            for row, phi in zip(self._rows, self._before, strict=False):
                least, largest = _extremes(network, row, phi[cells], bounds[cells])
                if not np.array_equal(_bits(least), _bits(largest)):
                    return False
        return True


def _extremes(network: Network, row: FloatArray, phi: FloatArray, bounds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the largest net inputs (gate, cell), where activations with bounds lie anywhere within them.

    The core computes them: with i = 1 and s = 0 the new state of the other kind of cell is its net input z, whose
    weights are those of a gate here, with the gate's bias as one more weight.
    """
    H, I = network.n_cells, network.n_inputs
    weights = network.genome.reshape(H, 4, I + H)
    source, offsets = np.concatenate([[1.0], row])[None].repeat(H, axis=0), np.arange(H + 1)
    results = np.empty((4, H)), np.empty((4, H))
    for gate, bias in enumerate((0.0, *network.gate_bias)):
        genome = np.zeros((H, 4, 1 + I + H))
        genome[:, 0, 0], genome[:, 0, 1:] = bias, weights[:, gate]
        probe = Network(genome.reshape(H, -1), "evolino", (1000.0, 0.0, 0.0))
        for side, result in zip((-1.0, 1.0), results, strict=True):
            states = np.zeros((H, 2, H))
            states[:, 1] = np.where(bounds > 0.0, side * np.sign(weights[:, gate, I:]) * bounds, phi)
            result[gate] = np.diagonal(lstm.sequences(probe, source, offsets, states)[1][:, 0])
    return results


def _count(s: FloatArray, length: int) -> tuple[float, int, float] | None:
    """What a cycle adds to a state, how many more stay in the binade, and a bound of activations that move, or zero.

    None where it does not count.
    """
    size = np.abs(s)
    exponents = np.frexp(size)[1]
    exponent = int(exponents[0])
    saturated, tiny = size.min() >= SATURATED, size.max() < TINY and exponent > -1021
    if not ((saturated or tiny) and np.ptp(exponents) == 0 and np.ptp(np.sign(s)) == 0):
        return None
    ulp = 2.0 ** (exponent - 53)
    grid = (size / ulp).astype(np.int64)  # exact
    moves = np.diff(grid)
    if not np.array_equal(moves[:length], moves[length:]):
        return None
    step, second = int(grid[-1] - grid[length]), grid[length:]
    if step == 0:
        return None
    lowest = max(ULPS + 1, int(np.ceil(SATURATED / ulp))) if saturated else ULPS + 1
    room = 2 * ULPS - 1 - int(second.max()) if step > 0 else int(second.min()) - lowest
    return float(np.sign(s[0])) * step * ulp, max(0, room // abs(step)), 0.0 if saturated else 2.0 ** (exponent + 1)
