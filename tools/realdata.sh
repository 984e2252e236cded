#!/bin/sh
# The tests that need the packages of the extra realdata, in an environment of its own, as numba, which aeon needs, holds
# numpy back. None of them may be skipped there. What is tested is the wheel in dist, or the tree where there is none.
set -eu
"$1" -m venv "$2"
python=$2/bin/python
"$python" -m pip uninstall -qq -y evoke-learn # pip keeps what has the same version
"$python" -m pip install -qq "$(ls dist/*.whl 2>/dev/null || echo .)[cli,plot,realdata,test]"
if ! "$python" -c 'import sys; from importlib.util import find_spec; sys.exit(find_spec("aeon") is None)'; then
  echo "SKIPPED: the tests of real data, as aeon has no release for $("$python" --version)"
  exit 0
fi
"$python" -m pytest -m realdata --no-skips
