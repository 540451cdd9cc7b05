// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/problem.hpp"

#include <algorithm>
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

/// Of a cache, beside the formats of plumbline_format.
constexpr int of_int8 = PLUMBLINE_FORMAT_COUNT, of_uint8 = of_int8 + 1;

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
  if (format == of_int8) return static_cast<const std::int8_t*>(data)[n];
  if (format == of_uint8) return static_cast<const std::uint8_t*>(data)[n];
  return static_cast<const float*>(data)[n];
}

/// In which the pass reads k and v.
int format_of_keys(const plumbline_problem& p, bool decodes, const Fault& fault) {
  using F = FaultKind;
  switch (decodes ? p.cache_format : int{PLUMBLINE_CACHE_IN_FORMAT}) {
    case PLUMBLINE_CACHE_E4M3:
      return fault.is(F::e4m3_as_e5m2) ? PLUMBLINE_E5M2 : PLUMBLINE_E4M3;
    case PLUMBLINE_CACHE_E5M2:
      return fault.is(F::e5m2_as_e4m3) ? PLUMBLINE_E4M3 : PLUMBLINE_E5M2;
    case PLUMBLINE_CACHE_INT8:
      return fault.is(F::int8_unsigned) ? of_uint8 : of_int8;
    default:
      return p.format;
  }
}

/// The scales of heads, or of heads and keys, that are read for them.
std::vector<float> read_scales(const plumbline_problem& p, const std::vector<float>& scales,
                               const Fault& fault) {
  using F = FaultKind;
  const std::size_t heads = p.kv_heads, keys = scales.size() / p.batch / heads;
  std::vector<float> read(scales.size());
  for (std::size_t n = 0; n < scales.size(); ++n) {
    std::size_t batch = n / keys / heads, head = n / keys % heads, key = n % keys;
    if (fault.is(F::scales_of_first_batch)) batch = 0;
    if (fault.is(F::scales_of_next_head)) head = (head + 1) % heads;
    if (fault.is(F::scales_of_first_head)) head = 0;
    if (fault.is(F::scale_of_first_key)) key = 0;
    read[n] = scales[(batch * heads + head) * keys + key];
  }
  return read;
}

/// Numbers times their scales: those that share one follow each other.
void multiply(std::vector<float>& values, const std::vector<float>& scales) {
  if (scales.empty()) return;
  for (std::size_t n = 0; n < values.size(); ++n) {
    values[n] *= scales[n / (values.size() / scales.size())];
  }
}

/// One after the other.
plumbline_strides contiguous(const plumbline_problem& p, std::int64_t width) {
  const std::int64_t keys = p.page_size > 0 ? p.page_size : p.keys;
  return {p.kv_heads * keys * width, keys * width, width};
}

/// Keys, values or their scales out of their pages. @param ignored the fault of reading these alone
/// in the order of memory
std::vector<float> gathered(const plumbline_problem& p, const void* data,
                            const plumbline_strides& strides, int width, int format,
                            const Fault& fault, FaultKind ignored) {
  const int page_size = p.page_size, pages_of_sequence = (p.keys + page_size - 1) / page_size;
  std::vector<float> result(static_cast<std::size_t>(p.batch) * p.kv_heads * p.keys * width);
  std::size_t n = 0;
  for (int b = 0; b < p.batch; ++b) {
    for (int h = 0; h < p.kv_heads; ++h) {
      for (int j = 0; j < p.keys; ++j) {
        const int of = fault.is(FaultKind::pages_of_first_batch) ? 0 : b;
        int page = p.pages[of * pages_of_sequence + j / page_size];
        if (fault.is(FaultKind::pages_ignored) || fault.is(ignored)) {
          page = b * pages_of_sequence + j / page_size;
        }
        int within = j % page_size;
        if (fault.is(FaultKind::page_within_reversed) &&
            (j / page_size + 1) * page_size <= p.keys) {
          within = page_size - 1 - within;
        }
        if (page < 0) page = 0;  // of keys that no query sees
        const std::size_t from = page * strides.batch + h * strides.head + within * strides.token;
        for (int d = 0; d < width; ++d) result[n++] = element(data, from + d, format);
      }
    }
  }
  return result;
}

/// @param cu_seqlens of packed sequences, whose rows are the last of `tokens` for queries, else the
/// first; or null
/// @param begins where each sequence is taken to begin: cu_seqlens, or else by fault
Rows rows_of(const plumbline_problem& p, const plumbline_strides& strides,
             const std::int32_t* cu_seqlens, const std::int32_t* begins, int heads, int tokens,
             int width, bool of_queries) {
  Rows rows{{}, static_cast<std::size_t>(width)};
  if (p.strided == 0 && !cu_seqlens) return rows;
  for (int b = 0; b < p.batch; ++b) {
    const int there = cu_seqlens ? cu_seqlens[b + 1] - cu_seqlens[b] : tokens;
    const int first = of_queries ? tokens - there : 0;
    for (int h = 0; h < heads; ++h) {
      for (int t = 0; t < tokens; ++t) {
        std::int64_t token = t - first;
        if (cu_seqlens) token = std::min(begins[b] + token, cu_seqlens[p.batch] - std::int64_t{1});
        const bool is_there = t >= first && t < first + there;
        rows.begin.push_back(is_there ? b * strides.batch + h * strides.head + token * strides.token
                                      : Rows::missing);
      }
    }
  }
  return rows;
}

Rows rows_of_queries(const plumbline_problem& p, const plumbline_strides& strides, int width,
                     const std::int32_t* begins) {
  return rows_of(p, strides, p.cu_seqlens_q, begins, p.heads, p.queries, width, true);
}

