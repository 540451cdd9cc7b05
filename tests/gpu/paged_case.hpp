// SPDX-License-Identifier: Apache-2.0
// A small case as decoding reads it: from a cache in pages, with prefix sums.
#pragma once

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "core/formats.cuh"
#include "small_case.hpp"

namespace plumbline::gpu_tests {

/// Running sums of each row of `keys` values, in double.
inline std::vector<double> running_sums(const std::vector<float>& values, int keys) {
  std::vector<double> sums;
  double sum = 0.0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (n % static_cast<std::size_t>(keys) == 0) sum = 0.0;
    sums.push_back(sum += values[n]);
  }
  return sums;
}

/// What a code of a cache of 8 bits stands for.
inline float number_of_8_bits(gpu::CacheFormat format, std::uint8_t code) {
  float number[1];
  if (format == gpu::CacheFormat::e4m3)
    gpu::load_vector<gpu::float8_e4m3>(&code, number);
  else if (format == gpu::CacheFormat::e5m2)
    gpu::load_vector<gpu::float8_e5m2>(&code, number);
  else
    gpu::load_vector<std::int8_t>(&code, number);
  return number[0];
}

/// With k and v of 8 bits, none of them a NaN or an infinity, and scales that keep them small:
/// powers of two, so that a product has the same bits whether its factor or itself is scaled.
/// `made` must outlive it.
struct CachedCase {
  CachedCase(const Case& made, int format, bool scale_per_key)
      : problem(made.problem),
        k(made.k.size()),
        v(made.v.size()),
        k_scale(scale_per_key ? made.keys : made.keys / made.s.keys),
        v_scale(k_scale.size()) {
    constexpr int kLargest[] = {0, 9, 16, 7};  // its exponent
    Numbers numbers(17);
    for (auto* codes : {&k, &v})
      for (std::uint8_t& code : *codes)
        code = static_cast<std::uint8_t>((numbers.bits() & 0xfbu) | 1u);
    for (auto* scales : {&k_scale, &v_scale})
      for (float& scale : *scales)
        scale = std::ldexp(1.0f, static_cast<int>(numbers.bits() % 3) - kLargest[format]);
    problem.k = k.data();
    problem.v = v.data();
    problem.k_scale = k_scale.data();
    problem.v_scale = v_scale.data();
    problem.cache_format = format;
    problem.scale_per_key = scale_per_key ? 1 : 0;
  }
  CachedCase(const CachedCase&) = delete;

  plumbline_problem problem;
  std::vector<std::uint8_t> k, v;
  std::vector<float> k_scale, v_scale;
};

/// The pages lie in the order opposite to the sequences'; what a page holds beyond the last key is
/// NaN, or -1 in an int8. `made` and `of` must outlive it.
class PagedCase {
 public:
  PagedCase(const Case& made, int page_size) : PagedCase(made, made.problem, page_size) {}
  PagedCase(const Case& made, const plumbline_problem& of, int page_size)
      : problem(of),
        per_sequence_((made.s.keys + page_size - 1) / page_size),
        table_(static_cast<std::size_t>(made.s.batch) * per_sequence_),
        k_(paged(made, of.k, made.s.head_dim * element_bytes(made), page_size)),
        v_(paged(made, of.v, made.s.value_width() * element_bytes(made), page_size)) {
    for (std::size_t n = 0; n < table_.size(); ++n) table_[n] = page_of(n);
    problem.page_size = page_size;
    problem.pages = table_.data();
    problem.k = k_.data();
    problem.v = v_.data();
    if (of.scale_per_key == 1) {
      k_scale_ = paged(made, of.k_scale, sizeof(float), page_size);
      v_scale_ = paged(made, of.v_scale, sizeof(float), page_size);
      problem.k_scale = reinterpret_cast<const float*>(k_scale_.data());
      problem.v_scale = reinterpret_cast<const float*>(v_scale_.data());
    }
    const int bias = problem.bias;
    const bool cable = (bias >= PLUMBLINE_CABLE && bias <= PLUMBLINE_K_CABLE_NW) ||
                       (bias >= PLUMBLINE_CABLE_PAPER && bias <= PLUMBLINE_K_CABLE_PAPER);
    if (!cable && bias != PLUMBLINE_FOX) return;
    const auto summed = cable ? PLUMBLINE_INCREMENTS : PLUMBLINE_LOG_FORGET;
    sums_ = running_sums(made.parameters.values[summed], made.s.keys);
    problem.prefix_sums = sums_.data();
    problem.parameters[summed] = nullptr;
  }
  PagedCase(const PagedCase&) = delete;

  plumbline_problem problem;

 private:
  int page_of(std::size_t n) const { return static_cast<int>(table_.size() - 1 - n); }

  std::size_t element_bytes(const Case& made) const {
    return problem.cache_format != 0 ? 1 : made.short_format() ? 2 : 4;
  }

  /// Of rows of so many bytes.
  std::vector<unsigned char> paged(const Case& made, const void* keys, std::size_t row,
                                   int page_size) const {
    const Shape& s = made.s;
    std::vector<unsigned char> pages(table_.size() * s.kv_heads * page_size * row, 0xff);
    for (int b = 0; b < s.batch; ++b)
      for (int h = 0; h < s.kv_heads; ++h)
        for (int j = 0; j < s.keys; ++j) {
          const std::size_t from = (static_cast<std::size_t>(b) * s.kv_heads + h) * s.keys + j;
          const std::size_t page = page_of(static_cast<std::size_t>(b) * per_sequence_ +
                                           static_cast<std::size_t>(j / page_size));
          const std::size_t to = (page * s.kv_heads + h) * page_size + j % page_size;
          std::memcpy(&pages[to * row], static_cast<const unsigned char*>(keys) + from * row, row);
        }
    return pages;
  }

  int per_sequence_;
  std::vector<std::int32_t> table_;
  std::vector<unsigned char> k_, v_, k_scale_, v_scale_;
  std::vector<double> sums_;
};

}  // namespace plumbline::gpu_tests
