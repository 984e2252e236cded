"""What an exported model computes, without the classes of the library: from it each form is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from evoke._core import pooled
from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal, shown
from evoke.estimators.base import BaseEvoke
from evoke.estimators.fitted import ClassifierModel, RegressorModel, SequenceModel
from evoke.estimators.series_model import SeriesModel
from evoke.readouts import FittedReadout

__all__ = ["Machine", "Plan", "Scale", "check_numbers", "check_range", "fitted_of", "plan_of"]


@dataclass(frozen=True, eq=False)
class Scale:
    """Less `mean`, times `inverse`, and then no farther from zero than `limit`."""

    mean: FloatArray
    inverse: FloatArray
    limit: float = np.inf


@dataclass(frozen=True, eq=False)
class Machine:
    """The readout; with the linear kernel its weights are added up, and there are no support vectors.

    Attributes
    ----------
    kernel : {"linear", "poly", "rbf"}
    gamma, coef0 : float
    degree : int
    vectors : ndarray of shape (n_support, n_read)
        Empty with the linear kernel.
    coef : ndarray of shape (n_support, n_outputs), or (n_read, n_outputs) with the linear kernel
    intercept : ndarray of shape (n_outputs,)
    """

    kernel: str
    gamma: float
    coef0: float
    degree: int
    vectors: FloatArray
    coef: FloatArray
    intercept: FloatArray

    @classmethod
    def of(cls, readout: FittedReadout) -> Machine:
        """That of a model; one without support vectors is constant, and so linear."""
        kernel, vectors, coef = readout.kernel, readout.support_vectors, readout.dual_coef
        name = kernel.name if len(vectors) else "linear"
        if name == "linear":
            vectors, coef = vectors[:0], vectors.T @ coef
        return cls(name, kernel.gamma, kernel.coef0, kernel.degree, vectors, coef, readout.intercept)


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """A model, in numbers.

    Attributes
    ----------
    estimator : str
        Name of its class.
    genomes : ndarray of shape (n_networks, n_cells, 4 * (n_inputs + n_cells))
    cell : {"lstm", "evolino"}
    gate_bias : tuple of float
    n_features : int
        Columns of X, which of a forecaster are its external inputs.
    names : list of str
        Those of the columns; empty where they have none.
    machine : Machine
    lags : tuple of int
        Changes since so many steps before stand beside the columns of X.
    inputs : Scale, optional
        Of the columns and changes, after which comes a 1. None: networks read X as it is.
    pool : tuple of str
        Statistics of the activations that are read, after the `washout`; empty: the activations.
    washout : int
    n_points : int
        Points of each column of X that are read too.
    points_weight : float
    read : Scale, optional
        Of what the readout reads.
    per_sequence : bool
        Whether an answer is for all steps so far.
    labels : ndarray, optional
        Classes, of which an answer is one.
    multilabel : bool
        Whether an answer is a yes or no of every output.
    slope : float, optional
        That by which decisions become probabilities.
    flat : bool
        Whether answers are numbers and not rows of them.
    feedback_scale : float, optional
        That of the last values, which a forecaster reads after its external inputs.
    end : ndarray of shape (2, n_cells), optional
        States and outputs of a forecaster's cells at the end of the series of `fit`, and its last values.
    last : ndarray of shape (n_outputs,), optional
    """

    estimator: str
    genomes: FloatArray
    cell: str
    gate_bias: tuple[float, float, float]
    n_features: int
    names: list[str]
    machine: Machine
    lags: tuple[int, ...] = ()
    inputs: Scale | None = None
    pool: tuple[str, ...] = ()
    washout: int = 0
    n_points: int = 0
    points_weight: float = 1.0
    read: Scale | None = None
    per_sequence: bool = False
    labels: NDArray[Any] | None = None
    multilabel: bool = False
    slope: float | None = None
    flat: bool = False
    feedback_scale: float | None = None
    end: FloatArray | None = None
    last: FloatArray | None = None

    @property
    def n_networks(self) -> int:
        return len(self.genomes)

    @property
    def n_cells(self) -> int:
        return self.genomes.shape[1]

    @property
    def n_inputs(self) -> int:
        """Inputs of the networks."""
        return self.genomes.shape[2] // 4 - self.n_cells

    @property
    def n_outputs(self) -> int:
        return len(self.machine.intercept)

    @property
    def n_probabilities(self) -> int:
        """Those of the classes, or of a yes of each output."""
        return 2 if self.n_outputs == 1 and not self.multilabel else self.n_outputs

    @property
    def n_given(self) -> int:
        """Numbers that a step is given: columns of X, and the last values of a series."""
        return self.n_features + (self.n_outputs if self.feedback_scale is not None else 0)

    @property
    def n_read(self) -> int:
        """Numbers that the readout reads."""
        n_columns = pooled.n_pooled(self.pool) if self.pool else 1
        return self.n_networks * self.n_cells * n_columns + self.n_points * self.n_features

    @property
    def n_kept(self) -> int:
        """Rows of X that are kept for the changes."""
        return max(self.lags, default=0)

    def in_words(self) -> str:
        """What it is, in half a line."""
        networks = "1 network" if self.n_networks == 1 else f"{self.n_networks} networks"
        each = " each" if self.n_networks > 1 else ""
        vectors = f", {len(self.machine.vectors)} support vectors" if len(self.machine.vectors) else ""
        cells = "1 cell" if self.n_cells == 1 else f"{self.n_cells} cells"
        return f"{self.estimator}: {networks} of {cells}{each}, {self.machine.kernel} kernel{vectors}"


def fitted_of(model: Any) -> Any:
    """What an estimator has learned.

    Raises
    ------
    NotFittedError
        Nothing.
    ParameterError
        It is no estimator of evoke's.
    """
    if not isinstance(model, BaseEvoke):
        raise refusal("model", "be a classifier, regressor or forecaster of evoke", model)
    check_is_fitted(model)
    return model.fitted_


def plan_of(model: Any, form: str) -> Plan:
    """What is to be written of a fitted estimator.

    Raises
    ------
    NotFittedError
        It has not learned anything.
    ParameterError
        It is no estimator of evoke's.
    ValueError
        It has a part that no form knows, or that this `form` does not.
    """
    fitted, name = fitted_of(model), type(model).__name__
    if isinstance(fitted, SeriesModel):
        plan = _of_series(fitted, name)
    elif isinstance(fitted, SequenceModel):
        plan = _of_sequences(fitted, name)
    else:
        raise TypeError(f"a {type(fitted).__name__} has a plan of another kind")
    if "thirds" in plan.pool:
        raise ValueError(
            f"pool={shown(plan.pool)} has 'thirds', which are not known before the end of a sequence; "
            f"{form} reads step by step and cannot hold it"
        )
    if plan.n_points:
        raise ValueError(
            f"n_points={plan.n_points}: points of a sequence move with its end, so that all steps would have to be "
            f"kept; {form} reads step by step and cannot hold it"
        )
    return plan


def check_range(plan: Plan, dtype: str) -> None:
    """That the numbers of a model are finite in the precision that a form has them in.

    Raises
    ------
    ValueError
        One is not.
    """
    machine = plan.machine
    cells = [plan.genomes, plan.gate_bias, plan.feedback_scale, plan.end, plan.last, *_numbers(plan.inputs)]
    readout = [machine.coef, machine.vectors, machine.intercept, machine.gamma, machine.coef0, plan.slope,
               *_numbers(plan.read)]  # fmt: skip
    check_numbers(cells, readout, dtype)


def check_numbers(cells: Iterable[Any], readout: Iterable[Any], dtype: str) -> None:
    """That numbers of cells, and those of all else, are finite in the precision that they have in a form.

    Raises
    ------
    ValueError
        One is not.
    """
    for parts, single in (cells, dtype != "float64"), (readout, dtype == "float32"):
        limit = float(np.finfo(np.float32 if single else np.float64).max)
        for part in parts:
            largest = 0.0 if part is None else float(np.abs(part).max(initial=0.0))
            if not largest <= limit:
                raise ValueError(f"the model has a number, {largest:g}, that is out of the range of dtype={dtype!r}")


def _numbers(scale: Scale | None) -> list[Any]:
    if scale is None:
        return []
    return [scale.mean, scale.inverse, scale.limit if np.isfinite(scale.limit) else None]


def _labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Classes as forms hold them: numbers have at most 64 bits.

    Raises
    ------
    ValueError
        Numbers lose digits, or texts are no Unicode.
    """
    if classes.dtype.kind == "f":
        made = classes.astype(np.float64)
        if (made != classes).any():
            raise ValueError(f"labels of type {classes.dtype} have digits that double precision does not")
        return made
    for value in classes.tolist() if classes.dtype.kind in "SUTO" else ():
        if not isinstance(value, str):
            raise ValueError(f"the label {shown(value)} is neither a number nor text, and cannot be exported")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the label {shown(value)} has half a character, and cannot be exported") from None
    return classes


