"""What the estimators have in common: their parameters, and the recipe by which they are fitted."""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import IntEnum
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from sklearn import get_config
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from evoke._core import kernel, loss, lstm
from evoke._core.kernel import Kernel
from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import (
    check_callbacks,
    check_choice,
    check_flag,
    check_fraction,
    check_gate_bias,
    check_held_out,
    check_integer,
    check_integer_or_none,
    check_n_jobs,
    check_not_negative,
    check_positive,
    check_positive_or_none,
    check_positive_or_text,
    check_random_state,
    is_text,
)
from evoke.engine import Engine
from evoke.estimators.cost import threads_within
from evoke.estimators.fit import Fit, OneNetwork
from evoke.estimators.fitted import FittedModel
from evoke.estimators.notebook import fitted_html
from evoke.estimators.split import Split
from evoke.evolution.evolved import Evolved
from evoke.evolution.problem import AnyProblem, FreeRun, Objective, PooledProblem, Problem, SplitProblem
from evoke.evolution.run import evolve
from evoke.evolution.sampling import PosedProblem, SampledProblem
from evoke.evolution.workers import n_threads
from evoke.persistence.model import Persistent
from evoke.readouts import READOUTS, READOUTS_OF_STEPS, LSSVMReadout, PinvReadout, Readout, SVMReadout
from evoke.sequences.containers import Sequences
from evoke.sequences.features import as_frames
from evoke.sequences.prefixes import Segments
from evoke.svm._weights import weighted_C

__all__ = ["BaseEvoke", "check_parameters", "learned", "settled_parameters"]

# Islands or restarts: each has a population of its own, and all are in memory.
MOST_SEARCHES = 10_000

# Bytes that can be asked for.
MOST_BYTES = 2**63


class learned:
    """A learned attribute, read from the fitted model; there is none before `fit`, or where the model has None."""

    def __init__(self, path: str):
        self._get = attrgetter(path)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type) -> Any:
        if estimator is None:
            return self
        model = vars(estimator).get("fitted_")
        try:
            value = None if model is None else self._get(model)
        except AttributeError:  # drawn networks have no history, several have no readout of their own
            value = None
        if value is None:
            why = "" if model is None else ": what was fitted is of a kind that has none"
            raise AttributeError(f"{type(estimator).__name__!r} object has no attribute {self._name!r}{why}")
        return value

    def __set__(self, estimator: Any, value: Any) -> None:
        self._refuse()

    def __delete__(self, estimator: Any) -> None:
        self._refuse()

    def _refuse(self) -> None:
        raise AttributeError(f"{self._name} is part of fitted_, which is only replaced as a whole")


class Way(IntEnum):
    """How data are read."""

    STEPS = 0  # a readout of the steps of one network, or one of each sequence's last
    WHOLE = 1  # sequences as a whole, or series from rolling origins
    LANDMARKS = 2  # a machine on landmarks of the steps of several networks


class noted(learned):
    """A learned attribute that scikit-learn's `validate_data` sets or deletes, in the `fit` of a subclass for instance.

    Before the first `fit` it is what was set. After it the fitted model is the one truth: what is set has no effect.
    """

    def __get__(self, estimator: Any, owner: type) -> Any:
        if estimator is not None and vars(estimator).get("fitted_") is None and self._name in vars(estimator):
            return vars(estimator)[self._name]
        return super().__get__(estimator, owner)

    def __set__(self, estimator: Any, value: Any) -> None:
        if vars(estimator).get("fitted_") is None:
            vars(estimator)[self._name] = value

    def __delete__(self, estimator: Any) -> None:
        vars(estimator).pop(self._name, None)


