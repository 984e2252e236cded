#include "lstm.h"

#include "functions.h"

#ifdef EVK_SINGLE
#include "vecmath_single.h"
#define EVK_LSTM(name) EVK_FN(name##_single)
#else
#include "vecmath.h"
#define EVK_LSTM(name) EVK_FN(name)
#endif

/* Packs of cells by which the gates are behind the sums, and the output behind the gates: what is computed at a time
 * waits for nothing else of that time. It takes the registers of AVX-512; with fewer it costs more than it gains. */
#ifdef __AVX512F__
enum { LAG = 1 };
#else
enum { LAG = 0 };
#endif

/* Packs that step side by side, and gates, whose sums are held in registers at a time. */
#ifdef __AVX512F__
enum { TILE = 6, GATES = 4 };
#else
enum { TILE = 3, GATES = 2 };
#endif

/* net inputs of a cell and of its gates */
typedef struct { pk z, i, f, o; } pk_nets;

/* A value a lane, or one for all lanes where the stride from one source to the next is 1. */
EVK_INLINE pk spread(const real *p, size_t stride) { return stride == 1 ? pk_set1(*p) : pk_load(p); }

EVK_INLINE pk_nets add_sources(pk_nets net, const real *w, size_t w_stride, const real *u, size_t u_stride, size_t n)
{
    for (size_t k = 0; k < n; k++, w += 4 * w_stride) {
        const pk source = spread(u + k * u_stride, u_stride);
        net.z = pk_fma(spread(w, w_stride), source, net.z);
        net.i = pk_fma(spread(w + w_stride, w_stride), source, net.i);
        net.f = pk_fma(spread(w + 2 * w_stride, w_stride), source, net.f);
        net.o = pk_fma(spread(w + 3 * w_stride, w_stride), source, net.o);
    }
    return net;
}

/* The gates of a pack of cells open: from s(t - 1) to s(t), which is stored; the output gate's value. */
EVK_INLINE pk open_gates(const evk_network *net, pk_nets sums, real *state, pk *s)
{
    const pk z = net->cell == EVK_CELL_LSTM ? pk_tanh(sums.z) : sums.z;
    *s = pk_fma(pk_logistic(sums.f), pk_load(state), pk_mul(pk_logistic(sums.i), z));
    pk_store(state, *s);
    return pk_logistic(sums.o);
}

EVK_INLINE pk output(const evk_network *net, pk o, pk s)
{
    return net->cell == EVK_CELL_LSTM ? pk_mul(o, pk_tanh(s)) : pk_tanh(pk_mul(o, s));
}

/* One step. The sums run over the sources in the same order whatever the lanes are, so that the bits of a network do
 * not depend on how it is laid out. */
EVK_INLINE void step(const evk_network *net, size_t n_packs, size_t w_stride, const real *x, size_t x_stride,
                     const real *phi_before, size_t phi_stride, real *state, real *phi)
{
    const real *w = net->weights;
    const size_t n_inputs = net->n_inputs, n_cells = net->n_cells, from_cells = n_inputs * 4 * w_stride;
    const pk_nets bias = {pk_set1(0.0), pk_set1((real)net->input_bias), pk_set1((real)net->forget_bias),
                          pk_set1((real)net->output_bias)};
    pk_nets sums[1 + LAG] = {bias};
    pk s[1 + LAG] = {bias.z}, o[1 + LAG] = {bias.z};
    const ptrdiff_t end = (ptrdiff_t)n_packs;
    for (ptrdiff_t c = 0; c < end + 2 * LAG; c++) {
        const ptrdiff_t opened = c - LAG, done = c - 2 * LAG;
        if (c < end) {
            /* bias, then external inputs, then the cells' last outputs */
            sums[LAG] = add_sources(bias, w, w_stride, x, x_stride, n_inputs);
            sums[LAG] = add_sources(sums[LAG], w + from_cells, w_stride, phi_before, phi_stride, n_cells);
            w += (n_inputs + n_cells) * 4 * w_stride;
        }
        if (opened >= 0 && opened < end)
            o[LAG] = open_gates(net, sums[0], state + opened * EVK_LANES, &s[LAG]);
        if (done >= 0)
            pk_store(phi + done * EVK_LANES, output(net, o[0], s[0]));
        sums[0] = sums[LAG];
        s[0] = s[LAG];
        o[0] = o[LAG];
    }
}

