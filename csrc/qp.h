/* The quadratic programme of C-SVC and epsilon-SVR, in signed coefficients beta:
 *
 *     minimise  1/2 beta' K beta - target' beta + epsilon |beta|_1
 *     subject   sum(beta) = 0,  lower <= beta <= upper,  lower <= 0 <= upper
 *
 * Classification: target = labels +-1, epsilon = 0, [0, C] for +1 and [-C, 0] for -1 (beta = y alpha).
 * Regression: target = values, [-C, C] (beta = alpha - alpha*). The function learned is f(x) = sum beta_i K(x_i, x) + bias. */
#ifndef EVK_QP_H
#define EVK_QP_H

#include "gram.h"

/* The free variables (beta neither 0 nor at a bound) that Newton steps move, with the Cholesky factor of their Gram matrix. */
typedef struct evk_face {
    size_t size, capacity, ld;
    int32_t *members;    /* capacity */
    int32_t *place_of;   /* n: position in members, -1 = not in the face, -2 = pending */
    int32_t *pending;    /* n: free variables that wait to enter */
    size_t n_pending;
    double shift; /* added to every kernel value, which sum(beta) = 0 makes free: the bias is one more dimension */
    double *factor; /* capacity * ld, row-major upper triangle U with U'U = K[face, face] + shift; diagonal 1 / U_kk */
    double *ones; /* ld: the solution of U'x = 1, kept up to date with the factor */
    double *gradient, *direction; /* ld each */
} evk_face;

typedef struct evk_qp {
    evk_gram *gram;
    const double *target, *lower, *upper; /* n each */
    double epsilon, tol;
    int64_t max_iter;
    /* gram.points.ld doubles each; from n on they are kept at 0 or infinity */
    double *beta; /* in: a feasible start; out: the solution */
    double *residual; /* target - K beta */
    double *up_mask, *low_mask; /* residual + mask: gain of raising / cost of lowering beta_i; infinite at a bound */
    double *change; /* K times a direction */
    evk_face face;
    /* state */
    size_t up_index;
    double up_max, low_min; /* optimal where up_max <= low_min */
    int64_t n_iter, next_newton;
    size_t newton_left; /* Newton steps that may still follow each other */
    double interval; /* SMO steps before the next ones */
    double smo_gain, smo_work, newton_gain, newton_work; /* objective gained and cost since the last Newton steps */
    double tol_now;
    double resolution; /* how far rounding blurs a residual: violations below it mean nothing */
    int32_t n_rechecks, n_tightened, residual_is_fresh;
    /* results of certify */
    double bias, objective, gap, violation;
    int32_t converged;
    evk_status status; /* EVK_ERR_OVERFLOW: kernel, targets and box are too large together: no solution */
} evk_qp;

/* Doubles of workspace, 0 where the size overflows; and the placing of every array in it. */
size_t evk_qp_work_size(size_t n, size_t face_capacity);
void evk_qp_place(evk_qp *qp, size_t n, size_t face_capacity, double *work);

/* Memory of a Gram matrix with n_slots rows. */
size_t evk_gram_work_size(size_t n, size_t n_slots);
void evk_gram_place(evk_gram *gram, const evk_kernel *kernel, evk_columns points, size_t n_slots, double *work);

#endif
