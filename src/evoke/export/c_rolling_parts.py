"""The pieces of a C file of a forecaster with rolling origins. What stands between two signs @ is put in."""

from __future__ import annotations

__all__ = ["ADD", "EXP_OF_VALUES", "FUNCTIONS", "HEAD", "MEMBERS", "NAIVE", "RUNS", "STEP"]

HEAD = """\
/* @WORDS@.
 * Written by evoke @VERSION@. C99 without any library, in @PRECISION@.
 *
 *     @n@_state state;                       all that is remembered
 *     @n@_resume(&state);                    goes on after the series of fit
 *     @n@_step(&state, x, values);           the next forecast: x[@N@_N_INPUTS] -> values[@N@_N_OUTPUTS]
 *
@USE@ *
 * For its declarations alone: #define @N@_DECLARATIONS, then include this file.
 * A program that tests itself: compile with -D@N@_SELF_TEST. */
#ifndef @N@_DECLARED
#define @N@_DECLARED
#include <stdint.h>

typedef @REAL@ @n@_real;   /* of the cells */
typedef @VALUE@ @n@_value; /* of all else */

enum {
    @N@_N_INPUTS = @N_INPUTS@, /* external ones */
    @N@_N_OUTPUTS = @N_OUTPUTS@
};

typedef struct @n@_state {
@STATE@    uint32_t place[@N_RINGS@]; /* in rings of values */
    uint32_t t; /* steps so far, at most 2^32 - 1 */
} @n@_state;

/* To where the series of fit ended. */
void @n@_resume(@n@_state *state);

/* The forecast of the next step, beside its external inputs, finite numbers. Where values is not a null pointer, it is
 * put there. */
void @n@_step(@n@_state *state, const @n@_real *x, @n@_value *values);

/* sizeof(@n@_state), for callers that are not written in C. */
uint32_t @n@_state_size(void);
#endif

#ifndef @N@_DECLARATIONS
"""

EXP_OF_VALUES = """
static @n@_value @n@_exp(@n@_value x)
{
    @EXP@parts e;
    e = @EXP@exp_parts(x > @VALUE_FAR@ ? @VALUE_FAR@ : x < -@VALUE_FAR@ ? -@VALUE_FAR@ : x);
    return e.two_n * (@1v@ + e.rest);
}
"""

# What members are made of; RBF and LOG are there where one needs them.
MEMBERS = """
typedef struct {
    const @n@_value *coef, *intercept; /* [of what is read, or of vectors][N_OUTPUTS] */
    const @n@_value *vectors;          /* of a Gaussian kernel; 0: none */
    int n_vectors;
    @n@_value gamma;
} @n@_machine;

/* Free runs on one transformed series. */
typedef struct {
    int n_readouts, n_runs, is_log, n_stages;
    const int *stages;                 /* rings of what differences are taken of, the first difference first */
    const @n@_value *mean, *deviation; /* units of the series */
    const @n@_value *low, *high;       /* where runs are clipped */
    const @n@_value *scale;            /* what is read: its mean and inverse deviation, of each readout; 0: as it is */
    const @n@_machine *machines;       /* [n_readouts][n_runs] */
    const @n@_value *weights;          /* [n_runs][@N_JUDGED@][N_OUTPUTS] */
    const @n@_real *cells;             /* at the end of the series: [networks][2][cells] */
    const @n@_value *kept;             /* the last values, then those of the stages */
    int n_kept;
} @n@_member;
"""

# A part of a mean. What is no number stays none.
ADD = """
typedef struct { @n@_value total, least, largest, low, high; } @n@_sum;

static void @n@_add(@n@_sum *sum, @n@_value share, @n@_value said)
{
    const @n@_value held = said > sum->high ? sum->high : said < sum->low ? sum->low : said;
    if (!(share > @0v@))
        return;
    sum->total += share * held;
    sum->least = held < sum->least ? held : sum->least;
    sum->largest = held > sum->largest ? held : sum->largest;
}
"""

