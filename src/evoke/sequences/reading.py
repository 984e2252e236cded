"""Series and external inputs that are read as those of `fit` were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evoke._validation.arrays import FloatArray
from evoke.sequences.continuation import SeriesIndex
from evoke.sequences.features import Features
from evoke.sequences.series import Series, as_external, as_series

__all__ = ["ReadsSeries"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ReadsSeries:
    """Reads series and external inputs of the kind that a model was trained with.

    Attributes
    ----------
    features : Features
        Number and names of the external inputs.
    flat : bool
        Whether the series had no axis of outputs.
    index : SeriesIndex, optional
        How the index of the (last) series goes on, if it was a pandas object.
    """

    features: Features
    flat: bool
    index: SeriesIndex | None = None

    @property
    def n_outputs(self) -> int:
        """Values per step."""
        raise NotImplementedError

    def read(self, y: Any, name: str = "y") -> Series:
        """Series with as many outputs as those of `fit`."""
        series = as_series(y, name, self.index)
        if self.index is not None:
            self.index.check_columns(series.columns, name)
        n_outputs = series.sequences.rows.shape[1]
        if n_outputs != self.n_outputs:
            raise ValueError(f"{name} has {n_outputs} columns, but the model was trained with {self.n_outputs}")
        return series

    def read_external(
        self, X: Any, lengths: Any, several: bool, of: str, index: tuple[Any, ...] = ()
    ) -> FloatArray:
        """External inputs (n_rows, n_features) that have the features of `fit`, beside series of these lengths."""
        external = as_external(X, lengths, several, self.features.n, "X", of, index)
        if X is not None:
            self.features.check(X, external, several)
        return external

    def check_index(self) -> None:
        """That the index belongs to such series."""
        if self.index is not None:
            if not isinstance(self.index, SeriesIndex) or self.index.frame == self.flat:
                raise ValueError("_index does not belong to the series")
            self.index.check(self.n_outputs)
