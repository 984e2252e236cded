"""What the estimators of sequences have in common: reading X and y, activations, answers in the structure of X."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evoke._core import loo, pooled
from evoke._validation.arrays import FloatArray, to_array
from evoke._validation.errors import ParameterError, refusal, shown
from evoke._validation.parameters import (
    INT32_MAX,
    check_choice,
    check_gate_bias,
    check_integer,
    check_lags,
    check_pool,
    check_scale,
    is_splitter,
    is_text,
)
from evoke.engine import entropy_of
from evoke.estimators.base import BaseEvoke, Way
from evoke.estimators.cost import Cost, cost_of
from evoke.estimators.fit import Fit, JoinedNetworks, LeftOutNetwork
from evoke.estimators.fitted import SequenceModel
from evoke.estimators.joined_sequences import ManySequences
from evoke.estimators.joined_steps import pose
from evoke.estimators.landmark_fit import kept_within
from evoke.estimators.pooling import check_lengths
from evoke.estimators.split import Data, Encode, part_of_rows, rows_after_washout
from evoke.estimators.splitters import block_of_each, splits_of_sequences
from evoke.estimators.streams import Stream
from evoke.estimators.targets import with_weights
from evoke.evolution.problem import Points, PooledProblem, StepsProblem
from evoke.evolution.workers import n_threads
from evoke.landmarks import MOST_LANDMARKS
from evoke.memories import Memories
from evoke.readouts import READOUTS, LandmarkReadout, LeaveOneOut
from evoke.sequences.containers import Sequences, Targets, as_sequences, as_targets, warn_of_column
from evoke.sequences.features import Features
from evoke.sequences.prefixes import share_prefixes
from evoke.sequences.preparation import Preparation, Units

__all__ = ["SequenceEstimator"]


# Kernel widths, in units of the mean squared distance, and capacities that are tried for each network, and at the end
# for the features of all that are joined.
NETWORK_GRID = LeaveOneOut(widths=(0.3, 1.0, 3.0), capacities=(1.0, 10.0, 100.0, 1000.0))
JOINED_GRID = LeaveOneOut(widths=(0.1, 0.3, 1.0, 3.0), capacities=(1.0, 10.0, 100.0, 1000.0, 10000.0))


# Changes since so many steps before are inputs too: networks then see patterns of these widths at once.
LAGS = (1, 2, 4, 8, 16, 32)
STEP_LAGS = (1, 2, 4, 8)

# What "auto" stands for where sequences are left out whose steps have targets.
AUTO_LEFT_OUT = {"readout": "lssvm", "C": "auto", "gamma": "auto"}

# Sequences on which a network is judged: the time of leave-one-out grows with their cube.
MOST_JUDGED = 300

# From so many steps on they are read by machines on landmarks.
LEAST_STEPS = 1_000

# Steps for which cells remember at most to begin with, where steps are read in pieces of some hundreds.
MOST_MEMORY = 300.0

STEPS = "y with a target at every step"

# Parameters with several searches, each of which has one network in the end.
SEVERAL = ("n_islands", "n_restarts")

# Sequences beyond which the joined networks are read by a machine on landmarks: the time of leave-one-out grows with
# their cube, and the memory with their square.
MOST_LEFT_OUT, N_LANDMARKS = 3_000, 512

# Statistics of activations over a whole sequence.
POOL = ("last", "mean", "std", "max", "min", "positive", "change")


def spread(targets: FloatArray, most: int, block: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Which of the points with targets (n_outputs, n) stand for all: at most so many, evenly over sorted targets.

    Where points are left out by blocks, evenly over the targets of each. `block` is the number of that of each point.
    """
    n = targets.shape[1]
    if n <= most:
        return np.arange(n)
    keys = targets[::-1] if block is None else [*targets[::-1], block]
    judged = np.sort(np.lexsort(keys)[np.arange(most) * n // most])
    # of a block that has nearly all points the others are needed too
    return np.arange(n) if block is not None and (block[judged] == block[judged[0]]).all() else judged


def begins(block: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Where each block of points begins, and the last ends, of the numbers of their blocks, which rise."""
    if block is None:
        return None
    return np.append(np.flatnonzero(np.diff(block, prepend=-1)), len(block)).astype(np.int64)


class Given(NamedTuple):
    """What `fit` was given."""

    data: Data
    held_out: Data | None
    features: Features
    groups: NDArray[Any] | None


class SequenceEstimator(BaseEvoke, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """An estimator whose X are the inputs of the network, and whose y are what its readout is to predict."""

    _leaves_out = True
    _readouts = READOUTS
    _remedies = "use readout='landmarks' where steps have targets, or fewer steps or sequences"
    _model: type[SequenceModel]
    # groups that a search or a cross-validation is given are for its own splitter, unless one asks for them
    __metadata_request__fit = MappingProxyType({"groups": False})
    _fitted = BaseEvoke._fitted | {
        "_per_sequence", "_pool", "_pool_mean", "_pool_inverse", "_pool_limit", "_differences", "_input_mean",
        "_input_inverse", "_left_out", "_n_points", "_points_weight", "_phi_mean", "_phi_inverse",
        "_phi_limit",
    }  # fmt: skip

    def _read(self, X, y, lengths, X_val, y_val, sample_weight, sample_weight_val, groups) -> Given:
        """The arguments of `fit`, checked and in flat form."""
        self._check_parameters()
        sequences = as_sequences(X, lengths, view=True)
        features = Features.of(type(self).__name__, X, sequences.rows, sequences.container == "list")
        targets = as_targets(y, sequences)
        if targets.column and not self._regression:
            warn_of_column("y")
        data = Data(sequences, with_weights(targets, sample_weight, sequences))
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: one of them is missing")
        if X_val is not None and is_text(self.validation, "loo"):
            raise ValueError("validation='loo' leaves out each sequence of X in turn; X_val and y_val have no part")
        if X_val is not None and is_splitter(self.validation):
            raise ValueError(f"validation={shown(self.validation)} divides X; X_val and y_val have no part")
        groups = self._read_groups(groups, sequences)
        if X_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val goes with X_val and y_val, which are missing")
            given = Given(data, None, features, groups)
            if self._way_for(given) is not Way.LANDMARKS:  # which read what is where the user has it
                given = given._replace(data=replace(data, X=sequences.copied()))
            return given
        data = replace(data, X=sequences.copied())
        val = as_sequences(X_val, name="X_val", n_columns=features.n)
        features.check(X_val, val.rows, val.container == "list", "X_val")
        targets = as_targets(y_val, val, name="y_val", of="X_val")
        targets = with_weights(targets, sample_weight_val, val, "sample_weight_val", of="X_val")
        if targets.per_sequence != data.y.per_sequence or targets.values.shape[1:] != data.y.values.shape[1:]:
            raise ValueError("y_val must be of the same kind as y: one a step or one a sequence, as many outputs")
        return Given(data, Data(val, targets), features, groups)

    def _read_groups(self, groups: Any, X: Sequences) -> NDArray[Any] | None:
        """The group of each sequence, or of each step of a single one."""
        if groups is None:
            return None
        if not is_splitter(self.validation):
            raise ValueError("groups are for validation with a splitter of scikit-learn, such as GroupKFold()")
        array, n = to_array(groups, "groups"), X.n_sequences if X.n_sequences > 1 else len(X.rows)
        if array.shape != (n,):
            what = "sequence" if X.n_sequences > 1 else "step"
            raise ValueError(f"groups must have shape ({n},), one a {what}, got {array.shape}")
        return array

    # ------------------------------------------------------------------ whole sequences, left out one by one

    def _check_parameters(self) -> None:
        """Before the data are known: how they are to be read is guessed from the parameters."""
        why_not = self._why_not_whole(True)
        self._settled(self._way_of(why_not, 0))._check_settled(why_not)

    def _check_settled(self, why_not: str | None = None) -> None:
        """`why_not` says why sequences are not read as a whole."""
        super()._check_parameters()
        check_pool(self.pool, pooled.STATISTICS)
        check_integer("n_networks", self.n_networks, 1, INT32_MAX)
        check_lags("differences", self.differences)
        check_integer("n_points", self.n_points, 0, 10**6)
        check_choice("dtype", self.dtype, ("float64", "float32"))
        check_scale(self.scale)
        for name, least in (("n_landmarks", 1), ("fit_samples", 2)):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), least, MOST_LANDMARKS if name == "n_landmarks" else None)
        if self._way is Way.LANDMARKS:
            self._check_landmarks()
            return
        if is_text(self.validation, "loo") or self._way is Way.WHOLE:
            if self.readout not in ("lssvm", "ridge"):
                raise refusal("readout", "be 'lssvm' or 'ridge' with validation='loo'", self.readout)
            check_choice("kernel", self.kernel, loo.KERNELS)
            for name in self._evolved_parameters():
                raise refusal(name, "be a number or 'auto', by leave-one-out, with validation='loo'", "evolve")
        if self._way is Way.WHOLE:
            return
        needs_it = {
            "pool": check_pool(self.pool, pooled.STATISTICS) != ("last",), "n_networks": self.n_networks > 1,
            "differences": check_lags("differences", self.differences) != (), "scale": self.scale is not None,
            "n_points": self.n_points > 0, "readout": self.readout == "ridge" and not is_text(self.validation, "loo"),
        }  # fmt: skip
        for name, needs in needs_it.items():
            if needs and (is_text(self.validation, "loo") or why_not == STEPS):
                raise ParameterError(
                    f"{name}={shown(getattr(self, name))} is for whole sequences: y must have one target a sequence"
                )
            if needs:
                own = why_not in (None, "validation")
                because = f", got {shown(self.validation)}" if own else f": {why_not} rules it out"
                raise ParameterError(f"{name}={shown(getattr(self, name))} must come with validation='loo'{because}")

    def _check_landmarks(self) -> None:
        """The parameters of machines on landmarks."""
        text = f"with readout={self.readout!r}, where y has a target at every step"
        if self.readout not in ("landmarks", "ridge"):
            raise refusal("readout", "be 'landmarks' or 'ridge' for machines on landmarks", self.readout)
        check_integer("n_landmarks", self.n_landmarks, 1, MOST_LANDMARKS)  # None is no number of them
        fixed = {
            "pool": ("last",), "solver": ("auto",), "kernel": ("rbf",), "refit": (False,), "n_points": (0,),
            "tol": (1e-3,), "validation": ("half",),
        }  # fmt: skip
        for name, values in fixed.items():
            if getattr(self, name) not in values:
                raise refusal(name, f"have its default {text}", getattr(self, name))
        for name in self._evolved_parameters():
            raise refusal(name, f"be a number or 'auto' {text}", "evolve")

    def _pose_joined(
        self, given: Given, encode: Encode, build: Callable[..., SequenceModel], *, exclusive: bool = False
    ) -> Fit:
        """Evolve networks on samples of the steps, and join the best in one machine on landmarks of all steps.

        The parameters are those of `_pose_whole`; the targets are those of steps.
        """
        X, y = given.data.X, given.data.y
        rows = rows_after_washout(X, self.washout, "X")
        weights = np.zeros(len(X.rows))
        weights[rows] = y.weights_of_rows(X)[rows]
        if np.count_nonzero(weights) < 2:
            raise ValueError(f"X has n_samples={np.count_nonzero(weights)} steps with a weight; it takes two")
        problem, joined = pose(self, X, encode(y, X, "y"), weights, self._make_objective(exclusive=exclusive))
        memories = Memories(
            problem.n_inputs, float(self.weight_range), min(MOST_MEMORY, float(np.mean(X.lengths))),
            len(problem.preparation.lags), decades=3.0, power=1.0,
        )  # fmt: skip
        return Fit(self, problem, joined, build, n_best=int(self.n_networks), initial=memories, keep_zeros=True)

    def _pose_whole(
        self, given: Given, encode: Encode, build: Callable[..., SequenceModel], *, exclusive: bool = False
    ) -> Fit:
        """Evolve networks by the leave-one-out error of readouts of whole sequences, and join the best of them.

        Parameters
        ----------
        given : Given
            Data with one target a sequence.
        encode : callable
            Makes targets for the core.
        build : callable
            Makes the fitted model.
        exclusive : bool
            Whether each target is one class, decided by the largest output.
        """
        X, y = given.data.X, given.data.y
        check_lengths(X, self.washout)
        targets = encode(y, X, "y")[X.offsets[1:] - 1]
        units = Units.of(targets) if self._regression and self.scale is not None else Units.none(targets)
        weights = np.ones(X.n_sequences) if y.weights is None else y.weights
        counted = np.flatnonzero(weights > 0)
        if len(counted) < 2:
            raise ValueError(f"X has n_samples={len(counted)} sequences with a weight; to leave one out takes two")
        block = self._blocks(given, counted)
        if block is not None:  # those of one block side by side
            order = np.argsort(block, kind="stable")
            counted, block = counted[order], block[order]
        if len(counted) < X.n_sequences or block is not None:
            X = X.take(counted)

        # what networks read, and what the fitness of one depends on
        preparation = Preparation.of(
            X, lags=check_lags("differences", self.differences), scaled=self.scale is not None
        )
        points = Points(
            np.arange(len(counted)), np.ascontiguousarray(weights[counted], dtype=np.float64),
            np.ascontiguousarray(units.to(targets[counted]).T),
        )  # fmt: skip
        problem = PooledProblem(
            preparation.apply(X), points, str(self.cell), check_gate_bias(self.gate_bias),
            check_pool(self.pool, pooled.STATISTICS), int(self.washout), self._leave_one_out(NETWORK_GRID),
            self._make_objective(exclusive=exclusive), begins(block), self._dtype(),
        )  # fmt: skip
        joined: Any = JoinedNetworks(problem, self._leave_one_out(JOINED_GRID), preparation, units, int(self.n_points))
        if len(counted) > MOST_LEFT_OUT:
            joined = self._many_sequences(problem, preparation, units)
        judged = spread(points.targets, MOST_JUDGED, block)
        if len(judged) < len(counted):
            problem = replace(
                problem, inputs=problem.inputs.take(judged),
                points=Points(np.arange(len(judged)), points.weights[judged], points.targets[:, judged].copy()),
                blocks=begins(None if block is None else block[judged]),
            )  # fmt: skip
        memories = Memories(
            problem.n_inputs, float(self.weight_range), float(np.mean(X.lengths)), len(preparation.lags)
        )

        def build_for_all(left_out, **parts) -> SequenceModel:
            decisions = np.full((len(weights), len(points.targets)), np.nan)
            decisions[counted] = left_out
            return build(left_out=decisions, **parts)

        engine = {"n_best": int(self.n_networks), "initial": memories, "keep_zeros": True}
        return Fit(self, problem, joined, build_for_all, **engine)

    def _pose_left_out(
        self, given: Given, encode: Encode, build: Callable[..., SequenceModel], *, exclusive: bool = False
    ) -> Fit:
        """Evolve networks by the errors of readouts of steps, each sequence left out in turn.

        The parameters are those of `_pose_whole`; the targets are those of steps.
        """
        X, y = given.data.X, given.data.y
        rows = rows_after_washout(X, self.washout, "X")
        targets, weights = encode(y, X, "y"), y.weights_of_rows(X)
        rows = rows[weights[rows] > 0]
        block = part_of_rows(X, rows) if X.n_sequences > 1 else np.zeros(len(rows), dtype=np.int64)
        if len(np.unique(block)) < 2:
            raise ValueError(
                f"validation='loo' leaves out whole sequences, and X has n_samples={len(np.unique(block))} with a "
                "weight; of a single one hold out steps, with validation='half' for instance"
            )
        segments = share_prefixes(X)
        points = Points(segments.row_of[rows], weights[rows], np.ascontiguousarray(targets[rows].T))
        problem = StepsProblem(
            segments, points, begins(block), str(self.cell), check_gate_bias(self.gate_bias),
            self._leave_one_out(NETWORK_GRID), self._make_objective(exclusive=exclusive), self._dtype(),
        )  # fmt: skip
        return Fit(self, problem, LeftOutNetwork(problem), build)

    def _many_sequences(self, problem: PooledProblem, preparation: Preparation, units: Units) -> ManySequences:
        """How networks are joined where leaving out each of the sequences would take too long."""
        if self.n_points:
            raise refusal("n_points", f"be 0 with more than {MOST_LEFT_OUT} sequences", self.n_points)
        grid = self._leave_one_out(JOINED_GRID)
        own = {name: getattr(grid, name) for name in ("kernel", "capacities", "relative", "scaled")}
        readout = LandmarkReadout(widths=grid.widths, n_landmarks=N_LANDMARKS, **own)
        return ManySequences(
            problem, readout, preparation, units, entropy_of(self.random_state), n_threads(self.n_jobs),
            kept_within(self.max_memory),
        )  # fmt: skip

    def _blocks(self, given: Given, counted: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The number of the block in which each of the sequences is left out; None where each is one by itself."""
        if not is_splitter(self.validation):
            return None
        splits = splits_of_sequences(self.validation, given.data.X, given.data.y, given.groups, counted)
        block = block_of_each(splits, self.validation, counted)
        return block if len(splits) < len(counted) else None

    def _dtype(self) -> str:
        return str(self.dtype)

    def _leave_one_out(self, grid: LeaveOneOut) -> LeaveOneOut:
        """The readout with the kernel width and the capacity that the user gave, or a grid of each."""
        kernel = "linear" if self.readout == "ridge" else str(self.kernel)
        own: dict[str, Any] = {"kernel": kernel, "scaled": self.scale is not None}
        if self.C != "auto":
            own["capacities"] = (float(self.C),)
        if kernel == "linear":
            own |= {"widths": (1.0,), "relative": self.C == "auto"}
        elif self.gamma != "auto":
            own |= {"widths": (float(self.gamma),), "relative": False}
        return replace(grid, **own)

    def _why_not_whole(self, per_sequence: bool, held_out: Data | None = None) -> str | None:
        """What keeps sequences from being read as a whole and left out one by one; None: nothing."""
        if not per_sequence:
            return STEPS
        if is_text(self.validation, "loo"):
            return None
        if held_out is not None:
            return "X_val"
        if is_text(self.search, "cmaes"):
            return "search='cmaes'"
        for name in SEVERAL:
            value = getattr(self, name)
            if isinstance(value, Integral) and value > 1:  # it is not checked yet
                return f"{name}={shown(value)}"
        if evolved := self._evolved_parameters():
            return f"{evolved[0]}='evolve'"
        if not is_splitter(self.validation) and not is_text(self.validation, "auto"):
            return "validation"
        can = {"solver": ("auto",), "readout": ("auto", "lssvm", "ridge"), "kernel": loo.KERNELS}
        for name, texts in can.items():
            if not any(is_text(getattr(self, name), text) for text in texts):
                return f"{name}={shown(getattr(self, name))}"
        return None

    def _way_of(self, why_not: str | None, n_rows: int) -> Way:
        """How so many steps are read where something, or nothing, keeps sequences from being read as a whole."""
        if is_text(self.readout, "landmarks") or (is_text(self.readout, "ridge") and why_not == STEPS):
            return Way.STEPS if is_text(self.validation, "loo") else Way.LANDMARKS
        if why_not is None:
            return Way.WHOLE
        auto = all(is_text(getattr(self, name), "auto") for name in ("readout", "C", "gamma", "validation", "solver"))
        is_free = auto and is_text(self.kernel, "rbf") and not self.refit
        return Way.LANDMARKS if why_not == STEPS and n_rows >= LEAST_STEPS and is_free else Way.STEPS

    def _way_for(self, given: Given) -> Way:
        """How these data are read."""
        why_not = self._why_not_whole(given.data.y.per_sequence, given.held_out)
        return self._way_of(why_not, 0 if given.held_out is not None else len(given.data.X.rows))

    def _pose_for(self, given: Given) -> Fit:
        """What is to be evolved for these data."""
        raise NotImplementedError

    def _settled_for(self, given: Given) -> Any:
        """A copy to be fitted, with what "auto" stands for on these data."""
        per_sequence = given.data.y.per_sequence
        why_not = self._why_not_whole(per_sequence, given.held_out)
        whole = why_not is None
        way = self._way_for(given)
        if way is Way.LANDMARKS and per_sequence:
            raise refusal("readout", "be another where y has one target a sequence", self.readout)
        if way is Way.LANDMARKS and given.held_out is not None:
            raise ValueError("readout='landmarks' judges networks on samples of X; X_val and y_val have no part")
        if way is not Way.STEPS:
            whole_or_joined = "whole sequences are left out" if way is Way.WHOLE else "readout='landmarks' reads steps"
            for name in SEVERAL:
                if getattr(self, name) > 1:
                    what = f"be 1 where {whole_or_joined}: many networks are read, which come from one search"
                    raise refusal(name, what, getattr(self, name))
            if is_text(self.search, "cmaes"):
                # trials: where CMA-ES came to rest, the networks of its hall of fame were all much the same
                what = f"be 'esp' where {whole_or_joined}: many networks are read, and they have to differ"
                raise refusal("search", what, self.search)
        settled = self._settled(way)
        for name in ("n_landmarks", "fit_samples"):
            if way is not Way.LANDMARKS and getattr(settled, name) is not None:
                raise refusal(name, "be 'auto' without readout='landmarks'", getattr(self, name))
        if is_text(self.validation, "auto") and per_sequence and not whole and not self._regression:
            settled.validation = "stratified"
        if is_text(self.validation, "loo") and not whole:
            for name, value in AUTO_LEFT_OUT.items():
                if is_text(getattr(self, name), "auto"):
                    setattr(settled, name, value)
        settled._check_settled(why_not)
        return settled

    def _apply(self, answer: Callable[[Any, FloatArray], NDArray[Any]], X, lengths):
        """What `answer` makes of the model and its decision values, in the structure of X or one per sequence."""
        model = self._fitted_model()
        sequences = model.read(X, lengths)
        return model.mirror(answer(model, model.decide(sequences)), sequences)

    def _predicted_and_true(self, X, y, lengths, sample_weight) -> tuple[NDArray[Any], Data]:
        """Predictions, flat, and the sequences with the true targets."""
        model = self._fitted_model()
        sequences = model.read(X, lengths)
        targets: Targets = with_weights(as_targets(y, sequences), sample_weight, sequences)
        predicted = model.answer(model.decide(sequences))
        if targets.per_sequence != model.per_sequence or targets.values.shape != predicted.shape:
            raise ValueError("y must be of the kind that the model was trained with: one a step or one a sequence")
        return predicted, Data(sequences, targets)

    def transform(self, X: Any, lengths: Any = None) -> Any:
        """Activations of the cells, the paper's phi(t).

        Parameters
        ----------
        X, lengths
            Sequences, as in `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            The structure of X with n_cells columns. After ``set_output(transform="pandas")`` a data frame for a 2-D X
            and a list of data frames, one per sequence, for a list or a 3-D X; their columns are
            `get_feature_names_out`, and each has the index of its sequence if that is a data frame too.
        """
        model = self._fitted_model()
        sequences: Sequences = model.read(X, lengths)
        return self._as_output(model.transform(sequences), X, sequences)

    def fit_transform(self, X: Any, y: Any = None, lengths: Any = None, **fit_params: Any) -> Any:
        """Fit to X and y, then give the activations on X: `fit` and `transform` in one.

        Parameters
        ----------
        X, y, lengths
            As in `fit`.
        **fit_params
            Further arguments of `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            As that of `transform`.
        """
        if isinstance(X, Iterator):  # which gives its sequences only once
            X = as_sequences(X, lengths, view=True)
        return self.fit(X, y, lengths=lengths, **fit_params).transform(X, lengths)

    def estimate_cost(self, X: Any, y: Any, lengths: Any = None, sample_weight: Any = None, groups: Any = None) -> Cost:
        """What a `fit` of these data will take, before it begins.

        A few networks are evaluated to see how long they take; nothing is kept of them.

        Parameters
        ----------
        X, y, lengths, sample_weight, groups
            As in `fit`.

        Returns
        -------
        Cost
            Networks, bytes and seconds.

        Raises
        ------
        ValueError
            As by `fit`.
        """
        given = self._read(X, y, lengths, None, None, sample_weight, None, groups)
        return cost_of(self._settled_for(given)._pose_for(given), n_threads(self.n_jobs))

    def stream(self) -> Stream:
        """An explicit stateful reader that starts from the zero state; the estimator itself keeps no state.

        Returns
        -------
        Stream
            Reads step by step.
        """
        return Stream(self._fitted_model())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
