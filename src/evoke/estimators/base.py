"""What the estimators have in common: parameters, evolution of a network, its activations."""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from evoke._core import evaluate as core_evaluate
from evoke._core import lstm
from evoke._core import readout as core_readout
from evoke._validation.parameters import (
    check_callbacks,
    check_choice,
    check_flag,
    check_fraction,
    check_gate_bias,
    check_integer,
    check_n_jobs,
    check_not_negative,
    check_positive,
    check_random_state,
)
from evoke.esp import ESP
from evoke.estimators.split import n_trained_on, target_rows
from evoke.evolution.evaluation import activations, evaluate, fit_readout
from evoke.evolution.problem import Points, Problem, merge_points
from evoke.evolution.run import Run, evolve
from evoke.persistence.checks import check_feature_names, check_values
from evoke.persistence.model import Persistent
from evoke.readouts import FittedReadout, LSSVMReadout, PinvReadout, Readout, SVMReadout
from evoke.sequences.containers import Sequences, Targets
from evoke.sequences.features import as_frames
from evoke.sequences.prefixes import Runs
from evoke.svm._kernel import check_kernel
from evoke.svm._weights import weighted_C

__all__ = ["BaseEvoke", "on_snapshot"]

FloatArray = NDArray[np.float64]
# Targets of the core (n_rows, n_outputs) from those of the user: (targets, sequences, name)
Encode = Callable[..., FloatArray]


