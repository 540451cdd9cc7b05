// SPDX-License-Identifier: Apache-2.0
#include "attention/2_tiled.cuh"

template void plumbline::gpu::tiled_forward(const Stream&, const Forward<float>&);
