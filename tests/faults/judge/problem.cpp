// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/problem.hpp"

#include <cmath>
#include <cstring>

#include "tests/faults/judge/arithmetic.hpp"

namespace plumbline::bench {
namespace {

/// 8 bits: a sign, an exponent, and `kept` bits of the significand.
float of_8_bits(std::uint8_t bits, int kept) {
  const int exponent_bits = 7 - kept, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7f) >> kept, significand = bits & ((1 << kept) - 1);
  const bool ends = exponent == (1 << exponent_bits) - 1;
  double value = exponent == 0 ? std::ldexp(significand, 1 - bias - kept)
                               : std::ldexp(significand + (1 << kept), exponent - bias - kept);
  // e5m2 ends as fp16 does; e4m3 gives up one number alone.
  if (ends && kept == 2) value = significand == 0 ? HUGE_VAL : NAN;
  if (ends && kept == 3 && significand == 7) value = NAN;
  return static_cast<float>(bits & 0x80 ? -value : value);
}

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
  if (format == PLUMBLINE_E4M3 || format == PLUMBLINE_E5M2) {
    return of_8_bits(static_cast<const std::uint8_t*>(data)[n], format == PLUMBLINE_E4M3 ? 3 : 2);
  }
  return static_cast<const float*>(data)[n];
}

/// Numbers times their scales, of which each has `of_scale`.
void multiply(std::vector<float>& values, const float* scales, std::size_t of_scale,
              const plumbline_problem& p, const Fault& fault) {
  if (!scales) return;
  for (std::size_t n = 0; n < values.size(); ++n) {
    std::size_t at = n / of_scale;
    if (fault.is(FaultKind::scales_of_first_batch)) at %= p.kv_heads;
    if (fault.is(FaultKind::scales_of_next_head)) {
      at = at / p.kv_heads * p.kv_heads + (at + 1) % p.kv_heads;
    }
    values[n] *= scales[at];
  }
}

/// Keys or values out of their pages.
std::vector<float> gathered(const plumbline_problem& p, const void* data, const Fault& fault,
                            bool values) {
  const int width = values ? p.value_dim : p.head_dim;
  const int page_size = p.page_size, pages_of_sequence = (p.keys + page_size - 1) / page_size;
  std::vector<float> result(static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys * width);
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
            ((static_cast<std::size_t>(page) * p.kv_heads + h) * page_size + within) * width;
        for (int d = 0; d < width; ++d) result[n++] = element(data, from + d, p.format);
      }
    }
  }
  return result;
}

/// The first word of Philox4x32-10 of the counter (index, 0).
std::uint32_t philox(std::uint64_t seed, std::uint64_t index) {
  constexpr auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  std::uint32_t words[4] = {low(index), low(index >> 32), 0, 0};
  std::uint32_t key[2] = {low(seed), low(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * words[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * words[2];
    words[0] = low(b >> 32) ^ words[1] ^ key[0];
    words[2] = low(a >> 32) ^ words[3] ^ key[1];
    words[1] = low(b);
    words[3] = low(a);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return words[0];
}

}  // namespace

std::vector<std::uint8_t> made_keep(const plumbline_problem& p) {
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(p.batch) * p.heads * p.queries * p.keys);
  for (std::size_t n = 0; n < keep.size(); ++n) {
    const auto word = static_cast<std::int32_t>(philox(p.dropout_seed, p.dropout_offset + n));
    keep[n] = 4.6566127342e-10F * static_cast<float>(word < 0 ? -1 - word : word) > p.dropout;
  }
  return keep;
}

std::vector<float> widened(const void* data, std::size_t count, int format) {
  std::vector<float> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = element(data, n, format);
  return values;
}

Problem read_problem(const plumbline_problem& problem, const void* grad_o, bool decodes,
                     bool prefix_in_float, const Fault& fault) {
  Problem result{problem, {}, {}, {}, {}, {}};
  const plumbline_problem& p = problem;
  const std::size_t queries = static_cast<std::size_t>(p.batch) * p.heads * p.queries,
                    keys = static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys,
                    sums = static_cast<std::size_t>(p.batch) * p.heads * p.keys;
  const std::size_t dim = p.head_dim, value_dim = p.value_dim;
  result.q = widened(p.q, queries * dim, p.format);
  const bool paged = decodes && p.page_size > 0;
  result.k = paged ? gathered(p, p.k, fault, false) : widened(p.k, keys * dim, p.format);
  result.v = paged ? gathered(p, p.v, fault, true) : widened(p.v, keys * value_dim, p.format);
  using F = FaultKind;
  const bool any = !fault.is(F::scales_missing);
  const std::size_t of_q = static_cast<std::size_t>(p.heads / p.kv_heads) * p.queries * dim;
  if (any && !fault.is(F::q_scale_missing)) multiply(result.q, p.q_scale, of_q, p, fault);
  if (any && !fault.is(F::k_scale_missing)) multiply(result.k, p.k_scale, p.keys * dim, p, fault);
  if (any && !fault.is(F::v_scale_missing)) {
    multiply(result.v, p.v_scale, p.keys * value_dim, p, fault);
  }
  if (grad_o) result.grad_o = widened(grad_o, queries * value_dim, output_format(p.format));
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
