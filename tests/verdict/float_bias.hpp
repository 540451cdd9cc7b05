// SPDX-License-Identifier: Apache-2.0
// Biases and their derivatives in plain fp32, written for these tests from plumbline_kernel.h
// alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

#include "tests/bias_of_head.hpp"
#include "verdict/cases/case.hpp"

namespace plumbline::test {

/// Where a row's derivative of one number goes: parameter, place in its tensor, derivative.
using Deposit = std::function<void(plumbline_parameter, std::size_t, float)>;

/// Where the first query of a sequence stands.
inline int first_query(const cases::Case& c, int b) {
  return c.spec.queries_at_end ? c.lengths[b] - c.spec.queries : c.spec.query_offset;
}

/// One pair of a query and a key. Derivatives of prefix sums are d b_ij / d S_i; S_j has their
/// negative.
class FloatBias {
 public:
  FloatBias(const cases::Case& c, int b, int h, int r, int j)
      : c_(c), h_(h), row_(b * c.spec.heads + h), r_(r), i_(r + first_query(c, b)), j_(j) {}

  float value() const {
    const float x = static_cast<float>(std::abs(i_ - j_));
    switch (static_cast<int>(c_.spec.bias.method)) {
      case PLUMBLINE_NOPE:
        return 0.0f;
      case PLUMBLINE_ALIBI:
        return -of_head(PLUMBLINE_SLOPES) * x;
      case PLUMBLINE_CABLE:
      case PLUMBLINE_CABLE_NW:
        return -gain() * std::abs(difference());
      case PLUMBLINE_K_CABLE:
      case PLUMBLINE_K_CABLE_NW:
        return -gain() * std::log1p(difference() * difference());
      case PLUMBLINE_CABLE_PAPER:
      case PLUMBLINE_CABLE_NW_PAPER:
        return gain() * difference();
      case PLUMBLINE_K_CABLE_PAPER:
        return -std::log1p(weighted() * weighted());
      case PLUMBLINE_FIRE: {
        float sum = of_head(PLUMBLINE_OUTPUT_BIAS);
        for (int w = 0; w < width(); ++w) sum += output_weight(w) * std::max(0.0f, unit(w));
        return sum;
      }
      case PLUMBLINE_FOX:
        return difference();
      case PLUMBLINE_T5:
      case PLUMBLINE_T5_BIDIRECTIONAL:
      case PLUMBLINE_T5_CLIPPED:
      case PLUMBLINE_T5_CLIPPED_OFFSET:
        return c_[PLUMBLINE_TABLE][table_entry()];
      case PLUMBLINE_BIAS_TENSOR:
        return c_[PLUMBLINE_TENSOR][tensor_entry()];
      case PLUMBLINE_CUSTOM:
        break;  // custom_bias_test.cpp has kernels of its own
    }
    return bias_of_head().value;
  }

  /// What of the derivative does not go to a prefix sum.
  void derivatives(const Deposit& deposit) const {
    const float x = static_cast<float>(std::abs(i_ - j_));
    switch (static_cast<int>(c_.spec.bias.method)) {
      case PLUMBLINE_CABLE:
        deposit(PLUMBLINE_GAIN, row_ * c_.spec.queries + r_, -std::abs(difference()));
        break;
      case PLUMBLINE_K_CABLE:
        deposit(PLUMBLINE_GAIN, row_ * c_.spec.queries + r_,
                -std::log1p(difference() * difference()));
        break;
      case PLUMBLINE_CABLE_PAPER:
        deposit(PLUMBLINE_GAIN, row_ * c_.spec.queries + r_, difference());
        break;
      case PLUMBLINE_K_CABLE_PAPER:
        deposit(PLUMBLINE_GAIN, row_ * c_.spec.queries + r_, -difference() * weighted_rate());
        break;
      case PLUMBLINE_FIRE:
        fire_derivatives(x, deposit);
        break;
      case PLUMBLINE_T5:
      case PLUMBLINE_T5_BIDIRECTIONAL:
      case PLUMBLINE_T5_CLIPPED:
      case PLUMBLINE_T5_CLIPPED_OFFSET:
        deposit(PLUMBLINE_TABLE, table_entry(), 1.0f);
        break;
      case PLUMBLINE_BIAS_TENSOR:
        deposit(PLUMBLINE_TENSOR, tensor_entry(), 1.0f);
        break;
      case PLUMBLINE_CUSTOM:
        break;
#define PLUMBLINE_DEPOSIT(number, Form) case PLUMBLINE_##number:
        PLUMBLINE_BIASES_OF_HEADS(PLUMBLINE_DEPOSIT)
#undef PLUMBLINE_DEPOSIT
        for (std::size_t n = 0; n < parameters().size(); ++n) {
          deposit(parameters().items[n].id, h_, bias_of_head().derivatives[n]);
        }
        break;
    }
  }

