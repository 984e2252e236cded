/* Kernel functions, Gram matrices and decision functions. */
#ifndef EVK_GRAM_H
#define EVK_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

typedef enum evk_kernel_kind { EVK_LINEAR = 0, EVK_POLY = 1, EVK_RBF = 2, EVK_DISTANCE = 3 } evk_kernel_kind;

/* linear: x.z   poly: (gamma x.z + coef0)^degree   rbf: exp(-gamma |x - z|^2)   distance: |x - z|^2 */
typedef struct evk_kernel {
    int32_t kind, degree;
    double gamma, coef0;
} evk_kernel;

/* n points of d features stored feature by feature: x[h * ld + j]; ld is n rounded up to whole packs, the rest 0. */
typedef struct evk_columns {
    const double *x;
    size_t n, d, ld;
} evk_columns;

/* n points of d features stored point by point: x[j * d + h]. */
typedef struct evk_rows {
    const double *x;
    size_t n, d;
} evk_rows;

/* The paper's equation 2 for n_outputs functions: f_o(x) = bias[o] + sum over j of coef_jo K(sv_j, x).
 * By columns, as the core trains it: coef[o * sv.ld + j]. */
typedef struct evk_machine {
    const evk_kernel *kernel;
    evk_columns sv;
    const double *coef, *bias;
    size_t n_outputs;
} evk_machine;

/* The same by rows, as the caller's arrays hold it: coef[j * n_outputs + o]. To turn the support vectors into columns
 * would take longer than to decide on a single point. With sv.x = NULL they are the unit vectors, and the kernel is
 * linear. */
typedef struct evk_machine_rows {
    const evk_kernel *kernel;
    evk_rows sv;
    const double *coef, *bias;
    size_t n_outputs;
} evk_machine_rows;

/* Packs of points that `decide` has at a time: their columns still lie in or near the first cache. */
enum { EVK_DECIDED = 4 };

/* A Gram matrix whose rows are filled once at the start or on demand.
 * Memory for n_slots rows of ld doubles; with fewer slots than rows the least recently used row gives way. */
typedef struct evk_gram {
    const evk_kernel *kernel;
    evk_columns points;
    double *rows;                 /* n_slots * ld */
    double *diagonal;             /* ld */
    int32_t *slot_of, *owner_of;  /* n, n_slots; -1 = none */
    uint8_t *recent;              /* n_slots: second chance of the eviction clock */
    size_t n_slots, hand;
    int64_t n_computed;           /* rows computed so far */
} evk_gram;

#endif
