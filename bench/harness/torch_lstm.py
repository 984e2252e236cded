"""Our LSTM in PyTorch, whose `torch.nn.LSTM` has the same cell; the gates get constant biases. Needs torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

ORDER = [1, 2, 0, 3]  # torch has the blocks input, forget, z, output; a chromosome z, input, forget, output


def layer(genome: np.ndarray, gate_bias: Sequence[float], dtype: torch.dtype) -> nn.LSTM:
    """`nn.LSTM` of one network (H, 4 (I + H))."""
    weights, bias = arranged(genome[None], gate_bias, dtype)
    n_cells = len(genome)
    n_inputs = weights.shape[2] - n_cells
    lstm = nn.LSTM(n_inputs, n_cells, batch_first=True, dtype=dtype)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(weights[0, :, :n_inputs])
        lstm.weight_hh_l0.copy_(weights[0, :, n_inputs:])
        lstm.bias_ih_l0.copy_(bias)
        lstm.bias_hh_l0.zero_()
    return lstm


def block_diagonal(genomes: np.ndarray, gate_bias: Sequence[float], dtype: torch.dtype) -> nn.LSTM:
    """One `nn.LSTM` whose cells are those of all networks (n_networks, H, 4 (I + H)), one after the other."""
    n_networks, n_cells = genomes.shape[:2]
    n_inputs = genomes.shape[2] // 4 - n_cells
    blocks = genomes.reshape(n_networks * n_cells, 4, n_inputs + n_cells)
    wide = np.zeros((n_networks * n_cells, 4, n_inputs + n_networks * n_cells))
    wide[:, :, :n_inputs] = blocks[:, :, :n_inputs]
    for k in range(n_networks):
        own = slice(k * n_cells, (k + 1) * n_cells)
        wide[own, :, n_inputs:][:, :, own] = blocks[own, :, n_inputs:]
    return layer(wide.reshape(len(wide), -1), gate_bias, dtype)


def arranged(genomes: np.ndarray, gate_bias: Sequence[float], dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights (n_networks, 4 H, I + H) and biases (4 H,) in the order that torch expects."""
    n_networks, n_cells, size = genomes.shape
    weights = genomes.reshape(n_networks, n_cells, 4, size // 4)[:, :, ORDER].transpose(0, 2, 1, 3)
    bias = np.repeat([gate_bias[0], gate_bias[1], 0.0, gate_bias[2]], n_cells)
    flat = np.ascontiguousarray(weights).reshape(n_networks, 4 * n_cells, -1)
    return torch.tensor(flat, dtype=dtype), torch.tensor(bias, dtype=dtype)


@torch.no_grad()
def population(weights: torch.Tensor, bias: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Activations (n_networks, n_sequences, T, H) of all networks on x (n_sequences, T, I), by batched products."""
    n_networks, n_cells = len(weights), len(bias) // 4
    n_sequences, n_steps, n_inputs = x.shape
    flat = x.reshape(1, -1, n_inputs).expand(n_networks, -1, -1)
    from_inputs = torch.baddbmm(bias, flat, weights[:, :, :n_inputs].transpose(1, 2))
    from_inputs = from_inputs.reshape(n_networks, n_sequences, n_steps, -1)
    recurrent = weights[:, :, n_inputs:].transpose(1, 2).contiguous()
    state = torch.zeros(n_networks, n_sequences, n_cells, dtype=x.dtype)
    output = torch.zeros_like(state)
    activations = torch.empty(n_networks, n_sequences, n_steps, n_cells, dtype=x.dtype)
    for t in range(n_steps):
        net = torch.baddbmm(from_inputs[:, :, t], output, recurrent)
        gates = torch.sigmoid(net)
        i, f, _, o = gates.chunk(4, dim=2)
        state = f * state + i * torch.tanh(net[:, :, 2 * n_cells : 3 * n_cells])
        output = o * torch.tanh(state)
        activations[:, :, t] = output
    return activations


def padded(X: Sequence[np.ndarray], dtype: torch.dtype) -> torch.Tensor:
    """Sequences (n_sequences, longest, I), filled up with zeros, which change nothing before them."""
    return nn.utils.rnn.pad_sequence([torch.tensor(x, dtype=dtype) for x in X], batch_first=True)
