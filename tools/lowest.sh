#!/bin/sh
# The Python tests with the lowest versions that pyproject.toml admits: lowest.sh PYTHON FOLDER
set -eu
export PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p build
"$1" tools/lowest.py cli plot parquet export >build/lowest.txt
"$1" -m venv --clear "$2"
"$2/bin/python" -m pip install -qq "$(ls dist/*.whl)[cli,plot,parquet,export,test]" pytest-xdist -c build/lowest.txt
# other packages of these years warn of each other; what is tested is that evoke does its work with them
"$2/bin/python" -m pytest -n auto --dist loadgroup -m "not realdata and not slow and not distributed" -W default
