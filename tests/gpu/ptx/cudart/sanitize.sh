#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: sanitize.sh ROOT BUILD NVCC
# `plumbline sanitize` of programs as nvcc makes them: a right one, one with a race, one without a kernel.
set -uo pipefail
root=$1 build=$2 nvcc=$3
[ "$build" = "$root/build/release" ] || { echo "skipped: not the launcher's build"; exit 77; }
[ -x "$nvcc" ] || { echo "skipped: there is no nvcc"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
here=$(dirname "$0")

# expect STATUS OUTPUT TEXT PROGRAM...: the status, what is printed, and a text on standard error.
expect() {
  local status=$1 output=$2 text=$3 got=0
  shift 3
  "$root/plumbline" sanitize "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
  if [ "$got" != "$status" ] || [ "$(cat "$scratch/out")" != "$output" ] || ! grep -qF -- "$text" "$scratch/err"; then
    echo "expected status $status, '$output' and '$text', got status $got from: $*" >&2
    cat "$scratch/out" "$scratch/err" >&2
    exit 1
  fi
}

"$nvcc" -lineinfo -cudart shared "$here/reverse.cu" -o "$scratch/right" || exit 1
"$nvcc" -lineinfo -cudart shared -DNO_BARRIER "$here/reverse.cu" -o "$scratch/wrong" || exit 1
line=$(grep -n "// races" "$here/reverse.cu" | cut -d: -f1)
expect 0 63 "1 launches of 1 kernels: nothing wrong was found" "$scratch/right"
expect 1 0 "reverse.cu:$line" "$scratch/wrong"
expect 1 0 "a kernel was stopped" "$scratch/wrong"

# Attention with a tile in shared memory, with and without the barrier before it is read.
attention=$root/tests/verdict/process/shared_attention.cu
options=(-lineinfo -cudart shared -I "$root" -I "$root/kernel_abi" "$here/attention_once.cu")
"$nvcc" "${options[@]}" -o "$scratch/attention" || exit 1
"$nvcc" "${options[@]}" -DWITHOUT_BARRIER -o "$scratch/attention_without" || exit 1
line=$(grep -n "// reads" "$attention" | cut -d: -f1)
expect 0 0.5 "1 launches of 1 kernels: nothing wrong was found" "$scratch/attention"
expect 1 "" "shared_attention.cu:$line" "$scratch/attention_without"

expect 2 "" "link the program with -cudart shared" true
expect 1 "" "link the program with -cudart shared" false
