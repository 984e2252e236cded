"""Figures, as displays in the style of scikit-learn. Matplotlib is imported only when something is drawn."""

from evoke.plot._acceptance import AcceptanceDisplay
from evoke.plot._activations import ActivationDisplay
from evoke.plot._automaton import AutomatonDisplay
from evoke.plot._continuation import ContinuationDisplay
from evoke.plot._display import check_picture, picture
from evoke.plot._free_run import FreeRunDisplay
from evoke.plot._generalisation import GeneralisationDisplay
from evoke.plot._history import HistoryDisplay
from evoke.plot._importance import ImportanceDisplay
from evoke.plot._kernel_matrix import KernelMatrixDisplay
from evoke.plot._prediction import PredictionDisplay

__all__ = [
    "AcceptanceDisplay",
    "ActivationDisplay",
    "AutomatonDisplay",
    "ContinuationDisplay",
    "FreeRunDisplay",
    "GeneralisationDisplay",
    "HistoryDisplay",
    "ImportanceDisplay",
    "KernelMatrixDisplay",
    "PredictionDisplay",
    "check_picture",
    "picture",
]
