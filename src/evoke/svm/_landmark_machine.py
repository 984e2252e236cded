"""What machines on landmarks of `evoke.svm` have in common: rows read in blocks, parameters that are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import PCG64, SeedSequence

from evoke._core.kernel import KERNELS, Kernel, decide
from evoke._validation.parameters import (
    INT32_MAX,
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_positive,
    check_positive_or_text,
    check_random_state,
    is_text,
)
from evoke.engine import entropy_of
from evoke.landmarks import MOST_LANDMARKS
from evoke.sequences.preparation import Units
from evoke.svm._base import KernelMachine, OneAgainstRest
from evoke.svm._calibration import fit_slope
from evoke.svm._chosen import BLOCK, Grid, Training
from evoke.svm._data import encode, read_array, read_labels, rows_of
from evoke.svm._kernels import overflow
from evoke.svm._weights import class_weights, read_weights, weighted_C

__all__ = ["LandmarkClassification", "LandmarkMachine"]


class LandmarkMachine(KernelMachine):
    """A kernel machine with coefficients at few of the rows, chosen before it is trained."""

    _fitted = KernelMachine._fitted | {"C_"}
    _separating = False  # whether it has the least squared hinge loss; otherwise the least squared error

    def _check_parameters(self):
        check_choice("kernel", self.kernel, KERNELS)
        check_integer("degree", self.degree, 0, INT32_MAX)
        check_number("coef0", self.coef0)
        check_positive_or_text("gamma", self.gamma, ("auto",))
        check_positive_or_text("C", self.C, ("auto",))
        check_integer("n_landmarks", self.n_landmarks, 1, MOST_LANDMARKS)
        check_random_state(self.random_state)
        check_n_jobs(self.n_jobs)

    def _check_fitted(self):
        super()._check_fitted()
        check_positive("C_", self.C_)
        if not isinstance(self.kernel_, Kernel):
            raise ValueError("kernel_ must be a Kernel")

    def _grid(self):
        gamma, C = (None if is_text(value, "auto") else float(value) for value in (self.gamma, self.C))
        return Grid(
            str(self.kernel), gamma, C, float(self.coef0), int(self.degree), int(self.n_landmarks), self._separating
        )

    def _train(self, array, X, targets, n_outputs, weights, *, hold_out=False):
        """The machine that is best on rows held out, trained on all rows that have a weight."""
        weighted_C(1.0 if is_text(self.C, "auto") else self.C, *(() if weights is None else (weights[weights > 0],)))
        training = Training(array, X, targets, n_outputs, weights, self.n_jobs)
        seed = SeedSequence(entropy_of(self.random_state))
        chosen = training.machine(self._grid(), np.random.Generator(PCG64(seed)), hold_out=hold_out)
        if not (np.isfinite(chosen.coef).all() and np.isfinite(chosen.intercept).all()):
            raise ValueError("the coefficients are not finite: X or C is too large, scale X or lower C")
        return chosen

    def _solution(self, array, chosen, units):
        """What is learned of a machine, in units of the targets."""
        with np.errstate(over="ignore", invalid="ignore"):
            coef = chosen.coef * units.deviation
            intercept = chosen.intercept * units.deviation + units.mean
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("the coefficients are not finite: y is too large, scale it")
        return {
            "kernel_": chosen.kernel, "C_": chosen.C, "support_": chosen.rows.astype(np.int64),
            "support_vectors_": chosen.landmarks, "dual_coef_": np.ascontiguousarray(coef.T), "intercept_": intercept,
            "shape_fit_": array.shape,
        }  # fmt: skip

    def _decide(self, X):
        """Decision values (n_samples, n_outputs), of rows that are read block by block."""
        array = read_array(X)
        self._check_features(X, array)
        coef = np.ascontiguousarray(self._coefficients())
        decisions = np.empty((len(array), coef.shape[1]))
        for begin in range(0, len(array), BLOCK):
            numbers = range(begin, min(begin + BLOCK, len(array)))
            rows = rows_of(array, X, numbers)
            made = decide(rows, self.support_vectors_, coef, self.intercept_, self.kernel_)
            if not np.isfinite(made).all():
                raise overflow(self.kernel_, rows)
            decisions[begin : numbers.stop] = made
        return decisions


class LandmarkClassification(OneAgainstRest, LandmarkMachine):
    """Several classes, each against the rest."""

    _not_always = ("feature_names_in_", "_slope")
    _fitted = LandmarkMachine._fitted | {"classes_", "class_weight_", *_not_always}

    def __init__(
        self,
        *,
        C: float | str = "auto",
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "auto",
        coef0: float = 0.0,
        n_landmarks: int = 512,
        class_weight: Mapping[Any, float] | str | None = None,
        probability: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.class_weight = class_weight
        self.probability = probability
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LandmarkClassification:
        """Choose landmarks, gamma and C on some of the rows, and train on all.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite. An array is read block by block, whatever its dtype; one that is mapped from a file stays
            there.
        y : array-like of shape (n_samples,)
            Labels of any type that sorts.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each row, >= 0. A weight of 2 is to the training the same as the row twice, one of 0 as no
            such row.

        Returns
        -------
        LandmarkLSSVC or LandmarkSVC
            Itself.

        Raises
        ------
        ValueError
            A parameter out of its range, NaN or infinity in X, a single class, a class without weight, a kernel or
            coefficients that overflow, or a C so large that the normal equations are singular to working precision.

        Warns
        -----
        ConvergenceWarning
            A `LandmarkSVC` that has not reached its optimum, see its `fit_status_`.
        """
        self._check_parameters()
        check_flag("probability", self.probability)
        array = read_array(X)
        features = self._features(X, array)
        y = read_labels(y, len(array))
        classes, codes, _ = encode(y)
        given = None if sample_weight is None else read_weights(sample_weight, len(array), codes, classes)
        factors = class_weights(self.class_weight, classes, y)
        weights = given
        if self.class_weight is not None:
            weights = factors[codes] if given is None else given * factors[codes]
        # of two classes one column, that of the second
        columns = np.arange(len(classes))[len(classes) == 2 :]
        hold_out = bool(self.probability)

        def targets(rows):
            return np.where(codes[rows, np.newaxis] == columns, 1.0, -1.0)

        chosen = self._train(array, X, targets, len(columns), weights, hold_out=hold_out)
        none = Units(np.zeros(len(columns)), np.ones(len(columns)))
        learned = {} if not hold_out else {"_slope": self._slope_of(chosen, codes, columns, given)}
        self._learn(
            **features, **self._solution(array, chosen, none), **learned, classes_=classes, class_weight_=factors
        )
        return self

    def _slope_of(self, chosen, codes, columns, weights):
        """That of probabilities from decisions on rows held out."""
        rows = chosen.held_out
        if not np.isfinite(chosen.decisions).all():
            raise ValueError(f"the decisions on rows held out are not finite: C={chosen.C} is too large, lower it")
        yes = codes[rows, np.newaxis] == columns
        return fit_slope(
            chosen.decisions, yes, np.ones(len(rows)) if weights is None else weights[rows], exclusive=True
        )

    def _check_fitted(self):
        super()._check_fitted()
        if hasattr(self, "_slope"):
            check_positive("_slope", self._slope)
