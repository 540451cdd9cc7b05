// SPDX-License-Identifier: Apache-2.0
#include "attention/1_naive.cuh"

template void plumbline::gpu::naive_forward(const Stream&, const Forward<float>&);
