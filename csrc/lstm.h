/* One step of the LSTM of Evolino (no peepholes) on one pack of lanes at a time, in double or single precision. */
#ifndef EVK_LSTM_H
#define EVK_LSTM_H

#include <stddef.h>
#include <stdint.h>

typedef enum evk_cell {
    EVK_CELL_LSTM = 0,   /* s = i tanh(z) + f s,  phi = o tanh(s) */
    EVK_CELL_EVOLINO = 1 /* s = i z + f s,        phi = tanh(o s) */
} evk_cell;

typedef struct evk_network {
    size_t n_inputs, n_cells;
    int32_t cell;                                     /* evk_cell */
    double input_bias, forget_bias, output_bias;      /* the constant bias units of the gates */
    const void *weights;                              /* doubles or floats, packed as below */
} evk_network;

/* The most packs that step side by side, and rows whose inputs are added up at a time. */
enum { EVK_ABREAST = 12, EVK_ROWS = 72 };

/* One step each of n packs by the same weights, which are then loaded for several of them at once. What a pack has is laid out
 * as for a step alone, its sums as [cell or pack of cells][z, input, forget, output][L]: biases and external inputs, added up
 * by `lstm_inputs`. NULL in the first place: not added up yet, and x is read. */
typedef struct evk_steps {
    size_t n;
    const void *x[EVK_ABREAST], *sums[EVK_ABREAST], *before[EVK_ABREAST];
    void *state[EVK_ABREAST], *phi[EVK_ABREAST];
} evk_steps;

/* One step, of one pack or, where names end in _abreast, of several; what a pack of L lanes holds, lane fastest:
 *
 *                             lanes      weights                                        x            state and phi
 *   lstm_networks             networks   [cell][source][z, input, forget, output][L]    [input]      [cell][L]
 *   lstm_networks_own_inputs  networks   the same                                       [input][L]   [cell][L]
 *   lstm_sequences            sequences  [cell][source][4], one network                 [input][L]   [cell][L]
 *   lstm_cells                cells      [pack][source][4][L], one network              [input]      [pack][L]
 *
 * Sources are the inputs and then the cells; the last pack's cells beyond n_cells have any finite weights, and no part
 * in the others. All give a network the same bits. L is EVK_LANES_DOUBLE, or EVK_LANES_SINGLE for those whose names end
 * in _single. */

#endif
