/* Accuracy of the vector functions against the long double library, their ends, and equality across instruction sets. */
#include "check.h"

typedef void vector_function(const double *x, size_t n, double *y);

static const long double pi = 3.14159265358979323846264338327950288L;

static long double exact_logistic(long double x) { return 1.0L / (1.0L + expl(-x)); }

static long double exact_tanpi(long double x)
{
    const long double size = fabsl(x);
    return copysignl(size > 0.25L ? 1.0L / tanl(pi * (0.5L - size)) : tanl(pi * size), x);
}

enum { EXP, LOGISTIC, TANH, TANPI, N_FUNCTIONS, N = 40003 /* not a whole number of packs */ };

static const struct {
    const char *name;
    long double (*exact)(long double);
    double low, high; /* where the bound holds */
    double max_ulp;
} tested[N_FUNCTIONS] = {
    [EXP] = {"exp", expl, -708.0, 709.0, 1.0},
    [LOGISTIC] = {"logistic", exact_logistic, -708.0, 708.0, 2.0},
    [TANH] = {"tanh", tanhl, -30.0, 30.0, 3.0},
    [TANPI] = {"tanpi", exact_tanpi, -0.5, 0.5, 3.0},
};

static vector_function *function_of(const evk_functions *functions, int which)
{
    vector_function *const all[] = {functions->exp, functions->logistic, functions->tanh, functions->tanpi};
    return all[which];
}

/* half of it uniform over [low, high], half of it crowded at zero down to 1e-300 */
static void fill(double *x, double low, double high)
{
    uint64_t seed = 1;
    const double largest = high < 8.0 ? high : 8.0;
    for (size_t i = 0; i < N; i++)
        x[i] = i % 2 == 0 ? uniform(&seed, low, high)
                          : copysign(largest * pow(10.0, -uniform(&seed, 0.0, i % 4 == 1 ? 4.0 : 300.0)),
                                     uniform(&seed, -1.0, 1.0));
    x[0] = low;
    x[1] = high;
}

/* the largest error in units of the last place of the exact value; NaN counts as infinite */
static double worst_ulp(long double (*exact)(long double), const double *x, const double *y)
{
    double worst = 0.0;
    for (size_t i = 0; i < N; i++) {
        const long double expected = exact((long double)x[i]);
        const double size = fabs((double)expected);
        if (isinf(size) || size > 1e15) { /* the pole of tanpi: 1/2 - |x| has no digits left to compare */
            if (!(fabs(y[i]) > 1e14))
                return INFINITY;
            continue;
        }
        const double error =
            (double)(fabsl((long double)y[i] - expected) / (long double)(nextafter(size, INFINITY) - size));
        worst = error <= worst ? worst : isnan(error) ? INFINITY : error;
    }
    return worst;
}

static double at(vector_function *function, double x)
{
    double y = NAN;
    function(&x, 1, &y);
    return y;
}

static void check_ends(const evk_functions *functions)
{
    for (int f = 0; f < N_FUNCTIONS; f++)
        CHECK(isnan(at(function_of(functions, f), NAN)));

    CHECK(at(functions->exp, 0.0) == 1.0);
    CHECK(at(functions->exp, -0.0) == 1.0);
    CHECK(at(functions->exp, 5e-324) == 1.0);
    CHECK(at(functions->exp, -708.0) > 0.0);
    CHECK(at(functions->exp, nextafter(-708.0, -INFINITY)) == 0.0);
    CHECK(at(functions->exp, -INFINITY) == 0.0);
    CHECK(at(functions->exp, 1e308) == at(functions->exp, 709.0));
    CHECK(at(functions->exp, INFINITY) == at(functions->exp, 709.0) && isfinite(at(functions->exp, 709.0)));

    CHECK(at(functions->logistic, 0.0) == 0.5);
    CHECK(at(functions->logistic, 37.5) == 1.0);
    CHECK(at(functions->logistic, INFINITY) == 1.0);
    CHECK(at(functions->logistic, -1e308) == at(functions->logistic, -708.0));
    CHECK(at(functions->logistic, -INFINITY) >= 0.0 && at(functions->logistic, -INFINITY) < 1e-307);

    CHECK(at(functions->tanh, 20.0) == 1.0 && at(functions->tanh, -20.0) == -1.0);
    CHECK(at(functions->tanh, INFINITY) == 1.0 && at(functions->tanh, -INFINITY) == -1.0);
    CHECK(at(functions->tanh, 5e-324) == 5e-324 && at(functions->tanh, -1e-310) == -1e-310);
    const double zero = at(functions->tanh, -0.0);
    CHECK(zero == 0.0 && signbit(zero));

    CHECK(at(functions->tanpi, 0.0) == 0.0);
    CHECK_NEAR(at(functions->tanpi, 0.25), 1.0, 2e-16);
    CHECK(at(functions->tanpi, 0.5) == INFINITY && at(functions->tanpi, -0.5) == -INFINITY);
}

/* a value does not depend on its place in the array, nor is anything written after the array */
static void check_remainders(vector_function *function, const double *x, const double *y)
{
    for (size_t n = 0; n < 20; n++) {
        double *part = new_doubles(n + 1);
        function(x + 3, n, part);
        CHECK_SAME_BITS(part, y + 3, n);
        CHECK(isnan(part[n]));
        free(part);
    }
}

int main(void)
{
    double *x = new_doubles(N), *y = new_doubles(N), *scalar = new_doubles(N);
    for (int f = 0; f < N_FUNCTIONS; f++) {
        fill(x, tested[f].low, tested[f].high);
        function_of(evk_functions_at(0), f)(x, N, scalar);
        const double worst = worst_ulp(tested[f].exact, x, scalar);
        printf("%s: %.3f ulp\n", tested[f].name, worst);
        check_about = tested[f].name;
        CHECK(worst <= tested[f].max_ulp);

        const evk_functions *functions;
        for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
            vector_function *function = function_of(functions, f);
            function(x, N, y);
            CHECK_SAME_BITS(y, scalar, N);
            check_remainders(function, x, y);
        }
    }
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;)
        check_ends(functions);
    free(x);
    free(y);
    free(scalar);
    return check_report();
}
