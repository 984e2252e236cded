"""The paper's experiments: their settings, runs with many seeds, and tables next to the published numbers."""

from __future__ import annotations

from evoke.reproduce._anbncn import LARGEST_N_MAX, PUBLISHED, anbncn, run_anbncn
from evoke.reproduce._languages import (
    LONG_COUNTS,
    PUBLISHED_LANGUAGES,
    languages,
    run_language,
    training_strings,
)
from evoke.reproduce._markdown import markdown
from evoke.reproduce._report import EXPERIMENTS, file_stem, report
from evoke.reproduce._runs import Interrupted
from evoke.reproduce._sines import PUBLISHED_SSE, run_sines, sines
from evoke.reproduce.presets import PRESETS, SINES_PRESETS, anbncn_parameters, sines_parameters

__all__ = [
    "EXPERIMENTS",
    "LARGEST_N_MAX",
    "LONG_COUNTS",
    "PRESETS",
    "PUBLISHED",
    "PUBLISHED_LANGUAGES",
    "PUBLISHED_SSE",
    "SINES_PRESETS",
    "Interrupted",
    "anbncn",
    "anbncn_parameters",
    "file_stem",
    "languages",
    "markdown",
    "report",
    "run_anbncn",
    "run_language",
    "run_sines",
    "sines",
    "sines_parameters",
    "training_strings",
]
