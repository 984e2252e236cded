/* MinGW's headers define __attribute__ away for compilers that call themselves Microsoft's, and clang-cl's own headers need it;
 * other attributes they put where such compilers do not take them. Included before every source, by clang-cl.ini. */
#include <_mingw.h>
#undef __MINGW_ATTRIB_NORETURN
#undef __MINGW_ATTRIB_DEPRECATED
#define __MINGW_ATTRIB_NORETURN
#define __MINGW_ATTRIB_DEPRECATED
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#undef __attribute__
