// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_OPS_SORT_IDS_CUH
#define PLUMBLINE_GPU_OPS_SORT_IDS_CUH

#include "core/launch.cuh"

namespace plumbline::gpu {

/// The places of the ids in ascending order of the ids, equal ids in the order of their places:
/// ids[order[0]] <= ids[order[1]] <= ... A radix sort without atomics, so the same every run.
/// Shapes, in device memory: ids, order, spare [count]; spare is room to work in. Domain: count >=
/// 1, every id in [0, rows), which check_ids makes sure of.
void sort_ids(const Stream& stream, const int* ids, int count, int rows, int* order, int* spare);

}  // namespace plumbline::gpu

#endif
