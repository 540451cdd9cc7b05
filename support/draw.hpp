// SPDX-License-Identifier: Apache-2.0
// Random numbers that are a function of (seed, stream, index) and of nothing else.
#pragma once

#include <cstdint>

namespace plumbline {

/// One stream of random numbers, addressed by index. Element `index` does not depend on what was
/// drawn before it, so a shrunk or reshaped case keeps its other tensors, and any order or number
/// of threads gives the same bits.
///
/// The words are SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014) read at a given position. Everything after the words is exact in double but the one
/// rounding to the format: additions of integers, products with powers of two. No libm function is
/// involved (a Box-Muller transform would inherit log and cos, whose last bits differ between
/// versions of libm).
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t stream) : start_(mix(seed ^ mix(stream))) {}

  /// 64 random bits.
  std::uint64_t word(std::uint64_t index) const { return mix(start_ + (index + 1) * golden_gamma); }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform(std::uint64_t index) const {
    return static_cast<double>(word(index) >> 11) * 0x1p-53;
  }

  /// Uniform in {0, ..., count - 1}; the unevenness is below count / 2^32.
  std::uint32_t below(std::uint64_t index, std::uint32_t count) const {
    return static_cast<std::uint32_t>(((word(index) >> 32) * count) >> 32);
  }

  /// Close to standard normal: the sum of twelve uniforms less 6 (Irwin-Hall), mean 0, variance
  /// 1 - 2^-64, |value| < 6, excess kurtosis -0.1. The sum is taken over 32-bit integers, so that
  /// it has more bits than fp32 and every bit of an fp32 significand is in play.
  double normal(std::uint64_t index) const {
    std::int64_t sum = 0;
    for (std::uint64_t pair = 0; pair < 6; ++pair) {
      const std::uint64_t both = word(6 * index + pair);
      sum += static_cast<std::int64_t>(both >> 32) + static_cast<std::int64_t>(both & 0xffffffffu);
    }
    constexpr std::int64_t mean = 6 * 0xffffffffLL;  // of twelve numbers from 0 to 2^32 - 1
    return static_cast<double>(sum - mean) * 0x1p-32;
  }

 private:
  static constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t start_;
};

}  // namespace plumbline
