/* The solver on problems whose answer is known, and by its certificate on random ones. */
#include "check.h"

#define UNLIMITED ((int64_t)1 << 40)

typedef struct problem {
    const evk_kernel *kernel;
    const double *x, *target; /* x[n][d] */
    size_t n, d;
    double C, epsilon, tol;
    int classify; /* the box is [0, C] and [-C, 0] by the sign of the target, else [-C, C] */
    int64_t max_iter;
    size_t n_slots; /* rows of the Gram matrix in memory; n: all of them, filled at the start */
    int64_t budget; /* steps a call */
} problem;

typedef struct solution {
    double *beta; /* n */
    double bias, objective, gap, violation;
    int64_t n_iter, n_calls;
    int32_t converged;
    evk_status status;
} solution;

static double kernel_value(const problem *p, size_t i, size_t j)
{
    double product = 0.0, distance = 0.0;
    for (size_t h = 0; h < p->d; h++) {
        const double a = p->x[i * p->d + h], b = p->x[j * p->d + h];
        product += a * b;
        distance += (a - b) * (a - b);
    }
    return p->kernel->kind == EVK_LINEAR ? product : exp(-p->kernel->gamma * distance);
}

static double lower_of(const problem *p, size_t i) { return p->classify && p->target[i] > 0.0 ? 0.0 : -p->C; }

static double upper_of(const problem *p, size_t i) { return p->classify && p->target[i] < 0.0 ? 0.0 : p->C; }

static solution solve(const evk_functions *functions, const problem *p)
{
    const size_t n = p->n, ld = whole_packs(n);
    double *columns = new_doubles(ld * p->d), *lower = new_doubles(n), *upper = new_doubles(n);
    double *gram_work = new_doubles(evk_gram_work_size(n, p->n_slots)), *qp_work = new_doubles(evk_qp_work_size(n, n));
    for (size_t h = 0; h < p->d; h++)
        for (size_t j = 0; j < ld; j++)
            columns[h * ld + j] = j < n ? p->x[j * p->d + h] : 0.0;
    const evk_columns points = {columns, n, p->d, ld};
    evk_gram gram;
    evk_gram_place(&gram, p->kernel, points, p->n_slots, gram_work);
    if (p->n_slots == n)
        functions->gram_fill(&gram, NULL);
    else
        functions->gram_diagonal(&gram);
    evk_qp qp = {.gram = &gram,
                 .target = p->target,
                 .lower = lower,
                 .upper = upper,
                 .epsilon = p->epsilon,
                 .tol = p->tol,
                 .max_iter = p->max_iter};
    evk_qp_place(&qp, n, n, qp_work);
    for (size_t i = 0; i < ld; i++)
        qp.beta[i] = 0.0;
    for (size_t i = 0; i < n; i++) {
        lower[i] = lower_of(p, i);
        upper[i] = upper_of(p, i);
    }
    solution s = {.beta = new_doubles(n)};
    functions->qp_begin(&qp);
    for (s.n_calls = 1; !functions->qp_run(&qp, p->budget) && s.n_calls < 1000000; s.n_calls++)
        continue;
    CHECK(s.n_calls < 1000000);
    functions->qp_certify(&qp);
    memcpy(s.beta, qp.beta, n * sizeof(double));
    s.bias = qp.bias;
    s.objective = qp.objective;
    s.gap = qp.gap;
    s.violation = qp.violation;
    s.n_iter = qp.n_iter;
    s.converged = qp.converged;
    s.status = qp.status;
    free(columns);
    free(lower);
    free(upper);
    free(gram_work);
    free(qp_work);
    return s;
}

static const evk_kernel linear = {.kind = EVK_LINEAR};
static const evk_kernel rbf = {.kind = EVK_RBF, .gamma = 0.5};

static problem classification(const evk_kernel *kernel, const double *x, const double *y, size_t n, size_t d, double C)
{
    return (problem){.kernel = kernel,
                     .x = x,
                     .target = y,
                     .n = n,
                     .d = d,
                     .C = C,
                     .tol = 1e-8,
                     .classify = 1,
                     .max_iter = 100000,
                     .n_slots = n,
                     .budget = UNLIMITED};
}

