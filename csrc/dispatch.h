/* Choice of the instruction set at run time. */
#ifndef EVK_DISPATCH_H
#define EVK_DISPATCH_H

#include "functions.h"
#include "status.h"

/* The table for `name` ("scalar", "avx2", ...), or the best one of this processor where name is NULL or empty. */
evk_status evk_functions_select(const char *name, const evk_functions **out);

/* The k-th table that was compiled in, best last, or NULL past the end. */
const evk_functions *evk_functions_at(size_t k);

/* 1 where this processor can run the table. */
int evk_functions_supported(const evk_functions *functions);

#endif
