// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_FIRE_CUH
#define PLUMBLINE_GPU_BIAS_FIRE_CUH

#include "bias/policy.cuh"

namespace plumbline::gpu {

/// FIRE (Li et al., ICLR 2024): b_ij = v_0 + sum_w v_w max(0, w_w y + b_w),
///   y = N / M,  N = ln(1 + |c| |i - j|),  M = ln(1 + |c| m) + epsilon,  m = max(i, |L L0|).
/// N is the entry of the offset, M belongs to the query, and y is the product with 1 / M. Of the
/// sum M and its reciprocal the latter alone is rounded.
struct Fire {
  struct Params {
    int hidden;
    const float *hidden_weight, *hidden_bias, *output_weight, *output_bias, *c, *L;
    float epsilon;
    double L0;
    FireTable table;
  };
  struct Row {
    float inverse;         // 1 / M
    float reach;           // m
    bool below_threshold;  // i <= |L L0|
  };
  struct Key {};
  static constexpr bool kHasEntry = true;
  static constexpr bool kPerPosition = false;
  static constexpr bool kPerPair = false;

  static Params params(const BiasInputs& inputs) {
    const float* const* of = inputs.parameters;
    return {inputs.hidden,
            of[PLUMBLINE_HIDDEN_WEIGHT],
            of[PLUMBLINE_HIDDEN_BIAS],
            of[PLUMBLINE_OUTPUT_WEIGHT],
            of[PLUMBLINE_OUTPUT_BIAS],
            of[PLUMBLINE_C],
            of[PLUMBLINE_L],
            inputs.epsilon,
            inputs.L0,
            inputs.fire_table};
  }

  __device__ static Row load_row(const Params& p, const At& at) {
    const double threshold = fabs(p.L[0] * p.L0);
    const bool below = at.position <= threshold;
    const auto reach = static_cast<float>(below ? threshold : at.position);
    const double divisor = static_cast<double>(log1pf(fabsf(p.c[0]) * reach)) + p.epsilon;
    return {static_cast<float>(1.0 / divisor), reach, below};
  }

  __device__ static Key load_key(const Params&, const At&, int) { return {}; }

  __device__ static float entry(const Params& p, int, int offset) {
    return log1pf(fabsf(p.c[0]) * fabsf(static_cast<float>(offset)));
  }

  __device__ static float value(const Params& p, int head, const Row& row, const Key&,
                                float entry) {
    const float y = entry * row.inverse;
    const float* output_weight = p.output_weight + static_cast<std::size_t>(head) * p.hidden;
    float sum = p.output_bias[head];
    for (int w = 0; w < p.hidden; ++w)
      sum += output_weight[w] * fmaxf(0.0f, p.hidden_weight[w] * y + p.hidden_bias[w]);
    return sum;
  }
};
static_assert(BiasFamily<Fire>);

}  // namespace plumbline::gpu

#endif
