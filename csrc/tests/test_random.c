/* Every function with random sizes and values, in memory of exact size: no access beyond it, nothing undefined, an end, and
 * the same bits on all instruction sets. `test_random CASES SEED FIRST` runs cases FIRST, FIRST + 1, ... of a seed; each is
 * the same whatever the others are. */
#include "random.h"

static const evk_functions *functions; /* the table that is tried */
static unsigned long long seed_of_all, case_number;

/* every function that was called, so that none is forgotten */
#define X(type, name, parameters) int name;
static struct { EVK_FUNCTIONS(X) } called;
#undef X
#define CALL(name) (called.name = 1, functions->name)

/* What the sanitizers call before they end the program. */
void __asan_on_error(void);
void __asan_on_error(void) { fprintf(stderr, "seed %llu, case %llu\n", seed_of_all, case_number); }

static evk_kernel any_kernel(void)
{
    const int32_t kind = (int32_t)between(0.0, 3.0);
    return (evk_kernel){.kind = kind, .degree = (int32_t)between(1.0, 6.0), .gamma = positive(), .coef0 = number()};
}

/* A question that is answered with no at some time, or never. */
static evk_poll *maybe_poll(evk_poll *poll, questions *q)
{
    if (chance(0.5))
        return NULL;
    *q = (questions){.last = chance(0.5) ? (size_t)between(1.0, 30.0) : 0};
    *poll = asking(q);
    return poll;
}

/* ---- the families */

static void try_vectors(void)
{
    const size_t n = size_between(0, 70);
    const double *x = numbers(n);
    double *y = room(n), *turns = room(n);
    CALL(exp)(x, n, y);
    KEEP(y, n);
    CALL(logistic)(x, n, y);
    KEEP(y, n);
    CALL(tanh)(x, n, y);
    KEEP(y, n);
    for (size_t k = 0; k < n; k++)
        turns[k] = between(-0.5, 0.5);
    CALL(tanpi)(turns, n, y);
    KEEP(y, n);
    const float *x_single = singles(n);
    float *y_single = single_room(n);
    CALL(logistic_single)(x_single, n, y_single);
    KEEP(y_single, n);
    CALL(tanh_single)(x_single, n, y_single);
    KEEP(y_single, n);
}

static evk_network any_network(size_t most)
{
    return (evk_network){.n_inputs = size_between(0, most),
                         .n_cells = size_between(1, most),
                         .cell = (int32_t)between(0.0, 2.0),
                         .input_bias = between(-3.0, 3.0),
                         .forget_bias = between(-3.0, 3.0),
                         .output_bias = between(-3.0, 3.0)};
}

