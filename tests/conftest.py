"""Profiles of hypothesis: `ci` repeats exactly; HYPOTHESIS_PROFILE=deep searches longer and at random.

Figures are drawn without a screen and closed after each test.
"""

import os
import sys

import pytest
from hypothesis import settings

os.environ["MPLBACKEND"] = "Agg"

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile("deep", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
