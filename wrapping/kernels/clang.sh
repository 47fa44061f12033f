#!/bin/sh
# Compile the kernels with clang, warnings as errors, into a temporary folder.
# Usage: wrapping/kernels/clang.sh path/to/python; prints a note and succeeds if clang is not installed.
set -eu
command -v clang++ > /dev/null || { echo "clang++ is not installed: not compiled with it"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CC=clang CXX=clang++ ITK_CONSENSUS_CXXFLAGS="-Wall -Wextra -Werror" "$1" setup.py -q build_ext \
    --build-lib "$work/lib" --build-temp "$work/temp"
echo "kernels compile with $(clang++ --version | head -1)"
