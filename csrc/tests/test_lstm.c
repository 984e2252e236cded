/* Steps of the LSTM against the same recursion in plain C, for both cells and every instruction set. */
#include "check.h"

#ifdef EVK_SINGLE
typedef float real;
#define FUNCTION(name) name##_single
static const double tolerance = 2e-6;
#else
typedef double real;
#define FUNCTION(name) name
static const double tolerance = 1e-14;
#endif

enum { LANES = EVK_PACK_BYTES / sizeof(real), N_STEPS = 6 };

static real *new_reals(size_t n) { return new_memory(n, sizeof(real)); }

static double logistic(double x) { return 1.0 / (1.0 + exp(-x)); }

/* weights[c][k][gate][lane] of the network, lanes are networks */
static double weight(const evk_network *net, size_t c, size_t k, size_t gate, size_t lane)
{
    return ((const real *)net->weights)[((c * (net->n_inputs + net->n_cells) + k) * 4 + gate) * LANES + lane];
}

static void reference_step(const evk_network *net, const real *x, const real *phi_before, real *state, real *phi)
{
    for (size_t lane = 0; lane < LANES; lane++)
        for (size_t c = 0; c < net->n_cells; c++) {
            double sums[4] = {0.0, net->input_bias, net->forget_bias, net->output_bias};
            for (size_t k = 0; k < net->n_inputs + net->n_cells; k++) {
                const double u = k < net->n_inputs ? x[k] : phi_before[(k - net->n_inputs) * LANES + lane];
                for (size_t gate = 0; gate < 4; gate++)
                    sums[gate] += weight(net, c, k, gate, lane) * u;
            }
            const double i = logistic(sums[1]), f = logistic(sums[2]), o = logistic(sums[3]);
            real *s = state + c * LANES + lane;
            *s = (real)(i * (net->cell == EVK_CELL_LSTM ? tanh(sums[0]) : sums[0]) + f * *s);
            phi[c * LANES + lane] = (real)(net->cell == EVK_CELL_LSTM ? o * tanh(*s) : tanh(o * *s));
        }
}

/* Every lane has inputs of its own. No function does that in single precision: there, one lane is kept of a step with its
 * inputs in all of them. */
static void step_with_own_inputs(const evk_functions *functions, const evk_network *net, const real *columns,
                                 const real *before, real *state, real *phi)
{
#ifdef EVK_SINGLE
    const size_t n = net->n_cells * LANES;
    real *x = new_reals(net->n_inputs), *all_state = new_reals(n), *all_phi = new_reals(n);
    for (size_t lane = 0; lane < LANES; lane++) {
        for (size_t j = 0; j < net->n_inputs; j++)
            x[j] = columns[j * LANES + lane];
        memcpy(all_state, state, n * sizeof(real));
        functions->lstm_networks_single(net, x, before, all_state, all_phi);
        for (size_t k = lane; k < n; k += LANES) {
            state[k] = all_state[k];
            phi[k] = all_phi[k];
        }
    }
    free(x);
    free(all_state);
    free(all_phi);
#else
    functions->lstm_networks_own_inputs(net, columns, before, state, phi);
#endif
}