void EVK_LSTM(lstm_networks)(const evk_network *net, const real *x, const real *phi_before, real *state, real *phi)
{
    step(net, net->n_cells, EVK_LANES, x, 1, phi_before, EVK_LANES, state, phi);
}

#ifndef EVK_SINGLE
void EVK_FN(lstm_networks_own_inputs)(const evk_network *net, const double *x, const double *phi_before, double *state,
                                      double *phi)
{
    step(net, net->n_cells, EVK_LANES, x, EVK_LANES, phi_before, EVK_LANES, state, phi);
}
#endif

void EVK_LSTM(lstm_sequences)(const evk_network *net, const real *x, const real *phi_before, real *state, real *phi)
{
    step(net, net->n_cells, 1, x, EVK_LANES, phi_before, EVK_LANES, state, phi);
}

void EVK_LSTM(lstm_cells)(const evk_network *net, const real *x, const real *phi_before, real *state, real *phi)
{
    step(net, (net->n_cells + EVK_LANES - 1) / EVK_LANES, EVK_LANES, x, 1, phi_before, 1, state, phi);
}

/* Where the sum of a gate of a pack of the tile lies. */
EVK_INLINE real *sum_of(real *sums, size_t gate, size_t pack) { return sums + (gate * TILE + pack) * EVK_LANES; }

/* The sums of a tile of packs, plus those over n sources u[pack]. */
EVK_INLINE void add_to_tile(real *sums, size_t packs, const real *w, size_t w_stride, const void *const *u,
                            size_t u_stride, size_t n)
{
    const real *source[TILE];
    for (size_t r = 0; r < packs; r++)
        source[r] = u[r];
    for (size_t gate = 0; gate < 4; gate += GATES) {
        pk part[GATES][TILE];
        for (size_t g = 0; g < GATES; g++)
            for (size_t r = 0; r < packs; r++)
                part[g][r] = pk_load(sum_of(sums, gate + g, r));
        const real *weights = w + gate * w_stride;
        for (size_t k = 0; k < n; k++, weights += 4 * w_stride) {
            pk weight[GATES];
            for (size_t g = 0; g < GATES; g++)
                weight[g] = spread(weights + g * w_stride, w_stride);
            for (size_t r = 0; r < packs; r++) {
                const pk value = spread(source[r] + k * u_stride, u_stride);
                for (size_t g = 0; g < GATES; g++)
                    part[g][r] = pk_fma(weight[g], value, part[g][r]);
            }
        }
        for (size_t g = 0; g < GATES; g++)
            for (size_t r = 0; r < packs; r++)
                pk_store(sum_of(sums, gate + g, r), part[g][r]);
    }
}

/* The same for weights and sources that are one number for all lanes (ONE) or one each (EACH): for each number of packs a
 * function of its own, whose sums stay in registers. */
enum { ONE = 1, EACH = EVK_LANES };
typedef void (*add_fn)(real *sums, const real *w, const void *const *u, size_t n);
#define ADD(name, packs, w_stride, u_stride) \
    EVK_APART void name##_##packs(real *sums, const real *w, const void *const *u, size_t n) \
    { \
        add_to_tile(sums, packs, w, w_stride, u, u_stride, n); \
    }
