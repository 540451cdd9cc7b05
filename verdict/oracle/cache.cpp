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
constexpr std::uint64_t page_order_stream = 1000, forgotten_pages_stream = 1001;

int pages_of_sequence(const cases::Spec& spec) {
  return (spec.keys + spec.page_size - 1) / spec.page_size;
}

/// Whether keys begin .. end - 1 of sequence b are those of the first sequence, in an array [batch,
/// kv_heads, keys, width]; or [batch, kv_heads] with `keys` 1, of which all are compared.
bool same_as_first(const cases::Spec& spec, const std::vector<float>& array, int b, int begin,
                   int end, int keys, int width) {
  for (int h = 0; h < spec.kv_heads && !array.empty(); ++h) {
    const auto row = [&](int batch, int key) {
      return array.begin() + ((std::ptrdiff_t{batch} * spec.kv_heads + h) * keys + key) * width;
    };
    if (!std::equal(row(0, begin), row(0, end), row(b, begin))) return false;
  }
  return true;
}

}  // namespace

Cache::Cache(const cases::Case& c, BeyondLength beyond) : spec_(c.spec) {
  if (spec_.pass != cases::Pass::decode) return;
  if (spec_.page_size > 0) {
    order_pages();
    share_pages(c);
    filled_ = page_table_;
    forget_pages_beyond(c.lengths, beyond);
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

void Cache::order_pages() {
  page_table_.resize(static_cast<std::size_t>(spec_.batch) * pages_of_sequence(spec_));
  std::iota(page_table_.begin(), page_table_.end(), 0);
  const Draw draw(spec_.seed, page_order_stream);
  for (std::size_t n = page_table_.size(); n > 1; --n) {  // Fisher-Yates
    std::swap(page_table_[n - 1], page_table_[draw.below(n, static_cast<std::uint32_t>(n))]);
  }
}

void Cache::share_pages(const cases::Case& c) {
  const int of_sequence = pages_of_sequence(spec_), size = spec_.page_size;
  const int of_scale = spec_.scale_per_key ? spec_.keys : 1;
  for (int b = 1; b < spec_.batch; ++b) {
    const int length = c.lengths.empty() ? spec_.keys : std::min(c.lengths[0], c.lengths[b]);
    for (int page = 0; page < length / size; ++page) {
      const int begin = page * size, end = begin + size;
      const bool per_key = spec_.scale_per_key;
      const auto is_same = [&](const std::vector<float>& scales) {
        return same_as_first(spec_, scales, b, per_key ? begin : 0, per_key ? end : 1, of_scale, 1);
      };
      if (!is_same(c.k_scale) || !is_same(c.v_scale) ||
          !same_as_first(spec_, c.k, b, begin, end, spec_.keys, spec_.head_dim) ||
          !same_as_first(spec_, c.v, b, begin, end, spec_.keys, spec_.value_width())) {
        break;
      }
      page_table_[std::size_t(b) * of_sequence + page] = page_table_[page];
    }
  }
}

void Cache::forget_pages_beyond(const std::vector<std::int32_t>& lengths, BeyondLength beyond) {
  if (beyond == BeyondLength::its_page || lengths.empty()) return;
  const int of_sequence = pages_of_sequence(spec_);
  std::vector<std::size_t> forgotten;
  std::vector<std::int32_t> full;
  for (std::size_t n = 0; n < page_table_.size(); ++n) {
    const auto begin = static_cast<std::int64_t>(n % of_sequence) * spec_.page_size;
    if (begin >= lengths[n / of_sequence]) {
      forgotten.push_back(n);
    } else if (begin + spec_.page_size <= spec_.keys) {
      full.push_back(page_table_[n]);
    }
  }
  if (beyond == BeyondLength::full_page && full.empty()) return;
  const Draw draw(spec_.seed, forgotten_pages_stream);
  for (const std::size_t n : forgotten) {
    filled_[n] = -1;
    if (beyond == BeyondLength::full_page) {
      page_table_[n] = full[draw.below(n, static_cast<std::uint32_t>(full.size()))];
    } else if (draw.below(n, 2) == 0) {
      page_table_[n] = -1;
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
        const std::int32_t page = filled_[b * of_sequence + j / page_rows];
        if (page < 0) continue;
        const auto from =
            rows.begin() +
            ((static_cast<std::size_t>(b) * spec_.kv_heads + h) * spec_.keys + j) * dim;
        const auto to =
            pages.begin() +
            ((std::size_t(page) * spec_.kv_heads + h) * page_rows + j % page_rows) * dim;
        std::transform(from, from + dim, to, to,
                       [](float x, float there) { return std::isnan(x) ? there : x; });
      }
    }
  }
  return pages;
}

}  // namespace plumbline::verdict
