/* What CPython's headers have to know of Windows to compile extensions with gcc of MinGW, and no more: the pyconfig.h of
 * a Python for Windows is not to be had on Linux. */
#ifndef Py_CONFIG_H
#define Py_CONFIG_H
#include <io.h>
#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED 1
#define MS_COREDLL
#define PLATFORM "win32"
#define COMPILER "[gcc]"
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_PID_T 4
#define DOUBLE_IS_LITTLE_ENDIAN_IEEE754 1
#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_WCHAR_H 1
#define HAVE_SSIZE_T 1
#define WITH_DOC_STRINGS 1
#endif
