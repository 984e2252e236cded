"""Steps that are made in one piece, and largest counts, steps and delays: beyond, memory or time would end first."""

__all__ = ["MOST_COUNT", "MOST_STEPS"]

MOST_STEPS = 10**8
MOST_COUNT = 10**9
