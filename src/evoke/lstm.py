"""The forward pass of the LSTM that evolution shapes, usable alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from evoke._core import lstm as core
from evoke._validation.arrays import check_dimensions, check_shape, not_finite, to_real
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_flag, check_gate_bias

__all__ = ["forward"]

GATE_BIAS = (0.0, 1.5, -1.5)
DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


def _dtype(value):
    try:
        dtype = None if value is None else np.dtype(value)  # NumPy takes None for float64
    except Exception:  # which it is depends on what NumPy tried
        dtype = None
    if dtype is None or dtype not in DTYPES:
        raise refusal("dtype", "be one of ('float64', 'float32')", value)
    return dtype


def _cast(array, dtype):
    if array.dtype == dtype:
        return np.ascontiguousarray(array)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype)


def _array(name, value, numbers, dtype):
    """The value as a C-contiguous array of this dtype, all finite, of one of these numbers of dimensions."""
    given = to_real(value, name)
    check_dimensions(given, name, numbers)
    array = _cast(given, dtype)
    if not core.finite(array):
        raise not_finite(array, name, given)
    return array


def _sequence(name, value, n_inputs, dtype):
    x = _array(name, value, (2,), dtype)
    if len(x) == 0:
        raise ValueError(f"{name} has no steps, got shape {x.shape}")
    if x.shape[1] != n_inputs:
        raise ValueError(f"{name} must have shape (T, {n_inputs}) for this genome, got {x.shape}")
    return x


def _end_to_end(X, n_inputs, dtype):
    """All steps of the sequences X, checked, and where each begins and ends."""
    X = list(X)
    for given in DTYPES:
        if (quick := core.end_to_end(X, n_inputs, given)) is not None:
            x = _cast(quick[0], dtype)
            if core.finite(x):
                return x, quick[1]
    X = [_sequence(f"X[{k}]", x, n_inputs, dtype) for k, x in enumerate(X)]
    return np.concatenate(X), np.array([0, *itertools.accumulate(map(len, X))])


def forward(
    genome: Any,
    X: Any,
    *,
    cell: str = "lstm",
    gate_bias: Sequence[float] | str = GATE_BIAS,
    state: Any = None,
    return_state: bool = False,
    dtype: Any = np.float64,
) -> Any:
    r"""Activations of one network, or of a population of networks, on one or more sequences.

    Equation (1) of the paper: the activations :math:`\phi(t) = f(W, u(t), u(t-1), \ldots, u(0))` of the recurrent
    network with weights :math:`W` depend on all inputs so far. Here f is a layer of H memory cells without peepholes,
    each with logistic gates :math:`i, f, o` (input, forget, output). With :math:`W_g` the four blocks of weights, each
    reading the I external inputs and the H outputs of the step before,

    .. math::

        z = W_z [u(t), \phi(t-1)], \quad g = \sigma(W_g [u(t), \phi(t-1)] + b_g), \quad g \in \{i, f, o\}

    and, for the two cells,

    - ``"lstm"``: :math:`s(t) = i \tanh(z) + f s(t-1)`, :math:`\phi(t) = o \tanh(s(t))`
    - ``"evolino"``: :math:`s(t) = i z + f s(t-1)`, :math:`\phi(t) = \tanh(o s(t))`

    Parameters
    ----------
    genome : array_like of shape (H, 4 * (I + H)) or (n_networks, H, 4 * (I + H))
        One chromosome a cell, ``[z | input | forget | output] x [I inputs, H cells]``. I follows from the shape.
    X : ndarray of shape (T, I), or list of array_likes of shape (T_i, I)
        One sequence, or sequences that may differ in length.
    cell : {"lstm", "evolino"}, default "lstm"
        Which of the two cells.
    gate_bias : sequence of three floats, default (0.0, 1.5, -1.5)
        Constant bias of the input, forget and output gates.
    state : array_like of shape (2, H) or (n_sequences, 2, H), optional
        The cells' states s and outputs phi to start from, for all sequences or for each; zero by default. For a single
        genome only.
    return_state : bool, default False
        Also return the state after the last step. For a single genome only.
    dtype : {numpy.float64, numpy.float32}, default float64
        Precision in which everything is computed and returned. Single precision takes about half the time of double for
        a population, and half the memory. Activations of both agree to about 1e-6 where a network forgets; differences
        grow in one that amplifies them, or that keeps its states over thousands of steps. The estimators compute in
        double, but for the evolution of those with ``dtype="float32"``.

    Returns
    -------
    phi : ndarray of shape (T, H), or list of ndarrays of shape (T_i, H)
        Activations, structured as X; for a population every array has a leading axis n_networks.
    state : ndarray of shape (2, H) or (n_sequences, 2, H)
        States s and outputs phi after the last step; only where `return_state` is true.

    Raises
    ------
    ValueError
        For shapes that do not fit, values that are not finite or so large that states are not, a sequence
        without steps, or a population together with `state` or `return_state`.
    ParameterError
        For an unknown cell, another dtype, gate biases that are not three finite numbers, or a `return_state` that is
        neither true nor false.

    Examples
    --------
    A run may be cut anywhere:

    >>> import numpy as np
    >>> from evoke.lstm import forward
    >>> genome = np.array([[2.0, 0.5, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]])  # one cell, one input
    >>> x = np.array([[1.0], [0.0], [0.0]])
    >>> forward(genome, x).round(4).tolist()
    [[0.2293], [0.1022], [0.0904]]
    >>> start, state = forward(genome, x[:1], return_state=True)
    >>> forward(genome, x[1:], state=state).round(4).tolist()
    [[0.1022], [0.0904]]
    """
    dtype = _dtype(dtype)
    genome = _array("genome", genome, (2, 3), dtype)
    n_cells, size = genome.shape[-2:]
    n_inputs = size // 4 - n_cells
    if genome.size == 0 or size % 4 != 0 or n_inputs < 1:
        raise ValueError(f"genome must have shape ([n_networks,] H, 4 * (I + H)) with I, H >= 1, got {genome.shape}")
    check_flag("return_state", return_state)
    network = core.Network(genome, cell, GATE_BIAS if gate_bias is GATE_BIAS else check_gate_bias(gate_bias))

    single = not isinstance(X, list | tuple)
    if single:
        X = [_sequence("X", X, n_inputs, dtype)]
    if not X:
        raise ValueError("X must hold at least one sequence, got an empty list")
    x, offsets = _end_to_end(X, n_inputs, dtype)

    if genome.ndim == 3 and (state is not None or return_state):
        raise ValueError(f"state and return_state need a single genome, got a population of shape {genome.shape}")
    if state is not None:
        state = _array("state", state, (2, 3), dtype)
        check_shape(state, "state", (2, n_cells) if state.ndim == 2 else (len(X), 2, n_cells))
        state = np.broadcast_to(state, (len(X), 2, n_cells))
    try:
        if genome.ndim == 3:
            none = np.full(len(X), -1)  # each sequence starts from zero
            phi = core.population(network, x, np.array([offsets[:-1], offsets[1:], none, none]), refuse_overflow=True)
        else:
            phi, state = core.sequences(network, x, offsets, state)
            if not np.isfinite(state).all():
                raise OverflowError
    except OverflowError:
        raise ValueError(f"genome and X are so large that states overflow in {dtype}") from None
    if not single:
        phi = [phi[..., begin:end, :] for begin, end in itertools.pairwise(offsets.tolist())]
    if return_state:
        return phi, state[0] if single else state
    return phi
