/* The forward pass in single precision, sixteen lanes at a time. */
#define EVK_SINGLE
#include "lstm.c"