class BaseEvoke(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, Persistent, auto_wrap_output_keys=None  # type: ignore[call-arg]
):
    """An estimator that evolves a network and trains a readout on its activations.

    Its `transform` obeys `set_output` by itself, as scikit-learn's wrapper would make one data frame of all sequences.
    The wrapper is turned off in the class that defines `transform`, and `set_output` is there in those below it.

    Attributes
    ----------
    fitted_ : FittedModel
        All that was learned. The other learned attributes are read from it.
    """

    _regression = True
    _leaves_out = False  # whether it can leave out whole sequences, one by one
    _readouts: tuple[str, ...] = READOUTS_OF_STEPS
    # what helps where memory is too small
    _remedies = "use fewer steps or sequences, or readout='pinv'"
    _rolls = False  # whether it can judge free runs from rolling origins
    # what "auto" stands for: where steps have targets, where sequences have, where machines on landmarks read steps
    _auto: Mapping[str, tuple[Any, ...]] = MappingProxyType({})
    _model: type[FittedModel]
    # of a copy with settled parameters: the estimator of the user, and how its data are read
    _user: BaseEvoke
    _way: Way
    _fitted = frozenset({
        "n_features_in_", "feature_names_in_", "genome_", "readout_", "best_fitness_", "n_evaluations_", "history_",
        "_esp", "_cell", "_gate_bias", "_washout", "_digest", "_first", "metadata_",
        "_sklearn_output_config",
    })  # fmt: skip

    n_features_in_ = noted("features.n")
    feature_names_in_ = noted("features.names")
    genome_ = learned("network.genome")
    readout_ = learned("readout")
    history_ = learned("run.history")
    best_fitness_ = learned("best_fitness")
    n_evaluations_ = learned("n_evaluations")

    @property
    def _repr_html_(self) -> Callable[[], str]:
        shown = super()._repr_html_
        return lambda: shown() + fitted_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What notebooks show: scikit-learn's diagram, and what was learned."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += fitted_html(self)
        return bundle

    def _settled(self, way: Way) -> BaseEvoke:
        """A copy in which each parameter that is "auto" has the value that it stands for."""
        settled = copy.copy(self)
        for name, values in self._auto.items():
            if is_text(getattr(self, name), "auto"):
                setattr(settled, name, values[way])
        settled._way = way
        return settled

    @contextmanager
    def _fitting(self, settled: BaseEvoke) -> Iterator[None]:
        """Fit a copy with settled parameters; what it has learned is ours at the end."""
        settled._user = self
        before = vars(self).get("fitted_")
        try:
            yield
        finally:
            if (model := vars(settled).get("fitted_")) is not before:
                self.fitted_ = model
                del self.n_features_in_, self.feature_names_in_  # what was noted before

    def _check_parameters(self):
        rolling = self._rolls and is_text(self.validation, "rolling")
        for name in ("n_cells", "n_generations", "n_trials"):
            check_integer(name, getattr(self, name), 1)
        check_integer("subpopulation_size", self.subpopulation_size, 2)
        check_integer("washout", self.washout, 0)
        for name in ("weight_range", "mutation_scale", "tol"):
            check_positive(name, getattr(self, name))
        for name in ("gamma", "C"):
            texts = ("auto", "evolve") if name in self._auto else ("evolve",)
            check_positive_or_text(name, getattr(self, name), texts)
        if self._regression:
            check_not_negative("epsilon", self.epsilon)
        if self.burst_scale is not None:
            check_positive("burst_scale", self.burst_scale)
        if self.burst_patience is not None:
            check_integer("burst_patience", self.burst_patience, 1)
        check_choice("search", self.search, ("esp", "cmaes"))
        check_integer("n_islands", self.n_islands, 1, MOST_SEARCHES)
        check_integer("migrate_every", self.migrate_every, 1)
        check_integer("n_restarts", self.n_restarts, 1, MOST_SEARCHES)
        if self.n_islands > 1 and self.n_restarts > 1:
            raise refusal("n_restarts", f"be 1 with n_islands={self.n_islands}", self.n_restarts)
        if self.n_islands > 1 and is_text(self.search, "cmaes"):
            # CMA-ES learns from networks that it has drawn, and a network that comes from elsewhere is none of them
            raise refusal("n_islands", "be 1 with search='cmaes', which can take in no network", self.n_islands)
        check_choice("cell", self.cell, lstm.CELLS)
        check_choice("credit", self.credit, ("best", "mean"))
        check_choice("objective", self.objective, loss.OBJECTIVES)
        check_choice("readout", self.readout, self._readouts if not rolling else ("auto", *READOUTS))
        check_choice("kernel", self.kernel, kernel.KERNELS)
        for name in self._evolved_parameters():
            if self.readout == "pinv" or (name == "gamma" and self.kernel == "linear"):
                other = "readout='pinv'" if self.readout == "pinv" else "kernel='linear'"
                raise refusal(name, f"be a number with {other}, which has none that could evolve", "evolve")
        check_choice("solver", self.solver, ("auto", "native", "thundersvm"))
        for name in ("warm_start", "verbose", "refit"):
            check_flag(name, getattr(self, name))
        check_gate_bias(self.gate_bias)
        check_callbacks(self.callbacks)
        if self._leaves_out:
            check_held_out("validation", self.validation)
        elif not rolling:
            check_fraction("validation", self.validation, half=True, rolling=self._rolls)
        check_random_state(self.random_state)
        check_positive_or_none("max_seconds", self.max_seconds)
        check_integer_or_none("max_memory", self.max_memory, 1, MOST_BYTES)
        check_n_jobs(self.n_jobs)

    def _evolved_parameters(self) -> tuple[str, ...]:
        """The parameters of the readout that evolve with the network."""
        return tuple(name for name in ("C", "gamma") if is_text(getattr(self, name), "evolve"))

    # ------------------------------------------------------------------ the recipe

    def _pose(
        self,
        splits: Sequence[Split],
        segments: Segments,
        build: Callable[..., FittedModel],
        *,
        exclusive: bool = False,
        free: FreeRun | None = None,
    ) -> Fit:
        """Pose the evolution of a network and the training of its readout: the paper's recipe (section 2).

        Parameters
        ----------
        splits : sequence of Split
            The data, divided into a training and a validation part: in one way, or in several.
        segments : Segments
            The rows of the sequences in the order in which networks read them.
        build : callable
            Makes the fitted model, given ``network, readout, washout, run`` by name.
        exclusive : bool
            Whether each target is one class, decided by the largest output.
        free : FreeRun, optional
            Validation by networks that feed on their own output.
        """
        # what the fitness of a network depends on: first phase, its readout is trained on the training points; second
        # phase, its error is taken on the validation points too
        problems = [self._problem(split, segments, exclusive, free) for split in splits]
        problem, split = problems[0], splits[0]
        final = problem.train if split.final is split.train else split.points(segments, split.final)
        for points in (*(part.train for part in problems), final):
            for C in self._capacities(problem):
                weighted_C(C, points.weights)  # must be within the range of float64
        left_out = "refit=True is left out, the readout was not trained on the held-out part"
        if not self.refit:
            left_out = "the readout was trained on the training part of the first split alone"

        # the engine with a subpopulation of chromosomes for each cell: new ones, or those of the last fit
        whole: AnyProblem = problem if len(problems) == 1 else SplitProblem(tuple(problems))
        return Fit(self, whole, OneNetwork(problem, final, left_out), build)

    def _run(self, fit: Fit) -> None:
        """Evolve, and keep the model of the best network, or networks."""
        callbacks, n_jobs = check_callbacks(self.callbacks), self.n_jobs
        check_unchanged = _watched(fit.run.problem) if callbacks else None
        n = n_threads(n_jobs)
        if (fewer := threads_within(self.max_memory, fit, n, self._remedies)) < n:
            fit.limit_threads(fewer)
            n_jobs = fewer
        if self.verbose:
            callbacks.append(_print_record)

        # per generation: networks are assembled, evaluated and credited; then selection and mutation, or a burst
        try:
            evolve(fit.run, n_jobs=n_jobs, callbacks=callbacks, max_seconds=self.max_seconds)
        finally:
            if check_unchanged is not None:
                check_unchanged()
            # the best network and its readout, swapped in as a whole: a fit that fails or is interrupted leaves a whole
            # model, or the old one where no generation was completed
            if fit.has_progressed and (model := fit.model()) is not None:
                self.fitted_ = model
                del self.n_features_in_, self.feature_names_in_  # what was noted before
        if fit.run.esp.best is None:
            hint = ", or lower C, at which the kernel matrix is singular" if self.readout == "lssvm" else ""
            raise ValueError(f"no network had a finite error: the data are too large, scale them{hint}")

    def _problem(self, split: Split, segments: Segments, exclusive: bool, free: FreeRun | None) -> Problem:
        return Problem(
            segments, split.points(segments, split.train), split.points(segments, split.validation), str(self.cell),
            check_gate_bias(self.gate_bias), self._make_readout(),
            self._make_objective(exclusive=exclusive), free, self._make_evolved(), self._dtype(),
        )  # fmt: skip

    def _dtype(self) -> str:
        """The precision in which networks are judged."""
        return "float64"

    def _make_objective(self, *, exclusive: bool) -> Objective:
        epsilon = float(self.epsilon) if self._regression else 0.0
        return Objective(str(self.objective), exclusive, self._regression, epsilon)

    def _capacities(self, problem: Problem) -> tuple[float, ...]:
        """The least and the largest C with which readouts are trained."""
        if problem.evolved is not None and is_text(self.C, "evolve"):
            return problem.evolved.limits("C")
        return (self.C,)

    def _make_evolved(self) -> Evolved | None:
        names = self._evolved_parameters()
        return Evolved(int(self.n_cells), str(self.readout), names) if names else None

    def _make_readout(self) -> Readout:
        if self.readout == "pinv":
            return PinvReadout()
        # what evolves is in the genomes
        C, gamma = (1.0 if is_text(value, "evolve") else float(value) for value in (self.C, self.gamma))
        kernel = Kernel(str(self.kernel), gamma, 0.0, 3)
        if self.readout == "lssvm":
            return LSSVMReadout(kernel, C=C)
        if self.readout == "svm":
            return SVMReadout(
                kernel, C=C, epsilon=float(self.epsilon) if self._regression else 0.0, tol=float(self.tol),
                solver=str(self.solver), regression=self._regression,
            )  # fmt: skip
        raise ValueError(f"the estimators make no readout {self.readout!r}")

    # ------------------------------------------------------------------ files

    def _state_for_file(self) -> dict[str, Any]:
        own = ("metadata_", "_sklearn_output_config")
        return self._fitted_model().state() | {name: vars(self)[name] for name in own if name in vars(self)}

    def _restore(self, state: dict[str, Any]) -> None:
        model = self._model_of(state)
        self.fitted_ = model(**model.fields(state, type(self).__name__))
        for name in ("metadata_", "_sklearn_output_config"):
            if name in state:
                setattr(self, name, state[name])

    def _model_of(self, state: dict[str, Any]) -> Any:
        """The class of the model of which a file holds this state."""
        return self._model

    def _check_fitted(self) -> None:
        self._check_parameters()
        self._fitted_model().check()
        for container in getattr(self, "_sklearn_output_config", {}).values():  # what set_output leaves
            check_choice("set_output", container, ("default", "pandas", "polars"))
        if not isinstance(getattr(self, "metadata_", {}), dict):
            raise ValueError("metadata_ must be a dict")

    # ------------------------------------------------------------------ use

    def __sklearn_is_fitted__(self) -> bool:
        return vars(self).get("fitted_") is not None

    def _fitted_model(self) -> Any:
        """The model of the last fit, by which a whole call abides: a fit in another thread does not touch it."""
        check_is_fitted(self)
        return self.fitted_

    def _as_output(self, activations: FloatArray, given: Any, sequences: Sequences) -> Any:
        """Activations in the container `given`, or the data frames that `set_output` asks for."""
        mirrored = sequences.mirror(activations)
        kind = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        if kind == "default":
            return mirrored
        prefix = type(self).__name__.lower()
        names = [f"{prefix}{k}" for k in range(activations.shape[1])]
        return as_frames(kind, mirrored, given, sequences.container, names)

    @property
    def _n_features_out(self) -> int:
        model = self.fitted_
        return len(model.networks) * model.network.n_cells