FUNCTIONS = """
/* The median of n values, which are put in order. */
static @n@_value @n@_median(@n@_value *values, int n)
{
    for (int k = 1; k < n; k++) {
        const @n@_value value = values[k];
        int j = k;
        if (value != value)
            return value;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) * @HALF@;
}

/* What a machine says of n_read numbers. */
static void @n@_say(const @n@_machine *machine, const @n@_value *read, @n@_value *said)
{
    enum { Q = @N@_N_OUTPUTS, P = @N_READ@ };
    for (int o = 0; o < Q; o++)
        said[o] = machine->intercept[o];
@SAY@}

/* A step of the networks of one readout: w are the last values, in a ring whose next place this is. */
static void @n@_networks(int first, @n@_real *cells, const @n@_value *w, uint32_t place, const @n@_real *external,
                         @n@_value *read)
{
    enum { Q = @N@_N_OUTPUTS, I = @N_NETWORK_INPUTS@, H = @N_CELLS@, L = @N_BEFORE@, E = @N@_N_INPUTS + 1 };
    static const uint32_t lags[@N_LAGS@] = {@LAGS@};
    @n@_real u[I + H];
    for (int k = 0; k < @N_LAGS@; k++)
        for (int o = 0; o < Q; o++)
            u[k * Q + o] = (@n@_real)w[(place + L - lags[k]) % L * Q + (uint32_t)o];
    for (int k = 0; k < E; k++)
        u[@N_LAGS@ * Q + k] = external[k];
    for (int g = 0; g < @N_JOINED@; g++, cells += 2 * H) {
        @n@_real *s = cells, *phi = cells + H;
        for (int h = 0; h < H; h++)
            u[I + h] = phi[h];
        for (int h = 0; h < H; h++) {
            const @n@_real *weight = weights[first + g][h];
            @n@_real net[4] = {@0@, @0@, @0@, @0@}; /* z, input, forget, output */
            for (int gate = 0; gate < 4; gate++, weight += I + H)
                for (int k = 0; k < I + H; k++)
                    net[gate] += weight[k] * u[k];
            s[h] = @n@_logistic(net[2]) * s[h] + @n@_logistic(net[1]) * @Z@;
            phi[h] = @PHI@;
            read[g * H + h] = (@n@_value)phi[h];
        }
    }
}

/* A step of one readout of a run: what it says, without units, joins the last values. Returns what follows these. */
static @n@_value *@n@_readout(const @n@_member *member, int m, int run, @n@_real *cells, @n@_value *kept,
                            const uint32_t *places, const @n@_real *external, @n@_value *said)
{
    enum { Q = @N@_N_OUTPUTS, H = @N_CELLS@, J = @N_JOINED@, L = @N_BEFORE@, P = @N_READ@, F = @N@_N_INPUTS };
    static const uint32_t lags[@N_READOUT_LAGS@] = {@READOUT_LAGS@};
    const uint32_t place = places[0];
    @n@_value read[P], *stage = kept + L * Q;
    @n@_networks(m * J, cells, kept, place, external, read);
    for (int k = 0; k < @N_READOUT_LAGS@; k++)
        for (int o = 0; o < Q; o++)
            read[J * H + k * Q + o] = kept[(place + L - lags[k]) % L * Q + (uint32_t)o];
@BESIDE@@SCALED@    @n@_say(&member->machines[m * member->n_runs + run], read, said);
    for (int o = 0; o < Q; o++) {
@LAST@        said[o] = said[o] > member->high[o] ? member->high[o] : said[o];
        said[o] = said[o] < member->low[o] ? member->low[o] : said[o];
    }
    for (int o = 0; o < Q; o++) {
        kept[place * Q + (uint32_t)o] = said[o];
        said[o] = said[o] * member->deviation[o] + member->mean[o];
    }
    for (int k = 0; k < member->n_stages; k++)
        stage += ring_sizes[member->stages[k]] * Q;
    kept = stage;
    for (int k = member->n_stages - 1; k >= 0; k--) { /* differences are undone, the last one first */
        stage -= ring_sizes[member->stages[k]] * Q;
        for (int o = 0; o < Q; o++) {
            said[o] += stage[places[member->stages[k]] * Q + (uint32_t)o];
            stage[places[member->stages[k]] * Q + (uint32_t)o] = said[o];
        }
    }
@UNLOG@    return kept;
}
"""

