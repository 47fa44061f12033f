#!/bin/sh
# Build sdist and wheel, install each into a clean environment outside the checkout, and try it there.
# Usage: wrapping/dist.sh path/to/python (with setuptools, nanobind and build)
set -eu
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quick="tests/test_public_api.py tests/test_samples.py tests/votes/test_voting.py
       tests/cli/test_console.py tests/filters/test_simpleitk_parity.py"

rm -rf "$root/dist"
"$python" -m build --no-isolation --sdist --wheel --outdir "$root/dist" "$root" > "$work/build.log" 2>&1 ||
    { tail -40 "$work/build.log"; exit 1; }
# The tests of the sdist are those that run: one that it forgot to pack is missed here.
mkdir "$work/unpacked"
tar -xzf "$root"/dist/*.tar.gz -C "$work/unpacked" --strip-components 1

for built in "$root"/dist/*.tar.gz "$root"/dist/*.whl; do
    name=${built##*.}
    "$python" -m venv "$work/$name"
    pip="$work/$name/bin/python -m pip --disable-pip-version-check install --quiet"
    $pip --constraint "$root/constraints.txt" "$built[plot]" pytest hypothesis
    # The unpacked package must not be found before the installed one.
    mkdir "$work/try-$name"
    cp -r "$work/unpacked/tests" "$work/unpacked/examples" "$work/unpacked"/*.toml \
        "$work/unpacked/README.md" "$work/unpacked/CITATION.cff" "$work/try-$name"
    (
        cd "$work/try-$name"
        "$work/$name/bin/itk-consensus" demo > demo.txt
        "$work/$name/bin/python" -m pytest -q -m "not slow" -p no:cacheprovider $quick
    )
    echo "$(basename "$built"): installed and tried"
done
