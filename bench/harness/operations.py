"""Floating-point operations of our functions, for the share of the machine's limit that they reach.

Counted in csrc/vecmath.h, lstm.c and gram.c: additions, subtractions, multiplications and divisions as one, a fused
multiply-add as two; comparisons, selections, shifts and loads as none. If another library spends more operations on
the same function, the count stays ours.
"""

from __future__ import annotations

REDUCE = 28  # x = n ln 2 + r: 3 for n, 4 for r; 2 powers, 9 fma, 1 product for the polynomial
EXP = REDUCE + 3
LOGISTIC = 1 + REDUCE + 3 + 2
TANH = 1 + REDUCE + 6
TANPI = 1 + 1 + 2 * 14 + 1 + 1  # 1/2 - |x|, the square, two polynomials of 7 fma, a product, the division
FUNCTIONS = {"exp": EXP, "logistic": LOGISTIC, "tanh": TANH, "tanpi": TANPI}


def lstm(n_inputs: int, n_cells: int) -> int:
    """One step of one network: per cell four sums of products, three gates, two squashing functions, the state."""
    return n_cells * (4 * 2 * (n_inputs + n_cells) + 3 * LOGISTIC + 2 * TANH + 4)


def gram(n_rows: int, n_features: int) -> float:
    """An RBF kernel matrix, each pair of rows once."""
    return n_rows * (n_rows + 1) / 2 * (3 * n_features + 1 + EXP)


def cholesky(n_rows: int) -> float:
    return n_rows**3 / 3


def landmark_sums(n_rows: int, n_features: int, n_landmarks: int, n_outputs: int) -> float:
    """RBF kernel values of rows at landmarks; the products of these, a one and the targets, each pair once."""
    width = n_landmarks + 1 + n_outputs
    return n_rows * (n_landmarks * (3 * n_features + 1 + EXP) + width * (width + 1))


def leave_one_out(n_rows: int, n_outputs: int) -> float:
    """The factor, its inverse, that times ones and targets; then its squares and products with these."""
    return 2 * n_rows**3 / 3 + (1 + n_outputs) * 2 * n_rows**2 + n_rows**2


def leave_one_out_grid(n_rows: int, n_features: int, n_outputs: int, n_widths: int, n_capacities: int) -> float:
    """Distances, from them a kernel matrix for each width, and machines for each pair."""
    pairs_of_rows = n_rows * (n_rows + 1) / 2
    kernels = pairs_of_rows * (3 * n_features + n_widths * (1 + EXP))
    return kernels + n_widths * n_capacities * leave_one_out(n_rows, n_outputs)
