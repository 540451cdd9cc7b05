// SPDX-License-Identifier: Apache-2.0
// Where curves are sampled.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "proofs_checks/pictures/picture.hpp"
#include "reference/core/linear_algebra.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::proofs_checks::pictures {

/// first, first + 1, ..., last.
inline std::vector<double> integers(int first, int last) {
  std::vector<double> values;
  for (int k = first; k <= last; ++k) values.push_back(k);
  return values;
}

/// `count` values from `from` to `to` in equal steps.
inline std::vector<double> linear(double from, double to, int count) {
  std::vector<double> values;
  for (int k = 0; k < count; ++k) values.push_back(from + (to - from) * k / (count - 1));
  return values;
}

/// 1, 2, 4, ..., 2^last: exact.
inline std::vector<double> powers_of_2(int last) {
  std::vector<double> values;
  for (int k = 0; k <= last; ++k) values.push_back(std::ldexp(1.0, k));
  return values;
}

/// 1, 2, 3, 4, 6, 8, 12, ..., last: whole numbers, evenly on a logarithmic axis, for a power of 2.
inline std::vector<double> distances(int last) {
  std::vector<double> values = {1};
  for (int d = 2; d <= last; d *= 2) {
    values.push_back(d);
    if (d < last) values.push_back(d + d / 2);
  }
  return values;
}

template <class F>
Curve curve(std::string label, const std::vector<double>& x, F f,
            Curve::Mark mark = Curve::Mark::line) {
  std::vector<double> y;
  for (const double value : x) y.push_back(f(value));
  return {std::move(label), x, std::move(y), mark};
}

inline std::vector<double> values_of(const reference::Vector<double>& x) {
  return {x.data(), x.data() + x.size()};
}

}  // namespace plumbline::proofs_checks::pictures
