"""Evolution of networks: a frozen problem, the fitness of a population on it, and the loop over generations."""

from __future__ import annotations

from evoke.evolution.run import Callback, Run, RunState

__all__ = ["Callback", "Run", "RunState"]
