"""Fitted models: all that a fit has learned, frozen, and how files hold it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evoke._core import lstm, pooled
from evoke._core.ensemble import ensemble
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import (
    MOST,
    check_choice,
    check_gate_bias,
    check_integer,
    check_lags,
    check_not_negative,
    check_pool,
    check_positive,
    to_number,
)
from evoke.engine import Engine
from evoke.estimators.blocks import activation_blocks, sequence_blocks
from evoke.estimators.pooling import Pooling, Resampled, check_lengths
from evoke.evolution.run import RunState
from evoke.persistence.checks import check_feature_names, check_flags, check_labels, check_values
from evoke.readouts import FittedReadout
from evoke.sequences.containers import Sequences, as_sequences
from evoke.sequences.features import Features
from evoke.sequences.preparation import Preparation, Scaling
from evoke.svm._calibration import probabilities

__all__ = [
    "ClassifierModel", "FittedModel", "Judged", "RegressorModel", "SequenceModel", "check_outputs",
    "states_and_activations",
]  # fmt: skip


def states_and_activations(network: Network, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The states and the activations (n_steps, n_cells) of one network after each step of a sequence.

    Parameters
    ----------
    network : Network
    x : ndarray of shape (n_steps, n_inputs)
    """
    states, phi = np.empty((2, len(x), network.n_cells))
    state = None
    for t in range(len(x)):
        _, state = lstm.sequences(network, x[t : t + 1], np.array([0, 1]), state)
        states[t], phi[t] = state[0]
    return states, phi


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedModel:
    """What a fit has learned.

    An estimator holds one such object and swaps it as a whole, so that no other thread ever sees half a fit. Files,
    checkpoints, streams and displays ask it.

    Attributes
    ----------
    features : Features
        Number and names of the features of X.
    network : Network
        The best network, or the networks whose features one readout reads.
    readout : FittedReadout
        The readout trained on its activations.
    washout : int
        Steps at the beginning of a sequence that do not count.
    run : RunState
        The state of the evolution.
    """

    features: Features
    network: Network
    readout: FittedReadout
    washout: int
    run: RunState

    @property
    def best_fitness(self) -> float:
        return self.run.esp.best_fitness

    @property
    def n_evaluations(self) -> int:
        return self.run.esp.n_evaluations

    @property
    def n_outputs(self) -> int:
        return len(self.readout.intercept)

    @property
    def n_inputs(self) -> int:
        """Inputs of the network."""
        return self.features.n

    @property
    def n_read(self) -> int:
        """Numbers that the readout reads."""
        return self.network.n_cells

    @property
    def networks(self) -> list[Network]:
        """The networks one by one."""
        network = self.network
        if network.genome.ndim == 2:
            return [network]
        return [Network(genome, network.cell, network.gate_bias) for genome in network.genome]

    @property
    def population(self) -> Network:
        """All networks, as a population also where there is one."""
        network = self.network
        genome = network.genome
        return network if genome.ndim == 3 else Network(genome[np.newaxis], network.cell, network.gate_bias)

    def activations(self, inputs: Sequences) -> FloatArray:
        """Activations phi(t) of the networks (n_rows, n_cells), the paper's equation 1, one network after the other."""
        return ensemble(self.population, inputs.rows, inputs.offsets)[0]

    # ------------------------------------------------------------------ files

    def state(self) -> dict[str, Any]:
        """What a model file holds, by the names of format 1."""
        names = {} if self.features.names is None else {"feature_names_in_": self.features.names}
        return {
            "n_features_in_": self.features.n, **names, "genome_": self.network.genome,
            "_cell": self.network.cell, "_gate_bias": self.network.gate_bias, "readout_": self.readout,
            "_washout": self.washout, "best_fitness_": self.best_fitness, "n_evaluations_": self.n_evaluations,
            "history_": self.run.history, "_esp": self.run.esp, "_first": self.run.first, "_digest": self.run.digest,
        }  # fmt: skip

    @staticmethod
    def fields(state: dict[str, Any], estimator: str) -> dict[str, Any]:
        """The fields of a model, from what `state` gave.

        Raises
        ------
        Exception
            Of some kind, for what no model can have.
        """
        n_features = check_integer("n_features_in_", state["n_features_in_"], 0)
        washout = check_integer("_washout", state["_washout"], 0, MOST["washout"])
        genome, esp = state["genome_"], state["_esp"]
        if not isinstance(state["readout_"], FittedReadout):
            raise ValueError("readout_ is no trained readout")
        joined = "_pool" in state or "_phi_mean" in state
        check_values("genome_", genome, (None,) * (3 if joined else 2))
        check_choice("_cell", state["_cell"], lstm.CELLS)
        run = RunState(esp, state["history_"], check_integer("_first", state["_first"], 0), state["_digest"])
        check_run(run)  # before the rest asks its engine
        if state["best_fitness_"] != esp.best_fitness or state["n_evaluations_"] != esp.n_evaluations:
            raise ValueError("best_fitness_ and n_evaluations_ do not belong to the population")
        return {
            "features": Features(estimator, n_features, state.get("feature_names_in_")),
            "network": Network(genome, state["_cell"], check_gate_bias(state["_gate_bias"])),
            "readout": state["readout_"], "washout": washout, "run": run,
        }  # fmt: skip

    def check(self) -> None:
        """That the parts of a model fit together: of one from a file, and of one that is to be put into a file.

        Raises
        ------
        ValueError
            They do not; arrays and records can be changed where they are, by a callback for instance.
        """
        check_run(self.run)
        if self.features.names is not None:
            check_feature_names(self.features.names, self.features.n)
        n_cells = self.network.n_cells
        size = 4 * (self.n_inputs + n_cells)
        check_values("genome_", self.network.genome, (*self.network.genome.shape[:-2], n_cells, size))
        readout = self.readout
        check_values("dual_coef", readout.dual_coef, (None, self.n_outputs))
        check_values("support_vectors", readout.support_vectors, (len(readout.dual_coef), self.n_read))
        check_values("intercept", readout.intercept, (None,))
        if 0 in (n_cells, self.n_inputs, self.n_outputs):
            raise ValueError("the network has no cells, no inputs or no outputs")
        # the last chromosome is that of C and gamma, where they evolve
        lengths = self.run.esp.lengths
        if lengths[:n_cells] != (size,) * n_cells or lengths[n_cells:] not in ((), (1,), (2,)):
            raise ValueError("the population does not belong to the network")