static void check_net(evk_network net)
{
    const size_t n_sources = net.n_inputs + net.n_cells, n_outputs = net.n_cells * LANES;
    real *weights = new_reals(net.n_cells * n_sources * 4 * LANES);
    real *x = new_reals(net.n_inputs * N_STEPS), *columns = new_reals(net.n_inputs * LANES);
    real *expected_state = new_reals(n_outputs), *state = new_reals(n_outputs), *lane_state = new_reals(n_outputs);
    real *expected_phi[2], *phi[2], *lane_phi[2], *first = new_reals(n_outputs * N_STEPS);
    for (size_t half = 0; half < 2; half++) {
        expected_phi[half] = new_reals(n_outputs);
        phi[half] = new_reals(n_outputs);
        lane_phi[half] = new_reals(n_outputs);
    }
    net.weights = weights;
    uint64_t seed = 3;
    for (size_t k = 0; k < net.n_cells * n_sources * 4 * LANES; k++)
        weights[k] = (real)uniform(&seed, -1.5, 1.5);
    for (size_t k = 0; k < net.n_inputs * N_STEPS; k++)
        x[k] = (real)uniform(&seed, -1.0, 1.0);

    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        for (size_t j = 0; j < n_outputs; j++)
            expected_state[j] = state[j] = lane_state[j] = expected_phi[0][j] = phi[0][j] = lane_phi[0][j] = 0.0;
        for (size_t t = 0; t < N_STEPS; t++) {
            const size_t before = t % 2, after = 1 - before;
            const real *input = x + t * net.n_inputs;
            for (size_t j = 0; j < net.n_inputs * LANES; j++)
                columns[j] = input[j / LANES];
            reference_step(&net, input, expected_phi[before], expected_state, expected_phi[after]);
            functions->FUNCTION(lstm_networks)(&net, input, phi[before], state, phi[after]);
            step_with_own_inputs(functions, &net, columns, lane_phi[before], lane_state, lane_phi[after]);
            for (size_t j = 0; j < n_outputs; j++) {
                CHECK_NEAR(state[j], expected_state[j], tolerance);
                CHECK_NEAR(phi[after][j], expected_phi[after][j], tolerance);
            }
            CHECK_SAME_BITS(lane_state, state, n_outputs);
            CHECK_SAME_BITS(lane_phi[after], phi[after], n_outputs);
            if (functions == evk_functions_at(0))
                memcpy(first + t * n_outputs, phi[after], n_outputs * sizeof(real));
            CHECK_SAME_BITS(phi[after], first + t * n_outputs, n_outputs);
        }
    }
    for (size_t half = 0; half < 2; half++) {
        free(expected_phi[half]);
        free(phi[half]);
        free(lane_phi[half]);
    }
    free(weights);
    free(x);
    free(columns);
    free(expected_state);
    free(state);
    free(lane_state);
    free(first);
}

/* One network in every lane, each with inputs of its own: each lane has the bits that it has alone, that the
 * function for sequences gives from the weights of one lane, and the function for cells from the same in packs of cells. */
static void check_layouts(evk_network net)
{
    const size_t n_cells = net.n_cells, n_inputs = net.n_inputs, n_sources = n_inputs + n_cells;
    const size_t n_outputs = n_cells * LANES, n_packs = (n_cells + LANES - 1) / LANES;
    real *compact = new_reals(n_cells * n_sources * 4), *weights = new_reals(n_cells * n_sources * 4 * LANES);
    real *packs = new_reals(n_packs * n_sources * 4 * LANES), *x = new_reals(n_inputs * LANES);
    real *alone = new_reals(n_inputs), *before = new_reals(n_outputs), *one_before = new_reals(n_cells);
    real *state = new_reals(n_outputs), *phi = new_reals(n_outputs), *other_state = new_reals(n_outputs);
    real *other_phi = new_reals(n_outputs), *one_state = new_reals(n_packs * LANES);
    real *one_phi = new_reals(n_packs * LANES);
    evk_network by_networks = net, by_sequences = net, by_cells = net;
    by_networks.weights = weights;
    by_sequences.weights = compact;
    by_cells.weights = packs;
    uint64_t seed = 5;
    for (size_t c = 0; c < n_cells; c++)
        for (size_t k = 0; k < n_sources * 4; k++) {
            const real value = (real)uniform(&seed, -1.0, 1.0);
            compact[c * n_sources * 4 + k] = value;
            packs[(c / LANES * n_sources * 4 + k) * LANES + c % LANES] = value;
            for (size_t lane = 0; lane < LANES; lane++)
                weights[(c * n_sources * 4 + k) * LANES + lane] = value;
        }
    for (size_t k = 0; k < n_inputs * LANES; k++)
        x[k] = (real)uniform(&seed, -1.0, 1.0);
    for (size_t k = 0; k < n_outputs; k++) {
        before[k] = (real)uniform(&seed, -1.0, 1.0);
        state[k] = other_state[k] = (real)uniform(&seed, -2.0, 2.0);
    }
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        real *start = new_reals(n_outputs);
        memcpy(start, state, n_outputs * sizeof(real));
        step_with_own_inputs(functions, &by_networks, x, before, start, phi);
        memcpy(other_state, state, n_outputs * sizeof(real));
        functions->FUNCTION(lstm_sequences)(&by_sequences, x, before, other_state, other_phi);
        CHECK_SAME_BITS(other_state, start, n_outputs);
        CHECK_SAME_BITS(other_phi, phi, n_outputs);
        for (size_t lane = 0; lane < LANES; lane++) {
            for (size_t j = 0; j < n_inputs; j++)
                alone[j] = x[j * LANES + lane];
            for (size_t c = 0; c < n_cells; c++) {
                one_before[c] = before[c * LANES + lane];
                one_state[c] = state[c * LANES + lane];
            }
            functions->FUNCTION(lstm_cells)(&by_cells, alone, one_before, one_state, one_phi);
            for (size_t c = 0; c < n_cells; c++) {
                CHECK_SAME_BITS(&one_state[c], &start[c * LANES + lane], 1);
                CHECK_SAME_BITS(&one_phi[c], &phi[c * LANES + lane], 1);
            }
        }
        free(start);
    }
    real *all[] = {compact, weights,     packs,     x,         alone,   before, one_before,
                   state,   other_state, other_phi, one_state, one_phi, phi};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

