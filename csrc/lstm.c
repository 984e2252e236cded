#include "lstm.h"

#include "kernels.h"
#include "vecmath.h"

static inline __attribute__((always_inline)) void step(const evk_lstm *net, const double *weights, const double *x,
                                                       size_t x_stride, const double *phi_before, double *state,
                                                       double *phi)
{
    const size_t n_inputs = net->n_inputs, n_cells = net->n_cells;
    const double *w = weights;
    for (size_t c = 0; c < n_cells; c++) {
        /* net input of the cell and its three gates: bias, then external inputs, then the cells' last outputs */
        pk z = pk_set1(0.0), i = pk_set1(net->input_bias), f = pk_set1(net->forget_bias), o = pk_set1(net->output_bias);
        for (size_t k = 0; k < n_inputs; k++, w += 4 * EVK_LANES) {
            const pk u = x_stride == 1 ? pk_set1(x[k]) : pk_load(x + k * x_stride);
            z = pk_fma(pk_load(w), u, z);
            i = pk_fma(pk_load(w + EVK_LANES), u, i);
            f = pk_fma(pk_load(w + 2 * EVK_LANES), u, f);
            o = pk_fma(pk_load(w + 3 * EVK_LANES), u, o);
        }
        for (size_t k = 0; k < n_cells; k++, w += 4 * EVK_LANES) {
            const pk u = pk_load(phi_before + k * EVK_LANES);
            z = pk_fma(pk_load(w), u, z);
            i = pk_fma(pk_load(w + EVK_LANES), u, i);
            f = pk_fma(pk_load(w + 2 * EVK_LANES), u, f);
            o = pk_fma(pk_load(w + 3 * EVK_LANES), u, o);
        }
        pk s = pk_load(state + c * EVK_LANES);
        if (net->cell == EVK_CELL_LSTM)
            z = pk_tanh(z);
        s = pk_fma(pk_logistic(f), s, pk_mul(pk_logistic(i), z));
        pk_store(state + c * EVK_LANES, s);
        o = pk_logistic(o);
        pk_store(phi + c * EVK_LANES, net->cell == EVK_CELL_LSTM ? pk_mul(o, pk_tanh(s)) : pk_tanh(pk_mul(o, s)));
    }
}

void EVK_FN(lstm_step)(const evk_lstm *net, const double *weights, const double *x, const double *phi_before,
                       double *state, double *phi)
{
    step(net, weights, x, 1, phi_before, state, phi);
}

void EVK_FN(lstm_step_lanes)(const evk_lstm *net, const double *weights, const double *x, const double *phi_before,
                             double *state, double *phi)
{
    step(net, weights, x, EVK_LANES, phi_before, state, phi);
}
