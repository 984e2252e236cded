#include "check.h"

int main(void)
{
    static const evk_status all[] = {EVK_OK, EVK_ERR_UNKNOWN_SIMD, EVK_ERR_UNSUPPORTED_SIMD, EVK_ERR_OVERFLOW};
    enum { N = sizeof all / sizeof *all };
    const char *unknown = evk_status_message((evk_status)-999);
    CHECK(unknown != NULL && *unknown != '\0');
    for (size_t i = 0; i < N; i++) {
        const char *message = evk_status_message(all[i]);
        CHECK(message != NULL && *message != '\0');
        CHECK(strcmp(message, unknown) != 0);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(message, evk_status_message(all[j])) != 0);
    }
    return check_report();
}
