#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CuPy's kernels on the software device, whose libcuda.so.1 and libcudart.so.* the loader finds first.

Status 77 where there is no CuPy, or one that CUDA's runtime is linked into: its wheels from version 13 on.
"""

import os
import sys

os.environ["CUPY_COMPILE_WITH_PTX"] = "1"  # else it compiles to machine code
try:
    import cupy
    import numpy as np

    cupy.cuda.runtime.getDeviceCount()
except Exception as reason:  # noqa: BLE001 - CuPy wraps what its libraries say in errors of many kinds
    print(f"skipped: there is no CuPy with CUDA's shared runtime ({str(reason).strip().splitlines()[-1]})")
    sys.exit(77)

x = np.linspace(0, 1, 1000, dtype=np.float32)
there = cupy.asarray(x)
np.testing.assert_array_equal(there.get(), x)

twice = cupy.RawKernel(
    """extern "C" __global__ void twice(const float* a, float* out, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = 2 * a[i];
    }""", "twice")
out = cupy.empty(1000, cupy.float32)
twice((8,), (128,), (there, out, 1000))
np.testing.assert_array_equal(out.get(), 2 * x)

module = cupy.RawModule(
    code="""__constant__ float by;
    template <class T> __global__ void scale(T* a, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) a[i] *= by;
    }""", options=("-std=c++17",), name_expressions=["scale<float>"])
by = cupy.ndarray((1,), cupy.float32, module.get_global("by"))
by[0] = 3
module.get_function("scale<float>")((8,), (128,), (out, 1000))
np.testing.assert_array_equal(out.get(), 6 * x)

square = cupy.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "square")
np.testing.assert_array_equal(square(there, cupy.float32(2)).get(), (x - 2) ** 2)
np.testing.assert_allclose(cupy.exp(cupy.sin(there)).get(), np.exp(np.sin(x)), rtol=1e-6)

norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
np.testing.assert_allclose(float(norm(there)), np.linalg.norm(x.astype(float)), rtol=1e-6)
np.testing.assert_allclose(float(there.sum()), 500, rtol=1e-6)
np.testing.assert_array_equal(there.reshape(10, 100).max(axis=1).get(), x.reshape(10, 100).max(axis=1))
np.testing.assert_array_equal(there[there > 0.5].get(), x[x > 0.5])

with cupy.cuda.Stream(non_blocking=True) as stream:
    total = cupy.arange(10).sum()
    stream.synchronize()
assert int(total) == 45
print("CuPy: every kernel gave what it should")
