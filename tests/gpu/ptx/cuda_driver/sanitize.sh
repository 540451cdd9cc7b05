#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: sanitize.sh ROOT BUILD NVCC
# `plumbline sanitize` of a program that loads PTX by CUDA's driver, compiled with cuda.h: with its barrier and
# without, and with a cubin.
set -uo pipefail
root=$1 build=$2 nvcc=$3
[ "$build" = "$root/build/release" ] || { echo "skipped: not the launcher's build"; exit 77; }
[ -x "$nvcc" ] || { echo "skipped: there is no nvcc"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
here=$(dirname "$0")
kernel=$here/../cudart/reverse.cu

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

"$nvcc" -ptx -lineinfo "$kernel" -o "$scratch/right.ptx" || exit 1
"$nvcc" -ptx -lineinfo -DNO_BARRIER "$kernel" -o "$scratch/wrong.ptx" || exit 1
"$nvcc" -cubin -arch=sm_90 "$kernel" -o "$scratch/code.cubin" || exit 1
# The library stands in for the driver's when the program is linked, too.
cc -I "$(dirname "$(dirname "$nvcc")")/include" "$here/reverse.c" -o "$scratch/reverse" \
  "$build/lib/software-device/libcuda.so.1" || exit 1
line=$(grep -n "// races" "$kernel" | cut -d: -f1)
expect 0 63 "1 launches of 1 kernels: nothing wrong was found" "$scratch/reverse" "$scratch/right.ptx"
expect 1 "" "reverse.cu:$line" "$scratch/reverse" "$scratch/wrong.ptx"
expect 4 "" "compile to PTX" "$scratch/reverse" "$scratch/code.cubin"
expect 4 "" "CUDA_ERROR_FILE_NOT_FOUND" "$scratch/reverse" "$scratch/none.ptx"
