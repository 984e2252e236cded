"""A frozen problem: everything that the fitness of a genome depends on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evoke._core.kernel import Kernel
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.computed import computed_once
from evoke.evolution.evolved import Evolved
from evoke.readouts import LandmarkReadout, LeaveOneOut, Readout, with_parameters
from evoke.sequences.containers import Sequences
from evoke.sequences.prefixes import Segments

__all__ = [
    "AnyProblem", "FreeRun", "InBlocks", "Objective", "Points", "PooledProblem", "Problem", "SplitProblem",
    "StepsProblem", "digest_of", "merge_points",
]  # fmt: skip


@dataclass(frozen=True)
class Points:
    """Rows on which a readout is trained or judged.

    Attributes
    ----------
    rows : int64 ndarray of shape (n,)
        Indices into the unique rows of the problem.
    weights : ndarray of shape (n,)
        How many steps of the sequences each point stands for, or the sum of their weights.
    targets : ndarray of shape (n_outputs, n)
        +1 and -1, or values to be met in regression.
    """

    rows: NDArray[np.int64]
    weights: FloatArray
    targets: FloatArray


def merge_points(rows: NDArray[np.int64], targets: FloatArray, weights: FloatArray | None = None) -> Points:
    """Points of the steps with unique rows `rows` and targets (n_steps, n_outputs); equal steps become one point.

    A point of weight w is to an SVM what w equal points are: its coefficient is the sum of theirs, its bound w C.
    The steps may have `weights` (n_steps,) themselves; by default each counts once.
    """
    keyed = np.column_stack([rows.astype(np.float64), targets])
    unique, point = np.unique(keyed, axis=0, return_inverse=True)
    return Points(
        unique[:, 0].astype(np.int64), np.bincount(point.ravel(), weights, len(unique)).astype(np.float64),
        np.ascontiguousarray(unique[:, 1:].T),
    )  # fmt: skip


@dataclass(frozen=True)
class Objective:
    """The error that a network's fitness is made of.

    Attributes
    ----------
    name : {"count", "hinge", "squared"}
    exclusive : bool
        One class per point, decided by the largest output; else every output decides by itself.
    regression : bool
        Targets are values to be met.
    epsilon : float
        Regression: errors that "count" and "hinge" leave free.
    """

    name: str
    exclusive: bool = False
    regression: bool = False
    epsilon: float = 0.0


@dataclass(frozen=True)
class FreeRun:
    """Networks that feed on their own output (paper, section 3.2).

    Attributes
    ----------
    stretches : int64 ndarray of shape (n, 3), or None
        For validation in a free run: the segment that leads there (a column of ``Segments.table``), begin and end
        of the rows run freely. None where validation reads the true values.
    feedback_scale : float
        Factor of the outputs that are fed back into the last inputs.
    """

    stretches: NDArray[np.int64] | None
    feedback_scale: float


@dataclass(frozen=True)
class Problem:
    """Everything that the fitness of a genome depends on.

    A genome is the weights (n_cells, 4 * (n_inputs + n_cells)); where parameters of the readout evolve too, its
    chromosomes end to end. `dtype` is the precision in which networks are judged; all else is in double.
    """

    segments: Segments
    train: Points
    validation: Points
    cell: str
    gate_bias: tuple[float, ...]
    readout: Readout | LandmarkReadout
    objective: Objective
    free: FreeRun | None = None
    evolved: Evolved | None = None
    dtype: str = "float64"

    @property
    def n_inputs(self) -> int:
        return self.segments.rows.shape[1]

    @property
    def is_validated_free(self) -> bool:
        """Whether networks read their own output in the validation rows."""
        return self.free is not None and self.free.stretches is not None

    def networks(self, genomes: FloatArray) -> Network:
        """One network, or a population, of these genomes."""
        weights = genomes if self.evolved is None else self.evolved.weights(genomes)
        return Network(np.ascontiguousarray(weights), self.cell, self.gate_bias)

    def candidates(self, genomes: FloatArray) -> Network:
        """The same in the precision in which networks are judged."""
        return in_precision(self.dtype, self.networks(genomes))

    def own_parameters(self, genomes: FloatArray) -> FloatArray | None:
        """C and gamma (n, 2) of the readouts of networks; None where none of them evolves."""
        if self.evolved is None:
            return None
        values = self.evolved.values(genomes)
        fixed = vars(self.readout)["C"], vars(self.readout)["kernel"].gamma
        own = np.empty((len(genomes), 2))
        own[:, 0], own[:, 1] = values.get("C", fixed[0]), values.get("gamma", fixed[1])
        return own

    def readout_of(self, genome: FloatArray) -> Readout:
        """How the readout of one network is trained."""
        if isinstance(self.readout, LandmarkReadout):
            raise ValueError("a machine on landmarks reads several networks")
        if self.evolved is None:
            return self.readout
        return with_parameters(self.readout, **{k: float(v) for k, v in self.evolved.values(genome).items()})

    @computed_once
    def digest(self) -> str:
        """SHA-256 of the whole: two problems with the same digest give a genome the same errors."""
        return digest_of("Problem", self._by_name())

    def _by_name(self) -> dict[str, Any]:
        """All that counts, in the names and the order of format 1 of model files, which hold the digest."""
        readout = vars(self.readout)
        kernel = readout.get("kernel")
        if isinstance(kernel, Kernel):
            parts = {"kernel": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
            readout = parts | {name: value for name, value in readout.items() if name != "kernel"}
        free = self.free
        evolved = {} if self.evolved is None else {"evolved": ("Evolved", vars(self.evolved))}
        return {
            "runs": ("Runs", vars(self.segments)), "train": ("Points", vars(self.train)),
            "validation": ("Points", vars(self.validation)), "cell": self.cell, "gate_bias": self.gate_bias,
            "readout": (type(self.readout).__name__, readout), "objective": self.objective.name,
            "exclusive": self.objective.exclusive, "regression": self.objective.regression,
            "epsilon": self.objective.epsilon, "free": None if free is None else free.stretches,
            "feedback_scale": 1.0 if free is None else free.feedback_scale, **evolved,
            **of_precision(self.dtype),
        }  # fmt: skip


@dataclass(frozen=True)
class SplitProblem:
    """The mean fitness over several splits of the same data, each with a training of its own.

    Attributes
    ----------
    parts : tuple of Problem
        One for each split.
    """

    parts: tuple[Problem, ...]

    @property
    def n_inputs(self) -> int:
        return self.parts[0].n_inputs

    @property
    def evolved(self) -> Evolved | None:
        return self.parts[0].evolved

    @computed_once
    def digest(self) -> str:
        """SHA-256 of the whole: two problems with the same digest give a genome the same errors."""
        return digest_of("SplitProblem", {str(k): part.digest for k, part in enumerate(self.parts)})


@dataclass(frozen=True)
class PooledProblem:
    """The fitness of networks whose activations over whole sequences are pooled, by exact leave-one-out.

    Either each sequence is left out, or each block of sequences.

    Attributes
    ----------
    inputs : Sequences
        What the networks read.
    points : Points
        Weights and targets of the sequences; its rows are their numbers, in order.
    cell : str
    gate_bias : tuple of 3 floats
    pool : tuple of str
        Statistics of the activations.
    washout : int
        Steps at the beginning of each sequence that do not count.
    readout : LeaveOneOut
    objective : Objective
    blocks : int64 ndarray of shape (n_blocks + 1,), optional
        Where each block of sequences begins that is left out as a whole, and the last ends. None: each sequence alone.
    dtype : {"float64", "float32"}
        The precision in which networks are judged.
    """

    inputs: Sequences
    points: Points
    cell: str
    gate_bias: tuple[float, ...]
    pool: tuple[str, ...]
    washout: int
    readout: LeaveOneOut
    objective: Objective
    blocks: NDArray[np.int64] | None = None
    dtype: str = "float64"

    evolved = None  # C and gamma are found by leave-one-out

    @property
    def n_inputs(self) -> int:
        return self.inputs.rows.shape[1]

    def networks(self, genomes: FloatArray) -> Network:
        """One network, or a population, of these genomes."""
        return Network(np.ascontiguousarray(genomes), self.cell, self.gate_bias)

    def candidates(self, genomes: FloatArray) -> Network:
        """The same in the precision in which networks are judged."""
        return in_precision(self.dtype, self.networks(genomes))

    @computed_once
    def digest(self) -> str:
        """SHA-256 of the whole: two problems with the same digest give a genome the same errors."""
        parts = {
            "rows": self.inputs.rows, "offsets": self.inputs.offsets, "points": ("Points", vars(self.points)),
            "cell": self.cell, "gate_bias": self.gate_bias, "pool": self.pool, "washout": self.washout,
            "readout": ("LeaveOneOut", vars(self.readout)), "objective": ("Objective", vars(self.objective)),
        } | of_precision(self.dtype)  # fmt: skip
        if self.blocks is not None:
            parts["blocks"] = self.blocks
        return digest_of("PooledProblem", parts)


@dataclass(frozen=True)
class StepsProblem:
    """The fitness of networks whose steps have targets, by exactly leaving out each sequence.

    Attributes
    ----------
    segments : Segments
    points : Points
        Steps, sequence after sequence.
    blocks : int64 ndarray of shape (n_sequences + 1,)
        Where the points of each sequence begin, and those of the last end.
    cell : str
    gate_bias : tuple of 3 floats
    readout : LeaveOneOut
    objective : Objective
    dtype : {"float64", "float32"}
        The precision in which networks are judged.
    """

    segments: Segments
    points: Points
    blocks: NDArray[np.int64]
    cell: str
    gate_bias: tuple[float, ...]
    readout: LeaveOneOut
    objective: Objective
    dtype: str = "float64"

    evolved = None  # C and gamma are found by leave-one-out

    @property
    def n_inputs(self) -> int:
        return self.segments.rows.shape[1]

    def networks(self, genomes: FloatArray) -> Network:
        """One network, or a population, of these genomes."""
        return Network(np.ascontiguousarray(genomes), self.cell, self.gate_bias)

    def candidates(self, genomes: FloatArray) -> Network:
        """The same in the precision in which networks are judged."""
        return in_precision(self.dtype, self.networks(genomes))

    @computed_once
    def digest(self) -> str:
        """SHA-256 of the whole: two problems with the same digest give a genome the same errors."""
        parts = {
            "segments": ("Segments", vars(self.segments)), "points": ("Points", vars(self.points)),
            "blocks": self.blocks, "cell": self.cell, "gate_bias": self.gate_bias,
            "readout": ("LeaveOneOut", vars(self.readout)), "objective": ("Objective", vars(self.objective)),
        } | of_precision(self.dtype)  # fmt: skip
        return digest_of("StepsProblem", parts)


AnyProblem = Problem | PooledProblem | SplitProblem | StepsProblem


def in_precision(dtype: str, networks: Network) -> Network:
    """These networks with weights of this precision; those beyond its range are infinite, and have no finite error."""
    if networks.genome.dtype == dtype:
        return networks
    with np.errstate(over="ignore"):
        return Network(networks.genome.astype(dtype), networks.cell, networks.gate_bias)


def of_precision(dtype: str) -> dict[str, str]:
    """Its part of a digest; that of problems in double is as old as the digest."""
    return {} if dtype == "float64" else {"dtype": dtype}


class InBlocks(NamedTuple):
    """An array in double precision that is never there as a whole.

    Attributes
    ----------
    shape : tuple of int
    blocks : iterable of ndarray
        Its rows, some after the other.
    """

    shape: tuple[int, ...]
    blocks: Iterable[FloatArray]


def digest_of(kind: str, fields: dict[str, Any]) -> str:
    """SHA-256 of the fields of an object of some kind."""
    found = hashlib.sha256()
    for part in _parts(kind, fields):
        found.update(part)
    return found.hexdigest()


def _parts(kind: str, fields: dict[str, Any]) -> Iterator[bytes | memoryview]:
    """The bytes that a digest is made of: the kind of an object, and its fields by name."""
    yield kind.encode()
    for name, value in fields.items():
        yield name.encode()
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], dict):
            yield from _parts(*value)
        elif isinstance(value, (np.ndarray, InBlocks)):
            whole = InBlocks(value.shape, [value]) if isinstance(value, np.ndarray) else value
            yield f"{getattr(value, 'dtype', 'float64')} {whole.shape}".encode()
            for block in whole.blocks:
                yield np.ascontiguousarray(block).data
        else:
            yield repr(value).encode()
