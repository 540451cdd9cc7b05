// SPDX-License-Identifier: Apache-2.0
// A shuffled order that takes no memory.
#pragma once

#include <cstdint>

#include "support/draw.hpp"

namespace plumbline::text {

/// A permutation of 0, ..., count - 1 that is a function of (count, seed, stream) and of nothing
/// else: any element can be asked for alone. A Feistel network of six rounds on the smallest 2^(2h)
/// that holds count, walked along until it lands below count, at most four steps on average
/// (Black, Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, section 5,
/// cycle-walking).
class Permutation {
 public:
  /// @throws std::invalid_argument unless 1 <= count <= 2^62.
  Permutation(std::int64_t count, std::uint64_t seed, std::uint64_t stream);

  /// Where `index` goes. @throws std::out_of_range unless it is in [0, count).
  std::int64_t operator()(std::int64_t index) const;

 private:
  std::int64_t count_;
  int half_bits_ = 1;
  Draw draw_;
};

}  // namespace plumbline::text
