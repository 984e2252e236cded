"""The fitted model of one evolved network that continues series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke._core import free_run
from evoke._validation.arrays import FloatArray
from evoke._validation.parameters import check_positive
from evoke.estimators.fitted import FittedModel, check_outputs
from evoke.persistence.checks import check_values
from evoke.persistence.values import register
from evoke.sequences.continuation import SeriesIndex
from evoke.sequences.reading import ReadsSeries
from evoke.sequences.series import Series, inputs_of

__all__ = ["SeriesModel"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesModel(FittedModel, ReadsSeries):
    """A model of series: the network reads ``[X(t) | feedback_scale * y(t - 1)]``, its readout says y(t).

    Attributes
    ----------
    feedback_scale : float
    end : ndarray of shape (2, n_cells)
        States and outputs of the cells at the end of the (last) series of `fit`.
    last : ndarray of shape (n_outputs,)
        The last value of that series.
    """

    feedback_scale: float
    end: FloatArray
    last: FloatArray

    @property
    def n_inputs(self) -> int:
        return self.features.n + self.n_outputs

    @property
    def n_needed(self) -> int:
        """Steps of a context: those of the washout, and one to go on from."""
        return self.washout + 1

    def follow(self, series: Series, external: FloatArray) -> FloatArray:
        """Activations of the network while it reads the true values (teacher forcing)."""
        return self.activations(inputs_of(series.sequences, external, self.feedback_scale))

    def one_step(self, series: Series, external: FloatArray) -> FloatArray:
        """Predictions (n_rows, n_outputs) of every value from the true ones before it."""
        return self.readout.decide(self.follow(series, external))

    def run_free(self, external: FloatArray, last: FloatArray, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Outputs on external inputs (n_steps, n_features) after the values `last`, and the state they end in."""
        inputs = np.zeros((len(external), self.n_inputs))
        inputs[:, : self.features.n] = external
        inputs[:1, self.features.n :] = self.feedback_scale * last
        return free_run.run_free(self.network, inputs, state, self.feedback_scale, self.readout)

    def state(self) -> dict[str, Any]:
        index = {} if self.index is None else {"_index": self.index}
        return super().state() | index | {
            "n_outputs_": self.n_outputs, "_flat": self.flat, "_feedback_scale": self.feedback_scale,
            "_state": self.end, "_last": self.last,
        }  # fmt: skip

    @staticmethod
    def fields(state: dict[str, Any], estimator: str) -> dict[str, Any]:
        check_outputs(state)
        return FittedModel.fields(state, estimator) | {
            "flat": state["_flat"], "feedback_scale": state["_feedback_scale"], "end": state["_state"],
            "last": state["_last"], "index": state.get("_index"),
        }  # fmt: skip

    def check(self) -> None:
        super().check()
        check_positive("_feedback_scale", self.feedback_scale)
        check_values("_state", self.end, (2, len(self.network.genome)))
        check_values("_last", self.last, (self.n_outputs,))
        self.check_index()


register(SeriesIndex, SeriesIndex.state, SeriesIndex.from_state)
