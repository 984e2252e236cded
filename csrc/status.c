#include "status.h"

const char *evk_status_message(evk_status status)
{
    switch (status) {
    case EVK_OK:
        return "success";
    case EVK_ERR_UNKNOWN_SIMD:
        return "no such instruction set was compiled in";
    case EVK_ERR_UNSUPPORTED_SIMD:
        return "this processor lacks the instruction set";
    case EVK_ERR_OVERFLOW:
        return "values are too large for double precision";
    }
    return "unknown status";
}
