"""Profiles of hypothesis: `ci` repeats exactly; HYPOTHESIS_PROFILE=deep searches longer and at random."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile("deep", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
