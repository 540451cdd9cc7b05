// SPDX-License-Identifier: Apache-2.0
#include "bench/verdict/problem.hpp"

#include <cmath>
#include <cstring>

#include "bench/verdict/arithmetic.hpp"

namespace plumbline::bench {
namespace {

float element(const void* data, std::size_t n, int format) {
  if (format == PLUMBLINE_BF16) {
    const std::uint32_t bits = static_cast<const std::uint16_t*>(data)[n];
    return std::bit_cast<float>(bits << 16);
  }
  if (format == PLUMBLINE_FP16) {
    _Float16 value;
    std::memcpy(&value, static_cast<const char*>(data) + 2 * n, 2);
    return static_cast<float>(value);
  }
  return static_cast<const float*>(data)[n];
}

std::vector<float> widened(const void* data, std::size_t count, int format) {
  std::vector<float> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = element(data, n, format);
  return values;
}

/// Keys or values out of their pages.
std::vector<float> gathered(const plumbline_problem& p, const void* data, const Fault& fault,
                            bool values) {
  const int page_size = p.page_size, pages_of_sequence = (p.keys + page_size - 1) / page_size;
  std::vector<float> result(static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys * p.head_dim);
  std::size_t n = 0;
  for (int b = 0; b < p.batch; ++b) {
    for (int h = 0; h < p.kv_heads; ++h) {
      for (int j = 0; j < p.keys; ++j) {
        const int of = fault.is(FaultKind::pages_of_first_batch) ? 0 : b;
        int page = p.pages[of * pages_of_sequence + j / page_size];
        if (fault.is(FaultKind::pages_ignored) ||
            (values && fault.is(FaultKind::value_pages_ignored))) {
          page = b * pages_of_sequence + j / page_size;
        }
        int within = j % page_size;
        if (fault.is(FaultKind::page_within_reversed) &&
            (j / page_size + 1) * page_size <= p.keys) {
          within = page_size - 1 - within;
        }
        const std::size_t from =
            ((static_cast<std::size_t>(page) * p.kv_heads + h) * page_size + within) * p.head_dim;
        for (int d = 0; d < p.head_dim; ++d) result[n++] = element(data, from + d, p.format);
      }
    }
  }
  return result;
}

}  // namespace

Problem read_problem(const plumbline_problem& problem, const void* grad_o, bool decodes,
                     bool prefix_in_float, const Fault& fault) {
  Problem result{problem, {}, {}, {}, {}, {}};
  const plumbline_problem& p = problem;
  const std::size_t queries = static_cast<std::size_t>(p.batch) * p.heads * p.queries * p.head_dim,
                    keys = static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys * p.head_dim,
                    sums = static_cast<std::size_t>(p.batch) * p.heads * p.keys;
  result.q = widened(p.q, queries, p.format);
  const bool paged = decodes && p.page_size > 0;
  result.k = paged ? gathered(p, p.k, fault, false) : widened(p.k, keys, p.format);
  result.v = paged ? gathered(p, p.v, fault, true) : widened(p.v, keys, p.format);
  if (grad_o) result.grad_o = widened(grad_o, queries, p.format);
  if (p.prefix_sums) result.prefix.assign(p.prefix_sums, p.prefix_sums + sums);
  const float* steps = p.parameters[PLUMBLINE_INCREMENTS] ? p.parameters[PLUMBLINE_INCREMENTS]
                                                          : p.parameters[PLUMBLINE_LOG_FORGET];
  if (!p.prefix_sums && steps) {
    result.prefix.resize(sums);
    double sum = 0;
    float sum_in_float = 0;
    for (std::size_t n = 0; n < sums; ++n) {
      if (n % p.keys == 0) sum = sum_in_float = 0;
      if (fault.is(FaultKind::prefix_by_tile) && n % p.keys % 32 == 0) sum = sum_in_float = 0;
      const bool exclusive = fault.is(FaultKind::prefix_exclusive);
      if (exclusive) result.prefix[n] = prefix_in_float ? sum_in_float : sum;
      sum += steps[n];
      sum_in_float += steps[n];
      if (!exclusive) result.prefix[n] = prefix_in_float ? sum_in_float : sum;
    }
  }
  return result;
}

}  // namespace plumbline::bench
