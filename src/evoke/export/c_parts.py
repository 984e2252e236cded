"""The pieces of a C file. What stands between two signs @ is put in."""

from __future__ import annotations

__all__ = ["EXP", "HEAD", "LOGISTIC_AND_TANH", "POOL", "PROBABILITIES", "ROOT", "STEP"]

HEAD = """\
/* @WORDS@.
 * Written by evoke @VERSION@. C99 without any library, in @PRECISION@.
 *
 *     @n@_state state;                       all that is remembered of the steps so far
 *     @n@_reset(&state);                     before the first step
 *     @n@_step(&state, x, values);           one step: x[@N@_N_INPUTS] -> values[@N@_N_OUTPUTS]
 *
@USE@ *
 * For its declarations alone: #define @N@_DECLARATIONS, then include this file.
 * A program that tests itself: compile with -D@N@_SELF_TEST. */
#ifndef @N@_DECLARED
#define @N@_DECLARED
#include <stdint.h>

typedef @REAL@ @n@_real;   /* of the cells */
typedef @VALUE@ @n@_value; /* of the readout */

enum {
    @N@_N_INPUTS = @N_INPUTS@,
    @N@_N_OUTPUTS = @N_OUTPUTS@,
    @N@_N_NETWORKS = @N_NETWORKS@,
    @N@_N_CELLS = @N_CELLS@,
    @N@_N_READ = @N_READ@@MORE_SIZES@
};

typedef struct @n@_state {
    @n@_real s[@N@_N_NETWORKS][@N@_N_CELLS], phi[@N@_N_NETWORKS][@N@_N_CELLS]; /* of the cells: states and outputs */
    @n@_value read[@N@_N_READ]; /* by the readout */
@MORE_STATE@} @n@_state;

/* Back to the zero state. */
void @n@_reset(@n@_state *state);

/* @STEP_WORDS@ */
void @n@_step(@n@_state *state, const @n@_real *x, @n@_value *values);

/* sizeof(@n@_state), for callers that are not written in C. */
uint32_t @n@_state_size(void);
@MORE_DECLARATIONS@#endif

#ifndef @N@_DECLARATIONS
"""

# exp(x) = two_n (1 + rest), |r| <= ln(2) / 2, by the degree 9 fit of csrc/vecmath.h; in single precision by Taylor.
EXP = {
    "double": """
typedef struct { double two_n, rest; } @n@_parts;

/* exp(x) = two_n (1 + rest) for |x| <= 708, and for NaN */
static @n@_parts @n@_exp_parts(double x)
{
    static const double q[] = {0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d4fp-5, 0x1.11111111109adp-7,
                               0x1.6c16c17893833p-10, 0x1.a01a01a7c8d47p-13, 0x1.a019b8ef67c6cp-16,
                               0x1.71de0d9c145d0p-19, 0x1.2891a8c1d838dp-22, 0x1.af38d53857513p-26};
    union { uint64_t bits; double value; } power;
    const int n = x == x ? (int)(x * 0x1.71547652b82fep+0 + (x < 0.0 ? -0.5 : 0.5)) : 0;
    const double r = x - n * 0x1.62e42fefa3000p-1 - n * 0x1.3de6af278ece6p-42;
    double sum = q[9];
    @n@_parts parts;
    for (int k = 8; k >= 0; k--)
        sum = sum * r + q[k];
    power.bits = (uint64_t)(n + 1023) << 52;
    parts.two_n = power.value;
    parts.rest = r + r * r * sum;
    return parts;
}
""",
    "float": """
typedef struct { float two_n, rest; } @n@_parts;

/* exp(x) = two_n (1 + rest) for |x| <= 87, and for NaN */
static @n@_parts @n@_exp_parts(float x)
{
    static const float q[] = {0.5f, 1.66666667e-1f, 4.16666667e-2f, 8.33333333e-3f, 1.38888889e-3f, 1.98412698e-4f};
    union { uint32_t bits; float value; } power;
    const int n = x == x ? (int)(x * 1.44269504f + (x < 0.0f ? -0.5f : 0.5f)) : 0;
    const float r = x - (float)n * 0.693359375f + (float)n * 2.12194440e-4f;
    float sum = q[5];
    @n@_parts parts;
    for (int k = 4; k >= 0; k--)
        sum = sum * r + q[k];
    power.bits = (uint32_t)(n + 127) << 23;
    parts.two_n = power.value;
    parts.rest = r + r * r * sum;
    return parts;
}
""",
}

LOGISTIC_AND_TANH = """
static @n@_real @n@_logistic(@n@_real x)
{
    @n@_parts e;
    e = @n@_exp_parts(x > @FAR@ ? -@FAR@ : x < -@FAR@ ? @FAR@ : -x);
    return @1@ / (@1@ + e.two_n * (@1@ + e.rest));
}

static @n@_real @n@_tanh(@n@_real x)
{
    const @n@_real size = x < @0@ ? -x : x;
    @n@_parts e;
    @n@_real m;
    e = @n@_exp_parts(size > @22@ ? @44@ : @2@ * size);
    m = e.two_n * e.rest + (e.two_n - @1@);
    return (x < @0@ ? -m : m) / (m + @2@);
}
"""

