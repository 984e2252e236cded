/* Accuracy of the vector functions in single precision against the double library, over floats of every exponent. */
#include "check.h"

typedef void vector_function(const float *x, size_t n, float *y);

static double exact_logistic(double x) { return 1.0 / (1.0 + exp(-x)); }

enum { LOGISTIC, TANH, N_FUNCTIONS, N = 40003 /* not a whole number of packs */ };

static const struct {
    const char *name;
    double (*exact)(double);
    float low; /* below it logistic is the smallest value that it has; tanh is held by its symmetry */
    double max_ulp;
} tested[N_FUNCTIONS] = {
    [LOGISTIC] = {"logistic", exact_logistic, -87.0f, 5.1},
    [TANH] = {"tanh", tanh, -INFINITY, 3.0},
};

static vector_function *function_of(const evk_functions *functions, int which)
{
    return which == LOGISTIC ? functions->logistic_single : functions->tanh_single;
}

/* N floats through all bit patterns of finite ones, from the first on */
static void fill(float *x, uint32_t first)
{
    for (size_t i = 0; i < N; i++) {
        const uint32_t bits = (first + (uint32_t)i * 104729u) % 0x7f800000u | (uint32_t)(i % 2) << 31;
        memcpy(x + i, &bits, sizeof bits);
    }
}

/* the largest error in units of the last place of the exact value, among those in the range; NaN counts as infinite */
static double worst_ulp(int f, const float *x, const float *y)
{
    double worst = 0.0;
    for (size_t i = 0; i < N; i++) {
        if (x[i] < tested[f].low)
            continue;
        const double expected = tested[f].exact((double)x[i]);
        const float size = fabsf((float)expected);
        const double error = fabs((double)y[i] - expected) / (double)(nextafterf(size, INFINITY) - size);
        worst = error <= worst ? worst : isnan(error) ? INFINITY : error;
    }
    return worst;
}

static float at(vector_function *function, float x)
{
    float y = NAN;
    function(&x, 1, &y);
    return y;
}

static void check_ends(const evk_functions *functions)
{
    CHECK(isnan(at(functions->logistic_single, NAN)));
    CHECK(at(functions->logistic_single, 0.0f) == 0.5f);
    CHECK(at(functions->logistic_single, 18.0f) == 1.0f);
    CHECK(at(functions->logistic_single, INFINITY) == 1.0f);
    CHECK(at(functions->logistic_single, -3e38f) == at(functions->logistic_single, -87.0f));
    CHECK(at(functions->logistic_single, -INFINITY) > 0.0f && at(functions->logistic_single, -INFINITY) < 1e-37f);
    CHECK(isnan(at(functions->tanh_single, NAN)));
    CHECK(at(functions->tanh_single, 10.0f) == 1.0f && at(functions->tanh_single, -10.0f) == -1.0f);
    CHECK(at(functions->tanh_single, INFINITY) == 1.0f && at(functions->tanh_single, -INFINITY) == -1.0f);
    const float zero = at(functions->tanh_single, -0.0f);
    CHECK(zero == 0.0f && signbit(zero));
}

/* a value does not depend on its place in the array, nor is anything written after the array */
static void check_remainders(vector_function *function, const float *x, const float *y)
{
    for (size_t n = 0; n < 36; n++) {
        float *part = new_memory(n + 1, sizeof *part);
        function(x + 3, n, part);
        CHECK_SAME_BITS(part, y + 3, n);
        CHECK(isnan(part[n]));
        free(part);
    }
}

int main(void)
{
    float *x = new_memory(N, sizeof *x), *y = new_memory(N, sizeof *y), *scalar = new_memory(N, sizeof *scalar);
    for (int f = 0; f < N_FUNCTIONS; f++) {
        double worst = 0.0;
        for (uint32_t first = 0; first < 20; first++) {
            fill(x, first * 5003u);
            function_of(evk_functions_at(0), f)(x, N, scalar);
            worst = fmax(worst, worst_ulp(f, x, scalar));
            const evk_functions *functions;
            for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
                function_of(functions, f)(x, N, y);
                CHECK_SAME_BITS(y, scalar, N);
                check_remainders(function_of(functions, f), x, y);
            }
        }
        printf("%s: %.3f ulp\n", tested[f].name, worst);
        check_about = tested[f].name;
        CHECK(worst <= tested[f].max_ulp);
    }
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;)
        check_ends(functions);
    free(x);
    free(y);
    free(scalar);
    return check_report();
}
