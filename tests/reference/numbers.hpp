// SPDX-License-Identifier: Apache-2.0
// The numbers that tests give to an equation.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "reference/core/linear_algebra.hpp"

namespace plumbline::reference {

/// The scalar of an equation's argument: `[](const auto& x) { using R = ScalarOf<decltype(x)>; ...`
template <class VectorRef>
using ScalarOf = typename std::remove_cvref_t<VectorRef>::Scalar;

/// Uniform numbers in [low, high], of full precision, the same on every machine.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }
  /// A whole number of low .. high.
  int whole(int low, int high) { return static_cast<int>(between(low, high + 1 - 0x1p-20)); }
  std::vector<double> between(double low, double high, int count) {
    std::vector<double> numbers(count);
    for (double& x : numbers) x = between(low, high);
    return numbers;
  }

 private:
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

template <Real R>
Vector<R> lifted(const std::vector<double>& numbers) {
  Vector<R> x(static_cast<Eigen::Index>(numbers.size()));
  for (Eigen::Index n = 0; n < x.size(); ++n) x[n] = R(numbers[n]);
  return x;
}

}  // namespace plumbline::reference
