// SPDX-License-Identifier: Apache-2.0
// Which row of a table a pair of positions takes: T5's buckets, and clipped distances. Integer
// functions of integers: no scalar appears in them.
#pragma once

#include <gmpxx.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ranges>
#include <vector>

#include "reference/core/preconditions.hpp"

namespace plumbline::reference {

/// T5's buckets. With B buckets for a direction, E = floor(B/2) and D the maximal distance, the
/// distance n >= 0 has the bucket
///   n for n < E, else min(B - 1, E + floor(ln(n/E) / ln(D/E) (B - E))).
/// Causal: B = buckets and n = max(i - j, 0). Bidirectional: B = buckets/2, n = |i - j|, and B is
/// added for j > i.
/// Source: Raffel et al., "Exploring the Limits of Transfer Learning", section 2.1; code
/// tensorflow/mesh, _relative_position_bucket (32 buckets, D = 128).
///
/// Exact: with K = B - E, the floor is at least k where (D/E)^k <= (n/E)^K, that is, where
/// D^k E^(K-k) <= n^K, a comparison of integers. Codes evaluate the logarithms in floating point;
/// where the two sides are equal, their quotient may come out just below k, and n lands a bucket
/// lower: in double for B = 10 and D = 160 at n = 10, 20 and 80. With T5's own 32 buckets and
/// D = 128 float and double agree with this at every distance, in both directions.
///
/// @throws std::invalid_argument unless B >= 2, D > E and, if bidirectional, `buckets` is even.
class T5Buckets {
 public:
  T5Buckets(int buckets, int max_distance, bool bidirectional)
      : rows_(buckets), in_direction_(bidirectional ? buckets / 2 : buckets), both_(bidirectional) {
    const int exact = in_direction_ / 2, K = in_direction_ - exact;
    require(in_direction_ >= 2, "buckets", buckets, "at least 2 for each direction");
    require(!bidirectional || buckets % 2 == 0, "buckets", buckets, "even, if bidirectional");
    require(max_distance > exact, "max_distance", max_distance, "above half of a direction");
    for (int k = 0; k < K; ++k) {
      const mpz_class least = power(max_distance, k) * power(exact, K - k);
      const auto below = [&](std::int64_t n) { return power(n, K) < least; };
      // It holds at n = D for every k <= K, so there is a least n.
      const auto distances = std::views::iota(std::int64_t{exact}, std::int64_t{max_distance} + 1);
      borders_.push_back(static_cast<int>(*std::ranges::partition_point(distances, below)));
    }
  }

  int rows() const { return rows_; }
  /// Whether all keys after the query share the row of its own.
  bool causal_only() const { return !both_; }

  /// The bucket of the query at position i and the key at position j.
  int operator()(int i, int j) const {
    const int n = both_ ? std::abs(i - j) : std::max(i - j, 0);
    return bucket_of_distance(n) + (both_ && j > i ? in_direction_ : 0);
  }

 private:
  static mpz_class power(std::int64_t base, int exponent) {
    mpz_class result;
    mpz_ui_pow_ui(result.get_mpz_t(), static_cast<unsigned long>(base),
                  static_cast<unsigned long>(exponent));
    return result;
  }

  /// Borders passed, the first of them at n = E, count on from bucket E - 1.
  int bucket_of_distance(int n) const {
    if (n < borders_.front()) return n;
    const auto passed = std::ranges::upper_bound(borders_, n) - borders_.begin();
    return in_direction_ / 2 - 1 + static_cast<int>(passed);
  }

  int rows_, in_direction_;
  bool both_;
  std::vector<int> borders_;  ///< [K], not decreasing: bucket E + k begins at distance borders_[k]
};

/// Row min(i - j, K) of K + 1. Source: CABLE, section 2, "T5-bias". The paper knows keys j <= i
/// only; later ones, which a causal mask hides, take row 0 here.
/// @throws std::invalid_argument if K < 0.
class ClippedDistance {
 public:
  explicit ClippedDistance(int largest) : largest_(largest) {
    require(largest >= 0, "largest", largest, "at least 0");
  }
  int rows() const { return largest_ + 1; }
  bool causal_only() const { return true; }
  int operator()(int i, int j) const { return std::clamp(i - j, 0, largest_); }

 private:
  int largest_;
};

/// Row K + clamp(i - j, -K, K) of 2K + 1. Source: the published code of CABLE (axiomlab/Cable),
/// with K = 256. @throws std::invalid_argument if K < 0.
class ClippedOffset {
 public:
  explicit ClippedOffset(int largest) : largest_(largest) {
    require(largest >= 0, "largest", largest, "at least 0");
  }
  int rows() const { return 2 * largest_ + 1; }
  bool causal_only() const { return false; }
  int operator()(int i, int j) const { return largest_ + std::clamp(i - j, -largest_, largest_); }

 private:
  int largest_;
};

}  // namespace plumbline::reference
