/* The same in single precision. */
#define EVK_SINGLE
#include "test_lstm.c"
