// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/distribution.hpp"

#include <algorithm>
#include <cmath>

namespace plumbline::verdict {

void Distribution::add(double ratio) {
  static const double largest = upper_edge(last_bin - 1);
  int bin = last_bin;
  if (ratio == 0) {
    bin = 0;
  } else if (ratio <= largest) {
    // The ceiling of the logarithm alone: 1 + epsilon must not be rounded into the bin of 1.
    const double steps = std::ceil(bins_per_decade * std::log10(ratio));
    bin = static_cast<int>(
        std::clamp(steps - smallest_decade * bins_per_decade, 1.0, last_bin - 1.0));
  }
  ++counts_[static_cast<std::size_t>(bin)];
}

void Distribution::add(const Distribution& other) {
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) counts_[bin] += other.counts_[bin];
}

double Distribution::upper_edge(int bin) {
  return std::pow(10.0, smallest_decade + static_cast<double>(bin) / bins_per_decade);
}

}  // namespace plumbline::verdict
