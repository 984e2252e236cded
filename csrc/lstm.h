/* One step of the LSTM of Evolino (no peepholes) on eight lanes. */
#ifndef EVK_LSTM_H
#define EVK_LSTM_H

#include <stddef.h>
#include <stdint.h>

typedef enum evk_cell {
    EVK_CELL_LSTM = 0,   /* s = i tanh(z) + f s,  phi = o tanh(s) */
    EVK_CELL_EVOLINO = 1 /* s = i z + f s,        phi = tanh(o s) */
} evk_cell;

typedef struct evk_lstm {
    size_t n_inputs, n_cells;
    int32_t cell;                                     /* evk_cell */
    double input_bias, forget_bias, output_bias;      /* the constant bias units of the gates */
} evk_lstm;

/* Layout of a block of eight lanes, lane fastest:
 *   weights[n_cells][n_inputs + n_cells][z, input, forget, output][8]
 *   state[n_cells][8], phi[n_cells][8]
 * lstm_step:       x[n_inputs], the same for all lanes (lanes are networks)
 * lstm_step_lanes: x[n_inputs][8], one column a lane  (lanes are sequences, the weights repeat one network) */

#endif
