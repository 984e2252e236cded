"""Changed networks on trial: a readout trained anew, quick checks, and a certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from evoke._core import lstm
from evoke._core.dispatch import apply
from evoke._core.kernel import Kernel
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke.certification.bounds import Reader
from evoke.certification.certificate import Certificate
from evoke.certification.counts import PROVED, CountProof, prove_again
from evoke.certification.families import Family
from evoke.estimators.fitted import ClassifierModel
from evoke.readouts import FittedReadout, SVMReadout

__all__ = ["Draft", "Trials"]

# Counts of the strings beyond those of the training, on which a change is tried before a proof is: as many as these
# more than the largest one, and this one.
MORE, LONG = 3, 100
# Of decisions, where the model has twice as much.
LEAST_MARGIN = 0.01
# What a network that counts exactly adds to a state is a multiple of this, or too little to change a state; its other
# cells forget as fast as this.
GRID, NOTHING, FORGET = 2.0**-20, 2.0**-60, 0.9


@dataclass(frozen=True, eq=False)
class Draft:
    """A network, and its readout.

    Attributes
    ----------
    weights : ndarray of shape (n_cells, 4, n_inputs + n_cells)
        By cell, gate and source.
    readout : FittedReadout
    """

    weights: FloatArray
    readout: FittedReadout

    @property
    def genome(self) -> FloatArray:
        return self.weights.reshape(len(self.weights), -1)


class Trials:
    """What changed networks are tried on.

    Parameters
    ----------
    fitted : ClassifierModel
        The model that is changed.
    family : Family
    n_max : int
        The readout is trained on the strings with counts up to this.
    machine : SVMReadout
        How it is trained; its kernel is that of the drafts that are not linear.
    certificate : Certificate
        That of the model; the drafts must have one as good.
    """

    def __init__(self, fitted: ClassifierModel, family: Family, n_max: int, machine: SVMReadout,
                 certificate: Certificate):  # fmt: skip
        self.fitted, self.family, self.machine, self.certificate = fitted, family, machine, certificate
        self.up_to, self.margin = certificate.up_to, min(LEAST_MARGIN, certificate.margin / 2)
        self.n_tried = self.n_proofs = 0
        counts = list(product(range(1, n_max + 1), repeat=family.n_counts))
        self.n_train = sum(len(family.encode(each)[0]) for each in counts)
        beyond = [min(n, self.up_to) for n in (*range(n_max + 1, n_max + 1 + MORE), LONG)]
        counts += [(n,) * family.n_counts for n in dict.fromkeys(beyond)]
        strings = [family.encode(each) for each in counts]
        self.rows = np.concatenate([inputs for inputs, _ in strings])
        self.legal = np.concatenate([legal for _, legal in strings])
        self.offsets = np.concatenate([[0], np.cumsum([len(inputs) for inputs, _ in strings])]).astype(np.int64)
        self._trained: dict[tuple[str, bytes], FittedReadout | None] = {}
        self._within = self._middles(len(self.rows) - len(strings[-1][0]))
        weights = fitted.network.genome.reshape(fitted.network.n_cells, 4, -1)
        self.is_exact = min(LONG, self.up_to) == LONG and self._is_exact(weights, self.activations(weights))

    def network(self, weights: FloatArray) -> Network:
        """One with the cells and biases of the model."""
        old = self.fitted.network
        return Network(np.ascontiguousarray(weights.reshape(len(weights), -1)), old.cell, old.gate_bias)

    def activations(self, weights: FloatArray) -> FloatArray:
        """Activations on the strings of the training and on those beyond."""
        return lstm.sequences(self.network(weights), self.rows, self.offsets)[0]

    def draft(self, weights: FloatArray, kernel: str) -> Draft | None:
        """The network with a readout trained anew; None where a quick check fails."""
        self.n_tried += 1
        phi = self.activations(weights)
        if self.is_exact and not self._is_exact(weights, phi):
            return None
        readout = self._train(phi[: self.n_train], kernel)
        return Draft(weights, readout) if readout is not None and self._is_right(readout, phi) else None

    def with_readout(self, weights: FloatArray, phi: FloatArray, readout: FittedReadout) -> Draft | None:
        """The network with this readout, whose activations are `phi`; None where a quick check fails."""
        self.n_tried += 1
        return Draft(weights, readout) if self._is_right(readout, phi) else None

    def certified(self, draft: Draft) -> Certificate | None:
        """A certificate as good as that of the model; None where no proof is found."""
        self.n_proofs += 1
        reader = Reader(self.network(draft.weights), draft.readout)
        like = self.certificate.proof
        assert isinstance(like, CountProof)
        found = prove_again(reader, self.family, self.up_to, like)
        if found is None or found.margin < self.margin:
            return None
        return Certificate(True, self.up_to, found.margin, PROVED, found)

    def _is_right(self, readout: FittedReadout, phi: FloatArray) -> bool:
        decisions = readout.decide(phi)
        return bool(np.where(self.legal, decisions, -decisions).min() >= self.margin)

    def _middles(self, begin: int) -> NDArray[np.intp]:
        """Rows in the middle of the phases of the long string, which begins there: two rounds of each."""
        rows, at = [], begin + 1
        for phase in self.family.phases:
            length, word = self.family.length(phase, (LONG,) * self.family.n_counts), len(phase.word)
            middle = at + length // 2
            rows.append(np.stack([np.arange(middle - word, middle), np.arange(middle, middle + word)]))
            at += length
        return np.concatenate(rows, axis=1)

    def _is_exact(self, weights: FloatArray, phi: FloatArray) -> bool:
        """Whether in long phases activations repeat to the last bit, and cells forget or count by exact numbers.

        The quickest check: most changes that no proof is found for fail it.
        """
        before, now = self._within
        if not np.array_equal(phi[before], phi[now]):
            return False
        bias = np.array([0.0, *self.fitted.network.gate_bias])[:, None]
        net = weights @ np.concatenate([self.rows[now], phi[now - 1]], axis=1).T + bias  # (n_cells, 4, n_rows)
        z = apply("tanh", net[:, 0]) if self.fitted.network.cell == "lstm" else net[:, 0]
        added, forget = np.abs(apply("logistic", net[:, 1]) * z), apply("logistic", net[:, 2])
        exact = (added <= NOTHING) | (added == np.rint(added / GRID) * GRID)
        return bool(np.where(forget == 1.0, exact, forget < FORGET).all())

    def _train(self, phi: FloatArray, kernel: str) -> FittedReadout | None:
        """The readout trained on activations, equal ones once; None where two equal ones have other targets."""
        key = kernel, phi.tobytes()
        if key not in self._trained:
            self._trained = {key: self._fit(phi, kernel)}  # the last one: changes without effect come in a row
        return self._trained[key]

    def _fit(self, phi: FloatArray, kernel: str) -> FittedReadout | None:
        phi = phi + 0.0  # -0.0 is 0.0
        keys: NDArray[np.void] = phi.view(np.dtype((np.void, phi.dtype.itemsize * phi.shape[1]))).ravel()
        _, first, point, weights = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        legal = self.legal[: self.n_train]
        if not np.array_equal(legal[first][point.ravel()], legal):
            return None
        machine = self.machine if kernel == "rbf" else replace(self.machine, kernel=Kernel("linear"))
        targets = np.ascontiguousarray(np.where(legal[first], 1.0, -1.0).T)
        readout = machine.fit(np.ascontiguousarray(phi[first]), targets, weights.astype(np.float64), warn=False)
        return readout if kernel == "rbf" else _primal(readout)


def _primal(readout: FittedReadout) -> FittedReadout:
    """A linear readout by its weights, with the unit vectors in place of the support vectors."""
    n_cells = readout.support_vectors.shape[1]
    weights = readout.support_vectors.T @ readout.dual_coef
    return replace(readout, support_vectors=np.eye(n_cells), dual_coef=np.ascontiguousarray(weights))
