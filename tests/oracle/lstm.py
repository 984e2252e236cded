"""LSTM of Evolino, one step at a time in plain NumPy: what the compiled forward pass is measured against.

Chromosome of one cell: [z | input | forget | output] x [I inputs, H outputs of the step before].
"""
import numpy as np


def logistic(x):
    return 1.0 / (1.0 + np.exp(-x))


def step(genome, u, state, cell="lstm", gate_bias=(0.0, 1.5, -1.5)):
    """State (2, H) after one input (I,): the cells' states s and their outputs phi."""
    n_cells = len(genome)
    s, phi = state
    source = np.concatenate([u, phi])
    net = genome.reshape(n_cells, 4, len(source)) @ source
    z = net[:, 0]
    i, f, o = (logistic(net[:, k + 1] + gate_bias[k]) for k in range(3))
    if cell == "lstm":
        s = i * np.tanh(z) + f * s
        phi = o * np.tanh(s)
    else:
        s = i * z + f * s
        phi = np.tanh(o * s)
    return np.array([s, phi])


def forward(genome, x, cell="lstm", gate_bias=(0.0, 1.5, -1.5), state=None):
    """Activations (T, H) on x (T, I), and the state (2, H) that they end in; state None starts from zero."""
    state = np.zeros((2, len(genome))) if state is None else state
    phi = np.empty((len(x), len(genome)))
    for t, u in enumerate(x):
        state = step(genome, u, state, cell, gate_bias)
        phi[t] = state[1]
    return phi, state
