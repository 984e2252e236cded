/* Hashes of what every function computes from fixed numbers, beside those that are kept in hashes.inc: the same on every
 * instruction set, processor, compiler and C library. `test_hashes --print` writes a new hashes.inc. */
#include "check.h"

enum { L = EVK_LANES_DOUBLE, L_SINGLE = EVK_LANES_SINGLE };

typedef struct hash {
    const char *name;
    uint64_t value;
} hash;

static const hash kept[] = {
#include "hashes.inc"
};
enum { N_KEPT = sizeof kept / sizeof *kept };

static int printing;
static size_t place; /* of the next hash in the table */

/* FNV-1a over numbers of `size` bytes, lowest byte first; any NaN counts as the same one. */
static uint64_t hashed(const void *numbers, size_t n, size_t size)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        if (size == sizeof(float)) {
            uint32_t half;
            memcpy(&half, (const char *)numbers + i * size, sizeof half);
            bits = half;
        } else
            memcpy(&bits, (const char *)numbers + i * size, sizeof bits);
        if (isnan(number_at(numbers, i, size)))
            bits = 0x7ff8;
        for (size_t k = 0; k < size; k++)
            h = (h ^ (bits >> (8 * k) & 0xff)) * 0x100000001b3u;
    }
    return h;
}

static void keep(const char *name, const void *numbers, size_t n, size_t size)
{
    const uint64_t value = hashed(numbers, n, size);
    if (printing) {
        printf("{\"%s\", 0x%016llx},\n", name, (unsigned long long)value);
        return;
    }
    CHECK(place < N_KEPT && strcmp(kept[place].name, name) == 0);
    if (place < N_KEPT && kept[place].value != value) {
        check_failed(__FILE__, __LINE__, name);
        fprintf(stderr, "    is %016llx, kept %016llx\n", (unsigned long long)value,
                (unsigned long long)kept[place].value);
    }
    place++;
}

#define KEEP(name, numbers, n) keep(name, numbers, n, sizeof *(numbers))

static double *random_doubles(uint64_t seed, size_t n, double low, double high)
{
    double *p = new_doubles(n);
    for (size_t k = 0; k < n; k++)
        p[k] = uniform(&seed, low, high);
    return p;
}

static float *random_floats(uint64_t seed, size_t n, double low, double high)
{
    float *p = new_memory(n, sizeof *p);
    for (size_t k = 0; k < n; k++)
        p[k] = (float)uniform(&seed, low, high);
    return p;
}

/* ---- vector functions: small and large numbers of both signs, and what is none */

enum { N_RANDOM = 4000, N_NUMBERS = N_RANDOM + 13 };

static double number(size_t k, uint64_t *seed)
{
    static const double special[] = {0.0,    -0.0,  NAN,    INFINITY, -INFINITY, DBL_MIN, -DBL_MIN,
                                     1e-320, 1e300, -1e300, 0.25,     0.5,       -0.5};
    if (k < 13)
        return special[k];
    const double size = uniform(seed, 0.0, 4.0); /* a power of ten */
    double value = uniform(seed, -1.0, 1.0);
    for (int j = 0; j < (int)size; j++)
        value *= k % 2 ? 10.0 : 0.1;
    return value;
}

static void check_vectors(const evk_functions *f)
{
    double x[N_NUMBERS], turns[N_NUMBERS], y[N_NUMBERS];
    float single[N_NUMBERS], y_single[N_NUMBERS];
    uint64_t seed = 1;
    for (size_t k = 0; k < N_NUMBERS; k++) {
        x[k] = number(k, &seed);
        turns[k] = uniform(&seed, -0.5, 0.5);
        single[k] = fabs(x[k]) < 1e30 && fabs(x[k]) > 1e-30 ? (float)x[k] : 0.0f;
    }
    f->exp(x, N_NUMBERS, y);
    KEEP("exp", y, N_NUMBERS);
    f->logistic(x, N_NUMBERS, y);
    KEEP("logistic", y, N_NUMBERS);
    f->tanh(x, N_NUMBERS, y);
    KEEP("tanh", y, N_NUMBERS);
    f->tanpi(turns, N_NUMBERS, y);
    KEEP("tanpi", y, N_NUMBERS);
    f->logistic_single(single, N_NUMBERS, y_single);
    KEEP("logistic_single", y_single, N_NUMBERS);
    f->tanh_single(single, N_NUMBERS, y_single);
    KEEP("tanh_single", y_single, N_NUMBERS);
}

