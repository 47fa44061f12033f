#!/bin/sh
# Install the oldest versions that pyproject.toml allows and run the quick tests with them.
# Usage: wrapping/packaging/oldest.sh python3.10 (wheels of all of these versions exist for the oldest Python)
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -m venv "$work/venv"
pip="$work/venv/bin/python -m pip --disable-pip-version-check install --quiet"
$pip "setuptools>=77"
"$work/venv/bin/python" wrapping/packaging/extras.py --oldest plot | xargs $pip
$pip . pytest hypothesis
"$work/venv/bin/python" wrapping/packaging/extras.py --oldest plot | xargs $pip --dry-run
cp -r tests examples pyproject.toml README.md CITATION.cff "$work"
cd "$work"
venv/bin/itk-consensus demo
venv/bin/python -m pytest -q -m "not slow" -p no:cacheprovider tests/test_public_api.py \
    tests/test_samples.py tests/votes tests/methods/staple/test_staple.py tests/images/test_files.py \
    tests/images/test_headers.py
