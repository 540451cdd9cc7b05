#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: stores_are_wide.sh NVCC SOURCE SCRATCH
# Tensor-core kernels write outputs of 16 bits in pairs. The compiler makes four stores of a byte out
# of a copy to an address of which it knows no alignment: in the PTX of the forward kernels there must
# be none to global memory.
set -euo pipefail
nvcc=$1
source=$2
ptx=$3/stores_are_wide.ptx
mkdir -p "$3"
for format in bf16 fp16; do
  "$nvcc" -std=c++20 -O3 -DNDEBUG -DPLUMBLINE_HEAD_DIMS=32 -arch=compute_80 -ptx -I "$source" \
    -I "$source/gpu" -I "$source/kernel_abi" -o "$ptx" "$source/gpu/attention/mma_forward_$format.cu"
  bytes=$(grep -cE 'st\.global\.[usb]8' "$ptx" || true)
  words=$(grep -cE 'st\.global\.[usb]32' "$ptx" || true)
  echo "$format: $words stores of 4 bytes, $bytes of one"
  # Two rows of a lane, 32 / 8 pairs each.
  if [ "$bytes" -gt 0 ] || [ "$words" -lt 8 ]; then
    echo "outputs are written byte by byte: see store_pair in gpu/attention/mma_tile.cuh" >&2
    exit 1
  fi
done
