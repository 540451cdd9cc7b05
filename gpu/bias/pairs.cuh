// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_PAIRS_CUH
#define PLUMBLINE_GPU_BIAS_PAIRS_CUH

#include "bias/policy.cuh"

namespace plumbline::gpu {

/// A tensor of biases: b_ij = tensor[b, h, r, j] of query row r. An axis of size 1 has stride 0.
struct Pairs {
  struct Params {
    const float* tensor;
    std::size_t batch_stride, head_stride, row_stride;
  };
  struct Row {
    const float* keys;
  };
  struct Key {
    int index;
  };
  static constexpr bool kHasEntry = false;
  static constexpr bool kPerPosition = false;
  static constexpr bool kPerPair = true;

  static Params params(const BiasInputs& inputs) {
    const PairsShape& shape = inputs.pairs;
    const auto keys = static_cast<std::size_t>(inputs.keys);
    const std::size_t of_head = keys * shape.queries, of_batch = of_head * shape.heads;
    return {inputs.parameters[PLUMBLINE_TENSOR], shape.batch > 1 ? of_batch : 0,
            shape.heads > 1 ? of_head : 0, shape.queries > 1 ? keys : 0};
  }
  __device__ static Row load_row(const Params& p, const At& at) {
    return {p.tensor + at.batch * p.batch_stride + at.head * p.head_stride + at.row * p.row_stride};
  }
  __device__ static Key load_key(const Params&, const At&, int key) { return {key}; }
  __device__ static float entry(const Params&, int, int) { return 0.0f; }
  __device__ static float value(const Params&, int, const Row& row, const Key& key, float) {
    return row.keys[key.index];
  }
};
static_assert(BiasFamily<Pairs>);

}  // namespace plumbline::gpu

#endif
