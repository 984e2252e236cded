"""Models with other weights."""

import copy
from dataclasses import replace

from evoke._core.lstm import Network


def changed(model, genome):
    """The model with other weights."""
    other, network = copy.copy(model), model.fitted_.network
    other.fitted_ = replace(model.fitted_, network=Network(genome, network.cell, network.gate_bias))
    return other
