#!/bin/sh
# Runs the kernels' tests under the address and undefined-behaviour sanitizers.
# Usage: sh wrapping/kernels/sanitize.sh path/to/python [pytest options]
# The instrumented extension is built in a copy of the package; the installed one is not touched.
set -eu

python=$1
shift
case $python in
*/*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;;
esac
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

cp -R "$root/itk_consensus" "$root/wrapping" "$root/tests" "$root/examples" "$root/setup.py" "$root/pyproject.toml" "$work"
for page in README.md LICENSE; do
    if [ -e "$root/$page" ]; then cp "$root/$page" "$work"; fi
done
rm -f "$work"/itk_consensus/_kernels*.so
cd "$work"

flags="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1"
ITK_CONSENSUS_CXXFLAGS=$flags "$python" setup.py -q build_ext --inplace

# Python itself is not instrumented, so the sanitizers' runtimes must be preloaded. Python does not free
# all memory at exit, so leak detection is disabled.
compiler=${CXX:-g++}
preload="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)"
status=0
LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
    UBSAN_OPTIONS=print_stacktrace=1 \
    "$python" -m pytest -q -n 2 -p no:cacheprovider tests/wrapping/test_*kernel*.py \
    tests/wrapping/test_arrays.py tests/wrapping/test_box_sum.py tests/votes \
    tests/methods/staple/test_spatial_staple.py tests/methods/selection/test_boundary_simple.py \
    tests/methods/consensus/test_coherence_vote.py \
    tests/space/test_band_gains.py tests/space/test_pieces.py tests/methods/atlas \
    tests/methods/shape tests/methods/direct_inference tests/filters/test_stopping.py "$@" ||
    status=$?

if [ "$status" -eq 0 ]; then
    echo "sanitizers: clean"
else
    echo "sanitizers: something was reported or a test failed (status $status)"
fi
exit "$status"
