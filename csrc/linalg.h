/* Dense linear algebra of the least-squares readouts: Cholesky factorisation, pseudoinverse. */
#ifndef EVK_LINALG_H
#define EVK_LINALG_H

#include <stddef.h>

/* Doubles of work space of `pinv` for n points of d features; 0 where that overflows. */
size_t evk_pinv_work_size(size_t n, size_t d);

#endif