typedef void (*one_step)(const evk_network *net, const real *x, const real *before, real *state, real *phi);
typedef void (*steps_abreast)(const evk_network *net, const evk_steps *steps);

/* Any number of packs side by side: each has the bits that it has alone, with its inputs added up before or not. */
static void check_side_by_side(const evk_functions *functions, const evk_network *net, size_t n_packs, size_t n_x,
                               one_step alone, steps_abreast abreast)
{
    const size_t width = n_packs * LANES;
    real *x = new_reals(EVK_ABREAST * n_x), *before = new_reals(EVK_ABREAST * width);
    real *start = new_reals(EVK_ABREAST * width), *sums = new_reals(EVK_ABREAST * 4 * width);
    real *state = new_reals(EVK_ABREAST * width), *phi = new_reals(EVK_ABREAST * width);
    real *state_alone = new_reals(width), *phi_alone = new_reals(width);
    uint64_t seed = 9;
    for (size_t k = 0; k < EVK_ABREAST * n_x; k++)
        x[k] = (real)uniform(&seed, -1.0, 1.0);
    for (size_t k = 0; k < EVK_ABREAST * width; k++) {
        before[k] = (real)uniform(&seed, -1.0, 1.0);
        start[k] = (real)uniform(&seed, -2.0, 2.0);
    }
    for (int added = 0; added <= 1; added++)
        for (size_t n = 1; n <= EVK_ABREAST; n++) {
            evk_steps steps = {.n = n};
            void *sums_of[EVK_ABREAST];
            memcpy(state, start, n * width * sizeof(real));
            for (size_t k = 0; k < n; k++) {
                steps.x[k] = x + k * n_x;
                steps.before[k] = before + k * width;
                steps.state[k] = state + k * width;
                steps.phi[k] = phi + k * width;
                if (added)
                    steps.sums[k] = sums_of[k] = sums + k * 4 * width;
            }
            if (added)
                functions->FUNCTION(lstm_inputs)(net, n_packs, n, steps.x, sums_of);
            abreast(net, &steps);
            for (size_t k = 0; k < n; k++) {
                memcpy(state_alone, start + k * width, width * sizeof(real));
                alone(net, x + k * n_x, before + k * width, state_alone, phi_alone);
                CHECK_SAME_BITS(state + k * width, state_alone, width);
                CHECK_SAME_BITS(phi + k * width, phi_alone, width);
            }
        }
    real *all[] = {x, before, start, sums, state, phi, state_alone, phi_alone};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static void check_abreast(evk_network net)
{
    const size_t n_packs = (net.n_cells + LANES - 1) / LANES, n_sources = net.n_inputs + net.n_cells;
    const size_t n_weights = n_packs * LANES * n_sources * 4 * LANES;
    real *weights = new_reals(n_weights); /* as many as lanes that are networks take */
    uint64_t seed = 7;
    for (size_t k = 0; k < n_weights; k++)
        weights[k] = (real)uniform(&seed, -1.0, 1.0);
    net.weights = weights;
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        check_side_by_side(functions, &net, net.n_cells, net.n_inputs, functions->FUNCTION(lstm_networks),
                           functions->FUNCTION(lstm_networks_abreast));
        check_side_by_side(functions, &net, n_packs, net.n_inputs, functions->FUNCTION(lstm_cells),
                           functions->FUNCTION(lstm_cells_abreast));
    }
    free(weights);
}

int main(void)
{
    static const size_t shapes[][2] = {{1, 1}, {0, 2}, {3, 5}, {4, 10}, {2, 17}}; /* inputs, cells */
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int32_t cell = EVK_CELL_LSTM; cell <= EVK_CELL_EVOLINO; cell++) {
            const evk_network net = {shapes[k][0], shapes[k][1], cell, -0.5, 1.5, -0.25, NULL};
            check_net(net);
            check_layouts(net);
            check_abreast(net);
        }
    check_abreast(
        (evk_network){.n_inputs = 300, .n_cells = 20, .forget_bias = 1.5}); /* more than are added up at a time */
    check_abreast((evk_network){.n_inputs = 3, .n_cells = 270, .forget_bias = 1.5});
    return check_report();
}