static problem regression(const evk_kernel *kernel, const double *x, const double *y, size_t n, size_t d, double C,
                          double epsilon)
{
    problem p = classification(kernel, x, y, n, d, C);
    p.classify = 0;
    p.epsilon = epsilon;
    return p;
}

/* f(x) = x separates -1 and 1 with beta = -+1/2, or, with a smaller C, both points lie at the bound */
static void check_two_points(const evk_functions *functions)
{
    static const double x[] = {1.0, -1.0}, y[] = {1.0, -1.0};
    problem p = classification(&linear, x, y, 2, 1, 100.0);
    solution s = solve(functions, &p);
    CHECK(s.converged);
    CHECK_NEAR(s.beta[0], 0.5, 1e-12);
    CHECK_NEAR(s.beta[1], -0.5, 1e-12);
    CHECK_NEAR(s.bias, 0.0, 1e-12);
    CHECK_NEAR(s.objective, 0.5, 1e-12);
    CHECK_NEAR(s.gap, 0.0, 1e-10);
    free(s.beta);

    p.C = 0.25; /* primal and dual: 1/2 4/16 + 1/4 (1/2 + 1/2) = 3/8 */
    s = solve(functions, &p);
    CHECK(s.converged && s.beta[0] == 0.25 && s.beta[1] == -0.25);
    CHECK_NEAR(s.bias, 0.0, 1e-15);
    CHECK_NEAR(s.objective, 0.375, 1e-15);
    CHECK_NEAR(s.gap, 0.0, 1e-15);
    free(s.beta);
}

static void check_single_class(const evk_functions *functions)
{
    static const double x[] = {0.3, -1.0, 2.0}, sign[] = {1.0, -1.0};
    for (size_t k = 0; k < 2; k++) {
        const double y[] = {sign[k], sign[k], sign[k]};
        const problem p = classification(&rbf, x, y, 3, 1, 10.0);
        solution s = solve(functions, &p);
        CHECK(s.converged && s.n_iter == 0);
        CHECK(s.beta[0] == 0.0 && s.beta[1] == 0.0 && s.beta[2] == 0.0);
        CHECK(s.bias == sign[k] && s.gap == 0.0 && s.objective == 0.0);
        free(s.beta);
    }
}

/* equal points with opposite labels: nothing bends the objective, both end at the bound */
static void check_duplicates(const evk_functions *functions)
{
    static const double x[] = {0.7, 0.7, 0.7, 0.7}, y[] = {1.0, -1.0, -1.0, 1.0};
    const problem p = classification(&rbf, x, y, 4, 1, 3.0);
    solution s = solve(functions, &p);
    CHECK(s.converged);
    for (size_t i = 0; i < 4; i++)
        CHECK(s.beta[i] == 3.0 * y[i]);
    CHECK_NEAR(s.objective, 12.0, 1e-12);
    CHECK_NEAR(s.gap, 0.0, 1e-12);
    free(s.beta);
}

static void check_small_regressions(const evk_functions *functions)
{
    static const double x[] = {1.0, -1.0, 0.0}, y[] = {2.0, -2.0, 0.0}, constant[] = {3.0, 3.0, 3.0};
    problem p = regression(&linear, x, y, 2, 1, 10.0, 0.5); /* f(x) = 1.5 x touches both tubes */
    solution s = solve(functions, &p);
    CHECK(s.converged);
    CHECK_NEAR(s.beta[0], 0.75, 1e-12);
    CHECK_NEAR(s.beta[1], -0.75, 1e-12);
    CHECK_NEAR(s.bias, 0.0, 1e-12);
    CHECK_NEAR(s.objective, 1.125, 1e-12);
    CHECK_NEAR(s.gap, 0.0, 1e-10);
    free(s.beta);

    static const double widths[] = {0.0, 0.1, 5.0};
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) { /* a constant needs no support vector */
        p = regression(&rbf, x, constant, 3, 1, 10.0, widths[k]);
        s = solve(functions, &p);
        CHECK(s.converged && s.n_iter == 0);
        CHECK(s.beta[0] == 0.0 && s.beta[1] == 0.0 && s.beta[2] == 0.0);
        CHECK_NEAR(s.bias, 3.0, widths[k]);
        CHECK(s.gap == 0.0 && s.objective == 0.0);
        free(s.beta);
    }

    p = regression(&rbf, x, y, 1, 1, 10.0, 0.1); /* a single row */
    s = solve(functions, &p);
    CHECK(s.converged && s.beta[0] == 0.0);
    CHECK_NEAR(s.bias, 2.0, 0.1);
    free(s.beta);
}

