// SPDX-License-Identifier: Apache-2.0
// The cache that a decoding kernel reads: keys and values in pages, and prefix sums.
#pragma once

#include <cstdint>
#include <vector>

#include "verdict/cases/case.hpp"

namespace plumbline::verdict {

/// Lays a decode case out as plumbline_kernel.h says. Pages lie in an order of their own, which
/// follows from the case's seed, so that a kernel which reads them in order differs. What a page
/// holds beyond the last key is NaN.
class Cache {
 public:
  explicit Cache(const cases::Case&);

  /// Rows of k or v, `width` numbers each, in the cache's layout: as they are for page_size 0.
  std::vector<float> pages(const std::vector<float>& rows, int width) const;
  /// [batch, ceil(keys / page_size)]; empty for page_size 0.
  const std::vector<std::int32_t>& page_table() const { return page_table_; }
  /// S or F of the method, [batch, heads, keys], summed in order in double; empty where the method
  /// has none.
  const std::vector<double>& prefix_sums() const { return prefix_sums_; }

 private:
  cases::Spec spec_;
  std::vector<std::int32_t> page_table_;
  std::vector<double> prefix_sums_;
};

}  // namespace plumbline::verdict
