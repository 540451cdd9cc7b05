// SPDX-License-Identifier: Apache-2.0
#include "verdict/oracle/cache.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "support/draw.hpp"

namespace plumbline::verdict {
namespace {

/// A stream of Draw that no tensor of a case is drawn from.
constexpr std::uint64_t page_order_stream = 1000;

int pages_of_sequence(const cases::Spec& spec) {
  return (spec.keys + spec.page_size - 1) / spec.page_size;
}

}  // namespace

Cache::Cache(const cases::Case& c) : spec_(c.spec) {
  if (spec_.pass != cases::Pass::decode) return;
  if (spec_.page_size > 0) {
    page_table_.resize(static_cast<std::size_t>(spec_.batch) * pages_of_sequence(spec_));
    std::iota(page_table_.begin(), page_table_.end(), 0);
    const Draw draw(spec_.seed, page_order_stream);
    for (std::size_t n = page_table_.size(); n > 1; --n) {  // Fisher-Yates
      std::swap(page_table_[n - 1], page_table_[draw.below(n, static_cast<std::uint32_t>(n))]);
    }
  }
  for (const auto parameter : {PLUMBLINE_INCREMENTS, PLUMBLINE_LOG_FORGET}) {
    if (!cases::reads(spec_, parameter)) continue;
    double sum = 0.0;
    for (std::size_t n = 0; n < c[parameter].size(); ++n) {
      if (n % static_cast<std::size_t>(spec_.keys) == 0) sum = 0.0;
      prefix_sums_.push_back(sum += c[parameter][n]);
    }
  }
}

std::vector<float> Cache::pages(const std::vector<float>& rows, int width) const {
  if (page_table_.empty()) return rows;
  const std::size_t page_rows = spec_.page_size, dim = width;
  std::vector<float> pages(page_table_.size() * spec_.kv_heads * page_rows * dim, std::nanf(""));
  const std::size_t of_sequence = pages_of_sequence(spec_);
  for (int b = 0; b < spec_.batch; ++b) {
    for (int h = 0; h < spec_.kv_heads; ++h) {
      for (std::size_t j = 0; j < static_cast<std::size_t>(spec_.keys); ++j) {
        const std::size_t page = page_table_[b * of_sequence + j / page_rows];
        const auto from =
            rows.begin() +
            ((static_cast<std::size_t>(b) * spec_.kv_heads + h) * spec_.keys + j) * dim;
        std::copy(from, from + dim,
                  pages.begin() + ((page * spec_.kv_heads + h) * page_rows + j % page_rows) * dim);
      }
    }
  }
  return pages;
}

}  // namespace plumbline::verdict
