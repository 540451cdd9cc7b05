// SPDX-License-Identifier: Apache-2.0
// Biases of the offset i - j and numbers of the head. A form has the numbers of its head, `value`
// and, where its parameters have gradients, `derivatives` in their order. A form with `term` reads
// at each offset what that makes of |i - j|, on the host and in double, once for a launch's tables.
// What `derivatives` takes of the head alone, and costs much, a form with `of_head` makes
// beforehand, once for a block.
#ifndef PLUMBLINE_GPU_BIAS_OF_HEAD_CUH
#define PLUMBLINE_GPU_BIAS_OF_HEAD_CUH

#include <cmath>

#include "core/cuda.cuh"
#include "methods.hpp"

namespace plumbline::gpu {

/// What a form is made of, in the order of its parameters in the table of methods.
inline constexpr int kMostNumbers = 3;
inline constexpr int kMostOfHead = 2;
struct HeadNumbers {
  float of[kMostNumbers];
  float epsilon, term;
};

/// ALiBi (Press et al., ICLR 2022, section 3), symmetric form: b = -m_h |i - j|. The distance is
/// exact in fp32 up to 2^24, so the bias carries one rounding. The slope is a constant.
struct Alibi {
  static constexpr int kParameters = 1;
  float slope;

  __device__ explicit Alibi(const HeadNumbers& head) : slope(head.of[0]) {}
  __device__ float value(float offset) const { return -slope * fabsf(offset); }
};

/// BAM's generalised Gaussian prior (Bianchessi et al., appendix C):
/// b = -exp(theta_alpha) y^theta_beta, y = |j - i - mu| + epsilon, mu = exp(theta_mu) -
/// exp(-theta_mu).
///
/// mu = 2 sinh(theta_mu) is evaluated in double: the difference of two fp32 exponentials has an
/// absolute error of u, which near j - i = mu is all that stands beside epsilon = 1e-5. Rounded to
/// fp32 it carries u |mu|, never more than what theta_mu's own last bit is worth. The offset is
/// exact in fp32 up to 2^24.
struct Ggd {
  static constexpr int kParameters = 3;
  float theta_alpha, theta_beta, theta_mu, epsilon;

  __device__ explicit Ggd(const HeadNumbers& head)
      : theta_alpha(head.of[0]),
        theta_beta(head.of[1]),
        theta_mu(head.of[2]),
        epsilon(head.epsilon) {}

  __device__ float mu() const {
    return static_cast<float>(2.0 * sinh(static_cast<double>(theta_mu)));
  }

  /// Of y.
  __device__ float at(float y) const { return -(expf(theta_alpha) * powf(y, theta_beta)); }
  __device__ float value(float offset) const {
    const float distance = fabsf(-offset - mu()) + epsilon;
    return at(distance);
  }

  /// mu and its derivative in theta_mu.
  __device__ void of_head(float* of) const {
    of[0] = mu();
    of[1] = static_cast<float>(2.0 * cosh(static_cast<double>(theta_mu)));
  }

  /// Derivatives in theta_alpha, theta_beta and theta_mu:
  ///   b,  b ln y,  -b theta_beta / y sign(j - i - mu) (exp(theta_mu) + exp(-theta_mu)),
  /// the last 0 where j - i = mu.
  __device__ void derivatives(float offset, const float* of_head, float* of) const {
    const float x = -offset - of_head[0], y = fabsf(x) + epsilon;
    const float b = at(y), rate = of_head[1];
    of[0] = b;
    of[1] = b * logf(y);
    of[2] = x == 0.0f ? 0.0f : -b * theta_beta / y * (x > 0.0f ? rate : -rate);
  }
};

/// Kerple, logarithmic (Chi et al., NeurIPS 2022): b = -p ln(1 + a x), x = |i - j|.
struct KerpleLog {
  static constexpr int kParameters = 2;
  float p, a;

  __device__ explicit KerpleLog(const HeadNumbers& head) : p(head.of[0]), a(head.of[1]) {}

  __device__ float value(float offset) const { return -(p * log1pf(a * fabsf(offset))); }

  /// Derivatives in p and a: -ln(1 + a x), -p x / (1 + a x).
  __device__ void derivatives(float offset, float* of) const {
    const float x = fabsf(offset);
    of[0] = -log1pf(a * x);
    of[1] = -(p * x / (1.0f + a * x));
  }
};

/// Kerple, power: b = -a x^p, and 0 for x = 0.
struct KerplePower {
  static constexpr int kParameters = 2;
  float p, a;

  __device__ explicit KerplePower(const HeadNumbers& head) : p(head.of[0]), a(head.of[1]) {}

  __device__ float value(float offset) const {
    return offset == 0.0f ? 0.0f : -(a * powf(fabsf(offset), p));
  }

  /// Derivatives in p and a: -a x^p ln x, -x^p; both 0 for x = 0.
  __device__ void derivatives(float offset, float* of) const {
    const float x = fabsf(offset), power = x == 0.0f ? 0.0f : powf(x, p);
    of[0] = x == 0.0f ? 0.0f : -(a * power * logf(x));
    of[1] = -power;
  }
};

/// Sandwich (Chi et al., ACL 2023): b = (sum_{k=1}^{64} cos(x 10000^(-k/64)) - 64) / c. The sum is
/// that of the head's table of distances, rounded once.
struct Sandwich {
  static constexpr int kParameters = 1;
  float compression, sum;

  static double term(int distance) {
    double sum = 0.0;
    for (int k = 1; k <= 64; ++k) sum += cos(distance * pow(10000.0, -k / 64.0)) - 1.0;
    return sum;
  }

  __device__ explicit Sandwich(const HeadNumbers& head) : compression(head.of[0]), sum(head.term) {}
  __device__ float value(float) const { return sum / compression; }

  /// The derivative in c: -b / c.
  __device__ void derivatives(float, float* of) const {
    of[0] = -(sum / compression / compression);
  }
};

/// FORM(ALIBI, Alibi) of every one.
#define PLUMBLINE_FORMS(FORM) FORM(ALIBI, Alibi) PLUMBLINE_BIASES_OF_HEADS(FORM)

}  // namespace plumbline::gpu

#endif
