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
/* Sources whose weights are taken at a time, by all tiles: they stay in the second cache. */
enum { BLOCK = 256 };

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

/* The sums[pack][gate][L] of a tile of packs, plus those over n sources u[pack] from `from` on. */
EVK_INLINE void add_to_tile(real *const *sums, size_t packs, const real *w, size_t w_stride, const void *const *u,
                            size_t u_stride, size_t from, size_t n)
{
    const real *source[TILE];
    for (size_t r = 0; r < packs; r++)
        source[r] = (const real *)u[r] + from * u_stride;
    for (size_t gate = 0; gate < 4; gate += GATES) {
        pk part[GATES][TILE];
        for (size_t g = 0; g < GATES; g++)
            for (size_t r = 0; r < packs; r++)
                part[g][r] = pk_load(sums[r] + (gate + g) * EVK_LANES);
        const real *weights = w + (from * 4 + gate) * w_stride;
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
                pk_store(sums[r] + (gate + g) * EVK_LANES, part[g][r]);
    }
}

/* The same for sources that are one number for all lanes (ONE) or one each (EACH): for each number of packs a function of
 * its own, whose sums stay in registers. */
enum { ONE = 1, EACH = EVK_LANES };
typedef void (*add_fn)(real *const *sums, const real *w, const void *const *u, size_t from, size_t n);
#define ADD(name, packs, u_stride) \
    EVK_APART void name##_##packs(real *const *sums, const real *w, const void *const *u, size_t from, size_t n) \
    { \
        add_to_tile(sums, packs, w, EACH, u, u_stride, from, n); \
    }
#if defined(__AVX512F__)
#define ADD_ALL(name, u_stride) \
    ADD(name, 1, u_stride) \
    ADD(name, 2, u_stride) \
    ADD(name, 3, u_stride) \
    ADD(name, 4, u_stride) \
    ADD(name, 5, u_stride) \
    ADD(name, 6, u_stride) \
    static const add_fn name[TILE] = {name##_1, name##_2, name##_3, name##_4, name##_5, name##_6};
#else
#define ADD_ALL(name, u_stride) \
    ADD(name, 1, u_stride) \
    ADD(name, 2, u_stride) \
    ADD(name, 3, u_stride) \
    static const add_fn name[TILE] = {name##_1, name##_2, name##_3};
#endif
ADD_ALL(add_spread, ONE)
ADD_ALL(add_packs, EACH)

/* The sums of any number of packs, plus those over all n sources: tile after tile of a few sources, whose weights stay in
 * the cache. Tiles are of like size, rather than a small one in the end. */
EVK_INLINE void add_blocks(const add_fn *add, real *const *sums, size_t packs, const real *w, const void *const *u,
                           size_t n)
{
    for (size_t from = 0, here; from < n; from += here) {
        here = n - from < BLOCK ? n - from : BLOCK;
        for (size_t first = 0, tile; first < packs; first += tile) {
            const size_t left = packs - first, tiles = (left + TILE - 1) / TILE;
            tile = (left + tiles - 1) / tiles;
            add[tile - 1](sums + first, w, u + first, from, here);
        }
    }
}

/* What the sums begin with. */
EVK_INLINE void set_biases(const evk_network *net, real *sums)
{
    pk_store(sums, pk_set1(0.0));
    pk_store(sums + EVK_LANES, pk_set1((real)net->input_bias));
    pk_store(sums + 2 * EVK_LANES, pk_set1((real)net->forget_bias));
    pk_store(sums + 3 * EVK_LANES, pk_set1((real)net->output_bias));
}

/* One cell, or pack of cells, after the other; in all packs the same operations as in `step`. */
EVK_INLINE void step_abreast(const evk_network *net, size_t n_packs, const add_fn *add_outputs, const evk_steps *steps)
{
    const real *w = net->weights;
    real sums[EVK_ABREAST * 4 * EVK_LANES], *sums_of[EVK_ABREAST];
    for (size_t r = 0; r < EVK_ABREAST; r++)
        sums_of[r] = sums + r * 4 * EVK_LANES;
    for (size_t c = 0; c < n_packs; c++, w += net->n_cells * 4 * EVK_LANES) {
        for (size_t r = 0; r < steps->n; r++)
            if (steps->sums[0] == NULL)
                set_biases(net, sums_of[r]);
            else
                memcpy(sums_of[r], (const real *)steps->sums[r] + c * 4 * EVK_LANES, 4 * EVK_LANES * sizeof(real));
        if (steps->sums[0] == NULL)
            add_blocks(add_spread, sums_of, steps->n, w, steps->x, net->n_inputs);
        w += net->n_inputs * 4 * EVK_LANES;
        add_blocks(add_outputs, sums_of, steps->n, w, steps->before, net->n_cells);
        pk s[EVK_ABREAST], o[EVK_ABREAST];
        for (size_t r = 0; r < steps->n; r++) {
            const real *sum = sums_of[r];
            const pk_nets nets = {pk_load(sum), pk_load(sum + EVK_LANES), pk_load(sum + 2 * EVK_LANES),
                                  pk_load(sum + 3 * EVK_LANES)};
            o[r] = open_gates(net, nets, (real *)steps->state[r] + c * EVK_LANES, &s[r]);
        }
        for (size_t r = 0; r < steps->n; r++)
            pk_store((real *)steps->phi[r] + c * EVK_LANES, output(net, o[r], s[r]));
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

/* The biases and external inputs of up to EVK_ROWS rows x[row][input], sums[row][pack][gate][L], where lanes are networks or
 * cells. */
void EVK_LSTM(lstm_inputs)(const evk_network *net, size_t n_packs, size_t n, const void *const *x, void *const *sums)
{
    const real *w = net->weights;
    for (size_t c = 0; c < n_packs; c++, w += (net->n_inputs + net->n_cells) * 4 * EVK_LANES) {
        real *sums_of[EVK_ROWS];
        for (size_t r = 0; r < n; r++) {
            sums_of[r] = (real *)sums[r] + c * 4 * EVK_LANES;
            set_biases(net, sums_of[r]);
        }
        add_blocks(add_spread, sums_of, n, w, x, net->n_inputs);
    }
}
