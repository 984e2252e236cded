#!/bin/sh
# The C core on other systems (SYSTEMS: some of them): its tests, with the kept hashes. Where a tool is missing it says so;
# with REQUIRE=1 that is an error.
# ARM64, by gcc and by clang, under qemu, with the instructions of workloads with NEON beside plain C.
#   Debian: apt install gcc-aarch64-linux-gnu qemu-user clang llvm
# Windows, by gcc and clang with MinGW's libraries and by clang-cl, under wine, and the extensions as far as they can be
# linked. Debian: apt install gcc-mingw-w64-x86-64 wine64 clang llvm lld
# What was run goes into build/portability.json.
set -eu
mkdir -p build
: > build/portability.rows

has() { # SYSTEM TOOL...
    system=$1 missing=
    shift
    for tool; do
        command -v "$tool" > /dev/null || missing="$missing $tool"
    done
    [ -z "$missing" ] || echo "$system is not tested: not installed are$missing."
    [ -z "$missing" ]
}

prepare() { # FOLDER CROSS-FILE OPTION...
    folder=$1 file=$2
    shift 2
    [ -f "$folder/build.ninja" ] || meson setup "$folder" --cross-file "$file" -Dcore_only=true -Dwerror=true "$@"
    meson compile -C "$folder"
}

version() { "$1" --version | sed -n '1{s/.*) //; s/.*version //; s/ .*//; p}'; }

# what the instruction sets of a build are that this processor does not have
untested() { "$@" 2>&1 | sed -n 's/^this processor lacks \(.*\): not tested.*/\1/p' | sort -u | paste -sd ' '; }

row() { # PLATFORM COMPILER HOW TESTS UNTESTED INSTRUCTIONS
    printf '{"platform": "%s", "compiler": "%s", "how": "%s", "tests": %s, "untested": "%s", "instructions": {%s}}\n' \
        "$@" >> build/portability.rows
    echo "$1, $2: all $4 tests pass, hashes equal"
}

tests() { meson test -C "$1" --list 2> /dev/null | grep -c ' - '; }

count() { qemu-aarch64 -L /usr/aarch64-linux-gnu -plugin build/count.so "$@" 2>&1 > /dev/null; }

arm64() {
    gcc -shared -fPIC -O2 -o build/count.so tools/arm64/count.c
    for compiler in gcc clang; do
        build=build/arm64-$compiler
        number=$(version $([ $compiler = gcc ] && echo aarch64-linux-gnu-gcc || echo clang))
        prepare $build tools/arm64/$compiler.ini -Dtests=true
        meson test -C $build --print-errorlogs --timeout-multiplier 10
        meson compile -C $build instructions
        program=$build/csrc/tests/instructions counts=
        for workload in forward rows machine cholesky; do
            plain=$(count $program $workload scalar) neon=$(count $program $workload neon)
            echo "$compiler, $workload: $plain instructions in plain C, $neon with NEON, $((plain * 100 / neon)) %"
            counts="$counts${counts:+, }\"$workload\": [$plain, $neon]"
        done
        row "Linux, ARM64" "$compiler $number" "qemu-aarch64 $(version qemu-aarch64)" "$(tests $build)" \
            "$(untested qemu-aarch64 -L /usr/aarch64-linux-gnu $build/csrc/tests/test_dispatch)" "$counts"
    done
}

windows() {
    export WINEDEBUG=-all WINEPREFIX="$PWD/build/wine"
    mkdir -p "$WINEPREFIX"
    wine=$(version /usr/lib/wine/wine64)
    library=$(dirname "$(x86_64-w64-mingw32-gcc -print-libgcc-file-name)") # clang does not look there
    for compiler in gcc clang; do
        build=build/windows-$compiler
        number=$(version $([ $compiler = gcc ] && echo x86_64-w64-mingw32-gcc || echo clang))
        prepare $build tools/windows/$compiler.ini -Dtests=true -Dc_link_args="-L$library"
        meson test -C $build --print-errorlogs --timeout-multiplier 10
        row "Windows, x86-64" "$compiler $number, MinGW" "$wine" "$(tests $build)" \
            "$(untested /usr/lib/wine/wine64 $build/csrc/tests/test_hashes.exe)" ""
    done
    ln -sf "$(command -v clang)" build/clang-cl # by its name it is Visual Studio's
    build=build/windows-clang-cl
    prepare $build tools/windows/clang-cl.ini
    for test in csrc/tests/test_*.c; do
        program=$build/$(basename "$test" .c).exe
        # the same helper for large frames, which Microsoft's library has under another name
        x86_64-w64-mingw32-gcc -O1 -std=c17 -DNDEBUG -Icsrc "$test" -o "$program" \
            -Wl,--start-group $build/csrc/libevk_*.a -Wl,--end-group,--defsym,__chkstk=___chkstk_ms,--no-warnings
        /usr/lib/wine/wine64 "$program" || { echo "$test failed"; exit 1; }
    done
    row "Windows, x86-64" "clang-cl $(version clang)" "$wine" "$(ls csrc/tests/test_*.c | wc -l)" \
        "$(untested /usr/lib/wine/wine64 $build/test_hashes.exe)" ""
    sh tools/windows/extensions.sh
}

status=0
for wanted in ${SYSTEMS:-arm64 windows}; do
    case $wanted in
        arm64) tools="qemu-aarch64 aarch64-linux-gnu-gcc clang llvm-ar" ;;
        windows) tools="x86_64-w64-mingw32-gcc /usr/lib/wine/wine64 clang llvm-ar llvm-lib lld-link" ;;
    esac
    if has "$wanted" $tools; then $wanted; else status=${REQUIRE:-0}; fi
done
printf '{"rows": [\n%s\n]}\n' "$(paste -sd, build/portability.rows)" > build/portability.json
exit "$status"
