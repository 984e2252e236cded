/* Status codes of the C core. Negative means failure; the groups are -1xx memory, -2xx arguments. */
#ifndef EVK_STATUS_H
#define EVK_STATUS_H

typedef enum evk_status {
    EVK_OK = 0,
    EVK_ERR_NO_MEMORY = -101,
    EVK_ERR_TOO_LARGE = -102,
    EVK_ERR_UNKNOWN_SIMD = -201,
    EVK_ERR_UNSUPPORTED_SIMD = -202,
    EVK_ERR_BAD_KERNEL = -203,
    EVK_ERR_BAD_BOX = -204
} evk_status;

/* A distinct sentence for every code; never NULL. */
const char *evk_status_message(evk_status status);

#endif
