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
