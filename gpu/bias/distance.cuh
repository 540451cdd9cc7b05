// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_DISTANCE_CUH
#define PLUMBLINE_GPU_BIAS_DISTANCE_CUH

#include "bias/alibi.cuh"
#include "bias/ggd.cuh"
#include "bias/kerple.cuh"
#include "bias/policy.cuh"

namespace plumbline::gpu {

/// Biases of the head and the offset i - j alone: ALiBi, GGD, Kerple, T5.
struct Distance {
  struct Params {
    plumbline_bias method;
    const float *slopes, *theta_alpha, *theta_beta, *theta_mu, *p, *a, *table;
    const int* table_row;
    int table_rows, keys;
    float epsilon;
  };
  struct Row {};
  struct Key {};
  static constexpr bool kHasEntry = true;
  static constexpr bool kPerPosition = false;

  static Params params(const BiasInputs& inputs) {
    const float* const* of = inputs.parameters;
    return {inputs.method,
            of[PLUMBLINE_SLOPES],
            of[PLUMBLINE_THETA_ALPHA],
            of[PLUMBLINE_THETA_BETA],
            of[PLUMBLINE_THETA_MU],
            of[PLUMBLINE_P],
            of[PLUMBLINE_A],
            of[PLUMBLINE_TABLE],
            inputs.table_row,
            inputs.table_rows,
            inputs.keys,
            inputs.epsilon};
  }

  __device__ static Row load_row(const Params&, const At&) { return {}; }
  __device__ static Key load_key(const Params&, const At&, int) { return {}; }

  /// The row of T5's table for an offset. Tiles reach beyond the sequence: no bias is looked up
  /// there, but none is read outside of the table either.
  __device__ static int table_row(const Params& p, int offset) {
    return p.table_row[max(min(offset, p.keys - 1), 1 - p.keys) + p.keys - 1];
  }

  __device__ static Ggd ggd(const Params& p, int head) {
    return {p.theta_alpha[head], p.theta_beta[head], p.theta_mu[head], p.epsilon};
  }

  __device__ static float entry(const Params& p, int head, int offset) {
    const auto x = static_cast<float>(offset);
    switch (p.method) {
      case PLUMBLINE_ALIBI:
        return Alibi{p.slopes[head]}.value(x);
      case PLUMBLINE_GGD:
        return ggd(p, head).value(x);
      case PLUMBLINE_KERPLE_LOG:
        return KerpleLog{p.p[head], p.a[head]}.value(x);
      case PLUMBLINE_KERPLE_POWER:
        return KerplePower{p.p[head], p.a[head]}.value(x);
      case PLUMBLINE_T5:
      case PLUMBLINE_T5_BIDIRECTIONAL:
      case PLUMBLINE_T5_CLIPPED:
      case PLUMBLINE_T5_CLIPPED_OFFSET:
        return p.table[static_cast<std::size_t>(head) * p.table_rows + table_row(p, offset)];
      case PLUMBLINE_NOPE:
      case PLUMBLINE_CABLE:
      case PLUMBLINE_CABLE_NW:
      case PLUMBLINE_K_CABLE:
      case PLUMBLINE_K_CABLE_NW:
      case PLUMBLINE_FIRE:
      case PLUMBLINE_FOX:
      case PLUMBLINE_CABLE_PAPER:
      case PLUMBLINE_CABLE_NW_PAPER:
      case PLUMBLINE_K_CABLE_PAPER:
      case PLUMBLINE_COPE:
        break;  // not of the distance
    }
    return 0.0f;
  }

  __device__ static float value(const Params&, int, const Row&, const Key&, float entry) {
    return entry;
  }
};
static_assert(BiasFamily<Distance>);

}  // namespace plumbline::gpu

#endif
