"""Figures, in scikit-learn's manner of Displays. Matplotlib is imported when something is drawn."""

from evoke.plot._common import check_picture, picture
from evoke.plot._free_run import FreeRunDisplay
from evoke.plot._history import HistoryDisplay

__all__ = ["FreeRunDisplay", "HistoryDisplay", "check_picture", "picture"]
