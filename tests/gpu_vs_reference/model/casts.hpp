// SPDX-License-Identifier: Apache-2.0
// What training in bf16 or tf32 rounds on its way, with roundings drawn at random:
// docs/bounds-model.md.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "core/formats.cuh"
#include "reference/core/linear_algebra.hpp"

namespace plumbline::gpu_tests {

/// The roundings of one computation, on numbers of the size that fp32 has.
///
/// Where the device rounds to nearest, a draw takes one of the two neighbours in the format, with
/// the probabilities that make its mean x. For x between them at the share f of their distance d,
/// its standard deviation is d sqrt(f (1 - f)), and the device's error d min(f, 1 - f) is never
/// more. Which one is a function of x and of the draw alone: a number that is computed twice, or
/// used twice, is rounded to the same one, and what is in the format stays.
class Casts {
 public:
  /// Without a draw only the weights are rounded, which are the same whatever is drawn.
  explicit Casts(gpu::Format format, std::optional<std::uint64_t> draw = std::nullopt)
      : kept_bits_(format == gpu::Format::bf16   ? 7
                   : format == gpu::Format::tf32 ? 10
                                                 : 52),
        stores_(format == gpu::Format::bf16),
        draw_(draw) {}

  /// What lies in memory between two operations; tf32 keeps fp32 there.
  double stored(double x) const { return stores_ ? drawn(x) : x; }
  /// What meets another number in a product.
  double operand(double x) const { return drawn(x); }
  /// The same for what attention has from memory: its kernels for tf32 cut off the lower bits.
  double attention_operand(double x) const {
    if (!draw_ || kept_bits_ == 52) return x;
    return stores_ ? drawn(x) : std::bit_cast<double>(bits(x) & ~dropped());
  }

  reference::Matrix<double> stored(const reference::Matrix<double>& x) const {
    return x.unaryExpr([this](double element) { return stored(element); });
  }
  reference::Matrix<double> operand(const reference::Matrix<double>& x) const {
    return x.unaryExpr([this](double element) { return operand(element); });
  }
  reference::Matrix<double> attention_operand(const reference::Matrix<double>& x) const {
    return x.unaryExpr([this](double element) { return attention_operand(element); });
  }

  /// A master weight as products read it: rounded to nearest, ties to even in bf16, away from zero
  /// in tf32.
  double weight(double x) const {
    if (kept_bits_ == 52) return x;
    const std::uint64_t half = (dropped() + 1) / 2;
    const bool odd = (bits(x) & (dropped() + 1)) != 0;
    return std::bit_cast<double>((bits(x) + half - (stores_ && !odd ? 1 : 0)) & ~dropped());
  }
  reference::Matrix<double> weight(const reference::Matrix<double>& x) const {
    return x.unaryExpr([this](double element) { return weight(element); });
  }
  /// A linear layer's bias, which tf32 leaves as it is.
  double bias(double x) const { return stores_ ? weight(x) : x; }

 private:
  static std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
  std::uint64_t dropped() const { return (std::uint64_t{1} << (52 - kept_bits_)) - 1; }

  /// A random number below the last bit that is kept, added to the bits, of which the lower ones
  /// are cut off: that rounds up with the probability f.
  double drawn(double x) const {
    if (!draw_ || kept_bits_ == 52) return x;
    return std::bit_cast<double>((bits(x) + (mixed(bits(x) ^ *draw_) & dropped())) & ~dropped());
  }
  /// The mixing function of SplitMix64, twice.
  static std::uint64_t mixed(std::uint64_t z) {
    for (int round = 0; round < 2; ++round) {
      z += 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      z ^= z >> 31;
    }
    return z;
  }

  int kept_bits_;
  bool stores_;
  std::optional<std::uint64_t> draw_;
};

}  // namespace plumbline::gpu_tests
