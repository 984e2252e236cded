"""Tasks of the paper and of the literature on formal languages: data, splits and scores."""

from __future__ import annotations

from evoke.tasks._limits import MOST_COUNT
from evoke.tasks.anbncn import anbncn, anbncn_accepted, anbncn_accepts, anbncn_margins
from evoke.tasks.languages import LANGUAGES, Language, Phase, language
from evoke.tasks.series import (
    FREQUENCIES,
    SINES_SPLIT,
    linear_window,
    mackey_glass,
    nrmse,
    nrmse84,
    superimposed_sines,
)

__all__ = [
    "FREQUENCIES",
    "LANGUAGES",
    "MOST_COUNT",
    "SINES_SPLIT",
    "Language",
    "Phase",
    "anbncn",
    "anbncn_accepted",
    "anbncn_accepts",
    "anbncn_margins",
    "language",
    "linear_window",
    "mackey_glass",
    "nrmse",
    "nrmse84",
    "superimposed_sines",
]
