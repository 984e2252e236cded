"""An LSTM trained by gradient, on sequences with one label each or on targets at every step. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from harness.torch_lstm import padded

N_CELLS, N_STEPS, RATE, FORGET_BIAS = 64, 300, 0.01, 1.0


class Reader(nn.Module):
    """`nn.LSTM` and a linear layer on its activations at every step."""

    def __init__(self, n_inputs: int, n_outputs: int, seed: int):
        super().__init__()
        torch.manual_seed(seed)
        self.lstm, self.linear = nn.LSTM(n_inputs, N_CELLS, batch_first=True), nn.Linear(N_CELLS, n_outputs)
        with torch.no_grad():
            self.lstm.bias_ih_l0[N_CELLS : 2 * N_CELLS] += FORGET_BIAS

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.lstm(x)[0])


def descend(model: Reader, loss: Callable[[], torch.Tensor], n_steps: int = N_STEPS) -> None:
    """Adam on all sequences at once, with a rate that falls to 0 along a cosine and clipped gradients."""
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, n_steps)
    for _ in range(n_steps):
        optimiser.zero_grad()
        loss().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        falling.step()


def at_the_end(model: Reader, X: Sequence[np.ndarray]) -> torch.Tensor:
    """Outputs after the last step of each sequence."""
    last = torch.tensor([len(x) - 1 for x in X])
    return model(padded(X, torch.float32))[torch.arange(len(X)), last]


def classifier(X: Sequence[np.ndarray], y: np.ndarray, seed: int) -> Callable[[Sequence[np.ndarray]], np.ndarray]:
    """The trained network as a function from sequences to labels."""
    torch.set_num_threads(1)
    classes, codes = np.unique(y, return_inverse=True)
    model = Reader(X[0].shape[1], len(classes), seed)
    wanted = torch.tensor(codes)
    descend(model, lambda: nn.functional.cross_entropy(at_the_end(model, X), wanted))
    return torch.no_grad()(lambda X: classes[at_the_end(model, X).argmax(dim=1).numpy()])


def regressor(x: np.ndarray, y: np.ndarray, seed: int) -> Callable[[np.ndarray], np.ndarray]:
    """The same for one sequence (T, n_inputs) with a value at every step."""
    torch.set_num_threads(1)
    model = Reader(x.shape[1], 1, seed)
    wanted = torch.tensor(y, dtype=torch.float32)
    descend(model, lambda: nn.functional.mse_loss(model(padded([x], torch.float32))[0, :, 0], wanted))
    return torch.no_grad()(lambda x: model(padded([x], torch.float32))[0, :, 0].numpy())