  float prefix_derivative() const {
    const float d = difference();
    switch (static_cast<int>(c_.spec.bias.method)) {
      case PLUMBLINE_CABLE:
      case PLUMBLINE_CABLE_NW:
        return -gain() * (d > 0 ? 1.0f : d < 0 ? -1.0f : 0.0f);
      case PLUMBLINE_K_CABLE:
      case PLUMBLINE_K_CABLE_NW:
        return -gain() * (2 * d / (1 + d * d));
      case PLUMBLINE_CABLE_PAPER:
      case PLUMBLINE_CABLE_NW_PAPER:
        return i_ == j_ ? 0.0f : gain();
      case PLUMBLINE_K_CABLE_PAPER:
        return -gain() * weighted_rate();
      case PLUMBLINE_FOX:
        return i_ == j_ ? 0.0f : 1.0f;
    }
    return 0.0f;
  }

 private:
  float of_head(plumbline_parameter p) const { return c_.of_head(p, row_ / c_.spec.heads, h_); }
  float gain() const {
    return c_[PLUMBLINE_GAIN].empty() ? 1.0f : c_[PLUMBLINE_GAIN][row_ * c_.spec.queries + r_];
  }
  float difference() const {
    const bool fox = c_.spec.bias.method == PLUMBLINE_FOX;
    const float* x = c_[fox ? PLUMBLINE_LOG_FORGET : PLUMBLINE_INCREMENTS].data() +
                     static_cast<std::size_t>(row_) * c_.spec.keys;
    double sum = 0;
    for (int t = std::min(i_, j_) + 1; t <= std::max(i_, j_); ++t) sum += x[t];
    return static_cast<float>(i_ > j_ ? sum : -sum);
  }
  float weighted() const { return gain() * difference(); }
  float weighted_rate() const { return 2 * weighted() / (1 + weighted() * weighted()); }
  const methods::List<methods::Parameter, 10>& parameters() const {
    return methods::row(c_.spec.bias.method).parameters;
  }
  BiasOfHead<float> bias_of_head() const {
    std::array<float, 3> numbers{};
    for (std::size_t n = 0; n < std::min<std::size_t>(3, parameters().size()); ++n) {
      numbers[n] = of_head(parameters().items[n].id);
    }
    return test::bias_of_head(c_.spec.bias.method, c_.options.data(), numbers, i_ - j_);
  }

