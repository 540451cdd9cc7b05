// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_BIAS_PREFIX_CUH
#define PLUMBLINE_GPU_BIAS_PREFIX_CUH

#include <float.h>

#include "bias/policy.cuh"
#include "core/log2.cuh"

namespace plumbline::gpu {

/// ln(1 + d^2) for d >= 0, without overflow: where d^2 > 2^60, adding 1 changes nothing in fp32.
__device__ inline float log_one_plus_square(float d) {
  return d < 1073741824.0f ? log1pf(d * d) : 2.0f * logf(d);
}

/// How ln(1 + d^2) is computed: the factor that `of` is to be multiplied with, and d >= 0.
struct ExactLogarithm {
  static constexpr float kFactor = 1.0f;
  __device__ static float of(float d) { return log_one_plus_square(d); }
};
/// By one instruction (core/log2.cuh), for kernels on tensor cores: log2(1 + d^2), whose error the
/// contract's log_error covers. d^2 of an infinite square counts as the largest float.
struct ApproximateLogarithm {
  static constexpr float kFactor = 0.693147181f;
  __device__ static float of(float d) {
    const float x = d * d + 1.0f;
    return log2_approximate(x > FLT_MAX ? FLT_MAX : x);  // not fminf, which would hide a NaN
  }
};

/// 2 d / (1 + d^2), the derivative of ln(1 + d^2), for d >= 0.
__device__ inline float log_one_plus_square_rate(float d) {
  return d < 1073741824.0f ? 2.0f * d / (1.0f + d * d) : 2.0f / d;
}

/// Biases of prefix sums S (Veisi et al., CABLE, eqs 2-7, sign of the published code), and of
/// FoX's forget gates (Lin et al., section 3), with g_i >= 0 indexed by the query:
///   CABLE -g_i |S_i - S_j|,  K-CABLE -g_i ln(1 + (S_i - S_j)^2),  both without g_i as _NW,
///   FoX F_i - F_j,
/// and CABLE as the paper prints it:
///   CABLE g_i (S_i - S_j) (eq. 7; eq. 5 without g_i),  K-CABLE -ln(1 + (g_i (S_i - S_j))^2).
///
/// S grows with the length while neighbours stay close, so in fp32 the difference would lose its
/// leading digits. It is formed in double per pair and rounded to fp32 once: relative error u.
/// Kernels on tensor cores, for which that would be most of a score's instructions, recentre S per
/// tile of keys (attention/mma_bias.cuh).
struct Prefix {
  struct Params {
    plumbline_bias method;
    int heads, queries, keys;
    const double* prefix_sum;
    const float* gain;  // null: 1
  };
  struct Row {
    double sum;
    float gain;
  };
  struct Key {
    double sum;
  };
  static constexpr bool kHasEntry = false;
  static constexpr bool kPerPosition = true;
  static constexpr bool kPerPair = false;

  static Params params(const BiasInputs& inputs) {
    return {inputs.method, inputs.heads,      inputs.queries,
            inputs.keys,   inputs.prefix_sum, inputs.parameters[PLUMBLINE_GAIN]};
  }

  __device__ static Row load_row(const Params& p, const At& at) {
    const std::size_t head = static_cast<std::size_t>(at.batch) * p.heads + at.head;
    return {p.prefix_sum[head * p.keys + max(at.position, 0)],  // below 0 no key is seen
            p.gain ? p.gain[head * p.queries + at.row] : 1.0f};
  }

  __device__ static Key load_key(const Params& p, const At& at, int key) {
    return {p.prefix_sum[(static_cast<std::size_t>(at.batch) * p.heads + at.head) * p.keys + key]};
  }

  __device__ static float entry(const Params&, int, int) { return 0.0f; }

  /// Derivatives of b_ij in the difference S_i - S_j and in g_i.
  struct Derivatives {
    float difference, gain;
  };

  // b_ij of the gain and of the difference S_i - S_j, which the methods have in four forms, and its
  // derivatives. The slope of |d| at 0 is taken as 0.
  struct OfDistance {
    __device__ static float value(float gain, float difference) {
      return -(gain * fabsf(difference));
    }
    __device__ static Derivatives derivatives(float gain, float difference) {
      return falling(difference, difference == 0.0f ? 0.0f : gain, fabsf(difference));
    }
  };
  template <class Logarithm>
  struct OfSquare {
    __device__ static float value(float gain, float difference) {
      return -(gain * Logarithm::kFactor * Logarithm::of(fabsf(difference)));
    }
    __device__ static Derivatives derivatives(float gain, float difference) {
      const float d = fabsf(difference);
      return falling(difference, gain * log_one_plus_square_rate(d),
                     Logarithm::kFactor * Logarithm::of(d));
    }
  };
  template <class Logarithm>
  struct OfWeightedSquare {
    __device__ static float value(float gain, float difference) {
      return -(Logarithm::kFactor * Logarithm::of(gain * fabsf(difference)));
    }
    __device__ static Derivatives derivatives(float gain, float difference) {
      const float d = fabsf(difference), rate = log_one_plus_square_rate(gain * d);
      return falling(difference, gain * rate, d * rate);
    }
  };
  struct OfDifference {
    __device__ static float value(float gain, float difference) { return gain * difference; }
    __device__ static Derivatives derivatives(float gain, float difference) {
      return {gain, difference};
    }
  };

  /// use(the form of the method).
  template <class Logarithm, class Use>
  __device__ __forceinline__ static auto with_form(const Params& p, Use use) {
    switch (static_cast<int>(p.method)) {
      case PLUMBLINE_CABLE:
      case PLUMBLINE_CABLE_NW:
        return use(OfDistance{});
      case PLUMBLINE_K_CABLE:
      case PLUMBLINE_K_CABLE_NW:
        return use(OfSquare<Logarithm>{});
      case PLUMBLINE_K_CABLE_PAPER:
        return use(OfWeightedSquare<Logarithm>{});
      default:  // FoX, and CABLE as printed
        return use(OfDifference{});
    }
  }

  /// S_i - S_j.
  __device__ static float difference_of(const Row& row, const Key& key) {
    return static_cast<float>(row.sum - key.sum);
  }

  __device__ static float value(const Params& p, int, const Row& row, const Key& key, float) {
    return with_form<ExactLogarithm>(
        p, [&](auto form) { return form.value(row.gain, difference_of(row, key)); });
  }

  __device__ static Derivatives derivatives(const Params& p, const Row& row, const Key& key) {
    return with_form<ExactLogarithm>(
        p, [&](auto form) { return form.derivatives(row.gain, difference_of(row, key)); });
  }

 private:
  /// Of a bias that falls with |S_i - S_j|, at this rate; `value` is -b_ij by g_i.
  __device__ static Derivatives falling(float difference, float rate, float value) {
    return {difference < 0.0f ? rate : -rate, -value};
  }
};
static_assert(BiasFamily<Prefix>);

}  // namespace plumbline::gpu

#endif
