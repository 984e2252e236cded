/* Steps of the LSTM against the same recursion in plain C, for both cells and every instruction set. */
#include "check.h"

enum { LANES = 8, N_STEPS = 6 };

static double logistic(double x) { return 1.0 / (1.0 + exp(-x)); }

/* weights[c][k][gate][lane] */
static double weight(const evk_lstm *net, const double *weights, size_t c, size_t k, size_t gate, size_t lane)
{
    return weights[((c * (net->n_inputs + net->n_cells) + k) * 4 + gate) * LANES + lane];
}

static void reference_step(const evk_lstm *net, const double *weights, const double *x, const double *phi_before,
                           double *state, double *phi)
{
    for (size_t lane = 0; lane < LANES; lane++)
        for (size_t c = 0; c < net->n_cells; c++) {
            double sums[4] = {0.0, net->input_bias, net->forget_bias, net->output_bias};
            for (size_t k = 0; k < net->n_inputs + net->n_cells; k++) {
                const double u = k < net->n_inputs ? x[k] : phi_before[(k - net->n_inputs) * LANES + lane];
                for (size_t gate = 0; gate < 4; gate++)
                    sums[gate] += weight(net, weights, c, k, gate, lane) * u;
            }
            const double i = logistic(sums[1]), f = logistic(sums[2]), o = logistic(sums[3]);
            double *s = state + c * LANES + lane;
            *s = i * (net->cell == EVK_CELL_LSTM ? tanh(sums[0]) : sums[0]) + f * *s;
            phi[c * LANES + lane] = net->cell == EVK_CELL_LSTM ? o * tanh(*s) : tanh(o * *s);
        }
}

static void check_net(const evk_lstm *net)
{
    const size_t n_sources = net->n_inputs + net->n_cells, n_outputs = net->n_cells * LANES;
    double *weights = new_doubles(net->n_cells * n_sources * 4 * LANES);
    double *x = new_doubles(net->n_inputs * N_STEPS), *columns = new_doubles(net->n_inputs * LANES);
    double *expected_state = new_doubles(n_outputs), *state = new_doubles(n_outputs),
           *lane_state = new_doubles(n_outputs);
    double *expected_phi[2], *phi[2], *lane_phi[2], *first = new_doubles(n_outputs * N_STEPS);
    for (size_t side = 0; side < 2; side++) {
        expected_phi[side] = new_doubles(n_outputs);
        phi[side] = new_doubles(n_outputs);
        lane_phi[side] = new_doubles(n_outputs);
    }
    uint64_t seed = 3;
    for (size_t k = 0; k < net->n_cells * n_sources * 4 * LANES; k++)
        weights[k] = uniform(&seed, -1.5, 1.5);
    for (size_t k = 0; k < net->n_inputs * N_STEPS; k++)
        x[k] = uniform(&seed, -1.0, 1.0);

    const evk_kernels *kernels;
    for (size_t k = 0; (kernels = next_supported(&k)) != NULL;) {
        for (size_t j = 0; j < n_outputs; j++)
            expected_state[j] = state[j] = lane_state[j] = expected_phi[0][j] = phi[0][j] = lane_phi[0][j] = 0.0;
        for (size_t t = 0; t < N_STEPS; t++) {
            const size_t before = t % 2, after = 1 - before;
            const double *input = x + t * net->n_inputs;
            for (size_t j = 0; j < net->n_inputs * LANES; j++)
                columns[j] = input[j / LANES];
            reference_step(net, weights, input, expected_phi[before], expected_state, expected_phi[after]);
            kernels->lstm_step(net, weights, input, phi[before], state, phi[after]);
            kernels->lstm_step_lanes(net, weights, columns, lane_phi[before], lane_state, lane_phi[after]);
            for (size_t j = 0; j < n_outputs; j++) {
                CHECK_NEAR(state[j], expected_state[j], 1e-14);
                CHECK_NEAR(phi[after][j], expected_phi[after][j], 1e-14);
            }
            CHECK_SAME_BITS(lane_state, state, n_outputs);
            CHECK_SAME_BITS(lane_phi[after], phi[after], n_outputs);
            if (kernels == evk_kernels_at(0))
                memcpy(first + t * n_outputs, phi[after], n_outputs * sizeof(double));
            CHECK_SAME_BITS(phi[after], first + t * n_outputs, n_outputs);
        }
    }
    for (size_t side = 0; side < 2; side++) {
        free(expected_phi[side]);
        free(phi[side]);
        free(lane_phi[side]);
    }
    free(weights);
    free(x);
    free(columns);
    free(expected_state);
    free(state);
    free(lane_state);
    free(first);
}

/* a lane sees its own inputs only: sequences that differ give the values they give alone */
static void check_lanes_are_independent(void)
{
    const evk_lstm net = {.n_inputs = 2, .n_cells = 3, .cell = EVK_CELL_LSTM, .forget_bias = 1.0};
    enum { N_WEIGHTS = 3 * 5 * 4 * LANES, N_OUTPUTS = 3 * LANES };
    double weights[N_WEIGHTS], x[2 * LANES], alone[2 * LANES], zero[N_OUTPUTS] = {0};
    uint64_t seed = 5;
    for (size_t k = 0; k < N_WEIGHTS; k++)
        weights[k] = k % LANES == 0 ? uniform(&seed, -1.0, 1.0) : weights[k - 1]; /* one network in every lane */
    for (size_t k = 0; k < 2 * LANES; k++)
        x[k] = uniform(&seed, -1.0, 1.0);
    const evk_kernels *kernels;
    for (size_t k = 0; (kernels = next_supported(&k)) != NULL;) {
        double state[N_OUTPUTS] = {0}, phi[N_OUTPUTS];
        kernels->lstm_step_lanes(&net, weights, x, zero, state, phi);
        for (size_t lane = 0; lane < LANES; lane++) {
            double alone_state[N_OUTPUTS] = {0}, alone_phi[N_OUTPUTS];
            for (size_t j = 0; j < 2 * LANES; j++)
                alone[j] = x[j / LANES * LANES + lane];
            kernels->lstm_step_lanes(&net, weights, alone, zero, alone_state, alone_phi);
            for (size_t c = 0; c < net.n_cells; c++) {
                CHECK_SAME_BITS(&phi[c * LANES + lane], &alone_phi[c * LANES], 1);
                CHECK_SAME_BITS(&state[c * LANES + lane], &alone_state[c * LANES + 7], 1);
            }
        }
    }
}

int main(void)
{
    static const size_t shapes[][2] = {{1, 1}, {0, 2}, {3, 5}, {4, 10}}; /* inputs, cells */
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int32_t cell = EVK_CELL_LSTM; cell <= EVK_CELL_EVOLINO; cell++) {
            const evk_lstm net = {shapes[k][0], shapes[k][1], cell, -0.5, 1.5, -0.25};
            check_net(&net);
        }
    check_lanes_are_independent();
    return check_report();
}