#if defined(__AVX512F__)
#define ADD_EACH(name, w_stride, u_stride) \
    ADD(name, 1, w_stride, u_stride) \
    ADD(name, 2, w_stride, u_stride) \
    ADD(name, 3, w_stride, u_stride) \
    ADD(name, 4, w_stride, u_stride) \
    ADD(name, 5, w_stride, u_stride) \
    ADD(name, 6, w_stride, u_stride) \
    static const add_fn name[TILE] = {name##_1, name##_2, name##_3, name##_4, name##_5, name##_6};
#else
#define ADD_EACH(name, w_stride, u_stride) \
    ADD(name, 1, w_stride, u_stride) \
    ADD(name, 2, w_stride, u_stride) \
    ADD(name, 3, w_stride, u_stride) \
    static const add_fn name[TILE] = {name##_1, name##_2, name##_3};
#endif
ADD_EACH(add_spread, EACH, ONE)
ADD_EACH(add_packs, EACH, EACH)

/* What the sums begin with. */
EVK_INLINE void set_biases(const evk_network *net, real *sums, size_t packs)
{
    for (size_t r = 0; r < packs; r++) {
        pk_store(sum_of(sums, 0, r), pk_set1(0.0));
        pk_store(sum_of(sums, 1, r), pk_set1((real)net->input_bias));
        pk_store(sum_of(sums, 2, r), pk_set1((real)net->forget_bias));
        pk_store(sum_of(sums, 3, r), pk_set1((real)net->output_bias));
    }
}

/* How many packs of those left the next tile has: tiles of like size, rather than a small one in the end. */
EVK_INLINE size_t next_tile(size_t left)
{
    const size_t tiles = (left + TILE - 1) / TILE;
    return (left + tiles - 1) / tiles;
}

/* Cell, or pack of cells, c of a tile of packs from `first` on, whose weights are w: the same operations as in `step`. */
EVK_INLINE void step_tile(const evk_network *net, size_t c, const real *w, const add_fn *add_outputs,
                          const evk_steps *steps, size_t first, size_t packs)
{
    real sums[4 * TILE * EVK_LANES];
    pk s[TILE], o[TILE];
    if (steps->sums[0] == NULL) {
        set_biases(net, sums, packs);
        add_spread[packs - 1](sums, w, steps->x + first, net->n_inputs);
    } else
        for (size_t gate = 0; gate < 4; gate++)
            for (size_t r = 0; r < packs; r++)
                pk_store(sum_of(sums, gate, r),
                         pk_load((const real *)steps->sums[first + r] + (c * 4 + gate) * EVK_LANES));
    add_outputs[packs - 1](sums, w + net->n_inputs * 4 * EVK_LANES, steps->before + first, net->n_cells);
    for (size_t r = 0; r < packs; r++) {
        const pk_nets nets = {pk_load(sum_of(sums, 0, r)), pk_load(sum_of(sums, 1, r)), pk_load(sum_of(sums, 2, r)),
                              pk_load(sum_of(sums, 3, r))};
        o[r] = open_gates(net, nets, (real *)steps->state[first + r] + c * EVK_LANES, &s[r]);
    }
    for (size_t r = 0; r < packs; r++)
        pk_store((real *)steps->phi[first + r] + c * EVK_LANES, output(net, o[r], s[r]));
}

EVK_INLINE void step_abreast(const evk_network *net, size_t n_packs, const add_fn *add_outputs, const evk_steps *steps)
{
    const real *w = net->weights;
    for (size_t c = 0; c < n_packs; c++, w += (net->n_inputs + net->n_cells) * 4 * EVK_LANES)
        for (size_t first = 0, packs; first < steps->n; first += packs) {
            packs = next_tile(steps->n - first);
            step_tile(net, c, w, add_outputs, steps, first, packs);
        }
}

void EVK_LSTM(lstm_networks_abreast)(const evk_network *net, const evk_steps *steps)
{
    step_abreast(net, net->n_cells, add_packs, steps);
}

void EVK_LSTM(lstm_cells_abreast)(const evk_network *net, const evk_steps *steps)
{
    step_abreast(net, (net->n_cells + EVK_LANES - 1) / EVK_LANES, add_spread, steps);
}

/* sums[row][pack][gate][L]: the biases and the external inputs of n rows x[row][input], where lanes are networks or cells. */
void EVK_LSTM(lstm_inputs)(const evk_network *net, size_t n_packs, const real *x, size_t n, real *sums)
{
    const real *w = net->weights;
    for (size_t c = 0; c < n_packs; c++, w += (net->n_inputs + net->n_cells) * 4 * EVK_LANES)
        for (size_t first = 0, rows; first < n; first += rows) {
            real tile[4 * TILE * EVK_LANES];
            const void *u[TILE];
            rows = next_tile(n - first);
            for (size_t r = 0; r < rows; r++)
                u[r] = x + (first + r) * net->n_inputs;
            set_biases(net, tile, rows);
            add_spread[rows - 1](tile, w, u, net->n_inputs);
            for (size_t r = 0; r < rows; r++)
                for (size_t gate = 0; gate < 4; gate++)
                    pk_store(sums + (((first + r) * n_packs + c) * 4 + gate) * EVK_LANES,
                             pk_load(sum_of(tile, gate, r)));
        }
}
