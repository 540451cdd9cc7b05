#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: consumer_builds.sh BUILD SCRATCH
# Installs BUILD into a prefix, builds and runs a project that finds it there, runs the installed
# program, which must find its kernels, and the tests of a kernel author's project.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
build=$1
scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"

# Runs a command and shows what it says only when it fails.
quietly() {
  "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
}

quietly cmake --install "$build" --prefix "$scratch/first"
# Nothing may remember where it was installed to, so use it from another folder.
mv "$scratch/first" "$scratch/prefix"
quietly cmake -G Ninja -S "$here/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix"
quietly cmake --build "$scratch/build"
"$scratch/build/consumer"
cd "$scratch" && prefix/bin/plumbline verify --backend emulated --bias alibi --cases 2 --seed 1

# Kernels for GPUs are installed where they were built, and found; without a GPU it says so.
if [ -e "$build/lib/libplumbline_kernels_cuda.so" ]; then
  status=0
  prefix/bin/plumbline verify --backend cuda --bias alibi --cases 2 2>log || status=$?
  if [ $status -ne 0 ] && { [ $status -ne 3 ] || grep -q "were not built" log; }; then
    cat log >&2
    exit 1
  fi
fi

quietly cmake -G Ninja -S "$here/kernel_tests" -B kernels -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  -DEXAMPLE="$here/../../docs/examples/attention.c"
quietly cmake --build kernels
quietly ctest --test-dir kernels --output-on-failure -R '^(right|copy)_is_right$' --no-tests=error
grep -q '<testsuite ' kernels/copy.xml
if ctest --test-dir kernels --output-on-failure -R '^broken_is_right$' --no-tests=error >log 2>&1 ||
   ! grep -q "o: .* elements fail" log || ! grep -q "repeat: ./plumbline verify --kernel " log; then
  echo "a broken kernel does not fail its test as it should:" >&2
  cat log >&2
  exit 1
fi

# refused WORDS ARGUMENTS: the call is an error in these words.
refused() {
  echo "include($scratch/prefix/lib/cmake/plumbline/PlumblineKernelTest.cmake)
        plumbline_add_kernel_test($2)" >refused.cmake
  if cmake -P refused.cmake 2>log || ! tr -s ' \n' ' ' <log | grep -q "$1"; then
    echo "plumbline_add_kernel_test($2) is not refused by: $1" >&2
    cat log >&2
    exit 1
  fi
}
refused "NAME is missing" "KERNEL /mine.so"
refused "mine: KERNEL is missing" "NAME mine"
refused "mine: CASES has no value" "NAME mine KERNEL /mine.so CASES"
refused '"--all" is not expected' "NAME mine KERNEL /mine.so CASES 3 --all"
refused 'KERNEL "mine" is neither a target' "NAME mine KERNEL mine"