/* the conditions of optimality, from beta and bias alone and in plain loops */
static void check_certificate(const problem *p, const solution *s)
{
    double quadratic = 0.0, linear_part = 0.0, loss = 0.0, sum = 0.0, size = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double b = s->beta[i];
        double f = 0.0;
        for (size_t j = 0; j < p->n; j++)
            f += s->beta[j] * kernel_value(p, i, j);
        CHECK(b >= lower_of(p, i) && b <= upper_of(p, i));
        quadratic += b * f;
        linear_part += p->target[i] * b - p->epsilon * fabs(b);
        const double r = p->target[i] - f - s->bias;
        loss += r > p->epsilon ? upper_of(p, i) * (r - p->epsilon) : 0.0;
        loss += -r > p->epsilon ? -lower_of(p, i) * (-r - p->epsilon) : 0.0;
        sum += b;
        size += fabs(b);
    }
    const double dual = linear_part - 0.5 * quadratic, primal = 0.5 * quadratic + loss;
    const double rounding = 1e-12 * (1.0 + size) * (double)p->n;
    CHECK(s->converged && s->violation <= p->tol);
    CHECK_NEAR(sum, 0.0, rounding);
    CHECK_NEAR(s->objective, dual, rounding);
    /* f(x) is known to within DBL_EPSILON |beta|_1, and the loss multiplies that by C for every point */
    const double noise = rounding + 4.0 * DBL_EPSILON * size * p->C * (double)p->n;
    CHECK_NEAR(s->gap, primal - dual, noise);
    CHECK(s->gap >= -noise);
    CHECK(s->gap <= 1e-6 * (1.0 + fabs(dual)) + p->tol * size);
}

enum { N = 45, D = 3 };

static void check_random(void)
{
    static const double Cs[] = {0.1, 1.0, 100.0, 1e6};
    static const double widths[] = {0.0, 1e-3, 0.2};
    double x[N * D], values[N], labels[N];
    uint64_t seed = 17;
    for (size_t i = 0; i < N * D; i++)
        x[i] = uniform(&seed, -1.0, 1.0);
    for (size_t i = 0; i < N; i++) {
        values[i] = sin(3.0 * x[i * D]) + uniform(&seed, -0.3, 0.3);
        labels[i] = values[i] > 0.0 ? 1.0 : -1.0;
    }
    memcpy(x, x + 5 * D, D * sizeof(double)); /* one row twice */
    for (size_t c = 0; c < sizeof Cs / sizeof *Cs; c++)
        for (size_t e = 0; e <= sizeof widths / sizeof *widths; e++) {
            problem p = e == 0 ? classification(&rbf, x, labels, N, D, Cs[c])
                               : regression(&rbf, x, values, N, D, Cs[c], widths[e - 1]);
            p.tol = 1e-6;
            solution first = {0};
            const evk_functions *functions;
            for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
                solution s = solve(functions, &p);
                check_certificate(&p, &s);
                if (k == 1)
                    first = s;
                CHECK_SAME_BITS(s.beta, first.beta, N);
                CHECK(s.n_iter == first.n_iter && s.bias == first.bias && s.gap == first.gap);
                if (s.beta != first.beta)
                    free(s.beta);
            }
            /* stopping and going on changes nothing */
            static const int64_t budgets[] = {1, 7};
            check_about = "budget";
            for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
                problem split = p;
                split.budget = budgets[b];
                solution s = solve(evk_functions_at(0), &split);
                CHECK(s.n_calls > 1);
                CHECK_SAME_BITS(s.beta, first.beta, N);
                CHECK(s.n_iter == first.n_iter && s.converged == first.converged);
                free(s.beta);
            }
            /* nor does it matter how many rows of the Gram matrix fit in memory */
            check_about = "two rows";
            problem lazy = p;
            lazy.n_slots = 2;
            solution s = solve(evk_functions_at(0), &lazy);
            CHECK_SAME_BITS(s.beta, first.beta, N);
            CHECK(s.n_iter == first.n_iter && s.gap == first.gap);
            free(s.beta);
            /* a limit holds, and what was cut short is not called converged */
            check_about = "max_iter";
            problem cut = p;
            for (cut.max_iter = 0; cut.max_iter < 40; cut.max_iter += 13) {
                s = solve(evk_functions_at(0), &cut);
                CHECK(s.n_iter <= cut.max_iter);
                CHECK(s.converged == (s.violation <= cut.tol));
                CHECK(first.n_iter <= cut.max_iter || !s.converged);
                free(s.beta);
            }
            free(first.beta);
        }
}