ROOT = {
    "double": """
static double @n@_root(double x)
{
    union { uint64_t bits; double value; } y;
    if (!(x > 0.0))
        return x == x ? 0.0 : x;
    y.value = x;
    y.bits = (y.bits >> 1) + 0x1ff8000000000000u;
    for (int k = 0; k < 5; k++)
        y.value = 0.5 * (y.value + x / y.value);
    return y.value;
}
""",
    "float": """
static float @n@_root(float x)
{
    union { uint32_t bits; float value; } y;
    if (!(x > 0.0f))
        return x == x ? 0.0f : x;
    y.value = x;
    y.bits = (y.bits >> 1) + 0x1fc00000u;
    for (int k = 0; k < 4; k++)
        y.value = 0.5f * (y.value + x / y.value);
    return y.value;
}
""",
}

# One step of all networks. A chromosome is [z | input | forget | output] x [inputs, cells].
STEP = """
void @n@_reset(@n@_state *state)
{
    unsigned char *byte = (unsigned char *)state;
    for (uint32_t k = 0; k < sizeof *state; k++)
        byte[k] = 0;
}

uint32_t @n@_state_size(void) { return (uint32_t)sizeof(@n@_state); }

void @n@_step(@n@_state *state, const @n@_real *x, @n@_value *values)
{
    enum { I = @I@, H = @N@_N_CELLS };
    @n@_real u[I + H]; /* inputs, then the outputs of the step before */
@PREPARE@    for (int n = 0; n < @N@_N_NETWORKS; n++) {
        @n@_real *phi = state->phi[n];
        for (int h = 0; h < H; h++)
            u[I + h] = phi[h];
        for (int h = 0; h < H; h++) {
            const @n@_real *w = weights[n][h];
            @n@_real net[4] = {@BIASES@}, s; /* z, input, forget, output */
            for (int gate = 0; gate < 4; gate++, w += I + H)
                for (int k = 0; k < I + H; k++)
                    net[gate] += w[k] * u[k];
@CELL@@POOL@        }
    }
@COUNT@    if (!values)
        return;
@READ@@SCALE@@DECIDE@}
"""

# Statistics that are kept up to date, by the name of what is kept; `first` is the first step that counts.
POOL = {
    "mean": """\
            state->mean[n][h] = first ? phi[h] : state->mean[n][h] + deviation / count;
""",
    "squares": """\
            state->squares[n][h] = first ? @0@ : state->squares[n][h] + deviation * (phi[h] - state->mean[n][h]);
""",
    "max": """\
            state->max[n][h] = first || phi[h] > state->max[n][h] ? phi[h] : state->max[n][h];
""",
    "min": """\
            state->min[n][h] = first || phi[h] < state->min[n][h] ? phi[h] : state->min[n][h];
""",
    "positive": """\
            state->positive[n][h] = (first ? @0@ : state->positive[n][h]) + (phi[h] > @0@ ? @1@ : @0@);
""",
    "change": """\
            state->change[n][h] = first              ? @0@
                                  : phi[h] > u[I + h] ? state->change[n][h] + (phi[h] - u[I + h])
                                                      : state->change[n][h] + (u[I + h] - phi[h]);
""",
}

# Of the numbers of outputs; what is between the braces of the function.
PROBABILITIES = {
    "exclusive": """
    @n@_value largest = values[0], sum = @0v@;
    for (int k = 1; k < @N@_N_OUTPUTS; k++)
        largest = values[k] > largest ? values[k] : largest;
    for (int k = 0; k < @N@_N_OUTPUTS; k++)
        sum += probabilities[k] = @n@_exp(@SLOPE@ * (values[k] - largest));
    for (int k = 0; k < @N@_N_OUTPUTS; k++)
        probabilities[k] /= sum;
""",
    "two": """
    probabilities[0] = @n@_yes(-values[0]);
    probabilities[1] = @n@_yes(values[0]);
""",
    "several": """
    for (int k = 0; k < @N@_N_OUTPUTS; k++)
        probabilities[k] = @n@_yes(values[k]);
""",
    # exp of what is not above zero, and the logistic function
    "exp": """
static @n@_value @n@_exp(@n@_value x)
{
    @EXP@parts e;
    if (x < -@VALUE_FAR@)
        return @0v@;
    e = @EXP@exp_parts(x);
    return e.two_n * (@1v@ + e.rest);
}
""",
    "yes": """
static @n@_value @n@_yes(@n@_value value)
{
    const @n@_value small = @n@_exp(@SLOPE@ * (value < @0v@ ? value : -value));
    return (value < @0v@ ? small : @1v@) / (@1v@ + small);
}
""",
}
