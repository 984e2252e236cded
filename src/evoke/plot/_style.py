"""How the displays look: their colours, legends and time axes."""

from __future__ import annotations

from typing import Any

__all__ = ["COLOURS", "colour", "integer_ticks", "legend_above"]

# Blue, vermilion, green, purple, orange, sky blue: distinguishable with any colour vision (Okabe and Ito). Grey is for
# context.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def colour(k: int) -> str:
    """The colour of the k-th of any number of things."""
    return COLOURS[k % len(COLOURS)]


def legend_above(ax: Any, n_columns: int, **more: Any) -> None:
    """A legend on top of the axes, from their left edge."""
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=n_columns, fontsize="small", frameon=False, **more)


def integer_ticks(ax: Any) -> None:
    """No ticks between whole steps of time."""
    ax.xaxis.get_major_locator().set_params(integer=True)
