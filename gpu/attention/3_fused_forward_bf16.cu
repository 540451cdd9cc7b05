// SPDX-License-Identifier: Apache-2.0
#include "attention/3_fused_forward.cuh"

template void plumbline::gpu::fused_forward(const Stream&, const Forward<bfloat16>&);
