#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numba's kernels on the software device, whose libcuda.so.1 the loader finds first.

Status 77 where there is no numba-cuda (or what it needs of CUDA's toolkit: NVVM, libdevice, NVRTC).
"""

import sys
import warnings

try:
    from cuda.bindings._internal import nvjitlink

    # So Numba links by the driver, and not by nvJitLink, which makes machine code.
    nvjitlink._inspect_function_pointer = lambda name: 0
    import numpy as np
    from numba import cuda, float32
    from numba.cuda.cudadrv import nvvm

    nvvm.NVVM()
except Exception as reason:  # noqa: BLE001 - each package that is missing says so in its own way
    print(f"skipped: Numba for CUDA is not installed ({reason})")
    sys.exit(77)

warnings.simplefilter("ignore")  # small grids, a linker that Numba would not choose


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + y[i]


@cuda.jit
def total(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def histogram(x, counts):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


@cuda.jit
def sum_of_a_warp(out):
    value = cuda.laneid
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
    if cuda.laneid == 0:
        out[0] = value


@cuda.jit(lineinfo=True)
def beyond(out):
    out[cuda.threadIdx.x + 1] = 1  # writes one too many


x = np.arange(1000, dtype=np.float32)
out = np.zeros_like(x)
add[8, 128](x, 2 * x, out)
np.testing.assert_array_equal(out, 3 * x)

sums = cuda.to_device(np.zeros(1, np.float32))
total[8, 128](cuda.to_device(x), sums)
assert sums.copy_to_host()[0] == 499500  # whole numbers below 2^24: exact

counts = cuda.to_device(np.zeros(16, np.int32))
values = (np.arange(1000) * 7 % 16).astype(np.int32)
histogram[8, 128](values, counts)
np.testing.assert_array_equal(counts.copy_to_host(), np.bincount(values, minlength=16))

lanes = cuda.to_device(np.zeros(1, np.int32))
sum_of_a_warp[1, 32](lanes)
assert lanes.copy_to_host()[0] == 31 * 32 // 2

stream = cuda.stream()
there = cuda.to_device(x, stream=stream)
back = there.copy_to_host(stream=stream)
stream.synchronize()
np.testing.assert_array_equal(back, x)

if sys.argv[1:] == ["fault"]:
    beyond[1, 4](cuda.to_device(np.zeros(4)))
    cuda.synchronize()
print("Numba: every kernel gave what it should")
