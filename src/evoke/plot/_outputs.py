"""What displays of a model's outputs over time share."""

from __future__ import annotations

from collections.abc import Sequence

from evoke.plot._display import Display
from evoke.plot._style import integer_ticks, legend_above

__all__ = ["OutputsDisplay"]


class OutputsDisplay(Display):
    """Base of displays with one panel per output, one below the other, over time."""

    names: Sequence[str]

    def _size(self) -> tuple[float, float]:
        return 9.0, 0.8 + 1.8 * len(self.names)

    def _take_panels(self, axes) -> None:
        self._take_axes(axes, len(self.names), "one for each output", sharex=True)

    def _label_panels(self) -> None:
        """Once their lines are drawn: names, ticks and a legend."""
        for ax, name in zip(self.axes_, self.names, strict=True):
            ax.set_ylabel(name, parse_math=False)
            ax.margins(x=0.01)
            integer_ticks(ax)
        legend_above(self.axes_[0], 2)
        self.axes_[-1].set_xlabel("t")