def check_run(run: RunState) -> None:
    """That a run has an engine, and a record of each of its generations."""
    if not isinstance(run.esp, Engine):
        raise ValueError("_esp is no population")
    if not isinstance(run.history, list) or not all(isinstance(record, dict) for record in run.history):
        raise ValueError("history_ must be a list of records")
    if len(run.history) != run.esp.generation:
        raise ValueError(f"history_ must have {run.esp.generation} records, one per generation, has {len(run.history)}")
    for k, record in enumerate(run.history):
        name, fitness = f"history_[{k}]['generation']", record.get("best_fitness")
        if check_integer(name, record.get("generation"), 1) != k + 1:
            raise refusal(name, f"be {k + 1}", record["generation"])
        if to_number(fitness) != np.inf:
            check_not_negative(f"history_[{k}]['best_fitness']", fitness)
    check_not_negative("best_fitness_", run.esp.best_fitness)
    if not isinstance(run.digest, str):
        raise refusal("_digest", "be a string", run.digest)
    if run.first > len(run.history):
        raise ValueError(f"_first={run.first} is beyond the history")


# ---------------------------------------------------------------- sequences with targets


class Judged(NamedTuple):
    """Decisions on steps by which a machine was chosen, by one that was not trained on them.

    Attributes
    ----------
    rows : int64 ndarray of shape (n,)
        The steps, counted through all sequences.
    decisions : ndarray of shape (n, n_outputs)
    """

    rows: NDArray[np.int64]
    decisions: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class SequenceModel(FittedModel):
    """A model whose inputs are X.

    Attributes
    ----------
    per_sequence : bool
        Whether it was trained with one target per sequence.
    preparation : Preparation, optional
        What networks read in place of X.
    pooling : Pooling, optional
        What the readout reads of a sequence in place of the activations at its last step.
    left_out : ndarray of shape (n_sequences, n_outputs), optional
        Decisions on the sequences of `fit`, each by a readout that was trained without it; NaN where it has no weight.
    scaling : Scaling, optional
        What the readout reads of the activations at a step.
    judged : Judged, optional
        What is known of steps that were held out. It is of the fit alone: files do not have it.
    """

    per_sequence: bool
    preparation: Preparation | None = None
    pooling: Pooling | None = None
    left_out: FloatArray | None = None
    scaling: Scaling | None = None
    judged: Judged | None = None

    @property
    def n_inputs(self) -> int:
        return self.features.n if self.preparation is None else self.preparation.n_inputs

    @property
    def n_read(self) -> int:
        if self.pooling is None:
            return len(self.networks) * self.network.n_cells
        return self.pooling.n_features(self.network)

    def inputs(self, sequences: Sequences) -> Sequences:
        """What networks read."""
        return sequences if self.preparation is None else self.preparation.apply(sequences)

    def read(self, X: Any, lengths: Any = None) -> Sequences:
        """Sequences that have the features of `fit`."""
        sequences = as_sequences(X, lengths, view=self.scaling is not None)
        self.features.check(X, sequences.rows, sequences.container == "list")
        return sequences

    def decide(self, sequences: Sequences) -> FloatArray:
        """Decision values (n, n_outputs), one per step, or one per sequence, which is read off its last step."""
        if self.scaling is not None:
            return np.concatenate([
                self.readout.decide(self.scaling.apply(phi)) for _, phi in self._blocks(sequences)
            ])  # fmt: skip
        inputs = self.inputs(sequences)
        if self.pooling is not None:
            check_lengths(sequences, self.pooling.washout)
            return np.concatenate([
                self.readout.decide(self.pooling.features(self.network, part)) for _, part in sequence_blocks(inputs)
            ])  # fmt: skip
        phi = self.activations(inputs)
        return self.readout.decide(phi[sequences.offsets[1:] - 1] if self.per_sequence else phi)

    def transform(self, sequences: Sequences) -> FloatArray:
        """Activations at each step (n_rows, n_networks * n_cells)."""
        if self.scaling is None:
            return self.activations(self.inputs(sequences))
        phi = np.empty((len(sequences.rows), self.n_read))
        for rows, part in self._blocks(sequences):
            phi[rows] = part
        return phi

    def _blocks(self, sequences: Sequences) -> Iterator[tuple[slice, FloatArray]]:
        """Rows and activations of a block of steps after the other."""
        assert self.preparation is not None  # `check` sees to it
        return activation_blocks(self.networks, sequences, self.preparation)

    def mirror(self, values: NDArray[Any], sequences: Sequences) -> Any:
        """Values in the structure of X, or one per sequence."""
        return values if self.per_sequence else sequences.mirror(values)

    def answer(self, decisions: FloatArray) -> NDArray[Any]:
        """Predictions from decision values."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        state = super().state() | {"_per_sequence": self.per_sequence}
        if self.pooling is not None and self.preparation is not None:
            state |= {
                "_pool": list(self.pooling.pool), "_pool_mean": self.pooling.mean,
                "_pool_inverse": self.pooling.inverse,
            } | _of(self.preparation)  # fmt: skip
            if self.pooling.limit != np.inf:
                state["_pool_limit"] = self.pooling.limit
            if self.pooling.points.n > 0:
                state |= {"_n_points": self.pooling.points.n, "_points_weight": self.pooling.weight}
        if self.scaling is not None and self.preparation is not None:
            state |= {"_phi_mean": self.scaling.mean, "_phi_inverse": self.scaling.inverse} | _of(self.preparation)
            if self.scaling.limit != np.inf:
                state["_phi_limit"] = self.scaling.limit
        return state if self.left_out is None else state | {"_left_out": self.left_out}

    @staticmethod
    def fields(state: dict[str, Any], estimator: str) -> dict[str, Any]:
        own = {"per_sequence": state["_per_sequence"], "left_out": state.get("_left_out")}
        fields = FittedModel.fields(state, estimator) | own
        if "_pool" in state:
            pool = check_pool(state["_pool"], pooled.STATISTICS)
            points = Resampled(check_integer("_n_points", state.get("_n_points", 0), 0, 10**6), fields["features"].n)
            fields["pooling"] = Pooling(
                pool, fields["washout"], state["_pool_mean"], state["_pool_inverse"], state.get("_pool_limit", np.inf),
                points, state.get("_points_weight", 1.0),
            )  # fmt: skip
        if "_phi_mean" in state:
            fields["scaling"] = Scaling(state["_phi_mean"], state["_phi_inverse"], state.get("_phi_limit", np.inf))
        if "_differences" in state:
            fields["preparation"] = Preparation(
                check_lags("_differences", state["_differences"]), state["_input_mean"], state["_input_inverse"]
            )
        return fields

    def check(self) -> None:
        super().check()
        check_flags(_per_sequence=self.per_sequence)
        if self.left_out is not None:
            weighted = ~np.isnan(self.left_out)
            check_values("_left_out", np.where(weighted, self.left_out, 0.0), (None, self.n_outputs))
            if self.pooling is None or not weighted.any() or (weighted.any(axis=1) != weighted.all(axis=1)).any():
                raise ValueError("_left_out is not of sequences that were left out one by one")
        if self.scaling is not None:
            check_values("_phi_mean", self.scaling.mean, (self.n_read,))
            check_values("_phi_inverse", self.scaling.inverse, (self.n_read,))
            if self.scaling.limit != np.inf:
                check_positive("_phi_limit", self.scaling.limit)
            if self.preparation is None or self.per_sequence:
                raise ValueError("a model of steps that are scaled has inputs that are prepared")
        if self.pooling is not None and self.preparation is not None:
            if self.pooling.limit != np.inf:
                check_positive("_pool_limit", self.pooling.limit)
            check_positive("_points_weight", self.pooling.weight)
            check_values("_pool_mean", self.pooling.mean, (self.n_read,))
            check_values("_pool_inverse", self.pooling.inverse, (self.n_read,))
            if not self.per_sequence:
                raise ValueError("a model of whole sequences has one target for each")
        if self.preparation is not None:
            check_values("_input_mean", self.preparation.mean, (self.n_inputs - 1,))
            check_values("_input_inverse", self.preparation.inverse, (self.n_inputs - 1,))
            if self.preparation.n_features != self.features.n:
                raise ValueError("the inputs of the networks are not those of the features")


def _of(preparation: Preparation) -> dict[str, Any]:
    """What a file holds of what networks read in place of X."""
    return {
        "_differences": list(preparation.lags), "_input_mean": preparation.mean, "_input_inverse": preparation.inverse,
    }  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassifierModel(SequenceModel):
    """A classifier.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The labels in order; for indicator targets the numbers of the outputs.
    multilabel : bool
        Whether the targets were indicators, of several outputs at once.
    slope : float, optional
        That by which decisions become probabilities.
    """

    classes: NDArray[Any]
    multilabel: bool
    slope: float | None = None

    @property
    def loo_decision_function(self) -> FloatArray | None:
        """The decisions `left_out`, as users get them."""
        return None if self.left_out is None else self.shape(self.left_out)

    def probabilities(self, decisions: FloatArray) -> FloatArray:
        """Probabilities of the classes, or of the outputs."""
        assert self.slope is not None  # without it there is no predict_proba
        return probabilities(decisions, self.slope, exclusive=not self.multilabel)

    def shape(self, decisions: FloatArray) -> FloatArray:
        """Decision values as users get them: without the axis of outputs where there are two classes."""
        return decisions[:, 0] if decisions.shape[1] == 1 and not self.multilabel else decisions

    def answer(self, decisions: FloatArray) -> NDArray[Any]:
        if self.multilabel:
            return (decisions > 0).astype(np.int64)
        if decisions.shape[1] == 1:
            return self.classes[(decisions[:, 0] > 0).astype(np.intp)]
        return self.classes[decisions.argmax(axis=1)]

    def state(self) -> dict[str, Any]:
        state = super().state() | {"classes_": self.classes, "_multilabel": self.multilabel}
        return state if self.slope is None else state | {"_slope": self.slope}

    @staticmethod
    def fields(state: dict[str, Any], estimator: str) -> dict[str, Any]:
        own = {"classes": state["classes_"], "multilabel": state["_multilabel"], "slope": state.get("_slope")}
        return SequenceModel.fields(state, estimator) | own

    def check(self) -> None:
        super().check()
        check_flags(_multilabel=self.multilabel)
        if self.slope is not None:
            check_positive("_slope", self.slope)
        check_labels(self.classes, 2 if self.n_outputs == 1 and not self.multilabel else self.n_outputs)


@dataclass(frozen=True, eq=False, kw_only=True)
class RegressorModel(SequenceModel):
    """A regressor.

    Attributes
    ----------
    flat : bool
        Whether the targets had no axis of outputs.
    """

    flat: bool

    @property
    def loo_prediction(self) -> FloatArray | None:
        """The decisions `left_out`, as users get them."""
        return None if self.left_out is None else self.answer(self.left_out)

    def answer(self, decisions: FloatArray) -> FloatArray:
        return decisions[:, 0] if self.flat else decisions

    def state(self) -> dict[str, Any]:
        return super().state() | {"n_outputs_": self.n_outputs, "_flat": self.flat}

    @staticmethod
    def fields(state: dict[str, Any], estimator: str) -> dict[str, Any]:
        check_outputs(state)
        return SequenceModel.fields(state, estimator) | {"flat": state["_flat"]}


def check_outputs(state: dict[str, Any]) -> None:
    """That n_outputs_ of a file is the number of outputs that its readout has."""
    check_flags(_flat=state["_flat"])
    n_outputs = check_integer("n_outputs_", state["n_outputs_"], 1)
    if len(state["readout_"].intercept) != n_outputs or (state["_flat"] and n_outputs != 1):
        raise ValueError(f"the readout does not have n_outputs_={n_outputs!r} outputs")
