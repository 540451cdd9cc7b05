// SPDX-License-Identifier: Apache-2.0
// CUDA: nvcc's, or the emulation of it on a CPU. PLUMBLINE_ON_GPU tells which.
#ifndef PLUMBLINE_GPU_CORE_CUDA_CUH
#define PLUMBLINE_GPU_CORE_CUDA_CUH

#ifdef __CUDACC__
#include <cuda_runtime.h>
#include <math.h>
#define PLUMBLINE_ON_GPU 1
#else
#include "emulation/cuda_runtime.hpp"
#define PLUMBLINE_ON_GPU 0
#endif

#endif
