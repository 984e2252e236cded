"""Sequences: every container that a user may bring, and what other libraries use."""

from __future__ import annotations

from evoke.sequences.converters import from_frame, from_padded, from_panel
from evoke.sequences.tables import from_blocks

__all__ = ["from_blocks", "from_frame", "from_padded", "from_panel"]
