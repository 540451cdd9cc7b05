#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: profile.sh ROOT BUILD NVCC
# `plumbline profile` of a program and of a kernel library as nvcc makes them, and what it refuses.
set -uo pipefail
root=$1 build=$2 nvcc=$3
[ "$build" = "$root/build/release" ] || { echo "skipped: not the launcher's build"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
here=$(dirname "$0")

# expect STATUS OUTPUT TEXT ARGUMENT...: the status, what is printed, and a text on standard error.
expect() {
  local status=$1 output=$2 text=$3 got=0
  shift 3
  TMPDIR=$scratch/left "$root/plumbline" profile "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
  if [ "$got" != "$status" ] || [ "$(cat "$scratch/out")" != "$output" ] || ! grep -qF -- "$text" "$scratch/err"; then
    echo "expected status $status, '$output' and '$text', got status $got from: $*" >&2
    cat "$scratch/out" "$scratch/err" >&2
    exit 1
  fi
  if [ -n "$(ls -A "$scratch/left")" ]; then
    echo "left behind by: $*" >&2
    ls -A "$scratch/left" >&2
    exit 1
  fi
}

mkdir "$scratch/left"
expect 2 "" "the program is missing" --lines 3
expect 2 "" "--lines" --lines x true
expect 2 "" "--lnes" --lnes 3 true
expect 2 "" "--json" --json "$scratch/none/profile.json" true
expect 2 "" "No such file" "$scratch/none"
expect 2 "" "link the program with -cudart shared" true
expect 1 "" "link the program with -cudart shared" false
expect 2 "--lines 3" "link the program with -cudart shared" --lines 2 echo --lines 3

[ -x "$nvcc" ] || { echo "skipped: there is no nvcc"; exit 77; }
"$nvcc" -lineinfo -cudart shared "$here/reverse.cu" -o "$scratch/right" || exit 1
"$nvcc" -lineinfo -cudart shared -DNO_BARRIER "$here/reverse.cu" -o "$scratch/wrong" || exit 1
line=$(grep -n "// races" "$here/reverse.cu" | cut -d: -f1)
expect 0 63 "1 launch of 1 kernel" "$scratch/right"
expect 0 63 "reverse(float*)" "$scratch/right"
"$nvcc" -lineinfo -cudart shared -DTOO_MANY_THREADS "$here/reverse.cu" -o "$scratch/refused" || exit 1
expect 1 63 "a launch was refused (see above)" "$scratch/refused"
expect 1 63 "1 launch of 1 kernel" "$scratch/refused"
expect 0 63 "32 blocks a multiprocessor (compute capability 9.0): 64 of 64 warps" --lines 0 "$scratch/right"
expect 0 63 "reverse.cu:$line " --json "$scratch/profile.json" "$scratch/right"
# Two warps store 64 numbers and load them, without conflicts, and so in global memory.
for text in '"name": "reverse(float*)"' '"shared_transactions": 4,' '"shared_ideal": 4,' '"global_sectors": 16,' \
            '"global_bytes_read": 256,' '"barriers": 2,' '"launches": 1,' '"limited_by": "warps, blocks"'; do
  grep -qF -- "$text" "$scratch/profile.json" || { echo "no $text in:"; cat "$scratch/profile.json"; exit 1; } >&2
done
# The registers are those of the machine code, where there is some for the device, as ptxas tells them.
registers=$("$nvcc" -arch=sm_90 -Xptxas -v -cudart shared "$here/reverse.cu" -o "$scratch/sm_90" 2>&1 |
  sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')
expect 0 63 "($registers a thread)" "$scratch/sm_90"
expect 0 63 "a thread, estimated)" "$scratch/right"
# By CUDA's driver: of PTX, and of a fat binary with machine code.
"$nvcc" -ptx -lineinfo "$here/reverse.cu" -o "$scratch/reverse.ptx" || exit 1
"$nvcc" -fatbin -arch=sm_90 "$here/reverse.cu" -o "$scratch/reverse.fatbin" || exit 1
cc -I "$(dirname "$(dirname "$nvcc")")/include" "$here/../cuda_driver/reverse.c" -o "$scratch/by_driver" \
  "$build/lib/software-device/libcuda.so.1" || exit 1
expect 0 63 "1 launch of 1 kernel" "$scratch/by_driver" "$scratch/reverse.ptx"
expect 0 63 "reverse.cu:$line " "$scratch/by_driver" "$scratch/reverse.ptx"
expect 0 63 "a thread, estimated)" "$scratch/by_driver" "$scratch/reverse.ptx"
expect 0 63 "($registers a thread)" "$scratch/by_driver" "$scratch/reverse.fatbin"
expect 2 "" "is read" --json "$scratch/right" "$scratch/right"
expect 1 0 "a kernel was stopped" "$scratch/wrong"

"$nvcc" -O2 -shared -Xcompiler -fPIC -lineinfo -cudart shared -I "$root/kernel_abi" "$root/docs/examples/attention.cu" \
  -o "$scratch/libmine.so" || exit 1
TMPDIR=$scratch/left "$root/plumbline" profile --lines 5 --kernel "$scratch/libmine.so" --pass forward --bias alibi \
  --dtype fp32 --cases 2 --json "$scratch/mine.json" >"$scratch/out" 2>"$scratch/err" || { cat "$scratch/err"; exit 1; } >&2
grep -q "attention.cu:" "$scratch/err" && grep -q " pass$" "$scratch/out" &&
  grep -q '"format": "plumbline profile"' "$scratch/mine.json" || { cat "$scratch/out" "$scratch/err"; exit 1; } >&2