/* ---- steps of the LSTM: states and activations after some of them */

enum { N_INPUTS = 3, N_CELLS = 11, N_SOURCES = N_INPUTS + N_CELLS, N_STEPS = 20 };

/* The numbers of a step are at the beginning of larger arrays: each function takes of them what its layout has. */
#define CHECK_STEPS(number, suffix, lanes, new_numbers) \
    static void check_steps##suffix(const evk_functions *f, int32_t cell) \
    { \
        typedef void (*one_step)(const evk_network *, const number *, const number *, number *, number *); \
        enum { WIDTH = 2 * N_CELLS * lanes }; \
        number *weights = new_numbers(2, 2 * (size_t)N_CELLS * N_SOURCES * 4 * lanes, -2.0, 2.0); \
        number *x = new_numbers(3, (size_t)N_INPUTS * lanes * N_STEPS, -1.0, 1.0); \
        number *state = new_numbers(4, (size_t)WIDTH * EVK_ABREAST, -2.0, 2.0); \
        number *phi[2] = {new_numbers(5, (size_t)WIDTH * EVK_ABREAST, -1.0, 1.0), \
                          new_numbers(6, (size_t)WIDTH * EVK_ABREAST, -1.0, 1.0)}; \
        number *sums = new_numbers(7, 4 * (size_t)WIDTH * EVK_ABREAST, -1.0, 1.0); \
        const evk_network net = {N_INPUTS, N_CELLS, cell, -0.5, 1.5, -0.25, weights}; \
        const one_step steps[] = {f->lstm_networks##suffix, f->lstm_sequences##suffix, f->lstm_cells##suffix}; \
        static const char *const names[] = {"lstm_networks" #suffix, "lstm_sequences" #suffix, "lstm_cells" #suffix}; \
        for (size_t k = 0; k < 3; k++) { \
            const size_t n_x = k == 1 ? (size_t)N_INPUTS * lanes : (size_t)N_INPUTS; \
            for (size_t t = 0; t < N_STEPS; t++) \
                steps[k](&net, x + t * n_x, phi[t % 2], state, phi[1 - t % 2]); \
            KEEP(names[k], state, N_CELLS * lanes); \
            KEEP(names[k], phi[N_STEPS % 2], N_CELLS * lanes); \
        } \
        void *sums_of[EVK_ABREAST]; \
        evk_steps abreast = {.n = EVK_ABREAST}; \
        for (size_t k = 0; k < EVK_ABREAST; k++) { \
            abreast.x[k] = x + k * N_INPUTS; \
            abreast.sums[k] = sums_of[k] = sums + k * 4 * WIDTH; \
            abreast.before[k] = phi[0] + k * WIDTH; \
            abreast.state[k] = state + k * WIDTH; \
            abreast.phi[k] = phi[1] + k * WIDTH; \
        } \
        f->lstm_inputs##suffix(&net, N_CELLS, abreast.n, abreast.x, sums_of); \
        KEEP("lstm_inputs" #suffix, sums, 4 * WIDTH * EVK_ABREAST); \
        f->lstm_networks_abreast##suffix(&net, &abreast); \
        KEEP("lstm_networks_abreast" #suffix, phi[1], WIDTH * EVK_ABREAST); \
        f->lstm_inputs##suffix(&net, (N_CELLS + lanes - 1) / lanes, abreast.n, abreast.x, sums_of); \
        f->lstm_cells_abreast##suffix(&net, &abreast); \
        KEEP("lstm_cells_abreast" #suffix, phi[1], WIDTH * EVK_ABREAST); \
        number *all[] = {weights, x, state, phi[0], phi[1], sums}; \
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) \
            free(all[k]); \
    }
CHECK_STEPS(double, , L, random_doubles)
CHECK_STEPS(float, _single, L_SINGLE, random_floats)

static void check_own_inputs(const evk_functions *f)
{
    double *weights = random_doubles(2, (size_t)N_CELLS * N_SOURCES * 4 * L, -2.0, 2.0);
    double *x = random_doubles(3, (size_t)N_INPUTS * L, -1.0, 1.0), *before = random_doubles(4, N_CELLS * L, -1.0, 1.0);
    double *state = random_doubles(5, N_CELLS * L, -2.0, 2.0), *phi = new_doubles(N_CELLS * L);
    const evk_network net = {N_INPUTS, N_CELLS, EVK_CELL_LSTM, -0.5, 1.5, -0.25, weights};
    f->lstm_networks_own_inputs(&net, x, before, state, phi);
    KEEP("lstm_networks_own_inputs", phi, N_CELLS * L);
    double *all[] = {weights, x, before, state, phi};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

/* ---- kernels, machines, linear algebra */

enum { N = 43, D = 5, LD = (N + L - 1) / L * L, N_OUTPUTS = 2 };

static const evk_kernel kernels[] = {
    {.kind = EVK_LINEAR},
    {.kind = EVK_POLY, .degree = 3, .gamma = 0.5, .coef0 = 1.0},
    {.kind = EVK_RBF, .gamma = 0.7},
    {.kind = EVK_DISTANCE},
};

/* points feature by feature, zero beyond them */
static double *random_columns(uint64_t seed)
{
    double *columns = random_doubles(seed, (size_t)D * LD, -1.0, 1.0);
    for (size_t h = 0; h < D; h++)
        for (size_t j = N; j < LD; j++)
            columns[h * LD + j] = 0.0;
    return columns;
}

static void check_kernels(const evk_functions *f)
{
    double *columns = random_columns(8), *row = new_doubles(LD), *work = new_doubles(evk_gram_work_size(N, N));
    double *z = random_doubles(9, D, -1.0, 1.0), *decided = new_doubles(N_OUTPUTS * LD);
    double *coef = random_doubles(10, (size_t)N_OUTPUTS * LD, -3.0, 3.0),
           *rows = random_doubles(11, (size_t)N * D, -1.0, 1.0);
    double *decide_work = new_doubles((D + N_OUTPUTS) * EVK_DECIDED * L), bias[N_OUTPUTS] = {0.5, -1.0};
    const evk_columns points = {columns, N, D, LD};
    for (size_t o = 0; o < N_OUTPUTS; o++)
        for (size_t j = N; j < LD; j++)
            coef[o * LD + j] = 0.0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        f->gram_row(&kernels[k], &points, 0, LD, z, 1, row);
        KEEP("gram_row", row, N);
        if (kernels[k].kind == EVK_DISTANCE) {
            f->gram_of_distances(row, 1, LD, 0.7, row);
            KEEP("gram_of_distances", row, N);
            continue;
        }
        evk_gram gram;
        evk_gram_place(&gram, &kernels[k], points, N, work);
        f->gram_fill(&gram, NULL);
        KEEP("gram_fill", gram.rows, N * LD);
        f->gram_diagonal(&gram);
        KEEP("gram_diagonal", gram.diagonal, LD);
        const evk_machine by_columns = {&kernels[k], points, coef, bias, N_OUTPUTS};
        const evk_machine_rows by_rows = {&kernels[k], {rows, N, D}, coef, bias, N_OUTPUTS};
        f->decide(&by_rows, &(evk_rows){rows, N, D}, decide_work, decided);
        KEEP("decide", decided, N * N_OUTPUTS);
        f->decide_columns(&by_columns, &points, row, decided, NULL);
        for (size_t o = 0; o < N_OUTPUTS; o++)
            KEEP("decide_columns", decided + o * LD, N);
        f->decide_point(&by_columns, z, 1, row, decided);
        KEEP("decide_point", decided, N_OUTPUTS);
    }
    double *all[] = {columns, row, work, z, decided, coef, rows, decide_work};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static void check_linear_algebra(const evk_functions *f)
{
    double *columns = random_columns(12), *work = new_doubles(evk_gram_work_size(N, N));
    double *wide = new_doubles((size_t)N * 2 * LD), *b = random_doubles(13, LD, -1.0, 1.0), ridge[N];
    double *targets = random_doubles(14, (size_t)N_OUTPUTS * N, -1.0, 1.0),
           *loo_work = new_doubles(evk_loo_work_size(N, N_OUTPUTS, 7));
    double *coef = new_doubles((size_t)N_OUTPUTS * LD), *decisions = new_doubles((size_t)N_OUTPUTS * LD),
           bias[N_OUTPUTS];
    evk_gram gram;
    evk_gram_place(&gram, &kernels[2], (evk_columns){columns, N, D, LD}, N, work);
    f->gram_fill(&gram, NULL);
    for (size_t i = 0; i < N; i++)
        ridge[i] = 0.01 * (double)(1 + i % 3);
    evk_loo loo = {N, LD, N_OUTPUTS, gram.rows, ridge, targets, NULL, 0, loo_work, coef, bias, decisions};
    static const int64_t blocks[] = {0, 7, 8, 15, 20, 27, 34, 41, 43};
    for (int blocked = 0; blocked < 2; blocked++) {
        loo.blocks = blocked ? blocks : NULL;
        loo.n_blocks = blocked ? sizeof blocks / sizeof *blocks - 1 : 0;
        f->loo(&loo, NULL);
        for (size_t o = 0; o < N_OUTPUTS; o++)
            KEEP("loo", decisions + o * LD, N);
    }
    for (size_t i = 0; i < N; i++)
        gram.rows[i * LD + i] += ridge[i];
    memset(wide, 0, (size_t)N * 2 * LD * sizeof *wide);
    for (size_t i = 0; i < N; i++) {
        memcpy(wide + i * 2 * LD, gram.rows + i * LD, LD * sizeof *wide);
        wide[i * 2 * LD + LD + i] = 1.0;
    }
    f->cholesky(gram.rows, N, LD, NULL);
    for (size_t i = 0; i < N; i++)
        memset(gram.rows + i * LD, 0, i * sizeof(double)); /* undefined */
    KEEP("cholesky", gram.rows, N * LD);
    f->cholesky_solve(gram.rows, N, LD, b);
    KEEP("cholesky_solve", b, N);
    f->cholesky_inverse(wide, N, LD, 2 * LD, NULL);
    for (size_t i = 0; i < N; i++) {
        memset(wide + i * 2 * LD, 0, i * sizeof(double));
        memset(wide + i * 2 * LD + LD + i + 1, 0, (LD - i - 1) * sizeof(double));
    }
    KEEP("cholesky_inverse", wide, N * 2 * LD);
    double *columns_of_pinv = random_doubles(15, (size_t)(D + N_OUTPUTS) * N, -1.0, 1.0);
    double *pinv_work = new_doubles(evk_pinv_work_size(N, D)), weights[N_OUTPUTS * D];
    const evk_least_squares problem = {columns_of_pinv, columns_of_pinv + D * N, N, D, N_OUTPUTS, 1e-13};
    f->pinv(&problem, pinv_work, weights, NULL);
    KEEP("pinv", weights, N_OUTPUTS * D);
    double *all[] = {columns, work, wide, b, targets, loo_work, coef, decisions, columns_of_pinv, pinv_work};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static void check_landmarks(const evk_functions *f)
{
    double *columns = random_columns(16), *x = random_doubles(17, (size_t)N * D, -1.0, 1.0);
    double *targets = random_doubles(18, (size_t)N * N_OUTPUTS, -1.0, 1.0), *roots = random_doubles(19, N, 0.0, 2.0);
    const size_t width = evk_landmarks_width(N, N_OUTPUTS);
    double *rows = new_doubles(width * N), *sums = new_doubles(width * width);
    memset(sums, 0, width * width * sizeof *sums);
    const evk_landmarks landmarks = {&kernels[2], {columns, N, D, LD}, N_OUTPUTS, width};
    f->landmark_rows(&landmarks, x, targets, roots, N, rows);
    KEEP("landmark_rows", rows, width * N);
    f->add_products(rows, N, width, sums);
    KEEP("add_products", sums, width * width);
    double *all[] = {columns, x, targets, roots, rows, sums};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static void check_pools(const evk_functions *f)
{
    enum { WIDTH = 2 * L };
    double *phi = random_doubles(20, (size_t)N * WIDTH, -1.0, 1.0), *values = new_doubles(EVK_STATISTICS * WIDTH);
    double *columns = random_doubles(21, (size_t)D * LD, -3.0, 5.0), mean[D], inverse[D];
    const evk_pool pool = {WIDTH, N, values};
    for (size_t t = 0; t < N; t++)
        f->pool_add(&pool, t, t == 0 ? NULL : phi + (t - 1) * WIDTH, phi + t * WIDTH);
    KEEP("pool_add", values, EVK_STATISTICS * WIDTH);
    f->pool_end(&pool, phi + (N - 1) * WIDTH);
    KEEP("pool_end", values, EVK_STATISTICS * WIDTH);
    for (size_t h = 0; h < D; h++)
        for (size_t j = N; j < LD; j++)
            columns[h * LD + j] = 0.0;
    f->standardise(columns, N, D, LD, mean, inverse);
    KEEP("standardise", columns, D * LD);
    free(phi);
    free(values);
    free(columns);
}

/* ---- the quadratic programme */

static void check_qp(const evk_functions *f, int classify, size_t n_slots)
{
    double *columns = random_columns(22), *gram_work = new_doubles(evk_gram_work_size(N, n_slots));
    double *qp_work = new_doubles(evk_qp_work_size(N, N)), target[N], lower[N], upper[N];
    uint64_t seed = 23;
    for (size_t i = 0; i < N; i++) {
        const double value = columns[i] * columns[LD + i] + 0.1 * uniform(&seed, -1.0, 1.0);
        target[i] = classify ? (value > 0.0 ? 1.0 : -1.0) : value;
        lower[i] = classify && target[i] > 0.0 ? 0.0 : -10.0;
        upper[i] = classify && target[i] < 0.0 ? 0.0 : 10.0;
    }
    evk_gram gram;
    evk_gram_place(&gram, &kernels[2], (evk_columns){columns, N, D, LD}, n_slots, gram_work);
    if (n_slots == N)
        f->gram_fill(&gram, NULL);
    else
        f->gram_diagonal(&gram);
    evk_qp qp = {.gram = &gram,
                 .target = target,
                 .lower = lower,
                 .upper = upper,
                 .epsilon = classify ? 0.0 : 0.05,
                 .tol = 1e-6,
                 .max_iter = 100000};
    evk_qp_place(&qp, N, N, qp_work);
    for (size_t i = 0; i < LD; i++)
        qp.beta[i] = 0.0;
    f->qp_begin(&qp);
    KEEP("qp_begin", qp.residual, N);
    while (!f->qp_run(&qp, 1000))
        continue;
    f->qp_certify(&qp);
    const double results[] = {qp.bias, qp.objective, qp.gap, qp.violation, (double)qp.n_iter};
    KEEP("qp_run", qp.beta, N);
    KEEP("qp_certify", results, sizeof results / sizeof *results);
    free(columns);
    free(gram_work);
    free(qp_work);
}

static int is_kept(const char *name)
{
    for (size_t k = 0; k < N_KEPT; k++)
        if (strcmp(kept[k].name, name) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    printing = argc > 1 && strcmp(argv[1], "--print") == 0;
    const evk_functions *f;
    for (size_t k = 0; (f = next_supported(&k)) != NULL;) {
        place = 0;
        check_vectors(f);
        for (int32_t cell = EVK_CELL_LSTM; cell <= EVK_CELL_EVOLINO; cell++) {
            check_steps(f, cell);
            check_steps_single(f, cell);
        }
        check_own_inputs(f);
        check_kernels(f);
        check_linear_algebra(f);
        check_landmarks(f);
        check_pools(f);
        for (int classify = 0; classify < 2; classify++) {
            check_qp(f, classify, N);
            check_qp(f, classify, 2);
        }
        if (printing)
            return 0;
        CHECK(place == N_KEPT);
    }
#define X(type, name, parameters) CHECK(is_kept(#name));
    EVK_FUNCTIONS(X)
#undef X
    return check_report();
}
