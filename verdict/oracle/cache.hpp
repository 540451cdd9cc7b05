// SPDX-License-Identifier: Apache-2.0
// The cache that a decoding kernel reads: keys and values in pages, and prefix sums.
#pragma once

#include <cstdint>
#include <vector>

#include "verdict/cases/case.hpp"

namespace plumbline::verdict {

/// What the page table has for a page that holds only keys beyond a sequence's length.
enum class BeyondLength {
  its_page,   ///< one like others: CoPE, DAPE and rows that are means read these keys
  full_page,  ///< as left from an earlier owner: any full page of numbers, if there is one
  nothing     ///< -1 or a page of NaN, by chance
};

/// Lays a decode case out as plumbline_kernel.h says. Pages lie in an order of their own, which
/// follows from the case's seed, so that a kernel which reads them in order differs. Where a
/// sequence begins with the same keys, values and scales as the first, whole pages of them are
/// pages of both, as servers share them. What a page holds beyond the last key, and a page of no
/// sequence, is NaN.
class Cache {
 public:
  explicit Cache(const cases::Case&, BeyondLength = BeyondLength::its_page);

  /// Rows of k or v, `width` numbers each, in the cache's layout: as they are for page_size 0. In a
  /// shared page numbers of one sequence stay where another's are NaN.
  std::vector<float> pages(const std::vector<float>& rows, int width) const;
  /// [batch, ceil(keys / page_size)], of as many pages; empty for page_size 0.
  const std::vector<std::int32_t>& page_table() const { return page_table_; }
  /// S or F of the method, [batch, heads, keys], summed in order in double; empty where the method
  /// has none.
  const std::vector<double>& prefix_sums() const { return prefix_sums_; }

 private:
  void order_pages();
  void share_pages(const cases::Case&);
  void forget_pages_beyond(const std::vector<std::int32_t>& lengths, BeyondLength);

  cases::Spec spec_;
  std::vector<std::int32_t> page_table_;
  std::vector<std::int32_t>
      filled_;  ///< the same, of the pages that a sequence's keys lie in, or -1
  std::vector<double> prefix_sums_;
};

}  // namespace plumbline::verdict
