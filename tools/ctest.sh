#!/bin/sh
# Build the C core alone and run its tests, or some: ctest.sh BUILD_DIR SANITIZERS WERROR [TEST...]
set -eu
build=$1 sanitize=$2 werror=$3
shift 3
[ -f "$build/build.ninja" ] && mode=--reconfigure || mode=
# lundef: clang does not link the sanitizers' run-time library into shared objects
meson setup $mode "$build" -Dcore_only=true -Dtests=true -Dwerror="$werror" -Db_sanitize="$sanitize" -Db_lundef=false
meson compile -C "$build"
meson test -C "$build" --print-errorlogs "$@"
