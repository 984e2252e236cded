/* Status codes of the C core. Negative means failure. */
#ifndef EVK_STATUS_H
#define EVK_STATUS_H

typedef enum evk_status {
    EVK_OK = 0,
    EVK_ERR_UNKNOWN_SIMD = -201,
    EVK_ERR_UNSUPPORTED_SIMD = -202,
    EVK_ERR_OVERFLOW = -203
} evk_status;

/* A distinct sentence for every code; never NULL. */
const char *evk_status_message(evk_status status);

#endif
