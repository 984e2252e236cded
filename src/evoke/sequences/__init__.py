"""Sequences: every container that a user may bring, and what other libraries use."""

from __future__ import annotations

from evoke.sequences.converters import from_frame, from_padded, from_panel

__all__ = ["from_frame", "from_padded", "from_panel"]
