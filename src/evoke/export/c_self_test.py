"""The program by which a C file tests itself."""

from __future__ import annotations

from evoke._validation.arrays import FloatArray
from evoke.export.c_text import Terms, number, table

__all__ = ["self_test"]

_TEXT = """
#ifdef @N@_SELF_TEST
#include <stdio.h>

enum { N_STEPS = @N_STEPS@ };
static const @n@_real given[N_STEPS][@WIDTH@] = @GIVEN@;
static const double expected[N_STEPS][@N@_N_OUTPUTS] = @EXPECTED@;

/* The largest difference from what the model says. */
int main(void)
{
    static @n@_state state;
    @n@_value values[@N@_N_OUTPUTS];
    double largest = 0.0;
    for (int repeat = 0; repeat < 2; repeat++) {
        @n@_@BEGIN@(&state);
        for (int t = 0; t < N_STEPS; t++) {
            @n@_step(&state, given[t], values);
            for (int o = 0; o < @N@_N_OUTPUTS; o++) {
                const double difference = (double)values[o] - expected[t][o];
                const double size = difference < 0.0 ? -difference : difference;
                largest = size > largest || size != size ? size : largest; /* NaN is kept */
            }
        }
    }
    printf("largest difference %.3g, allowed %.3g\\n", largest, @ALLOWED@);
    return largest <= @ALLOWED@ ? 0 : 1;
}
#endif
"""


def self_test(terms: Terms, begin: str, given: FloatArray, expected: FloatArray, allowed: float) -> str:
    """The program, which expects these values (n_steps, n_outputs) for the steps given.

    Parameters
    ----------
    terms : Terms
    begin : str
        The function that begins anew, without the name of the file.
    given : ndarray of shape (n_steps, n_inputs), n_inputs > 0
    expected : ndarray of shape (n_steps, n_outputs)
    allowed : float
        How far from these values may be.
    """
    return terms.fill(
        _TEXT, N_STEPS=str(len(given)), WIDTH=str(given.shape[1]), BEGIN=begin, GIVEN=table(given, terms.real),
        EXPECTED=table(expected, "double"), ALLOWED=number(float(f"{allowed:.3g}"), "double"),
    )  # fmt: skip
