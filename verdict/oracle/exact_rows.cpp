// SPDX-License-Identifier: Apache-2.0
#include "verdict/oracle/exact_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "verdict/bias/methods.hpp"
#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

/// What bf16's 8 bits hold, and so every format and operand but the 8-bit ones.
constexpr double largest_whole = 128;

/// Whether a query of zeros has no score but 0, whatever the parameters are.
bool has_no_bias(const cases::Spec& spec, const Contract& contract, int position,
                 const std::vector<int>& visible) {
  if (is_alibi_of_key(contract, spec) || spec.bias.dape > 0) return false;
  const auto zero = bias::visit(spec.bias.method, [](auto method) { return method.of_zero_query; });
  if (zero == bias::ZeroQuery::with_its_own_key_alone) {
    return visible.size() == 1 && visible.front() == position;
  }
  return zero == bias::ZeroQuery::always;
}

/// Rounded to the format, from a number that may lie between two floats.
float rounded(double value, cases::Format format, float towards) {
  auto nearest = static_cast<float>(value);
  const bool inside = towards < 0 ? double{nearest} > value : double{nearest} < value;
  if (inside) nearest = std::nextafter(nearest, towards);
  return cases::stored(nearest, format);
}

}  // namespace

std::optional<LevelRow> level_row(const cases::Case& the_case, const Contract& contract, int batch,
                                  int head, int query, const std::vector<int>& visible) {
  const auto& spec = the_case.spec;
  const std::size_t n = visible.size(), dim = spec.value_width();
  const std::size_t row =
      (static_cast<std::size_t>(batch) * spec.heads + head) * spec.queries + query;
  const float* q = the_case.q.data() + row * spec.head_dim;
  if (std::any_of(q, q + spec.head_dim, [](float x) { return x != 0; })) return std::nullopt;
  if (spec.sinks || spec.dropout > 0 || !the_case.k_scale.empty() ||
      cases::has_scales(spec.format) || !std::has_single_bit(n)) {
    return std::nullopt;
  }
  if (!has_no_bias(spec, contract, the_case.position(batch, query), visible)) return std::nullopt;
  // Weights of exactly 1, and sums that lose nothing.
  if (contract.inexact_exp_zero) return std::nullopt;
  if (spec.softcap != 0 && contract.tanh_error > 0) return std::nullopt;
  if (n > 1 && contract.output_sum_format != PLUMBLINE_FP32) return std::nullopt;
  if (n > 1 && (contract.splits > 1 || !(1.0 / n > contract.skipped_mass))) return std::nullopt;

  const std::size_t kv =
      static_cast<std::size_t>(batch) * spec.kv_heads + head / (spec.heads / spec.kv_heads);
  LevelRow level;
  level.o.resize(dim);
  std::vector<double> magnitude(dim, 0.0);
  const bool any_value = n == 1 && contract.operand_roundoff == 0;
  for (const int j : visible) {
    const float* v = the_case.v.data() + (kv * spec.keys + j) * dim;
    for (std::size_t d = 0; d < dim; ++d) {
      const double size = std::abs(double{v[d]});
      const bool whole = size <= largest_whole && size == std::floor(size);
      if (!whole && !(any_value && size >= 0x1p-100 && size < 0x1p100)) return std::nullopt;
      level.o[d] += v[d] / static_cast<double>(n);
      magnitude[d] += size;
    }
  }
  // Sums of whole numbers are exact as long as the accumulator has bits for them.
  const double exact_below = 0.5 / contract.unit_roundoff;
  const double largest = *std::max_element(magnitude.begin(), magnitude.end());
  if (n > 1 && !(largest < exact_below && static_cast<double>(n) < exact_below)) {
    return std::nullopt;
  }
  // A division, and one more where ranges are merged, whose weights are 1 and 0.
  const double divisions = contract.splits > 1 ? 2.0 : 1.0;
  const double lse = std::log(static_cast<double>(n));
  level.division_error = 4 * u * divisions;
  level.lse_bound = divisions * (u * lse + 4 * u * (lse + 1.0));
  return level;
}

bool is_rounded_from(double value, double error, double got, cases::Format format) {
  // Room for this computation in double. At a tie either neighbour is taken.
  const double room = error * (1 + 0x1p-20) + std::abs(value) * 0x1p-50;
  const double low = rounded(value - room, format, -INFINITY);
  const double high = rounded(value + room, format, INFINITY);
  return low <= got && got <= high;
}

}  // namespace plumbline::verdict