def _of_network(fitted: SequenceModel | SeriesModel, name: str) -> dict[str, Any]:
    network = fitted.network
    return {
        "estimator": name, "genomes": network.genome.reshape(-1, *network.genome.shape[-2:]), "cell": network.cell,
        "gate_bias": network.gate_bias, "n_features": fitted.features.n,
        "names": [] if fitted.features.names is None else [str(column) for column in fitted.features.names],
        "machine": Machine.of(fitted.readout),
    }  # fmt: skip


def _of_series(fitted: SeriesModel, name: str) -> Plan:
    return Plan(
        **_of_network(fitted, name), feedback_scale=fitted.feedback_scale, end=fitted.end, last=fitted.last,
        flat=fitted.flat,
    )  # fmt: skip


def _of_sequences(fitted: SequenceModel, name: str) -> Plan:
    parts = _of_network(fitted, name) | {"per_sequence": fitted.per_sequence}
    if (preparation := fitted.preparation) is not None:
        parts |= {"lags": preparation.lags, "inputs": Scale(preparation.mean, preparation.inverse)}
    if (pooling := fitted.pooling) is not None:
        parts |= {
            "pool": pooling.pool, "washout": pooling.washout, "n_points": pooling.points.n,
            "points_weight": pooling.weight, "read": Scale(pooling.mean, pooling.inverse, pooling.limit),
        }  # fmt: skip
    elif (scaling := fitted.scaling) is not None:
        parts["read"] = Scale(scaling.mean, scaling.inverse, scaling.limit)
    if isinstance(fitted, ClassifierModel):
        one = fitted.n_outputs == 1 and not fitted.multilabel
        parts |= {
            "labels": _labels(fitted.classes), "multilabel": fitted.multilabel, "flat": one, "slope": fitted.slope,
        }  # fmt: skip
    elif isinstance(fitted, RegressorModel):
        parts["flat"] = fitted.flat
    else:
        raise refusal("model", "be a classifier, regressor or forecaster of evoke", fitted)
    return Plan(**parts)
