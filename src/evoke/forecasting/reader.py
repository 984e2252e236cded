"""Networks that read the true values of a series, a block of steps at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evoke._core import lstm
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray

__all__ = ["N_JOINED", "ROWS", "OutOfTime", "Reader", "TeacherForced", "check_time"]

N_JOINED = 4  # networks that give their activations to one readout
ROWS = 2**14  # steps whose features are there at a time


class OutOfTime(Exception):
    """Time was up before a candidate was fitted."""


def check_time(until: float) -> None:
    """Raise `OutOfTime` where time is up, by `time.monotonic`."""
    if time.monotonic() >= until:
        raise OutOfTime


@dataclass(frozen=True, eq=False)
class Reader:
    """Networks that read a series, and the readouts that read several networks each.

    Attributes
    ----------
    networks : Network
        A population. Their inputs are ``[w(t - lag) for each lag | X(t) | 1]``.
    n_joined : int
        Networks that give their activations to one readout.
    lags : tuple of int
        Own values that networks read, as steps back.
    readout_lags : tuple of int
        Own values that readouts read beside the activations and X(t); the first is 1.
    """

    networks: Network
    n_joined: int
    lags: tuple[int, ...]
    readout_lags: tuple[int, ...]

    @property
    def n_before(self) -> int:
        return max(*self.lags, *self.readout_lags)

    @property
    def n_readouts(self) -> int:
        return len(self.networks.genome) // self.n_joined

    @property
    def n_activations(self) -> int:
        """Those that one readout reads, before all else."""
        return self.n_joined * self.networks.n_cells

    def each(self) -> list[Network]:
        """The networks one by one."""
        return [Network(genome, self.networks.cell, self.networks.gate_bias) for genome in self.networks.genome]

    def first(self, n_readouts: int) -> Reader:
        """The networks of the first readouts."""
        if n_readouts == self.n_readouts:
            return self
        genome = self.networks.genome[: n_readouts * self.n_joined]
        networks = Network(genome, self.networks.cell, self.networks.gate_bias)
        return Reader(networks, self.n_joined, self.lags, self.readout_lags)


class TeacherForced:
    """A transformed series, and networks that read its true values.

    Parameters
    ----------
    reader : Reader
    w : ndarray of shape (T, n_outputs)
        The series without units.
    external : ndarray of shape (T, n_external + 1)
    cuts : sequence of int
        Ascending.
    keeps : bool
        Whether the features are kept, as there are few, for the next time that they are asked for.

    Attributes
    ----------
    values : ndarray of shape (n_before + T, n_outputs)
        The series, zero before its first value.
    states : ndarray of shape (n_cuts, n_networks, 2, n_cells)
        States and outputs of the cells when the values before a cut have been read, once `blocks` has been there.
    """

    def __init__(
        self, reader: Reader, w: FloatArray, external: FloatArray, cuts: Sequence[int] = (), *, keeps: bool = False
    ):
        self._reader, self._external, self._cuts, self._keeps = reader, external, list(cuts), keeps
        self._n_steps = len(w)
        self.values = np.concatenate([np.zeros((reader.n_before, w.shape[1])), w])
        self._inputs = np.ascontiguousarray(
            np.concatenate([*self._lagged(reader.lags, 0, len(w)), external], axis=1)
        )
        genome = reader.networks.genome
        self.states = np.zeros((len(self._cuts), len(genome), 2, genome.shape[1]))
        self._kept: list[tuple[int, FloatArray]] | None = None

    def read(self, until: float = np.inf) -> TeacherForced:
        """Read the series for its `states`."""
        for _ in self._activations(until):
            pass
        return self

    def blocks(self, until: float = np.inf) -> Iterator[tuple[int, FloatArray]]:
        """First step, and what the readouts read to predict each step (n_readouts, n, n_features), block by block."""
        if self._kept is not None:
            yield from self._kept
            return
        kept = []
        for begin, phi in self._activations(until):
            n = phi.shape[1]
            phi = phi.reshape(self._reader.n_readouts, self._reader.n_joined, n, -1).transpose(0, 2, 1, 3)
            lagged = self._lagged(self._reader.readout_lags, begin, n)
            own = np.concatenate([*lagged, self._external[begin : begin + n, :-1]], axis=1)
            features = np.concatenate([phi.reshape(len(phi), n, -1), np.broadcast_to(own, (len(phi), *own.shape))], 2)
            if self._keeps:
                kept.append((begin, features))
            yield begin, features
        if self._keeps:
            self._kept = kept

    def _lagged(self, lags: tuple[int, ...], begin: int, n: int) -> list[FloatArray]:
        first = self._reader.n_before + begin
        return [self.values[first - lag : first - lag + n] for lag in lags]

    def _activations(self, until: float) -> Iterator[tuple[int, FloatArray]]:
        """First step and activations (n_networks, n, n_cells) of each block."""
        networks = self._reader.each()
        n_cells, here = self._reader.networks.n_cells, np.zeros((len(networks), 1, 2, self._reader.networks.n_cells))
        for begin in range(0, self._n_steps, ROWS):
            end = min(begin + ROWS, self._n_steps)
            inside = [(i, cut) for i, cut in enumerate(self._cuts) if begin < cut <= end]
            bounds = sorted({begin, end, *(cut for _, cut in inside)})
            phi = np.empty((len(networks), end - begin, n_cells))
            for k, network in enumerate(networks):
                check_time(until)
                for a, b in pairwise(bounds):
                    inputs, offsets = self._inputs[a:b], np.array([0, b - a])
                    phi[k, a - begin : b - begin], here[k] = lstm.sequences(network, inputs, offsets, here[k])
                    for i, cut in inside:
                        if cut == b:
                            self.states[i, k] = here[k, 0]
            yield begin, phi
