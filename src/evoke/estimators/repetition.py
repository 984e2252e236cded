"""The same steps read very many times: skipped ahead where what follows is known to the last bit."""

from __future__ import annotations

from collections.abc import Iterator

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
ULPS = 2**52  # of a number are from 2^52 to 2^53 where its exponent stays the same


def read_repeatedly(
    networks: list[Network], states: list[FloatArray], rows: FloatArray, times: int
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
        skipped = walk.skip(times // cycle)
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
    """After how many repeats activations came back to the same bits; 0 if they did not."""
    for cycle in range(1, LONGEST_CYCLE + 1):
        length = cycle * n_rows
        if 2 * length <= len(phi) and np.array_equal(_bits(phi[-length:]), _bits(phi[-2 * length : -length])):
            return cycle
    return 0


class _Walk:
    """Two cycles, step by step, and what follows from them.

    Let activations be the same in both, from the step before the first. Then so are the gates i, f, o and the input z
    of each step, and the state follows s <- fl(f s + i z) with constants. A cell whose states were the same in both
    cycles repeats them for ever. One with f = 1 adds constants; as long as the exponent of s stays the same, each sum
    is rounded on the same grid. It can depend on s only through ties, which end on even numbers: if there is one in the
    cycle, all states after it have the parity that they had in the cycle before. So the steps of the second cycle are
    those of all later ones up to the end of the binade. Beyond `SATURATED` tanh(s) does not change, and so activations
    stay the same, which was to be shown for the next cycle.
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

    def skip(self, most: int) -> int:
        """Skip as many cycles as are known to follow, up to `most`; how many these are."""
        length = len(self._rows)
        first, second = self._visited[: length + 1], self._visited[length:]
        if most < 1 or not np.array_equal(_bits(self._before[: length + 1]), _bits(self._before[length:])):
            return 0
        moving = np.flatnonzero((_bits(first) != _bits(second)).any(axis=0))
        counted = {}
        for cell, adds in zip(moving.tolist(), self._adds(moving), strict=True):
            found = _count(self._visited[:, cell], length) if adds else None
            if found is None:
                return 0
            counted[cell] = found
            most = min(most, found[1])
        if most < 1:
            return 0
        after = second[-1].copy()
        for cell, (step, _) in counted.items():
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


def _count(s: FloatArray, length: int) -> tuple[float, int] | None:
    """What a cycle adds to a state, and how many more stay in the binade; None where it does not count."""
    size = np.abs(s)
    exponent = np.frexp(size)[1]
    if not (size.min() >= SATURATED and np.ptp(exponent) == 0 and np.ptp(np.sign(s)) == 0):
        return None
    ulp = 2.0 ** (int(exponent[0]) - 53)
    grid = (size / ulp).astype(np.int64)  # exact
    moves = np.diff(grid)
    if not np.array_equal(moves[:length], moves[length:]):
        return None
    step, second = int(grid[-1] - grid[length]), grid[length:]
    lowest = max(ULPS + 1, int(np.ceil(SATURATED / ulp)))
    if step == 0:
        return None
    room = 2 * ULPS - 1 - int(second.max()) if step > 0 else int(second.min()) - lowest
    return float(np.sign(s[0])) * step * ulp, max(0, room // abs(step))
