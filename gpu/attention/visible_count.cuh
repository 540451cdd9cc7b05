// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_VISIBLE_COUNT_CUH
#define PLUMBLINE_GPU_ATTENTION_VISIBLE_COUNT_CUH

#include "attention/mask.cuh"
#include "core/launch.cuh"

namespace plumbline::gpu {

/// SSMax's n_i: counts[b, r] = number of keys visible to query row r of batch b. counts is
/// [batch, queries] in device memory.
void visible_count(const Stream& stream, const Mask& mask, int batch, int queries, int* counts);

}  // namespace plumbline::gpu

#endif
