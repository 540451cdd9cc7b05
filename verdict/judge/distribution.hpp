// SPDX-License-Identifier: Apache-2.0
// How many elements have which |error| / bound.
#pragma once

#include <array>
#include <cstddef>

namespace plumbline::verdict {

/// Counts in logarithmic bins: bin 0 has the ratios of 0; bin k, from 1 on, those in
/// (upper_edge(k - 1), upper_edge(k)], bin 1 all smaller ones too; the last bin the larger ones and
/// what is not a number. 1 is an edge, so no bin holds both what is within the bound and what is
/// not.
class Distribution {
 public:
  static constexpr int bins_per_decade = 8, smallest_decade = -6, largest_decade = 2;
  static constexpr int last_bin = (largest_decade - smallest_decade) * bins_per_decade + 1;

  /// One for each bin.
  using Counts = std::array<long, last_bin + 1>;

  Distribution() = default;
  explicit Distribution(const Counts& counts) : counts_(counts) {}
  void add(double ratio);
  void add(const Distribution& other);
  const Counts& counts() const { return counts_; }
  long count(int bin) const { return counts_[static_cast<std::size_t>(bin)]; }
  /// 10^(smallest_decade + bin / bins_per_decade), of the bins from 0 to last_bin - 1.
  static double upper_edge(int bin);

 private:
  Counts counts_{};
};

}  // namespace plumbline::verdict
