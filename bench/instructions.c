/* Fixed workloads of the core, whose instructions are counted: instructions WORKLOAD SET, with the name of an
 * instruction set. The numbers printed keep the work from being left
 * out. The workload "nothing" is what starting a program costs. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "pack.h"

static double *doubles(size_t n)
{
    double *memory = calloc(n, sizeof *memory);
    if (memory == NULL)
        exit(1);
    return memory;
}

static double uniform(uint64_t *seed) /* in [-1, 1) */
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

/* 2000 steps of eight networks of ten cells */
static double forward(const evk_functions *functions)
{
    evk_network net = {.n_inputs = 4, .n_cells = 10, .cell = EVK_CELL_LSTM, .forget_bias = 1.5, .output_bias = -1.5};
    const size_t width = net.n_cells * EVK_LANES_DOUBLE, n_weights = width * 4 * (net.n_inputs + net.n_cells);
    double *weights = doubles(n_weights), *state = doubles(width), *phi[2] = {doubles(width), doubles(width)};
    net.weights = weights;
    double x[4];
    uint64_t seed = 1;
    for (size_t k = 0; k < n_weights; k++)
        weights[k] = uniform(&seed);
    for (size_t t = 0; t < 2000; t++) {
        for (size_t k = 0; k < net.n_inputs; k++)
            x[k] = uniform(&seed);
        functions->lstm_networks(&net, x, phi[t % 2], state, phi[1 - t % 2]);
    }
    const double result = phi[0][0];
    free(weights);
    free(state);
    free(phi[0]);
    free(phi[1]);
    return result;
}

/* a classification machine on 200 rows of five features: kernel matrix, solver, certificate */
static double machine(const evk_functions *functions)
{
    enum { N = 200, D = 5 };
    const evk_kernel kernel = {.kind = EVK_RBF, .gamma = 0.25};
    double *columns = doubles(N * D), *target = doubles(N), *lower = doubles(N), *upper = doubles(N);
    double *gram_work = doubles(evk_gram_work_size(N, N)), *qp_work = doubles(evk_qp_work_size(N, N));
    uint64_t seed = 2;
    for (size_t k = 0; k < N * D; k++)
        columns[k] = uniform(&seed);
    for (size_t i = 0; i < N; i++) {
        const double margin = columns[i] * columns[N + i] + 0.3 * columns[2 * N + i] + 0.1 * uniform(&seed);
        target[i] = margin > 0.0 ? 1.0 : -1.0;
        *(margin > 0.0 ? &upper[i] : &lower[i]) = 100.0 * target[i];
    }
    const evk_columns points = {columns, N, D, N};
    evk_gram gram;
    evk_gram_place(&gram, &kernel, points, N, gram_work);
    functions->gram_fill(&gram, NULL);
    evk_qp qp = {.gram = &gram, .target = target, .lower = lower, .upper = upper, .tol = 1e-3, .max_iter = 1000000};
    evk_qp_place(&qp, N, N, qp_work);
    functions->qp_begin(&qp);
    while (!functions->qp_run(&qp, 1000000))
        continue;
    functions->qp_certify(&qp);
    const double result = qp.converged ? qp.objective : NAN;
    free(columns);
    free(target);
    free(lower);
    free(upper);
    free(gram_work);
    free(qp_work);
    return result;
}

/* the Gram matrix of 200 points of five features, ten times */
static double rows(const evk_functions *functions)
{
    enum { N = 200, D = 5 };
    const evk_kernel kernel = {.kind = EVK_RBF, .gamma = 0.25};
    double *columns = doubles(N * D), *row = doubles(N), sum = 0.0;
    uint64_t seed = 3;
    for (size_t k = 0; k < N * D; k++)
        columns[k] = uniform(&seed);
    const evk_columns points = {columns, N, D, N};
    for (size_t i = 0; i < 10 * N; i++) {
        functions->gram_row(&kernel, &points, 0, N, columns + i % N, N, row);
        sum += row[0];
    }
    free(columns);
    free(row);
    return sum;
}

/* the Cholesky factor of 304 rows, and one solution */
static double cholesky(const evk_functions *functions)
{
    enum { N = 304 };
    double *matrix = doubles(N * N), *side = doubles(N);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++)
            matrix[i * N + j] = 1.0 / (1.0 + fabs((double)i - (double)j)) + (i == j);
        side[i] = 1.0;
    }
    const ptrdiff_t done = functions->cholesky(matrix, N, N, NULL);
    functions->cholesky_solve(matrix, N, N, side);
    const double result = done == N ? side[0] : NAN;
    free(matrix);
    free(side);
    return result;
}

int main(int argc, char **argv)
{
    const evk_functions *functions;
    if (argc != 3 || evk_functions_select(argv[2], &functions) != EVK_OK) {
        fprintf(stderr, "usage: instructions nothing|forward|rows|machine|cholesky SET, one that this processor has\n");
        return 2;
    }
    double result = 0.0;
    if (strcmp(argv[1], "forward") == 0)
        result = forward(functions);
    else if (strcmp(argv[1], "rows") == 0)
        result = rows(functions);
    else if (strcmp(argv[1], "machine") == 0)
        result = machine(functions);
    else if (strcmp(argv[1], "cholesky") == 0)
        result = cholesky(functions);
    printf("%.6g\n", result);
    return isnan(result);
}
