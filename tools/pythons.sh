#!/bin/sh
# evoke under several Pythons: pythons.sh python3.10 python3.12 ... Each has an environment with the wheel in dist/ and what
# it depends on, or, where the wheel is not for it, with the sdist, which is compiled. All print one hash, and read the
# model that the first one wrote. A free-threaded Python may not turn its lock on.
set -eu
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONWARNINGS=error::RuntimeWarning
here=$(cd "$(dirname "$0")" && pwd)
dist=$here/../dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
hashes=
for python in "$@"; do
  "$python" -m venv --clear "$work/env"
  if "$work/env/bin/python" -m pip install -qq --prefer-binary "$dist"/*.whl 2>"$work/log"; then
    from=wheel
  else
    "$work/env/bin/python" -m pip install -qq --prefer-binary "$dist"/*.tar.gz
    from=sdist
  fi
  cd "$work"
  env/bin/python -I "$here/smoke.py" >log
  found=$(env/bin/python -I "$here/first_use.py" model.evk)
  gil=$(env/bin/python -I -c 'import sys, evoke.estimators; print("with its lock" if getattr(sys, "_is_gil_enabled", lambda: True)() else "free-threaded")')
  echo "$(env/bin/python -VV | cut -d' ' -f1-2) ($gil), $from: $found"
  hashes="$hashes $found"
done
# shellcheck disable=SC2086
[ "$(printf '%s\n' $hashes | sort -u | wc -l)" = 1 ] || { echo "The hashes differ" >&2; exit 1; }