def settled_parameters(estimator: BaseEvoke, problem: PosedProblem) -> dict[str, Any]:
    """The parameters of an estimator, those that are "auto" with the value that they stand for in this problem."""
    ways = {PooledProblem: Way.WHOLE, SampledProblem: Way.LANDMARKS}
    return estimator._settled(ways.get(type(problem), Way.STEPS)).get_params(deep=False)


def check_parameters(estimator: BaseEvoke) -> None:
    """Check the parameters of an estimator before any work.

    Raises
    ------
    ValueError
        One of them is out of range.
    """
    estimator._check_parameters()


def _watched(problem: PosedProblem) -> Callable[[], None] | None:
    """A check that data are still what they were, where they are the caller's and are read again and again.

    Rows that are many are not copied; all others are.
    """
    if not isinstance(problem, SampledProblem) or not problem.X.rows.flags.writeable:
        return None
    before = problem.digest

    def check() -> None:
        if replace(problem).digest != before:
            raise ValueError("X or y was changed during the fit, by a callback for instance: give the callback a copy")

    return check


def _print_record(record: dict[str, Any], _esp: Engine) -> None:
    with contextlib.suppress(OSError):  # a terminal that has gone does not end the run
        print(
            f"generation {record['generation']:4d}  best {record['best_fitness']:.6g}  "
            f"median {record['generation_median']:.6g}{'  burst' if record['burst'] else ''}",
            file=sys.stderr,
        )
