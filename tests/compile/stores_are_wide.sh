#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: stores_are_wide.sh NVCC SOURCE SCRATCH
# Tensor-core kernels write outputs of 16 bits in pieces of 16 bytes, and pairs of them where registers
# are short. The compiler makes stores of a byte out of a copy to an address of which it knows no
# alignment: in the PTX of the forward kernels there must be none to global memory.
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
  pieces=$(grep -cE 'st\.global\.v4\.[usb]32' "$ptx" || true)
  echo "$format: $pieces stores of 16 bytes, $words of 4, $bytes of one"
  # In four kernels a warp writes 32 rows of 64 bytes, four pieces a lane; in the one with bias tensors a
  # lane writes four rows of 32 / 8 pairs.
  if [ "$bytes" -gt 0 ] || [ "$words" -gt 16 ] || [ "$pieces" -lt 16 ]; then
    echo "outputs are not written in whole pieces: see write_rows and store_pair in" \
      "gpu/attention/mma_tile.cuh" >&2
    exit 1
  fi
done
