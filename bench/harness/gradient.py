"""LSTMs trained by gradient on a^n b^n c^n, in PyTorch: the classic setting and a modern one.

Classic: after Gers and Schmidhuber (2001), as far as we know it: two cells with peepholes, outputs between -1 and 1,
squared error, gradient descent with rate 1e-5 and momentum 0.99. They needed 54,000 strings on average and reached
n = 28; here it is 80,000 strings. Each step adds the gradients of all ten strings, which at so small a rate amounts to
one string after the other. We do not know their initial gate biases; ours are -1 (input), 1 (forget) and -1 (output).
The seeds are trained side by side.

Modern: `nn.LSTM` of ten cells and a linear layer, cross entropy, Adam with a rate that falls to 0 along a cosine,
clipped gradients. The initial rate and the number of cells are the best of four pairs tried on seed 1000, which is not
a thorough search.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import nn

from evoke import tasks
from harness.torch_lstm import padded

N_MAX, TEST_MAX = 10, 1000
CLASSIC_STEPS, MODERN_STEPS = 8000, 2000
N_CELLS, RATE = 10, 0.01


def training(n_max: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Inputs and targets (n_max, longest, 4), and 1 for every step that exists (n_max, longest, 1)."""
    X, y = tasks.anbncn(n_max)
    there = padded([np.ones((len(x), 1)) for x in X], torch.float32)
    return padded(X, torch.float32), padded(y, torch.float32), there


class Decider:
    """What decides padded sequences, in the form that `evoke.tasks` expects."""

    def __init__(self, decide):
        self.decide = decide

    @torch.no_grad()
    def decision_function(self, X):
        decisions = self.decide(padded(X, torch.float32)).numpy()
        return [rows[: len(x)] for rows, x in zip(decisions, X, strict=True)]


class Peepholes(nn.Module):
    """LSTMs of several seeds side by side: every parameter has the seeds in front."""

    def __init__(self, seeds: list[int], n_cells: int = 2):
        super().__init__()
        drawn = [np.random.default_rng(seed) for seed in seeds]

        def parameter(*shape):
            values = np.array([r.uniform(-0.1, 0.1, shape) for r in drawn])
            return nn.Parameter(torch.tensor(values, dtype=torch.float32))

        self.n_cells = n_cells
        self.inputs, self.recurrent = parameter(4, 4 * n_cells), parameter(n_cells, 4 * n_cells)
        self.bias, self.peepholes = parameter(1, 4 * n_cells), parameter(1, 3 * n_cells)
        with torch.no_grad():
            self.bias += torch.tensor([-1.0, 1.0, 0.0, -1.0]).repeat_interleave(n_cells)
        self.read_cells, self.read_inputs, self.read_bias = parameter(n_cells, 4), parameter(4, 4), parameter(1, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Outputs before the logistic function (n_seeds, n_sequences, T, 4) of x (n_sequences, T, 4)."""
        n_seeds, (n_sequences, n_steps, _), H = len(self.bias), x.shape, self.n_cells
        flat = x.reshape(1, -1, 4).expand(n_seeds, -1, -1)
        from_inputs = torch.baddbmm(self.bias, flat, self.inputs).reshape(n_seeds, n_sequences, n_steps, -1)
        state = output = torch.zeros(n_seeds, n_sequences, H)
        look_in, look_out = self.peepholes[..., : 2 * H], self.peepholes[..., 2 * H :]
        outputs = []
        for net_input in from_inputs.unbind(2):
            net = torch.baddbmm(net_input, output, self.recurrent)
            i, f = torch.sigmoid(net[..., : 2 * H] + look_in * torch.cat([state, state], dim=2)).chunk(2, dim=2)
            state = f * state + i * torch.tanh(net[..., 2 * H : 3 * H])
            output = torch.sigmoid(net[..., 3 * H :] + look_out * state) * state
            outputs.append(output)
        cells = torch.stack(outputs, dim=2).reshape(n_seeds, -1, H)
        read = torch.baddbmm(self.read_bias, cells, self.read_cells) + torch.bmm(flat, self.read_inputs)
        return read.reshape(n_seeds, n_sequences, n_steps, 4)


def classic(seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    torch.set_num_threads(1)
    x, y, there = training(3 if quick else N_MAX)
    model = Peepholes(seeds)
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-5, momentum=0.99)
    begin = time.perf_counter()
    for _ in range(3 if quick else CLASSIC_STEPS):
        optimiser.zero_grad()
        (there * (2.0 * torch.sigmoid(model(x)) - 2.0 * y) ** 2).sum().backward()
        optimiser.step()
    seconds = (time.perf_counter() - begin) / len(seeds)
    deciders = [Decider(lambda x, k=k: model(x)[k]) for k in range(len(seeds))]
    runs = [
        {"seed": seed, "result": tasks.anbncn_accepted(decider, TEST_MAX), "seconds": seconds}
        for seed, decider in zip(seeds, deciders, strict=True)
    ]
    return runs, sum(p[0].numel() for p in model.parameters())


def modern(seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    runs = []
    for seed in seeds:
        run, n_parameters = modern_run(seed, 3 if quick else N_MAX, 3 if quick else MODERN_STEPS)
        runs.append(run)
    return runs, n_parameters


def modern_run(
    seed: int, n_max: int, n_steps: int, n_cells: int = N_CELLS, rate: float = RATE
) -> tuple[dict[str, Any], int]:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    x, y, there = training(n_max)
    lstm, linear = nn.LSTM(4, n_cells, batch_first=True), nn.Linear(n_cells, 4)
    parameters = [*lstm.parameters(), *linear.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=rate)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, n_steps)
    begin = time.perf_counter()
    for _ in range(n_steps):
        optimiser.zero_grad()
        losses = nn.functional.binary_cross_entropy_with_logits(linear(lstm(x)[0]), y, reduction="none")
        ((there * losses).sum() / there.sum()).backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        falling.step()
    seconds = time.perf_counter() - begin
    accepted = tasks.anbncn_accepted(Decider(lambda x: linear(lstm(x)[0])), TEST_MAX)
    return {"seed": seed, "result": accepted, "seconds": seconds}, sum(p.numel() for p in parameters)
