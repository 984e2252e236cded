#!/bin/sh
# The extensions for Windows, by gcc of MinGW, compiled and linked but not run: there is no Python for Windows here. The
# headers are those of the Python that runs this, with a pyconfig.h of our own, and the names that its library exports
# stand for those of python3*.dll.
set -eu
build=build/windows-extensions
core=build/windows-gcc/csrc
include=$(python -c 'import sysconfig; print(sysconfig.get_path("include"))')
# where the names of CPython are: the program or its library
exporting=$(python -c '
import os, sys, sysconfig
value = sysconfig.get_config_var
found = [os.path.realpath(sys.executable), os.path.join(value("LIBDIR"), value("INSTSONAME"))]
print(*filter(os.path.isfile, found))')
mkdir -p $build/include
# a folder that has all headers but pyconfig.h, which is to be ours
for header in "$include"/*; do ln -sfn "$header" $build/include/; done
ln -sfn "$PWD/tools/windows/pyconfig.h" $build/include/pyconfig.h
{
    echo "LIBRARY python3.dll"
    echo "EXPORTS"
    nm -D --defined-only $exporting 2> /dev/null | sed -n 's/^.* [TDBR] \(_\{0,1\}Py[A-Za-z0-9_]*\)$/\1/p' | sort -u
} > $build/python.def
x86_64-w64-mingw32-dlltool -d $build/python.def -l $build/libpython.a
for source in src/evoke/_core/*.pyx; do
    name=$(basename "$source" .pyx)
    cython -3 -I src -X boundscheck=False -X wraparound=False -X initializedcheck=False -X cdivision=True \
        -o "$build/$name.c" "$source"
    x86_64-w64-mingw32-gcc -O1 -ffp-contract=off -fno-math-errno -w -Werror=implicit-function-declaration \
        -Werror=incompatible-pointer-types -shared -I$build/include -Icsrc "$build/$name.c" -o "$build/$name.pyd" \
        -Wl,--start-group $core/libevk_*.a -Wl,--end-group $build/libpython.a
done
echo "Windows, gcc: $(ls $build/*.pyd | wc -l) extensions are linked, not run"