# Ways of machines to speak, of values of a run, of logarithms.
RUNS = {
    "linear": """\
    for (int k = 0; k < P; k++)
        for (int o = 0; o < Q; o++)
            said[o] += read[k] * machine->coef[k * Q + o];
""",
    "rbf": """\
    for (int j = 0; j < machine->n_vectors; j++) {
        const @n@_value *vector = machine->vectors + j * P;
        @n@_value sum = @0v@;
        for (int k = 0; k < P; k++)
            sum += (read[k] - vector[k]) * (read[k] - vector[k]);
        sum = @n@_exp(-machine->gamma * sum);
        for (int o = 0; o < Q; o++)
            said[o] += sum * machine->coef[j * Q + o];
    }
""",
    "scaled": """\
    if (member->scale)
        for (int k = 0; k < P; k++)
            read[k] = (read[k] - member->scale[2 * m * P + k]) * member->scale[(2 * m + 1) * P + k];
""",
    "last": """\
        if (member->scale) /* a machine says by how much the value changes */
            said[o] += kept[(place + L - 1) % L * Q + (uint32_t)o];
""",
    "beside": """\
    for (int k = 0; k < F; k++)
        read[P - F + k] = (@n@_value)external[k];
""",
    "unlog": """\
    for (int o = 0; o < Q && member->is_log; o++)
        said[o] = @n@_exp(said[o]);
""",
    "resume": """
    @n@_real *cells = state->cells;
    @n@_value *kept = state->kept;
    for (int k = 0; k < @N_MEMBERS@; k++) {
        const @n@_member *member = &members[k];
        for (int run = 0; run < member->n_runs; run++) {
            for (int j = 0; j < member->n_readouts * @N_JOINED@ * 2 * @N_CELLS@; j++)
                *cells++ = member->cells[j];
            for (int m = 0; m < member->n_readouts; m++)
                for (int j = 0; j < member->n_kept; j++)
                    *kept++ = member->kept[j];
        }
    }
""",
    "step": """\
    for (int k = 0; k < @N_MEMBERS@; k++) {
        const @n@_member *member = &members[k];
        for (int run = 0; run < member->n_runs; run++) {
            for (int m = 0; m < member->n_readouts; m++, cells += @N_JOINED@ * 2 * @N_CELLS@) {
                @n@_value now[Q];
                kept = @n@_readout(member, m, run, cells, kept, state->place, external, now);
                for (int o = 0; o < Q; o++)
                    said[o][m] = now[o];
            }
            for (int o = 0; o < Q; o++)
                @n@_add(&sums[o], member->weights[((uint32_t)run * @N_JUDGED@u + at) * Q + (uint32_t)o],
                        @n@_median(said[o], member->n_readouts));
        }
    }
""",
}

# The rows of `naive` are the last value, the mean and then the season.
NAIVE = """\
    for (int o = 0; o < Q; o++)
        for (int k = 0; k < 2; k++)
            @n@_add(&sums[o], naive_weights[k][at][o], naive[k][o]);
"""

STEP = """
uint32_t @n@_state_size(void) { return (uint32_t)sizeof(@n@_state); }

void @n@_resume(@n@_state *state)
{
@RESUME@    for (int k = 0; k < @N_RINGS@; k++)
        state->place[k] = 0;
    state->t = 0;
}

void @n@_step(@n@_state *state, const @n@_real *x, @n@_value *values)
{
    enum { Q = @N@_N_OUTPUTS };
    const uint32_t at = state->t < @N_JUDGED@u ? state->t : @N_JUDGED@u - 1u; /* weights do not change after that */
    @n@_sum sums[Q];
@EXTERNAL@@DECLARED@    for (int o = 0; o < Q; o++) {
@REACH@        sums[o].total = @0v@;
        sums[o].least = sums[o].high;
        sums[o].largest = sums[o].low;
    }
@RUNS@@NAIVE@    for (int k = 0; k < @N_RINGS@; k++)
        state->place[k] = (state->place[k] + 1u) % ring_sizes[k];
    state->t += state->t < UINT32_MAX;
    for (int o = 0; values && o < Q; o++) {
        const @n@_sum *sum = &sums[o]; /* weights sum to 1 but for rounding */
        const @n@_value mean = sum->total > sum->largest ? sum->largest : sum->total;
        values[o] = (mean < sum->least ? sum->least : mean) * factors[0][o] * factors[1][o];
    }
}
"""
