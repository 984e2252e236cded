#!/bin/sh
# Install evoke with these extras into the active environment: from the wheel in dist/ where `make wheel` built it from
# this very tree, which spares compiling it again, else from the tree.
set -eu
what=.
if [ -z "$(git status --porcelain 2>/dev/null || echo unknown)" ] && [ "$(cat build/wheel/commit 2>/dev/null)" = "$(git rev-parse HEAD)" ]; then
  what=$(ls dist/*.whl)
fi
python -m pip uninstall -qq -y evoke-learn # pip keeps what has the same version
python -m pip install -qq --no-build-isolation "$what[$1]" --config-settings=build-dir=build/pytest
