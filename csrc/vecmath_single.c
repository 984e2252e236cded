/* The vector functions of the forward pass in single precision. */
#define EVK_SINGLE
#include "vecmath.c"