Rows rows_of_keys(const plumbline_problem& p, const plumbline_strides& strides, int width,
                  const std::int32_t* begins) {
  return rows_of(p, strides, p.cu_seqlens_k, begins, p.kv_heads, p.keys, width, false);
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

std::vector<std::uint8_t> made_keep(const plumbline_problem& p, const Fault& fault) {
  using F = FaultKind;
  std::vector<std::uint8_t> keep(static_cast<std::size_t>(p.batch) * p.heads * p.queries * p.keys);
  std::uint64_t seed = p.dropout_seed, offset = p.dropout_offset;
  if (fault.is(F::dropout_seed_of_32_bits)) seed &= 0xffffffff;
  if (fault.is(F::dropout_offset_ignored)) offset = 0;
  for (std::size_t n = 0; n < keep.size(); ++n) {
    std::uint64_t index = offset + n;
    if (fault.is(F::dropout_counter_of_32_bits)) index &= 0xffffffff;
    const auto word = static_cast<std::int32_t>(philox(seed, index));
    keep[n] = 4.6566127342e-10F * static_cast<float>(word < 0 ? -1 - word : word) > p.dropout;
  }
  return keep;
}

std::int64_t Rows::place(std::size_t n) const {
  if (begin.empty()) return static_cast<std::int64_t>(n);
  const std::int64_t first = begin[n / width];
  return first == missing ? missing : first + static_cast<std::int64_t>(n % width);
}

Rows query_rows(const plumbline_problem& p) {
  return rows_of_queries(p, p.q_strides, p.head_dim, p.cu_seqlens_q);
}
Rows key_rows(const plumbline_problem& p) {
  return rows_of_keys(p, p.k_strides, p.head_dim, p.cu_seqlens_k);
}
Rows value_rows(const plumbline_problem& p) {
  return rows_of_keys(p, p.v_strides, p.value_dim, p.cu_seqlens_k);
}
Rows output_rows(const plumbline_problem& p) {
  return rows_of_queries(p, p.o_strides, p.value_dim, p.cu_seqlens_q);
}
Rows lse_rows(const plumbline_problem& p) {
  return p.cu_seqlens_q ? rows_of_queries(p, {0, p.total_q, 1}, 1, p.cu_seqlens_q) : Rows{};
}

std::vector<float> widened(const void* data, std::size_t count, int format, const Rows& rows) {
  std::vector<float> values(count);
  for (std::size_t n = 0; n < count; ++n) {
    const std::int64_t place = rows.place(n);
    if (place != Rows::missing) values[n] = element(data, place, format);
  }
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
  using F = FaultKind;
  Rows of_q = query_rows(p), of_k = key_rows(p);
  if (p.cu_seqlens_q) {
    for (int b = 0; b < p.batch; ++b) {
      result.lengths.push_back(p.cu_seqlens_k[b + 1] - p.cu_seqlens_k[b]);
      result.query_lengths.push_back(p.cu_seqlens_q[b + 1] - p.cu_seqlens_q[b]);
    }
    result.p.lengths = result.lengths.data();
    result.p.queries_at_end = 1;
    const std::vector<std::int32_t> zeros(p.batch, 0);
    if (fault.is(F::packed_queries_at_offsets_of_keys)) {
      of_q = rows_of_queries(p, p.q_strides, p.head_dim, p.cu_seqlens_k);
    }
    if (fault.is(F::packed_keys_of_first_sequence)) {
      of_k = rows_of_keys(p, p.k_strides, p.head_dim, zeros.data());
    }
  }
  plumbline_strides k_strides = p.k_strides;
  if (fault.is(F::strides_of_k_ignored) && p.strided != 0) {
    of_k = {};
    k_strides = contiguous(p, p.head_dim);
  }
  result.q = widened(p.q, queries * dim, p.format, of_q);
  const int format = format_of_keys(p, decodes, fault);
  const bool paged = decodes && p.page_size > 0;
  result.k = paged ? gathered(p, p.k, k_strides, p.head_dim, format, fault, F::pages_ignored)
                   : widened(p.k, keys * dim, format, of_k);
  result.v = paged
                 ? gathered(p, p.v, p.v_strides, p.value_dim, format, fault, F::value_pages_ignored)
                 : widened(p.v, keys * value_dim, format, value_rows(p));
  if (fault.is(F::values_at_end_of_keys) && p.values_in_keys) {
    for (std::size_t n = 0; n < keys; ++n) {
      std::copy_n(&result.k[(n + 1) * dim - value_dim], value_dim, &result.v[n * value_dim]);
    }
  }
  const auto scales = [&](const float* given, F missing) -> std::vector<float> {
    if (!given || fault.is(F::scales_missing) || fault.is(missing)) return {};
    const auto all = !p.scale_per_key ? std::vector<float>(given, given + p.batch * p.kv_heads)
                     : paged ? gathered(p, given, contiguous(p, 1), 1, PLUMBLINE_FP32, fault,
                                        F::scale_pages_ignored)
                             : std::vector<float>(given, given + keys);
    return read_scales(p, all, fault);
  };
  const bool exchanged = fault.is(F::scales_exchanged);
  multiply(result.q, scales(p.q_scale, F::q_scale_missing));
  const auto k_scale = scales(exchanged ? p.v_scale : p.k_scale, F::k_scale_missing);
  multiply(result.k, k_scale);
  multiply(result.v, scales(exchanged ? p.k_scale : p.v_scale, F::v_scale_missing));
  if (fault.is(F::scale_after_bias) && !k_scale.empty()) {
    result.k_scale.assign(keys, 1);
    multiply(result.k_scale, k_scale);
  }
  if (grad_o) {
    result.grad_o = widened(grad_o, queries * value_dim, output_format(p.format), output_rows(p));
  }
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
