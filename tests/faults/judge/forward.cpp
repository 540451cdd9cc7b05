// SPDX-License-Identifier: Apache-2.0
// The forward pass and decoding: online softmax over tiles, ranges of keys merged.
#include <limits>

#include "support/draw.hpp"
#include "tests/faults/judge/attention.hpp"

namespace plumbline::bench {
namespace {

/// As an exponential of few terms has it.
constexpr float exp_of_zero = 1 - 5.3e-5F;

}  // namespace

/// P, or dZ, on its way into a product.
template <class Real>
Real Attention<Real>::weight(Real p) const {
  using F = FaultKind;
  if (fault_.is(F::p_truncated)) return truncated(static_cast<float>(p), variant_.p_format);
  if (fault_.is(F::p_in_bf16)) return lost(p, PLUMBLINE_BF16);
  if (fault_.is(F::p_in_fp16)) return lost(p, PLUMBLINE_FP16);
  if (variant_.dithers != 0) return dithered(static_cast<float>(p), variant_.p_format, part());
  return operand(rounded(p, variant_.p_format));
}

/// P after dropout. @param kept m
template <class Real>
Real Attention<Real>::weight(Real p, Real kept) const {
  if (kept == 1) return weight(p);
  return variant_.drops_rounded_p ? kept * weight(p) : weight(kept * p);
}

/// Of a difference of scores.
template <class Real>
Real Attention<Real>::exp(Real x) const {
  if (fault_.is(FaultKind::base_2)) return std::exp2(x);
  Real p = exponential(x, variant_.exponential);
  if (x == 0 && variant_.inexact_exp_zero) p = exp_of_zero;
  if (fault_.is(FaultKind::exp_coarse)) {
    // A table or a short polynomial for the fraction: off by a function of it.
    const auto fraction = static_cast<double>(x) * 1.4426950408889634;
    p *= static_cast<Real>(1 + fault_.amount * std::sin(6.283185307179586 * fraction));
  }
  return p;
}

template <class Real>
typename Attention<Real>::Partial Attention<Real>::range(const Row<Real>& row, int batch, int head,
                                                         int query, std::size_t begin,
                                                         std::size_t end, bool with_sink) const {
  using F = FaultKind;
  const auto is = [&](F kind) { return fault_.is(kind); };
  const int dim = p_.value_dim;
  Partial part{-std::numeric_limits<Real>::infinity(), 0, std::vector<Real>(dim, Real(0))};
  int kv = kv_head(head);
  if (is(F::other_value_head)) kv = (kv + 1) % p_.kv_heads;
  if (is(F::stale_accumulator) && !left_over_.empty()) {
    for (int d = 0; d < dim; ++d) {
      part.values[d] = static_cast<Real>(fault_.amount) * left_over_[d];
    }
  }
  const bool folded = variant_.exponential == Exponential::folded;
  if (with_sink && !variant_.sink_last) {
    part.maximum = folded ? sink(head) * static_cast<Real>(1 / ln_2) : sink(head);
    part.sum = 1;
    if (is(F::sink_has_value)) {
      const Real* first = v_.data() + in_.key_row(batch, kv, 0) * dim;
      part.values.assign(first, first + dim);
    }
  }
  const auto score = [&](std::size_t n) {
    if (is(F::uniform_p)) return Real(0);
    return folded ? row.s[n] * static_cast<Real>(1 / ln_2) : row.s[n];
  };
  const std::size_t tile = variant_.tile, tiles = (end - begin + tile - 1) / tile;
  std::vector<Real> of_tile(dim);
  const auto add = [&](Real& total, Real term) {
    total = sum(total, term, variant_.cuts);
    if (is(F::o_in_fp16)) total = lost(total, PLUMBLINE_FP16);
    if (is(F::o_in_bf16)) total = lost(total, PLUMBLINE_BF16);
  };
  const auto add_to_sum = [&](Real& total, Real term) {
    total = sum(total, term, variant_.cuts);
    if (is(F::sum_in_fp16)) total = lost(total, PLUMBLINE_FP16);
    if (is(F::sum_in_bf16)) total = lost(total, PLUMBLINE_BF16);
  };
  for (std::size_t t = 0; t < tiles; ++t) {
    const std::size_t first = begin + (variant_.descending ? tiles - 1 - t : t) * tile;
    const std::size_t last = std::min(first + tile, end);
    Real maximum = part.maximum;
    if (!(is(F::maximum_of_first_tile) && t > 0)) {
      for (std::size_t n = first; n < last; ++n) maximum = std::max(maximum, score(n));
    }
    if (is(F::no_maximum)) maximum = 0;
    if (maximum > part.maximum) {
      const bool nothing_yet = part.maximum == -std::numeric_limits<Real>::infinity();
      Real factor = nothing_yet ? Real(0) : exp(part.maximum - maximum);
      if (nothing_yet && is(F::stale_accumulator)) factor = 1;
      if (is(F::rescaled_by_square)) factor *= factor;
      if (!is(F::sum_not_rescaled)) part.sum *= factor;
      if (!is(F::o_not_rescaled)) {
        for (Real& value : part.values) value = rounded(value * factor, variant_.output_sum_format);
      }
      part.maximum = maximum;
    }
    const bool kept = variant_.output_sum_format != PLUMBLINE_FP32;
    const bool apart = variant_.tile_sums || kept;
    Real tile_sum = 0;
    std::fill(of_tile.begin(), of_tile.end(), Real(0));
    Real& total = apart ? tile_sum : part.sum;
    std::vector<Real>& values = apart ? of_tile : part.values;
    for (std::size_t at = first; at < last; ++at) {
      const std::size_t n = variant_.descending ? last - 1 - (at - first) : at;
      const Real p = exp(score(n) - part.maximum);
      if (is(F::small_p_skipped) && p < fault_.amount) continue;
      Real used = weight(p);
      const bool rounded_sum = variant_.sums_rounded_p || is(F::sum_of_rounded_p);
      const Real kept = this->kept(batch, head, query, row.keys[n]);
      if (!(is(F::sum_misses_a_key) && n == row.keys.size() / 2) &&
          !(is(F::dropout_in_denominator) && kept == 0)) {
        add_to_sum(total, is(F::sum_of_rounded_p) ? lost(p, p_.format) : rounded_sum ? used : p);
      }
      if (kept != 1) used = weight(rounded_sum ? used : p, kept);
      if (is(F::p_off_one_key) && n == row.keys.size() / 2) {
        used *= static_cast<Real>(1 + fault_.amount);
      }
      if (is(F::p_noise)) used *= 1 + score_noise(batch, head, 0, row.keys[n]);
      int key = row.keys[n];
      if (is(F::value_after)) key = std::min(key + 1, p_.keys - 1);
      std::size_t of_value = in_.key_row(batch, kv, key) * dim;
      if (is(F::values_read_with_key_stride)) {
        of_value = in_.key_row(batch, kv, 0) * dim + static_cast<std::size_t>(key) * p_.head_dim;
        // What lies beyond was anything.
        if (of_value + dim > v_.size()) continue;
      }
      const Real* v = v_.data() + of_value;
      for (int d = 0; d < dim; ++d) {
        if (is(F::value_element_dropped) && d == dim / 2 && n == row.keys.size() / 2) continue;
        add(values[d], used * v[d]);
      }
    }
    if (apart) {
      add_to_sum(part.sum, tile_sum);
      for (int d = 0; d < dim; ++d) {
        add(part.values[d], rounded(of_tile[d], variant_.output_sum_format));
        part.values[d] = rounded(part.values[d], variant_.output_sum_format);
      }
    }
  }
  if (is(F::stale_accumulator)) left_over_ = part.values;
  return part;
}

template <class Real>
Real Attention<Real>::sink(int head) const {
  using F = FaultKind;
  const Real sink = in_.parameter(PLUMBLINE_SINKS)[fault_.is(F::sink_of_first_head) ? 0 : head];
  return rounded(fault_.is(F::sink_scaled) ? sink * scale_ : sink, variant_.score_format);
}

template <class Real>
bool Attention<Real>::has_sinks() const {
  return p_.sinks != 0 && !fault_.is(FaultKind::sinks_ignored);
}

template <class Real>
bool Attention<Real>::sees_sink_alone() const {
  return has_sinks() && variant_.empty_rows != PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE;
}

/// The sink after the keys of the only range.
template <class Real>
void Attention<Real>::add_sink(Partial& part, int head) const {
  const bool folded = variant_.exponential == Exponential::folded;
  const Real sink = folded ? this->sink(head) * static_cast<Real>(1 / ln_2) : this->sink(head);
  if (sink > part.maximum) {
    const Real factor = exp(part.maximum - sink);
    part.sum *= factor;
    for (Real& value : part.values) value = rounded(value * factor, variant_.output_sum_format);
    part.maximum = sink;
  }
  part.sum = sum(part.sum, exp(sink - part.maximum), variant_.cuts);
}

/// A row's ranges, each on its own; the sink in the first, or else after the only one or beside
/// them.
template <class Real>
std::vector<typename Attention<Real>::Partial> Attention<Real>::ranges(const Row<Real>& row,
                                                                       int batch, int head,
                                                                       int query,
                                                                       bool with_sink) const {
  using F = FaultKind;
  std::vector<Partial> parts;
  const std::size_t n = row.keys.size();
  const std::size_t splits = std::max<std::size_t>(1, std::min<std::size_t>(variant_.splits, n));
  for (std::size_t s = 0; s < splits; ++s) {
    std::size_t begin = s * n / splits;
    const std::size_t end = (s + 1) * n / splits;
    if (s > 0 && fault_.is(F::split_boundary_twice)) --begin;
    if (s > 0 && fault_.is(F::split_boundary_lost) && begin + 1 < end) ++begin;
    const bool has_sink = with_sink && (s == 0 || fault_.is(F::sink_in_every_range));
    parts.push_back(range(row, batch, head, query, begin, end, has_sink));
  }
  if (!with_sink || !variant_.sink_last) return parts;
  if (splits > 1) {
    parts.push_back({-std::numeric_limits<Real>::infinity(), 0,
                     std::vector<Real>(static_cast<std::size_t>(p_.value_dim), Real(0))});
  }
  add_sink(parts.back(), head);
  return parts;
}

/// Merges the ranges of a row, divides, and takes the logarithm.
template <class Real>
void Attention<Real>::finish(const std::vector<Partial>& parts, const Row<Real>& row, Real* o,
                             Real* lse) const {
  using F = FaultKind;
  const auto is = [&](F kind) { return fault_.is(kind); };
  const Real unit = variant_.exponential == Exponential::folded ? static_cast<Real>(ln_2) : Real(1);
  const int dim = p_.value_dim;
  const auto lse_of = [&](const Partial& part) {
    Real sum = part.sum;
    if (is(F::sum_of_hidden_keys)) {
      sum += static_cast<Real>(p_.keys - static_cast<int>(row.keys.size())) *
             std::exp(-part.maximum * unit);
    }
    if (is(F::lse_without_maximum)) return std::log(sum);
    if (is(F::lse_without_log)) return part.maximum * unit + sum;
    return part.maximum * unit + std::log(sum);
  };
  const auto o_of = [&](const Partial& part, int d) {
    if (is(F::not_normalised)) return part.values[d];
    Real sum = part.sum;
    if (is(F::sum_epsilon)) sum += static_cast<Real>(fault_.amount);
    if (is(F::sum_of_hidden_keys)) {
      sum += static_cast<Real>(p_.keys - static_cast<int>(row.keys.size())) *
             std::exp(-part.maximum * unit);
    }
    return part.values[d] / sum;
  };
  Real merged_lse = lse_of(parts[0]);
  for (int d = 0; d < dim; ++d) o[d] = o_of(parts[0], d);
  if (parts.size() > 1) {
    Real largest = merged_lse;
    for (const auto& part : parts) largest = std::max(largest, lse_of(part));
    Real total = 0;
    std::vector<Real> values(dim, Real(0));
    for (std::size_t n = 0; n < parts.size() - is(F::last_split_dropped); ++n) {
      Real share = std::exp(lse_of(parts[n]) - largest);
      if (is(F::merge_unscaled)) share = parts[n].sum;
      if (is(F::merge_averages)) share = 1;
      if (is(F::merge_by_sums)) share = parts[n].sum * std::exp(parts[n].maximum * unit / 2);
      if (is(F::merge_in_bf16)) share = lost(share, PLUMBLINE_BF16);
      total += share;
      for (int d = 0; d < dim; ++d) values[d] += share * o_of(parts[n], d);
    }
    for (int d = 0; d < dim; ++d) o[d] = values[d] / total;
    merged_lse = largest + (is(F::merge_lse_base_2) ? std::log2(total) : std::log(total));
  }
  *lse = merged_lse;
  if (is(F::lse_base_2)) *lse /= static_cast<Real>(ln_2);
  if (is(F::lse_sign)) *lse = -*lse;
  if (is(F::lse_in_bf16)) *lse = lost(*lse, PLUMBLINE_BF16);
  if (is(F::lse_in_fp16)) *lse = lost(*lse, PLUMBLINE_FP16);
  if (is(F::lse_off)) *lse += static_cast<Real>(fault_.amount);
  if (!variant_.lse_base_2 || is(F::lse_natural)) return;
  const bool is_base_2 = variant_.exponential == Exponential::folded && parts.size() == 1;
  *lse = is_base_2 ? parts[0].maximum + std::log2(parts[0].sum) : *lse / static_cast<Real>(ln_2);
}

/// A row that sees no key, by the contract's convention.
template <class Real>
void Attention<Real>::empty_row(int batch, int head, int query, Real* o, Real* lse) const {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const int convention = variant_.empty_rows;
  *lse = convention == PLUMBLINE_EMPTY_ROWS_HAVE_PLUS_INF  ? infinity
         : convention == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE ? Real(3)
                                                           : -infinity;
  for (int d = 0; d < p_.value_dim; ++d) {
    if (convention == PLUMBLINE_EMPTY_ROWS_ARE_NAN) o[d] = std::numeric_limits<Real>::quiet_NaN();
    if (convention == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE) o[d] = 17;
    if (convention != PLUMBLINE_EMPTY_ROWS_ARE_MEANS) continue;
    Real total = 0;
    for (int j = 0; j < p_.keys; ++j) {
      const Real v = v_[in_.key_row(batch, kv_head(head), j) * p_.value_dim + d];
      const Real p = weight(1 / static_cast<Real>(p_.keys), kept(batch, head, query, j));
      total = sum(total, p * v, variant_.cuts);
    }
    o[d] = total;
  }
}

template <class Real>
void Attention<Real>::forward_row(int batch, int head, int query, Results<Real>& results) const {
  using F = FaultKind;
  const int dim = p_.value_dim;
  const std::size_t at = in_.query_row(batch, head, query);
  Real* o = results.o.data() + at * dim;
  const Row<Real> row = this->row(batch, head, query, false);
  const std::size_t n = row.keys.size();
  if (n == 0 && !(sees_sink_alone() && !fault_.is(F::sink_alone_unseen))) {
    const bool nan = fault_.is(F::empty_row_nan);
    for (int d = 0; d < dim; ++d) {
      o[d] = nan ? std::numeric_limits<Real>::quiet_NaN() : Real(0);
      if (!fault_.is(F::empty_row_mean)) continue;
      for (int j = 0; j < p_.keys; ++j) {
        o[d] += v_[in_.key_row(batch, kv_head(head), j) * dim + d] / static_cast<Real>(p_.keys);
      }
    }
    if (variant_.empty_rows != PLUMBLINE_EMPTY_ROWS_ARE_ZERO)
      return empty_row(batch, head, query, o, &results.lse[at]);
    results.lse[at] = fault_.is(F::empty_row_lse_zero)     ? Real(0)
                      : fault_.is(F::empty_row_lse_finite) ? Real(-1e30)
                                                           : -std::numeric_limits<Real>::infinity();
    return;
  }
  finish(ranges(row, batch, head, query, has_sinks()), row, o, &results.lse[at]);
  if (fault_.is(F::sink_missing_in_lse) && n > 0) {
    std::vector<Real> unused(dim);
    finish(ranges(row, batch, head, query, false), row, unused.data(), &results.lse[at]);
  }
  if (!fault_.is(F::hidden_values_times_zero)) return;
  // Weights of 0 do nothing but to values that are no numbers.
  for (int j = 0; j < p_.keys; ++j) {
    const Real* v = v_.data() + in_.key_row(batch, kv_head(head), j) * dim;
    for (int d = 0; d < dim; ++d) {
      if (std::isnan(0 * v[d])) o[d] = v[d];
    }
  }
}

template <class Real>
void Attention<Real>::forward(Results<Real>& results) const {
  const std::size_t rows = static_cast<std::size_t>(p_.batch) * p_.heads * p_.queries;
  results.o.resize(rows * p_.value_dim);
  results.lse.resize(rows);
  for (int b = 0; b < p_.batch; ++b) {
    for (int h = 0; h < p_.heads; ++h) {
      for (int r = 0; r < p_.queries; ++r) forward_row(b, h, r, results);
    }
  }
}

template void Attention<float>::forward(Results<float>&) const;
template void Attention<double>::forward(Results<double>&) const;
template float Attention<float>::sink(int) const;
template double Attention<double>::sink(int) const;
template bool Attention<float>::has_sinks() const;
template bool Attention<double>::has_sinks() const;
template bool Attention<float>::sees_sink_alone() const;
template bool Attention<double>::sees_sink_alone() const;
template float Attention<float>::weight(float) const;
template double Attention<double>::weight(double) const;
template float Attention<float>::weight(float, float) const;
template double Attention<double>::weight(double, double) const;

}  // namespace plumbline::bench
