#!/bin/sh
# Build the C core alone and run its tests, or some: ctest.sh BUILD_DIR SANITIZERS WERROR [TEST...]
set -eu
build=$1 sanitize=$2 werror=$3
shift 3
[ -f "$build/build.ninja" ] && mode=--reconfigure || mode=
# lundef: clang does not link the sanitizers' run-time library into shared objects
meson setup $mode "$build" -Dcore_only=true -Dtests=true -Dwerror="$werror" -Db_sanitize="$sanitize" -Db_lundef=false
targets=
for test in "$@"; do targets="$targets test_$test"; done
meson compile -C "$build" $targets
meson test -C "$build" --print-errorlogs "$@"