  std::size_t table_entry() const {
    const int buckets = static_cast<int>(c_.options[PLUMBLINE_BUCKETS]);
    const int largest = static_cast<int>(c_.options[PLUMBLINE_LARGEST]);
    int row = 0, rows = buckets;
    switch (c_.spec.bias.method) {
      case PLUMBLINE_T5:
        row = bucket(std::max(i_ - j_, 0), buckets);
        break;
      case PLUMBLINE_T5_BIDIRECTIONAL:
        row = bucket(std::abs(i_ - j_), buckets / 2) + (j_ > i_ ? buckets / 2 : 0);
        break;
      case PLUMBLINE_T5_CLIPPED:
        row = std::clamp(i_ - j_, 0, largest);
        rows = largest + 1;
        break;
      case PLUMBLINE_T5_CLIPPED_OFFSET:
        row = largest + std::clamp(i_ - j_, -largest, largest);
        rows = 2 * largest + 1;
        break;
      default:
        throw std::invalid_argument("a table that float_bias.hpp does not have");
    }
    return static_cast<std::size_t>(h_) * rows + row;
  }
  std::size_t tensor_entry() const {
    const auto& s = c_.spec;
    const bool by_batch = c_.options[PLUMBLINE_PER_BATCH] == 1;
    const bool by_head = c_.options[PLUMBLINE_PER_HEAD] == 1;
    const bool by_query = c_.options[PLUMBLINE_PER_QUERY] == 1;
    std::size_t entry = by_batch ? row_ / s.heads : 0;
    entry = by_head ? entry * s.heads + h_ : entry;
    entry = by_query ? entry * s.queries + r_ : entry;
    return entry * s.keys + j_;
  }
  /// In long double with a margin: at the borders the logarithms' quotient is a whole number.
  int bucket(int n, int buckets) const {
    const int exact = buckets / 2;
    if (n < exact) return n;
    const long double of_log =
        std::log(static_cast<long double>(n) / exact) /
        std::log(c_.options[PLUMBLINE_MAX_DISTANCE] / static_cast<long double>(exact));
    const int above = static_cast<int>(std::floor(of_log * (buckets - exact) + 1e-12L));
    return std::min(buckets - 1, exact + above);
  }

  int width() const { return static_cast<int>(c_[PLUMBLINE_HIDDEN_WEIGHT].size()); }
  float output_weight(int w) const { return c_[PLUMBLINE_OUTPUT_WEIGHT][h_ * width() + w]; }
  float threshold() const {
    return std::abs(c_[PLUMBLINE_L][0] * static_cast<float>(c_.options[PLUMBLINE_L0]));
  }
  float reach() const { return std::max(static_cast<float>(i_), threshold()); }
  float divisor() const {
    return std::log1p(std::abs(c_[PLUMBLINE_C][0]) * reach()) +
           static_cast<float>(c_.options[PLUMBLINE_EPSILON]);
  }
  float y() const {
    const float x = static_cast<float>(std::abs(i_ - j_));
    return std::log1p(std::abs(c_[PLUMBLINE_C][0]) * x) / divisor();
  }
  float unit(int w) const {
    return c_[PLUMBLINE_HIDDEN_WEIGHT][w] * y() + c_[PLUMBLINE_HIDDEN_BIAS][w];
  }
  void fire_derivatives(float x, const Deposit& deposit) const {
    deposit(PLUMBLINE_OUTPUT_BIAS, h_, 1.0f);
    float by_y = 0;
    for (int w = 0; w < width(); ++w) {
      const float on = unit(w) > 0 ? output_weight(w) : 0.0f;
      deposit(PLUMBLINE_OUTPUT_WEIGHT, h_ * width() + w, std::max(0.0f, unit(w)));
      deposit(PLUMBLINE_HIDDEN_WEIGHT, w, on * y());
      deposit(PLUMBLINE_HIDDEN_BIAS, w, on);
      by_y += on * c_[PLUMBLINE_HIDDEN_WEIGHT][w];
    }
    const float c = std::abs(c_[PLUMBLINE_C][0]), m = reach();
    const float L0 = static_cast<float>(c_.options[PLUMBLINE_L0]);
    deposit(PLUMBLINE_C, 0,
            by_y * (x / (1 + c * x) - y() * m / (1 + c * m)) / divisor() *
                std::copysign(1.0f, c_[PLUMBLINE_C][0]));
    if (static_cast<float>(i_) <= threshold()) {
      deposit(PLUMBLINE_L, 0,
              -by_y * y() * c / (1 + c * m) / divisor() * std::copysign(L0, c_[PLUMBLINE_L][0]));
    }
  }

  const cases::Case& c_;
  int h_, row_, r_, i_, j_;
};

}  // namespace plumbline::test