/* Python refuses NaN; should one come through, the solver ends and does not pass the result off as a solution */
static void check_nan(const evk_functions *functions)
{
    static const double x[] = {0.0, 1.0, 2.0, 3.0};
    for (size_t i = 0; i < 4; i++) {
        double y[] = {1.0, -1.0, 2.0, -0.5};
        y[i] = NAN;
        problem p = regression(&rbf, x, y, 4, 1, 10.0, 0.01);
        p.max_iter = 1000;
        solution s = solve(functions, &p);
        CHECK(s.n_iter <= 1000);
        CHECK(!s.converged && s.status == EVK_ERR_OVERFLOW);
        free(s.beta);
    }
}

/* However large kernel, targets and C are: beta lies in its box, and there is a finite certificate or a status. */
static void check_overflow(const evk_functions *functions)
{
    static const double sizes[] = {1e3, 1e60, 1e100, 3e102, 1e154}, factors[] = {1e-300, 1.0, 1e150, 1e300};
    enum { MANY = 24 };
    size_t n_failed = 0, n_solved = 0;
    uint64_t seed = 5;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
            for (int32_t degree = 1; degree <= 3; degree++)
                for (int classify = 0; classify < 2; classify++) {
                    const evk_kernel poly = {.kind = EVK_POLY, .degree = degree, .gamma = 1.0, .coef0 = 1.0};
                    double x[MANY * 2], y[MANY];
                    for (size_t i = 0; i < MANY * 2; i++)
                        x[i] = sizes[k] * uniform(&seed, -1.0, 1.0);
                    for (size_t i = 0; i < MANY; i++)
                        y[i] = classify ? (i % 2 ? 1.0 : -1.0) : factors[f] * uniform(&seed, -1.0, 1.0);
                    problem p = regression(&poly, x, y, MANY, 2, factors[f], 0.0);
                    p.classify = classify;
                    p.max_iter = 2000;
                    const solution s = solve(functions, &p);
                    for (size_t i = 0; i < MANY; i++)
                        CHECK(s.beta[i] >= lower_of(&p, i) && s.beta[i] <= upper_of(&p, i));
                    const int finite = isfinite(s.bias) && isfinite(s.objective) && isfinite(s.gap);
                    CHECK(s.status == EVK_ERR_OVERFLOW || (s.status == EVK_OK && finite));
                    CHECK(s.status == EVK_OK || !s.converged);
                    n_failed += s.status != EVK_OK;
                    n_solved += s.converged != 0;
                    free(s.beta);
                }
    CHECK(n_failed > 10 && n_solved > 10);
}

/* targets so small that the gains of all pairs underflow */
static void check_tiny(const evk_functions *functions)
{
    static const double x[] = {1.0, -1.0, 2.0}, y[] = {-2e-200, 2e-200, -4e-200};
    problem p = regression(&linear, x, y, 3, 1, 1.0, 0.0);
    p.tol = 1e-210;
    const solution s = solve(functions, &p);
    CHECK(s.status == EVK_OK && s.converged);
    CHECK_NEAR(s.bias, 0.0, 1e-210);
    for (size_t i = 0; i < 3; i++)
        CHECK(fabs(s.beta[i]) <= 4e-200);
    free(s.beta);
}

int main(void)
{
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        check_two_points(functions);
        check_single_class(functions);
        check_duplicates(functions);
        check_small_regressions(functions);
        check_nan(functions);
        check_overflow(functions);
        check_tiny(functions);
    }
    check_random();
    return check_report();
}
