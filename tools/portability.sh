#!/bin/sh
# The C core on ARM64, by gcc and by clang, under qemu: its tests, with the kept hashes, and the instructions of workloads
# with NEON beside plain C. Where a tool is missing it says so; with REQUIRE=1 that is an error.
# Debian: apt install gcc-aarch64-linux-gnu qemu-user clang llvm
set -eu
missing=
for tool in qemu-aarch64 aarch64-linux-gnu-gcc clang llvm-ar; do
    command -v $tool > /dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
    echo "ARM64 is not tested: not installed are$missing."
    exit "${REQUIRE:-0}"
fi
mkdir -p build
gcc -shared -fPIC -O2 -o build/count.so tools/arm64/count.c
count() { qemu-aarch64 -L /usr/aarch64-linux-gnu -plugin build/count.so "$@" 2>&1 > /dev/null; }
for compiler in gcc clang; do
    build=build/arm64-$compiler
    [ -f $build/build.ninja ] ||
        meson setup $build --cross-file tools/arm64/$compiler.ini -Dcore_only=true -Dtests=true -Dwerror=true
    meson compile -C $build
    meson test -C $build --print-errorlogs --timeout-multiplier 10
    meson compile -C $build instructions
    program=$build/csrc/tests/instructions
    for workload in forward rows machine cholesky; do
        plain=$(count $program $workload scalar) neon=$(count $program $workload neon)
        echo "$compiler, $workload: $plain instructions in plain C, $neon with NEON, $((plain * 100 / neon)) %"
    done
done
