// SPDX-License-Identifier: Apache-2.0
// The score of a query and a key that RoPE has rotated.
#pragma once

#include <vector>

#include "proofs_checks/samples.hpp"
#include "reference/position/rope.hpp"

namespace plumbline::proofs_checks {

/// <R_i q, R_j k> for vectors of an even number of components, interleaved pairs, base 10000: of
/// four components the frequencies are 1 and 1/100.
template <class R>
R rope_score(const reference::Vector<R>& q, int i, const reference::Vector<R>& k, int j) {
  const auto rotated = [](const reference::Matrix<R>& row, int position) {
    return reference::rope<R>(row, position, R(10000.0), reference::RopePairs::interleaved);
  };
  const auto a = rotated(q.transpose(), i), b = rotated(k.transpose(), j);
  R total(0.0);
  for (int c = 0; c < a.cols(); ++c) total += a(0, c) * b(0, c);
  return total;
}

/// Queries and keys of four components.
inline Samples rope_vectors() {
  return {{{"q", {1, 0, 0, 1}}, {"k", {0, 1, 1, 1}}},
          {{"q", {0.5, -2, 1, 3}}, {"k", {-1, 0.25, 2, 0.5}}},
          {{"q", {1, 1, 1, 1}}, {"k", {1, 1, 1, 1}}}};
}

}  // namespace plumbline::proofs_checks
