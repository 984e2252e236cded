"""Machines on landmarks: kernel machines with coefficients at few points, trained by passes over any number of rows."""

from __future__ import annotations

from evoke.landmarks.machine import (
    CANDIDATES,
    MOST_LANDMARKS,
    MOST_SUMS,
    Block,
    Machine,
    add_up,
    at_random,
    mean_distance,
    spread,
    squared_errors,
    together,
    train_machine,
)

__all__ = [
    "CANDIDATES", "MOST_LANDMARKS", "MOST_SUMS", "Block", "Machine", "add_up", "at_random", "mean_distance",
    "spread", "squared_errors", "together", "train_machine",
]  # fmt: skip
