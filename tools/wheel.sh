#!/bin/sh
# The release files, as a user gets them: an sdist of what is committed, a wheel built from it, repaired where auditwheel
# exists, and installed in an empty environment outside the checkout.
set -eu
export PIP_DISABLE_PIP_VERSION_CHECK=1
if [ ! -e .git ]; then
  echo "not a git checkout: no sdist, no wheel"
  exit 0
fi
[ -z "$(git status --porcelain)" ] || echo "NOTE: the sdist holds what is committed, not the changes in the tree"
rm -rf dist build/wheel
mkdir -p dist build/wheel
python -m build --no-isolation --outdir build/wheel/raw . >build/wheel/log 2>&1 || { tail -n 50 build/wheel/log; exit 1; }
cp build/wheel/raw/*.tar.gz dist
if command -v auditwheel >/dev/null; then
  auditwheel repair --zip-compression-level 9 --wheel-dir dist build/wheel/raw/*.whl
else
  cp build/wheel/raw/*.whl dist
fi
python tools/check_wheel.py dist/*.whl
python -m venv build/wheel/empty
build/wheel/empty/bin/python -m pip install -qq dist/*.whl
smoke=$(pwd)/tools/smoke.py
(cd build/wheel && empty/bin/python -I "$smoke")
[ -n "$(git status --porcelain)" ] || git rev-parse HEAD >build/wheel/commit # which tools/install.sh asks for
ls -l dist