def on_snapshot(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that works on a copy of the attributes at its start: a fit in another thread does not touch it."""

    @wraps(method)
    def on_copy(self, *args, **kwargs):
        return method(copy.copy(self), *args, **kwargs)

    return on_copy


class BaseEvoke(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, Persistent, auto_wrap_output_keys=None  # type: ignore[call-arg]
):
    """An estimator that evolves a network and trains a readout on its activations.

    Its `transform` obeys `set_output` by itself, as scikit-learn's wrapper would make one data frame of all sequences.
    The wrapper is turned off in the class that defines `transform`, and `set_output` is there in those below it.
    """

    _regression = True
    _fitted = frozenset({
        "n_features_in_", "feature_names_in_", "genome_", "readout_", "best_fitness_", "n_evaluations_", "history_",
        "_esp", "_cell", "_gate_bias", "_washout", "_digest", "_first", "metadata_",
        "_sklearn_output_config",
    })  # fmt: skip

    def _check_parameters(self):
        for name in ("n_cells", "n_generations", "n_trials"):
            check_integer(name, getattr(self, name), 1)
        check_integer("subpopulation_size", self.subpopulation_size, 2)
        check_integer("washout", self.washout, 0)
        for name in ("weight_range", "mutation_scale", "gamma", "C", "tol"):
            check_positive(name, getattr(self, name))
        if self._regression:
            check_not_negative("epsilon", self.epsilon)
        if self.burst_scale is not None:
            check_positive("burst_scale", self.burst_scale)
        if self.burst_patience is not None:
            check_integer("burst_patience", self.burst_patience, 1)
        check_choice("cell", self.cell, lstm.CELLS)
        check_choice("credit", self.credit, ("best", "mean"))
        check_choice("objective", self.objective, core_evaluate.OBJECTIVES)
        check_choice("readout", self.readout, core_readout.READOUTS)
        check_choice("kernel", self.kernel, ("linear", "poly", "rbf"))
        check_choice("solver", self.solver, ("auto", "native", "thundersvm"))
        for name in ("warm_start", "verbose", "refit"):
            check_flag(name, getattr(self, name))
        check_gate_bias(self.gate_bias)
        check_callbacks(self.callbacks)
        check_fraction("validation", self.validation)
        check_random_state(self.random_state)
        check_n_jobs(self.n_jobs)

    # ------------------------------------------------------------------ fitting

    def _evolve(self, problem: Problem, final: Points, learned: Callable[[FloatArray], dict[str, Any]]) -> None:
        """Evolve networks for `problem` and keep the best, with what is `learned` from the data and its genome.

        Its readout is in the end trained on the points `final`.
        """
        esp = ESP(
            [4 * (problem.n_inputs + self.n_cells)] * self.n_cells,
            subpopulation_size=self.subpopulation_size,
            n_trials=self.n_trials,
            mutation_scale=self.mutation_scale,
            burst_patience=self.burst_patience,
            burst_scale=self.burst_scale,
            credit=self.credit,
            weight_range=self.weight_range,
            random_state=self.random_state,
        )
        run = Run(problem, esp, self.n_generations)
        if self.warm_start and hasattr(self, "_esp"):
            self._go_on_from(esp, problem)
            run.n_generations += esp.generation
            run.history += self.history_
            # what was recorded on other data says nothing of the fitness on these
            run.first = self._first if problem.digest == self._digest else len(run.history)

        @lru_cache(maxsize=1)
        def best_readout(_best_fitness: float) -> FittedReadout:
            try:
                readout = fit_readout(problem, esp.best, final)
                if final is not problem.train:
                    decisions = readout.decide(activations(problem, esp.best[None])[0])
                    parts = {"coefficients": readout.dual_coef, "intercepts": readout.intercept, "decisions": decisions}
                    for name, values in parts.items():
                        if not np.isfinite(values).all():
                            raise ValueError(f"{name} that are not finite")
                return readout
            except ValueError as error:
                if final is problem.train:
                    raise
                # more points than the fitness has tried: no reason to lose the run
                warnings.warn(f"refit=True is left out, the readout has not seen what was held out: {error}",
                              stacklevel=5)  # fmt: skip
                return fit_readout(problem, esp.best)

        def fitted() -> dict[str, Any]:
            if esp.best is None:
                return {}
            return dict(
                readout_=best_readout(esp.best_fitness), genome_=esp.best, best_fitness_=esp.best_fitness,
                n_evaluations_=esp.n_evaluations, history_=run.history, _esp=esp, _cell=problem.cell,
                _gate_bias=problem.gate_bias, _washout=int(self.washout), _digest=problem.digest, _first=run.first,
                **learned(esp.best),
            )  # fmt: skip

        def model() -> BaseEvoke:
            so_far = copy.copy(self)
            so_far._learn(fitted())
            return so_far

        run.model, begin = model, esp.generation
        callbacks = check_callbacks(self.callbacks)
        if self.verbose:
            callbacks.append(_print_record)
        try:
            evolve(run, n_jobs=self.n_jobs, callbacks=callbacks)
        finally:
            # All attributes change at once, so that a fit that fails or is interrupted leaves a whole model; the old
            # one where no generation was completed.
            if esp.generation > begin or run.stopped:
                self._learn(fitted())
        if esp.best is None:
            or_capacity = ", or lower C, at which the kernel matrix is singular" if self.readout == "lssvm" else ""
            raise ValueError(f"no network had a finite error: the data are too large, scale them{or_capacity}")

    def _learn(self, attributes: dict[str, Any]) -> None:
        if attributes:
            # in one step, so that no other thread sees a part; without the names of an earlier fit on a data frame
            old = self.__dict__.copy()
            old.pop("feature_names_in_", None)
            self.__dict__ = old | attributes

    def _go_on_from(self, esp: ESP, problem: Problem) -> None:
        """Bring the population of the last fit into `esp`, whose parameters must be the same."""
        if esp.lengths != self._esp.lengths:
            before, now = (f"{len(n)} cells and {n[0] // 4 - len(n)} inputs" for n in (self._esp.lengths, esp.lengths))
            raise ValueError(
                f"warm_start cannot go on from the last fit, which had {before}: n_cells and X now give {now}"
            )
        try:
            esp.load_state_dict(self._esp.state_dict())
        except ValueError as error:
            raise ValueError(f"warm_start cannot go on from the last fit: {error}") from None
        # the best network of the last fit competes on the data of this one
        esp.judge_best_anew(float(evaluate(problem, esp.best[None])[0, :2].sum()))

    def _make_readout(self) -> Readout:
        if self.readout == "pinv":
            return PinvReadout()
        kernel: dict[str, Any] = {"kernel": str(self.kernel), "gamma": float(self.gamma)}
        if self.readout == "lssvm":
            return LSSVMReadout(**kernel, C=float(self.C))
        return SVMReadout(
            **kernel, C=float(self.C), epsilon=float(self.epsilon) if self._regression else 0.0, tol=float(self.tol),
            solver=str(self.solver), regression=self._regression,
        )  # fmt: skip

    def _divide(self, X: Sequences, y: Targets, encode: Encode, held_out, name: str = "X"):
        """Sequences, encoded targets and weights of their rows; rows to train on, to judge on, to train on in the end.

        Those to judge on are a part of X, or the sequences and targets `held_out`, which are then laid behind X.
        """
        rows = target_rows(X, y, self.washout, name)
        encoded, weights = encode(y, X, "y"), y.weights_of_rows(X)
        if held_out is None:
            train, validation = self._split(X, rows, name)
        else:
            X_val, y_val = held_out
            train, validation = rows, len(X.rows) + target_rows(X_val, y_val, self.washout, f"{name}_val")
            encoded = np.concatenate([encoded, encode(y_val, X_val, "y_val")])
            weights = np.concatenate([weights, y_val.weights_of_rows(X_val)])
            offsets = np.concatenate([X.offsets, len(X.rows) + X_val.offsets[1:]])
            X = Sequences(np.concatenate([X.rows, X_val.rows]), offsets, "list")
        for part, of in ((train, "trained on"), (validation, "held out for validation")):
            if not weights[part].any():
                raise ValueError(f"sample_weight is zero for all that is {of}")
        # what weighs nothing is not there; held out, it only has to stay in its place in a free run
        train = train[weights[train] > 0]
        final = rows[weights[rows] > 0] if self.refit and held_out is None else train
        return X, encoded, weights, train, validation, final

    def _pose(
        self, runs: Runs, encoded: FloatArray, train, validation, final, *, weights, **more
    ) -> tuple[Problem, Points]:
        """The problem of these rows, and the points that the best readout is in the end trained on.

        `more` are further fields of the problem.
        """

        def merged(rows) -> Points:
            return merge_points(runs.row_of[rows], encoded[rows], weights[rows])

        points, judged = merged(train), merged(validation)
        last = points if final is train else merged(final)
        for part in (points, last):
            weighted_C(self.C, part.weights)  # must be within the range of float64
        problem = Problem(
            runs, points, judged, str(self.cell), check_gate_bias(self.gate_bias), self._make_readout(),
            str(self.objective), regression=self._regression, epsilon=float(self.epsilon) if self._regression else 0.0,
            **more,
        )  # fmt: skip
        return problem, last

    def _split(self, X: Sequences, rows, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Training and validation rows: by whole sequences, or by steps where there is only one sequence."""
        if X.n_sequences > 1:
            first = X.offsets[n_trained_on(X.n_sequences, self.validation)]
            train, validation = rows[rows < first], rows[rows >= first]
        else:
            train, validation = np.split(rows, [n_trained_on(len(rows), self.validation)])
        if len(train) == 0 or len(validation) == 0:
            raise ValueError(
                f"{name} has {X.n_sequences} sequence(s) with n_samples={len(rows)} steps behind the washout: too few "
                f"to hold out validation={self.validation!r}; pass {'X_val and ' if name == 'X' else ''}y_val"
            )
        return train, validation

    # ------------------------------------------------------------------ use

    def _n_inputs(self) -> int:
        """Inputs of the network."""
        return self.n_features_in_

    def _check_fitted(self) -> None:
        self._check_parameters()
        check_integer("n_features_in_", self.n_features_in_, 0)
        if hasattr(self, "feature_names_in_"):
            check_feature_names(self.feature_names_in_, self.n_features_in_)
        n_cells, n_inputs = len(self.genome_), self._n_inputs()
        size = 4 * (n_inputs + n_cells)
        check_values("genome_", self.genome_, (n_cells, size))
        readout: FittedReadout = self.readout_
        check_values("dual_coef", readout.dual_coef, (None, None))
        n_support, n_outputs = readout.dual_coef.shape
        check_values("support_vectors", readout.support_vectors, (n_support, n_cells))
        check_values("intercept", readout.intercept, (n_outputs,))
        check_kernel(readout.kernel, readout.gamma, readout.coef0, readout.degree)
        if 0 in (n_cells, n_inputs, n_outputs):
            raise ValueError("the network has no cells, no inputs or no outputs")
        if not isinstance(self._esp, ESP) or self._esp.lengths != (size,) * n_cells:
            raise ValueError("the population does not belong to the network")
        if not isinstance(self.history_, list) or not all(isinstance(record, dict) for record in self.history_):
            raise ValueError("history_ must be a list of records")
        numbers = [record["generation"] for record in self.history_]
        # the lengths first: an edited file may state any generation
        if len(numbers) != self._esp.generation or numbers != list(range(1, len(numbers) + 1)):
            raise ValueError("history_ must have a record of every generation")
        for record in self.history_:
            check_not_negative("best_fitness", 0.0 if record["best_fitness"] == np.inf else record["best_fitness"])
        if not isinstance(self._digest, str):
            raise ValueError(f"_digest must be a string, got {self._digest!r}")
        if check_integer("_first", self._first, 0) > len(self.history_):
            raise ValueError(f"_first={self._first} is beyond the history")
        check_not_negative("best_fitness_", self.best_fitness_)
        check_integer("n_evaluations_", self.n_evaluations_, 0)
        check_choice("_cell", self._cell, lstm.CELLS)
        check_gate_bias(self._gate_bias)
        check_integer("_washout", self._washout, 0)
        for container in getattr(self, "_sklearn_output_config", {}).values():  # what set_output leaves
            check_choice("set_output", container, ("default", "pandas", "polars"))
        if not isinstance(getattr(self, "metadata_", {}), dict):
            raise ValueError("metadata_ must be a dict")

    def _activations(self, inputs: Sequences) -> FloatArray:
        return lstm.sequences(self.genome_, inputs.rows, inputs.offsets, self._cell, self._gate_bias)[0]

    def _as_output(self, activations: FloatArray, given: Any, sequences: Sequences) -> Any:
        """Activations in the container `given`, or the data frames that `set_output` asks for."""
        mirrored = sequences.mirror(activations)
        kind = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if kind == "default":
            return mirrored
        return as_frames(kind, mirrored, given, sequences.container, self.get_feature_names_out())

    @property
    def _n_features_out(self) -> int:
        return len(self.genome_)


def _print_record(record: dict[str, Any], _esp: ESP) -> None:
    print(
        f"generation {record['generation']:4d}  best {record['best_fitness']:.6g}  "
        f"median {record['generation_median']:.6g}{'  burst' if record['burst'] else ''}",
        file=sys.stderr,
    )
