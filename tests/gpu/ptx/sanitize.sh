#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: sanitize.sh ROOT BUILD NVCC
# `plumbline sanitize` of programs as nvcc makes them, and of one that loads PTX by CUDA's driver: right ones, ones with
# a race, ones without a kernel, and PTX that means harm.
set -uo pipefail
root=$1 build=$2 nvcc=$3
[ "$build" = "$root/build/release" ] || { echo "skipped: not the launcher's build"; exit 77; }
[ -x "$nvcc" ] || { echo "skipped: there is no nvcc"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
here=$(dirname "$0")
reverse=$here/cudart/reverse.cu

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

"$nvcc" -lineinfo -cudart shared "$reverse" -o "$scratch/right" || exit 1
"$nvcc" -lineinfo -cudart shared -DNO_BARRIER "$reverse" -o "$scratch/wrong" || exit 1
line=$(grep -n "// races" "$reverse" | cut -d: -f1)
expect 0 63 "1 launch of 1 kernel: nothing wrong was found" "$scratch/right"
expect 1 0 "reverse.cu:$line" "$scratch/wrong"
expect 1 0 "PLUMBLINE_DEVICE_UNINITIALISED=ones" "$scratch/wrong"
expect 1 0 "a kernel was stopped" "$scratch/wrong"

# A launch that is refused, by a program that does not ask.
"$nvcc" -lineinfo -cudart shared -DTOO_MANY_THREADS "$reverse" -o "$scratch/refused" || exit 1
expect 1 63 "1 of the launches was refused" "$scratch/refused"
expect 1 63 "a block of 2048 threads" "$scratch/refused"

# So is one of a kernel with an instruction that its target does not have: nvcc takes inline PTX as it is.
"$nvcc" -gencode arch=compute_80,code=compute_80 -cudart shared -DOF_ANOTHER_TARGET "$reverse" -o "$scratch/target" || exit 1
expect 1 63 "1 of the launches was refused" "$scratch/target"
expect 1 63 "it needs .target sm_90a, and the module's is sm_80: wgmma.fence.sync.aligned" "$scratch/target"

# A barrier of the grid, and what happens without it: blocks that do not wait run one after another.
"$nvcc" -lineinfo -cudart shared "$here/cudart/grid_barrier.cu" -o "$scratch/grid" || exit 1
"$nvcc" -lineinfo -cudart shared -DNO_BARRIER "$here/cudart/grid_barrier.cu" -o "$scratch/no_grid" || exit 1
expect 0 0 "1 launch of 1 kernel: nothing wrong was found" "$scratch/grid"
"$root/plumbline" sanitize "$scratch/no_grid" >"$scratch/out" 2>"$scratch/err"
[ "$(cat "$scratch/out")" -gt 0 ] || { echo "grid.sync() is not needed: the test says nothing" >&2; exit 1; }

"$nvcc" -lineinfo -cudart shared "$here/cudart/functions.cu" -o "$scratch/functions" || exit 1
expect 0 "0 3001 16004 36009" "1 launch of 1 kernel: nothing wrong was found" "$scratch/functions"
expect 1 cudaErrorAssert "the assertion" "$scratch/functions" 3

# Attention with a tile in shared memory, with and without the barrier before it is read.
attention=$root/tests/verdict/process/shared_attention.cu
options=(-lineinfo -cudart shared -I "$root" -I "$root/kernel_abi" "$here/cudart/attention_once.cu")
"$nvcc" "${options[@]}" -o "$scratch/attention" || exit 1
"$nvcc" "${options[@]}" -DWITHOUT_BARRIER -o "$scratch/attention_without" || exit 1
line=$(grep -n "// reads" "$attention" | cut -d: -f1)
expect 0 0.5 "1 launch of 1 kernel: nothing wrong was found" "$scratch/attention"
expect 1 "" "shared_attention.cu:$line" "$scratch/attention_without"

expect 2 "" "link the program with -cudart shared" true
expect 1 "" "link the program with -cudart shared" false

"$nvcc" -ptx -lineinfo "$reverse" -o "$scratch/right.ptx" || exit 1
"$nvcc" -ptx -lineinfo -DNO_BARRIER "$reverse" -o "$scratch/wrong.ptx" || exit 1
"$nvcc" -cubin -arch=sm_90 "$reverse" -o "$scratch/code.cubin" || exit 1
# The library stands in for the driver's when the program is linked, too.
cc -I "$(dirname "$(dirname "$nvcc")")/include" "$here/cuda_driver/reverse.c" -o "$scratch/reverse" \
  "$build/lib/software-device/libcuda.so.1" || exit 1
line=$(grep -n "// races" "$reverse" | cut -d: -f1)
expect 0 63 "1 launch of 1 kernel: nothing wrong was found" "$scratch/reverse" "$scratch/right.ptx"
expect 1 "" "reverse.cu:$line" "$scratch/reverse" "$scratch/wrong.ptx"
expect 4 "" "compile to PTX" "$scratch/reverse" "$scratch/code.cubin"
expect 4 "" "CUDA_ERROR_FILE_NOT_FOUND" "$scratch/reverse" "$scratch/none.ptx"

# hostile STATUS TEXT BEFORE BODY: a kernel of these statements, after these declarations.
hostile() {
  cat >"$scratch/hostile.ptx" <<END
.version 8.0
.target sm_80
.address_size 64
$3
.visible .entry _Z7reversePf(.param .u64 x)
{
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
$4
ret;
}
END
  expect "$1" "" "$2" "$scratch/reverse" "$scratch/hostile.ptx"
}
export PLUMBLINE_DEVICE_TIME_LIMIT=1
hostile 1 "the kernel has not ended after 1000 ms" "" "L: bra L;"
hostile 1 "the kernel has not ended after 1000 ms" "" "L: bar.sync 0; bra L;"
hostile 1 "calls in one another" ".func f() { call f, (); ret; }" "call f, ();"
hostile 1 "no allocation is near" "" "mov.u64 %rd1, 0xdeadbeef00; st.u32 [%rd1], %r1;"
hostile 1 "waits at barrier 0" "" "mov.u32 %r1, 96; bar.sync 0, %r1;"
hostile 4 "bytes of static shared memory, beyond 49152" ".shared .b8 s[99999999];" "mov.u32 %r1, s;"
hostile 4 "beyond the 8589934592 bytes of the device" ".global .b8 g[99999999999];" ""
hostile 4 "a comment that does not end" "/*" ""
hostile 4 "a character that PTX does not have" "" $'\xff\xfe;'
