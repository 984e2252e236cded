#include "status.h"

const char *evk_status_message(evk_status status)
{
    switch (status) {
    case EVK_OK:
        return "success";
    case EVK_ERR_NO_MEMORY:
        return "out of memory";
    case EVK_ERR_TOO_LARGE:
        return "the size of a work array overflows";
    case EVK_ERR_UNKNOWN_SIMD:
        return "no such instruction set was compiled in";
    case EVK_ERR_UNSUPPORTED_SIMD:
        return "this processor lacks the instruction set";
    case EVK_ERR_BAD_KERNEL:
        return "invalid kernel parameters";
    case EVK_ERR_BAD_BOX:
        return "every box must contain zero";
    }
    return "unknown status";
}