/* One step in each layout, then several packs side by side. lanes: of weights, of x; packs of cells */
#define TRY_STEPS(real, suffix, lanes, reals, new_room) \
    static void try_step##suffix(const evk_network *shape, \
                                 void (*step)(const evk_network *, const real *, const real *, real *, real *), \
                                 size_t w_lanes, size_t x_lanes, int of_cells) \
    { \
        evk_network net = *shape; \
        const size_t n_packs = of_cells ? (net.n_cells + lanes - 1) / lanes : net.n_cells; \
        const size_t n_before = of_cells ? net.n_cells : n_packs * lanes; \
        net.weights = reals(n_packs * (net.n_inputs + net.n_cells) * 4 * w_lanes); \
        const real *x = reals(net.n_inputs * x_lanes), *before = reals(n_before); \
        real *s = reals(n_packs * lanes), *phi = new_room(n_packs * lanes); \
        step(&net, x, before, s, phi); \
        for (size_t c = 0; c < net.n_cells; c++) { /* what lies beyond the cells has no meaning */ \
            KEEP(s + c * (of_cells ? 1 : lanes), of_cells ? 1 : lanes); \
            KEEP(phi + c * (of_cells ? 1 : lanes), of_cells ? 1 : lanes); \
        } \
    } \
    static void try_abreast##suffix(void) \
    { \
        evk_network net = any_network(20); \
        const int of_cells = chance(0.5), added = chance(0.5); \
        const size_t n_packs = of_cells ? (net.n_cells + lanes - 1) / lanes : net.n_cells; \
        const size_t n_before = of_cells ? net.n_cells : n_packs * lanes, n = size_between(1, EVK_ABREAST); \
        net.weights = reals(n_packs * (net.n_inputs + net.n_cells) * 4 * lanes); \
        evk_steps steps = {.n = n}; \
        const void *x[EVK_ROWS]; \
        void *sums[EVK_ROWS]; \
        const real *inputs = reals(EVK_ROWS * net.n_inputs), *before = reals(n * n_before); \
        real *added_up = new_room(EVK_ROWS * 4 * n_packs * lanes); \
        real *s = reals(n * n_packs * lanes), *phi = new_room(n * n_packs * lanes); \
        for (size_t k = 0; k < EVK_ROWS; k++) { \
            x[k] = inputs + k * net.n_inputs; \
            sums[k] = added_up + k * 4 * n_packs * lanes; \
        } \
        for (size_t k = 0; k < n; k++) { \
            steps.x[k] = x[k]; \
            steps.sums[k] = added ? sums[k] : NULL; \
            steps.before[k] = before + k * n_before; \
            steps.state[k] = s + k * n_packs * lanes; \
            steps.phi[k] = phi + k * n_packs * lanes; \
        } \
        const size_t n_rows = added ? size_between(n, EVK_ROWS) : 0; \
        CALL(lstm_inputs##suffix)(&net, n_packs, n_rows, x, sums); \
        KEEP(added_up, n_rows * 4 * n_packs * lanes); \
        if (of_cells) \
            CALL(lstm_cells_abreast##suffix)(&net, &steps); \
        else \
            CALL(lstm_networks_abreast##suffix)(&net, &steps); \
        KEEP(s, n * n_packs * lanes); \
        KEEP(phi, n * n_packs * lanes); \
    }
TRY_STEPS(double, , L, numbers, room)
TRY_STEPS(float, _single, L_SINGLE, singles, single_room)

static void try_steps(void)
{
    const evk_network net = any_network(20);
    try_step(&net, CALL(lstm_networks), L, 1, 0);
    try_step(&net, CALL(lstm_networks_own_inputs), L, L, 0);
    try_step(&net, CALL(lstm_sequences), 1, L, 0);
    try_step(&net, CALL(lstm_cells), L, 1, 1);
    try_step_single(&net, CALL(lstm_networks_single), L_SINGLE, 1, 0);
    try_step_single(&net, CALL(lstm_sequences_single), 1, L_SINGLE, 0);
    try_step_single(&net, CALL(lstm_cells_single), L_SINGLE, 1, 1);
}

static void try_kernels(void)
{
    const size_t n = size_between(1, 70), d = size_between(0, 9), n_outputs = size_between(1, 4);
    const size_t n_sv = size_between(0, 20), n_rows = size_between(0, 30);
    const evk_columns x = points(n, d), sv = points(n_sv, d);
    evk_kernel kernel = any_kernel();
    double *row = room(x.ld), *sv_row = room(sv.ld), *distances = room(n * x.ld), *decided = room(n_outputs * x.ld);
    const size_t begin = size_between(0, x.ld / L) * L;
    const double *z = numbers(d);
    evk_poll poll;
    questions q;
    CALL(gram_row)(&kernel, &x, begin, x.ld, z, 1, row);
    KEEP(row + begin, n > begin ? n - begin : 0);
    const evk_kernel distance = {.kind = EVK_DISTANCE};
    for (size_t i = 0; i < n; i++)
        functions->gram_row(&distance, &x, 0, x.ld, x.x + i, x.ld, distances + i * x.ld);
    CALL(gram_of_distances)(distances, n, x.ld, positive(), distances);
    for (size_t i = 0; i < n; i++)
        KEEP(distances + i * x.ld + i, n - i);
    evk_gram gram;
    evk_gram_place(&gram, &kernel, x, n, room(evk_gram_work_size(n, n)));
    if (CALL(gram_fill)(&gram, maybe_poll(&poll, &q)) == 0)
        KEEP(gram.rows, n * x.ld);
    CALL(gram_diagonal)(&gram);
    KEEP(gram.diagonal, x.ld);

    double *coef = numbers(n_outputs * sv.ld);
    for (size_t k = 0; k < n_outputs * sv.ld; k++)
        coef[k] = k % sv.ld < n_sv ? coef[k] : 0.0;
    const double *bias = numbers(n_outputs);
    const evk_machine machine = {&kernel, sv, coef, bias, n_outputs};
    if (CALL(decide_columns)(&machine, &x, row, decided, maybe_poll(&poll, &q)) == 0)
        for (size_t o = 0; o < n_outputs; o++)
            KEEP(decided + o * x.ld, n);
    CALL(decide_point)(&machine, z, 1, sv_row, decided);
    KEEP(decided, n_outputs);
    const evk_rows rows = {numbers(n_rows * d), n_rows, d};
    const evk_machine_rows by_rows = {
        &kernel, {numbers(n_sv * d), n_sv, d}, numbers(n_sv * n_outputs), bias, n_outputs};
    double *by_row = room(n_rows * n_outputs);
    CALL(decide)(&by_rows, &rows, room((d + n_outputs) * EVK_DECIDED * L), by_row);
    KEEP(by_row, n_rows * n_outputs);
}

/* upper triangle, as a rule positive definite, zero from n on; NaN below it, which nothing may read */
static void fill_matrix(double *a, size_t n, size_t ld, size_t stride)
{
    const double ridge = chance(0.8) ? 2.0 * (double)n : 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < ld; j++)
            a[i * stride + j] = j >= n ? 0.0 : number() + (i == j ? ridge : 0.0);
}

static void try_linear_algebra(void)
{
    const size_t n = size_between(1, 60), ld = whole_packs(n), n_sides = L * size_between(0, 2);
    const size_t stride = 2 * ld + n_sides, d = size_between(1, 12), n_targets = size_between(1, 3);
    double *a = room(n * ld), *wide = room(n * stride), *b = numbers(ld);
    evk_poll poll;
    questions q;
    fill_matrix(a, n, ld, ld);
    const ptrdiff_t rank = CALL(cholesky)(a, n, ld, maybe_poll(&poll, &q));
    for (size_t j = n; j < ld; j++)
        b[j] = 0.0;
    if (rank == (ptrdiff_t)n) {
        CALL(cholesky_solve)(a, n, ld, b);
        KEEP(b, n);
    }
    fill_matrix(wide, n, ld, stride);
    for (size_t i = 0; i < n; i++)
        for (size_t j = ld; j < stride; j++)
            wide[i * stride + j] = j < ld + n_sides ? number() : j == ld + n_sides + i;
    if (CALL(cholesky_inverse)(wide, n, ld, stride, maybe_poll(&poll, &q)) == (ptrdiff_t)n)
        for (size_t i = 0; i < n; i++) {
            KEEP(wide + i * stride + i, ld + n_sides - i);
            KEEP(wide + i * stride + ld + n_sides, i + 1);
        }
    double *columns = numbers((d + n_targets) * n), *weights = room(n_targets * d);
    const evk_least_squares problem = {columns, columns + d * n, n, d, n_targets, 1e-13};
    const ptrdiff_t found = CALL(pinv)(&problem, room(evk_pinv_work_size(n, d)), weights, maybe_poll(&poll, &q));
    CHECK(found <= (ptrdiff_t)(n < d ? n : d) || wildness > 0);
    if (found >= 0)
        KEEP(weights, n_targets * d);
}

static void try_loo(void)
{
    const size_t n = size_between(2, 50), ld = whole_packs(n), n_outputs = size_between(1, 9);
    double *kernel = room(n * ld), *ridge = room(n), *out = room((2 * ld + 1) * n_outputs);
    int64_t *blocks = remember(new_memory(n + 1, sizeof(int64_t)));
    size_t n_blocks = 0, largest = 1;
    evk_poll poll;
    questions q;
    fill_matrix(kernel, n, ld, ld);
    for (size_t i = 0; i < n; i++)
        ridge[i] = positive();
    blocks[0] = 0;
    for (size_t end = 0; end < n;) {
        size_t size = size_between(1, n - end < n - 1 ? n - end : n - 1);
        largest = size > largest ? size : largest;
        end += size;
        blocks[++n_blocks] = (int64_t)end;
    }
    const int blocked = chance(0.5);
    double *work = room(evk_loo_work_size(n, n_outputs, blocked ? largest : 1));
    const evk_loo loo = {n,
                         ld,
                         n_outputs,
                         kernel,
                         ridge,
                         numbers(n_outputs * n),
                         blocked ? blocks : NULL,
                         blocked ? n_blocks : 0,
                         work,
                         out,
                         out + 2 * n_outputs * ld,
                         out + n_outputs * ld};
    if (CALL(loo)(&loo, maybe_poll(&poll, &q)) == 1)
        for (size_t o = 0; o < n_outputs; o++)
            KEEP(loo.decisions + o * ld, n);
}

static void try_landmarks(void)
{
    const size_t m = size_between(1, 40), d = size_between(0, 7), n = size_between(0, 40),
                 n_outputs = size_between(1, 4);
    const size_t width = evk_landmarks_width(m, n_outputs);
    const evk_kernel kernel = any_kernel();
    const evk_landmarks landmarks = {&kernel, points(m, d), n_outputs, width};
    double *rows = room(width * n), *sums = numbers(width * width), *roots = chance(0.5) ? numbers(n) : NULL;
    CALL(landmark_rows)(&landmarks, numbers(n * d), numbers(n * n_outputs), roots, n, rows);
    for (size_t r = 0; r < n; r++) /* kernels of what lies beyond the landmarks are overwritten */
        for (size_t j = 0; j < width; j++)
            KEEP(rows + (j / L * n + r) * L + j % L, 1);
    CALL(add_products)(rows, n, width, sums);
    KEEP(sums, width * width);
}

static void try_pools(void)
{
    const size_t width = L * size_between(1, 3), n = size_between(1, 30), d = size_between(1, 6), ld = whole_packs(n);
    const double *phi = numbers(n * width);
    double *values = room(EVK_STATISTICS * width), *columns = numbers(d * ld), *mean = room(d), *inverse = room(d);
    const evk_pool pool = {width, n, values};
    for (size_t t = 0; t < n; t++)
        CALL(pool_add)(&pool, t, t == 0 ? NULL : phi + (t - 1) * width, phi + t * width);
    CALL(pool_end)(&pool, phi + (n - 1) * width);
    KEEP(values, EVK_STATISTICS * width);
    for (size_t k = 0; k < d * ld; k++)
        columns[k] = k % ld < n ? columns[k] : 0.0;
    CHECK(CALL(standardise)(columns, n, d, ld, mean, inverse) <= d);
    KEEP(columns, d * ld);
}

static void try_qp(void)
{
    const size_t n = size_between(1, 45), n_slots = chance(0.5) || n < 3 ? n : size_between(2, n - 1);
    const size_t capacity = chance(0.7) ? n : size_between(1, n), ld = whole_packs(n);
    const evk_kernel kernel = any_kernel();
    const int classify = chance(0.5);
    const double C = chance(0.5) ? positive() : pow(10.0, between(-3.0, 12.0));
    double *target = numbers(n), *lower = room(n), *upper = room(n);
    for (size_t i = 0; i < n; i++) {
        target[i] = classify ? copysign(1.0, target[i]) : target[i];
        lower[i] = classify && target[i] > 0.0 ? 0.0 : -C;
        upper[i] = classify && target[i] < 0.0 ? 0.0 : C;
    }
    evk_gram gram;
    evk_gram_place(&gram, &kernel, points(n, size_between(0, 6)), n_slots, room(evk_gram_work_size(n, n_slots)));
    if (n_slots == n)
        functions->gram_fill(&gram, NULL);
    else
        functions->gram_diagonal(&gram);
    evk_qp qp = {.gram = &gram,
                 .target = target,
                 .lower = lower,
                 .upper = upper,
                 .epsilon = classify || chance(0.3) ? 0.0 : positive(),
                 .tol = pow(10.0, between(-12.0, 0.0)),
                 .max_iter = (int64_t)between(0.0, 3000.0)};
    evk_qp_place(&qp, n, capacity, room(evk_qp_work_size(n, capacity)));
    memset(qp.beta, 0, ld * sizeof(double));
    if (n > 1 && lower[0] < 0.0 && upper[1] > 0.0) { /* a start that is not zero */
        qp.beta[0] = between(lower[0], 0.0);
        qp.beta[0] = -(qp.beta[1] = fmin(-qp.beta[0], upper[1]));
    }
    CALL(qp_begin)(&qp);
    size_t calls = 0;
    while (!CALL(qp_run)(&qp, 1 + (int64_t)between(0.0, 400.0)) && calls < 100000)
        calls++;
    CHECK(calls < 100000);
    CALL(qp_certify)(&qp);
    CHECK(qp.n_iter <= qp.max_iter);
    CHECK(!qp.converged || (qp.violation <= qp.tol && isfinite(qp.gap)));
    for (size_t i = 0; i < n; i++)
        CHECK((lower[i] <= qp.beta[i] && qp.beta[i] <= upper[i]) || wildness > 0);
    KEEP(qp.beta, n);
    KEEP(&qp.gap, 1);
}

static void try_sizes(void)
{
    size_t n[3];
    for (size_t k = 0; k < 3; k++)
        n[k] = chance(0.5) ? (size_t)ldexp(1.0, (int)between(0.0, 8.0 * sizeof(size_t))) - (size_t)chance(0.5)
                           : size_between(0, 99);
    const size_t sizes[] = {evk_gram_work_size(n[0], n[1]), evk_qp_work_size(n[0], n[1]),
                            evk_pinv_work_size(n[0], n[1]), evk_loo_work_size(n[0], n[1], n[2])};
    for (size_t k = 0; k < 4; k++) /* what is not too large can be allocated without an overflow */
        CHECK(sizes[k] <= SIZE_MAX / sizeof(double) && (sizes[k] == 0 || n[0] <= INT32_MAX));
}

static void (*const families[])(void) = {
    try_vectors, try_steps, try_abreast, try_abreast_single, try_kernels, try_linear_algebra, try_loo, try_landmarks,
    try_pools,   try_qp,    try_qp,      try_sizes,
};
enum { N_FAMILIES = sizeof families / sizeof *families };

static void run_case(void)
{
    uint64_t first = 0, start = (uint64_t)seed_of_all * 0x9e3779b97f4a7c15u + case_number * 0xd1342543de82ef95u;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        state = start;
        hash = 0xcbf29ce484222325u;
        wildness = (int)between(0.0, 3.0);
        families[(size_t)between(0.0, N_FAMILIES)]();
        if (functions == evk_functions_at(0))
            first = hash;
        CHECK(hash == first);
        forget_all();
    }
}

int main(int argc, char **argv)
{
    const unsigned long long n_cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 400;
    seed_of_all = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    case_number = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    for (unsigned long long end = case_number + n_cases; case_number < end; case_number++) {
        const size_t before = check_failures;
        run_case();
        if (check_failures > before)
            __asan_on_error();
    }
#define X(type, name, parameters) CHECK(called.name || n_cases < 400);
    EVK_FUNCTIONS(X)
#undef X
    return check_report();
}
