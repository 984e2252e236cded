"""Estimators for sequences in the manner of scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from evoke import _evaluate, _lstm
from evoke.esp import ESP
from evoke.evaluation import Points, Problem, evaluate, fit_readout, merge_points
from evoke.evolution import evolve
from evoke.readouts import SVMReadout
from evoke.sequences import Sequences, Targets, as_sequences, as_targets, share_prefixes, to_array

__all__ = ["EvokeClassifier", "Stream"]

FloatArray = NDArray[np.float64]


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {value!r}")


def _check_integer(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def _check_gate_bias(gate_bias: Any) -> tuple[float, ...]:
    try:
        values = tuple(float(bias) for bias in gate_bias)
    except (TypeError, ValueError):
        values = ()
    if len(values) != 3 or not np.isfinite(values).all():
        raise ValueError(f"gate_bias must be three finite numbers, got {gate_bias!r}")
    return values


def _check_callbacks(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    if not np.iterable(callbacks) or not all(map(callable, callbacks)):
        raise ValueError(f"callbacks must be None or a list of callables, got {callbacks!r}")
    return list(callbacks)


def _check_positive(name: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")
    return float(value)


class EvokeClassifier(ClassifierMixin, TransformerMixin, BaseEstimator):
    """Classifier of sequences: an evolved LSTM network read by support vector machines (Evoke).

    Enforced SubPopulations search the weights of the network. For every candidate, an SVM is trained on the cells'
    activations over the training part of the sequences; its error there and on the validation part is the
    candidate's fitness (paper, section 2).

    Parameters
    ----------
    n_cells : int, default=5
        Memory cells H.
    cell : {"lstm", "evolino"}, default="lstm"
        ``"lstm"``: s = i tanh(z) + f s, phi = o tanh(s). ``"evolino"``: s = i z + f s, phi = tanh(o s).
    gate_bias : tuple of 3 floats, default=(0.0, 1.5, -1.5)
        Constant biases of the input, forget and output gates.
    weight_range : float, default=5.0
        Initial weights are uniform in [-weight_range, weight_range].
    n_generations : int, default=50
    subpopulation_size : int, default=40
        Chromosomes in the subpopulation of each cell.
    n_trials : int, default=5
        Networks that each chromosome takes part in per generation.
    mutation_scale : float, default=0.1
        Half of the Cauchy noise lies within +- this scale (the paper's alpha).
    burst_patience : int or None, default=5
        Generations without improvement that set off burst mutation; None: never.
    burst_scale : float or None, default=None
        Noise scale of burst mutation; None: `mutation_scale`.
    credit : {"best", "mean"}, default="best"
        A chromosome is scored by the best or by the mean of the networks it took part in.
    objective : {"hinge", "squared", "count"}, default="hinge"
        Error of a decision: margin violation, its square, or whether it is wrong.
    readout : {"svm"}, default="svm"
        C-support vector machines, one an output, all over one kernel matrix.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
    gamma : float, default=0.25
        Kernel width, exp(-gamma |x - y|^2). The paper's "standard deviation 2.0" means 1/4 in its SVM software.
    C : float, default=100.0
        Capacity: the price of a margin violation.
    tol : float, default=1e-3
        Tolerance of the SVM solver.
    solver : {"auto", "native", "thundersvm"}, default="auto"
    washout : int, default=0
        Steps at the beginning of every sequence that are neither trained on nor judged.
    validation : "half" or float, default="half"
        The part held out for the fitness: the second half of the sequences (of the steps, for a single sequence), or
        the last fraction of them. Not used where `fit` is given ``X_val, y_val``.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads, through joblib. The result does not depend on it.
    callbacks : list of callables or None, default=None
        Called after every generation with its record and the ESP engine; a true result ends the evolution.
    warm_start : bool, default=False
        Whether `fit` goes on from the population of the last fit. The data may differ, in which case the best network
        so far is judged anew; the parameters of the evolution and the number of features may not.
    verbose : int, default=0
        1 prints a line a generation to stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in order; for indicator targets the numbers of the outputs.
    genome_ : ndarray of shape (n_cells, 4 * (n_features_in_ + n_cells))
        Weights of the best network. A row is a cell: [z | input | forget | output] x [inputs, cells].
    readout_ : FittedReadout
        Its support vectors, weights, intercepts and duality gaps.
    history_ : list of dict
        One record a generation.
    best_fitness_ : float
        Training plus validation error of the best network.
    n_evaluations_ : int
        Networks evaluated.
    n_features_in_ : int

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> X, y = tasks.anbncn(6)
    >>> model = EvokeClassifier(n_generations=10, random_state=0).fit(X, y)
    >>> model.predict(X)[0].shape
    (4, 4)
    """

    def __init__(
        self,
        n_cells=5,
        cell="lstm",
        gate_bias=(0.0, 1.5, -1.5),
        weight_range=5.0,
        n_generations=50,
        subpopulation_size=40,
        n_trials=5,
        mutation_scale=0.1,
        burst_patience=5,
        burst_scale=None,
        credit="best",
        objective="hinge",
        readout="svm",
        kernel="rbf",
        gamma=0.25,
        C=100.0,
        tol=1e-3,
        solver="auto",
        washout=0,
        validation="half",
        random_state=None,
        n_jobs=None,
        callbacks=None,
        warm_start=False,
        verbose=0,
    ):
        self.n_cells = n_cells
        self.cell = cell
        self.gate_bias = gate_bias
        self.weight_range = weight_range
        self.n_generations = n_generations
        self.subpopulation_size = subpopulation_size
        self.n_trials = n_trials
        self.mutation_scale = mutation_scale
        self.burst_patience = burst_patience
        self.burst_scale = burst_scale
        self.credit = credit
        self.objective = objective
        self.readout = readout
        self.kernel = kernel
        self.gamma = gamma
        self.C = C
        self.tol = tol
        self.solver = solver
        self.washout = washout
        self.validation = validation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.verbose = verbose

    # ------------------------------------------------------------------ fitting

    def fit(self, X, y, lengths=None, X_val=None, y_val=None):
        """Evolve a network and train its readout.

        Parameters
        ----------
        X : list of (T_i, n_features) arrays, (n, T, n_features) array, or (T, n_features) array
            Sequences; a 2-D array is one sequence, or with `lengths` several laid end to end.
        y : targets with the structure of X
            One label a step, or rows of 0 and 1 for several outputs at once; for a list or 3-D X also one label a
            sequence, which is read off the last step.
        lengths : sequence of int, optional
        X_val, y_val : optional
            Sequences held out for the fitness, in a container of the same kinds (not laid end to end).

        Returns
        -------
        self

        Raises
        ------
        ValueError
            A parameter out of range, or data that are empty, ragged in the wrong place or not finite.
        KeyboardInterrupt
            On Ctrl-C. The best network so far is kept: the estimator is fitted if one generation was completed.
        """
        self._check_parameters()
        callbacks = _check_callbacks(self.callbacks)
        sequences = as_sequences(X, lengths)
        targets = as_targets(y, sequences)
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: one of them is missing")
        labels = _Labels(targets, sequences)
        problem = self._problem(sequences, targets, labels, X_val, y_val)
        n_features = sequences.rows.shape[1]
        esp = ESP(
            [4 * (n_features + self.n_cells)] * self.n_cells,
            subpopulation_size=self.subpopulation_size,
            n_trials=self.n_trials,
            mutation_scale=self.mutation_scale,
            burst_patience=self.burst_patience,
            burst_scale=self.burst_scale,
            credit=self.credit,
            weight_range=self.weight_range,
            random_state=self.random_state,
        )
        history: list[dict[str, Any]] = []
        if self.warm_start and hasattr(self, "_esp"):
            self._go_on_from(esp, problem)
            history = self.history_.copy()
        if self.verbose:
            callbacks.append(_print_record)
        try:
            evolve(problem, esp, self.n_generations, history=history, n_jobs=self.n_jobs, callbacks=callbacks)
        finally:
            # All attributes change at once, so that a fit that fails or is interrupted leaves a whole model.
            if esp.best is not None:
                self.__dict__.update(
                    readout_=fit_readout(problem, esp.best), genome_=esp.best, best_fitness_=esp.best_fitness,
                    n_evaluations_=esp.n_evaluations, n_features_in_=n_features, classes_=labels.classes,
                    history_=history, _esp=esp, _cell=problem.cell, _gate_bias=problem.gate_bias,
                    _multilabel=labels.multilabel, _per_sequence=targets.per_sequence,
                )  # fmt: skip
        if esp.best is None:
            raise ValueError("no network had a finite error: the values in X are too large, scale them")
        return self

    def _go_on_from(self, esp: ESP, problem: Problem) -> None:
        """Bring the population of the last fit into `esp`, whose parameters must be the same."""
        try:
            esp.load_state_dict(self._esp.state_dict())
        except ValueError as error:
            raise ValueError(f"warm_start cannot go on from the last fit: {error}") from None
        # the best network of the last fit competes on the data of this one
        esp.best_fitness = float(evaluate(problem, esp.best[None])[0, :2].sum())

    def _check_parameters(self):
        for name in ("n_cells", "n_generations", "n_trials"):
            _check_integer(name, getattr(self, name), 1)
        _check_integer("subpopulation_size", self.subpopulation_size, 2)
        _check_integer("washout", self.washout, 0)
        for name in ("weight_range", "mutation_scale", "gamma", "C", "tol"):
            _check_positive(name, getattr(self, name))
        if self.burst_scale is not None:
            _check_positive("burst_scale", self.burst_scale)
        if self.burst_patience is not None:
            _check_integer("burst_patience", self.burst_patience, 1)
        _check_choice("cell", self.cell, _lstm.CELLS)
        _check_choice("credit", self.credit, ("best", "mean"))
        _check_choice("objective", self.objective, _evaluate.OBJECTIVES)
        _check_choice("readout", self.readout, ("svm",))
        _check_choice("kernel", self.kernel, ("linear", "poly", "rbf"))
        _check_choice("solver", self.solver, ("auto", "native", "thundersvm"))
        _check_gate_bias(self.gate_bias)
        if not (isinstance(self.validation, str) and self.validation == "half") and not (
            isinstance(self.validation, Real) and not isinstance(self.validation, bool) and 0 < self.validation < 1
        ):
            raise ValueError(f"validation must be 'half' or between 0 and 1, got {self.validation!r}")
        if self.random_state is not None and not isinstance(self.random_state, (SeedSequence, Generator, RandomState)):
            _check_integer("random_state", self.random_state, 0)
        if self.n_jobs is not None and (
            not isinstance(self.n_jobs, Integral) or isinstance(self.n_jobs, bool) or self.n_jobs == 0
        ):
            raise ValueError(f"n_jobs must be None or an integer other than 0, got {self.n_jobs!r}")

    def _problem(self, X: Sequences, y: Targets, labels: _Labels, X_val, y_val) -> Problem:
        rows = self._target_rows(X, y, "X")
        encoded = labels.encode(y, X)
        if X_val is None:
            train, validation = self._split(X, rows)
            everything = X
        else:
            held_out = as_sequences(X_val, name="X_val", n_columns=X.rows.shape[1])
            y_held_out = as_targets(y_val, held_out, name="y_val")
            if y_held_out.per_sequence != y.per_sequence or y_held_out.values.shape[1:] != y.values.shape[1:]:
                raise ValueError("y_val must be of the same kind as y: one a step or one a sequence, as many outputs")
            train = rows
            validation = len(X.rows) + self._target_rows(held_out, y_held_out, "X_val")
            encoded = np.concatenate([encoded, labels.encode(y_held_out, held_out, name="y_val")])
            everything = Sequences(
                np.concatenate([X.rows, held_out.rows]),
                np.concatenate([X.offsets, len(X.rows) + held_out.offsets[1:]]),
                "list",
            )
        runs = share_prefixes(everything)

        def points(steps) -> Points:
            return merge_points(runs.row_of[steps], encoded[steps])

        return Problem(
            runs, points(train), points(validation), str(self.cell), _check_gate_bias(self.gate_bias),
            self._make_readout(), str(self.objective), not labels.multilabel,
        )  # fmt: skip

    def _make_readout(self) -> SVMReadout:
        return SVMReadout(
            kernel=str(self.kernel), gamma=float(self.gamma), C=float(self.C), tol=float(self.tol),
            solver=str(self.solver),
        )  # fmt: skip

    def _target_rows(self, X: Sequences, y: Targets, name: str) -> NDArray[np.int64]:
        """The rows with a target behind the washout."""
        short = X.lengths <= self.washout
        if short.any():
            i = int(np.argmax(short))
            raise ValueError(
                f"washout={self.washout} leaves nothing of {name}[{i}], which has {X.lengths[i]} steps"
            )
        if y.per_sequence:
            return X.offsets[1:] - 1
        step = np.arange(len(X.rows)) - np.repeat(X.offsets[:-1], X.lengths)
        return np.flatnonzero(step >= self.washout)

    def _split(self, X: Sequences, rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Training and validation rows: by whole sequences, or by steps where there is only one sequence."""
        held_out = 0.5 if self.validation == "half" else float(self.validation)
        if X.n_sequences > 1:
            n_train = X.n_sequences - max(1, int(np.floor(held_out * X.n_sequences + 0.5)))
            first = X.offsets[max(1, n_train)]
            train, validation = rows[rows < first], rows[rows >= first]
        else:
            n_train = len(rows) - max(1, int(np.floor(held_out * len(rows) + 0.5)))
            train, validation = rows[: max(1, n_train)], rows[max(1, n_train) :]
        if len(train) == 0 or len(validation) == 0:
            raise ValueError(
                f"X has {X.n_sequences} sequence(s) with {len(rows)} target step(s) behind the washout: too few to "
                f"hold out validation={self.validation!r}; pass X_val and y_val"
            )
        return train, validation

    # ------------------------------------------------------------------ use

    def _activations(self, sequences: Sequences) -> FloatArray:
        return _lstm.sequences(self.genome_, sequences.rows, sequences.offsets, self._cell, self._gate_bias)[0]

    def _checked(self, X, lengths) -> Sequences:
        check_is_fitted(self, "readout_")
        sequences = as_sequences(X, lengths)
        if sequences.rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {sequences.rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return sequences

    def transform(self, X, lengths=None):
        """Activations of the cells, the paper's phi(t).

        Returns
        -------
        The structure of X with n_cells columns.
        """
        sequences = self._checked(X, lengths)
        return sequences.mirror(self._activations(sequences))

    def decision_function(self, X, lengths=None):
        """Decision values: positive where an output says yes.

        Returns
        -------
        The structure of X with one value a step (two classes; positive means ``classes_[1]``) or one a step and
        output; without the steps where the model was trained with one label a sequence.
        """
        sequences = self._checked(X, lengths)
        phi = self._activations(sequences)
        if self._per_sequence:
            return self._shape(self.readout_.decide(phi[sequences.offsets[1:] - 1]))
        return sequences.mirror(self._shape(self.readout_.decide(phi)))

    def _shape(self, decisions: FloatArray) -> FloatArray:
        return decisions[:, 0] if decisions.shape[1] == 1 and not self._multilabel else decisions

    def _labels(self, decisions: FloatArray) -> NDArray[Any]:
        if self._multilabel:
            return (decisions > 0).astype(np.int64)
        if decisions.ndim == 1:
            return self.classes_[(decisions > 0).astype(np.intp)]
        return self.classes_[decisions.argmax(axis=1)]

    def predict(self, X, lengths=None):
        """Labels, in the structure of X, or one a sequence where the model was trained so."""
        sequences = self._checked(X, lengths)
        phi = self._activations(sequences)
        if self._per_sequence:
            return self._labels(self._shape(self.readout_.decide(phi[sequences.offsets[1:] - 1])))
        return sequences.mirror(self._labels(self._shape(self.readout_.decide(phi))))

    def score(self, X, y, lengths=None):
        """Share of right labels among all steps (of sequences, where the model was trained with one label each).

        With several outputs a step counts as right only if all its outputs are.
        """
        sequences = self._checked(X, lengths)
        targets = as_targets(y, sequences)
        predicted = self.predict(X, lengths)
        if not self._per_sequence and sequences.container in ("list", "3d"):
            predicted = np.concatenate(list(predicted))
        if targets.per_sequence != self._per_sequence or targets.values.shape != predicted.shape:
            raise ValueError("y must be of the kind that the model was trained with: one a step or one a sequence")
        right = predicted == targets.values
        return float(np.mean(right.all(axis=1) if right.ndim == 2 else right))

    def stream(self) -> Stream:
        """An explicit stateful reader that starts from the zero state; the estimator itself keeps no state."""
        check_is_fitted(self, "readout_")
        return Stream(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.classifier_tags.multi_label = True
        return tags


class _Labels:
    """The classes of y, and labels as targets of +-1.

    Attributes
    ----------
    multilabel : bool
        Whether y has several columns of 0 and 1.
    classes : ndarray of shape (n_classes,)
        The labels in order; the numbers of the columns where there are several.
    """

    def __init__(self, y: Targets, X: Sequences):
        self.multilabel = y.values.ndim == 2
        self.classes = np.arange(y.values.shape[1]) if self.multilabel else self._distinct(y, X)

    @staticmethod
    def _distinct(y: Targets, X: Sequences) -> NDArray[Any]:
        values = y.values
        kind = values.dtype.kind
        if kind not in "biufUSTO":
            raise ValueError(f"y holds labels of dtype {values.dtype}; they must be numbers, strings or booleans")
        try:
            missing = np.array(values != values, dtype=bool)  # NaN, also among objects
            classes = np.unique(values)
        except TypeError as error:
            raise ValueError(f"y mixes labels that have no order: {error}") from None
        if kind == "f":
            missing |= np.isinf(values)
        if missing.any():
            raise ValueError(f"y contains NaN or infinity: {_where(y, X, missing)}")
        if kind == "f" and (classes % 1 != 0).any() and len(classes) > max(2, len(values) // 2):
            raise ValueError(
                "Unknown label type: continuous. y holds fractions that hardly repeat, which is a regression target"
            )
        if len(classes) < 2:
            raise ValueError(f"y has 1 class, {classes[0]!r}; at least two are needed")
        return classes

    def encode(self, y: Targets, X: Sequences, name: str = "y") -> FloatArray:
        """Targets (n_rows, n_outputs) of +-1; a label a sequence holds for all its rows."""
        if self.multilabel:
            if y.values.dtype.kind not in "biuf":
                raise ValueError(f"{name} with several columns must hold only 0 and 1, got dtype {y.values.dtype}")
            odd = ((y.values != 0) & (y.values != 1)).any(axis=1)
            if odd.any():
                raise ValueError(f"{name} with several columns must hold only 0 and 1: {_where(y, X, odd, name)}")
            return np.where(y.values == 1, 1.0, -1.0)
        values = np.repeat(y.values, X.lengths) if y.per_sequence else y.values
        try:
            index = np.searchsorted(self.classes, values)
        except TypeError as error:
            raise ValueError(f"{name} has labels of another kind than y: {error}") from None
        index[index == len(self.classes)] = 0
        unknown = self.classes[index] != values
        if unknown.any():
            raise ValueError(f"{name} has labels that y does not have: {np.unique(values[unknown])[:5]}")
        if len(self.classes) == 2:
            return np.where(index == 1, 1.0, -1.0)[:, None]
        return np.where(index[:, None] == np.arange(len(self.classes)), 1.0, -1.0)


def _where(y: Targets, X: Sequences, chosen: NDArray[np.bool_], name: str = "y") -> str:
    """The first of the chosen targets and where the user finds it."""
    k = int(np.argmax(chosen))
    if y.per_sequence:
        return f"{name}[{k}] is {y.values[k]}"
    i = int(np.searchsorted(X.offsets, k, side="right")) - 1
    sequence = f"{name}[{i}]" if X.container in ("list", "3d") else name
    step = k - X.offsets[i] if X.container in ("list", "3d") else k
    return f"{sequence} is {y.values[k]} at step {step}"


class Stream:
    """Reads one sequence piece by piece: the state of the cells is carried from call to call.

    Reading 8 steps and then 12 gives the same bits as reading 20 at once.
    """

    def __init__(self, estimator: EvokeClassifier):
        self._estimator = estimator
        self.reset()

    def reset(self) -> None:
        """Back to the zero state."""
        self._state = np.zeros((1, 2, len(self._estimator.genome_)))

    def transform(self, X) -> FloatArray:
        """Activations of the next steps X (n_steps, n_features)."""
        model = self._estimator
        sequences = as_sequences(to_array(X, "X"), n_columns=model.n_features_in_)
        if sequences.container != "2d":
            raise ValueError("X must be 2-D: the next steps of one sequence")
        phi, self._state = _lstm.sequences(
            model.genome_, sequences.rows, sequences.offsets, model._cell, model._gate_bias, self._state
        )
        return phi

    def decision_function(self, X) -> FloatArray:
        """Decision values of the next steps."""
        model = self._estimator
        return model._shape(model.readout_.decide(self.transform(X)))

    def predict(self, X) -> NDArray[Any]:
        """Labels of the next steps."""
        return self._estimator._labels(self.decision_function(X))

    def step(self, x) -> Any:
        """Label of the next step x (n_features,)."""
        return self.predict(np.reshape(x, (1, -1)))[0]


def _print_record(record: dict[str, Any], _esp: ESP) -> None:
    import sys

    print(
        f"generation {record['generation']:4d}  best {record['best_fitness']:.6g}  "
        f"median {record['generation_median']:.6g}{'  burst' if record['burst'] else ''}",
        file=sys.stderr,
    )
