// SPDX-License-Identifier: Apache-2.0
// The scores of a row: products and what is added to them.
#include <cstdint>

#include "support/draw.hpp"
#include "tests/faults/judge/attention.hpp"

namespace plumbline::bench {

template <class Real>
void rotate(std::vector<Real>& rows, const plumbline_problem& p, int rows_of_head, int sign,
            bool keys, const Fault& fault) {
  const bool interleaved =
      (p.rope == PLUMBLINE_ROPE_INTERLEAVED) != fault.is(FaultKind::rope_other_pairs);
  using F = FaultKind;
  const int width = fault.is(F::rotary_dim_ignored) ? p.head_dim : p.rotary_dim;
  const int of_angles = fault.is(F::rotary_frequencies_of_head_dim) ? p.head_dim : width;
  const int apart = (fault.is(F::rotary_pairs_of_head_dim) ? p.head_dim : width) / 2;
  const double base = fault.is(FaultKind::rope_base_10000) ? 10000 : p.options[PLUMBLINE_BASE];
  for (std::size_t n = 0; n < rows.size() / p.head_dim; ++n) {
    const auto row_of_head = static_cast<int>(n % rows_of_head);
    const auto batch = static_cast<int>(n / rows_of_head / p.heads);
    int position = keys ? row_of_head : first_position(p, batch) + row_of_head;
    if (!keys && fault.is(FaultKind::rope_query_before)) position -= 1;
    Real* row = rows.data() + n * p.head_dim;
    for (int k = 0; k < width / 2; ++k) {
      if (fault.is(FaultKind::rope_missing)) continue;
      if (fault.is(FaultKind::rope_last_pair_unrotated) && k == width / 2 - 1) continue;
      double angle = position * std::pow(base, -2.0 * k / of_angles);
      if (fault.is(FaultKind::rope_angle_in_bf16)) {
        angle = nearest(static_cast<float>(angle), 7);
      }
      if (keys && fault.is(FaultKind::rope_keys_rotated_back)) angle = -angle;
      const auto c = static_cast<Real>(std::cos(angle)),
                 s = static_cast<Real>(sign * std::sin(angle));
      Real& x = row[interleaved ? 2 * k : k];
      Real& y = row[interleaved ? 2 * k + 1 : k + apart];
      const Real rotated = x * c - y * s;
      y = x * s + y * c;
      x = rotated;
    }
  }
}

template <class Real>
Real Attention<Real>::operand(Real x) const {
  if (variant_.dithers != 0 && variant_.operand_bits == 10) {
    return dithered(static_cast<float>(x), PLUMBLINE_TF32, part());
  }
  return bench::operand(x, variant_.operand_bits, variant_.cuts_operands);
}

/// Random, -1/2 to 1/2.
template <class Real>
double Attention<Real>::part() const {
  return Draw(variant_.dithers, 13).uniform(dithered_++) - 0.5;
}

template <class Real>
Attention<Real>::Attention(const Problem& problem, const Variant& variant, const Fault& fault)
    : in_(problem),
      p_(problem.p),
      variant_(variant),
      fault_(fault),
      bias_(problem, fault),
      cope_(problem, variant, fault),
      dape_(problem, variant, fault),
      q_(problem.q.begin(), problem.q.end()),
      k_(problem.k.begin(), problem.k.end()),
      v_(problem.v.begin(), problem.v.end()),
      scale_(static_cast<Real>(p_.scale)) {
  using F = FaultKind;
  const bool has_fault = fault_.is(F::dropout_seed_of_32_bits) ||
                         fault_.is(F::dropout_offset_ignored) ||
                         fault_.is(F::dropout_counter_of_32_bits);
  if ((variant_.makes_keep || has_fault) && p_.dropout_generator) {
    made_keep_ = made_keep(p_, fault_);
  }
  const double dim = p_.head_dim;
  if (fault_.is(FaultKind::scale_off)) scale_ = static_cast<Real>(p_.scale * (1 + fault_.amount));
  if (fault_.is(FaultKind::scale_missing)) scale_ = 1;
  if (fault_.is(FaultKind::scale_by_dim)) scale_ = static_cast<Real>(1 / dim);
  if (fault_.is(FaultKind::scale_of_padded_dim)) {
    scale_ = static_cast<Real>(1 / std::sqrt(std::exp2(std::ceil(std::log2(dim)))));
  }
  if (fault_.is(FaultKind::scale_of_value_dim)) {
    scale_ = static_cast<Real>(p_.scale * std::sqrt(dim / p_.value_dim));
  }
  if (fault_.is(FaultKind::scale_in_bf16)) scale_ = lost(scale_, PLUMBLINE_BF16);
  if (p_.rope != PLUMBLINE_NO_ROPE) {
    rotate(q_, p_, p_.queries, 1, false, fault_);
    rotate(k_, p_, p_.keys, 1, true, fault_);
    if (fault_.is(FaultKind::rope_values_rotated)) rotate(v_, p_, p_.keys, 1, true, fault_);
  }
  if (fault_.is(FaultKind::scaled_query_rounded)) {
    for (Real& q : q_) q = lost(q * scale_, p_.format);
    scale_ = 1;
  }
  for (auto* operands : {&q_, &k_, &v_}) {
    for (Real& x : *operands) x = operand(x);
  }
}

template <class Real>
int Attention<Real>::kv_head(int head) const {
  return head / (p_.heads / p_.kv_heads);
}

template <class Real>
Real Attention<Real>::product(const Real* a, const Real* b, int size) const {
  const int dim = size - (fault_.is(FaultKind::component_dropped) ? 1 : 0);
  if (fault_.is(FaultKind::product_in_fp16) || fault_.is(FaultKind::product_in_bf16)) {
    const int format = fault_.is(FaultKind::product_in_fp16) ? PLUMBLINE_FP16 : PLUMBLINE_BF16;
    Real total = 0;
    for (int d = 0; d < dim; ++d) total = lost(total + a[d] * b[d], format);
    return total;
  }
  std::array<Real, 32> lanes{};
  for (int d = 0; d < dim; ++d) {
    Real& lane = lanes[d % variant_.lanes];
    lane = sum(lane, a[d] * b[d], variant_.cuts);
  }
  Real total = lanes[0];
  for (int n = 1; n < variant_.lanes; ++n) total = sum(total, lanes[n], variant_.cuts);
  return total;
}

/// scale q.k of a pair, and what is wrong with it.
template <class Real>
Real Attention<Real>::scaled_product(int batch, int head, int query, int key, bool backward) const {
  using F = FaultKind;
  int kv = kv_head(head);
  if (fault_.is(F::other_key_head)) kv = (kv + 1) % p_.kv_heads;
  const int of_query = fault_.is(F::query_before) ? std::max(query - 1, 0) : query;
  const Real* q = q_.data() + in_.query_row(batch, head, of_query) * p_.head_dim;
  const int of_key = fault_.is(F::key_after) ? std::min(key + 1, p_.keys - 1) : key;
  const int of_batch = fault_.is(F::first_batch_keys) ? 0 : batch;
  const Real* k = k_.data() + in_.key_row(of_batch, kv, of_key) * p_.head_dim;
  Real scale = scale_;
  if (backward && fault_.is(F::backward_scale_off)) scale *= static_cast<Real>(1 + fault_.amount);
  // What CoPE and DAPE read of scores is not rounded.
  const bool is_read = p_.bias == PLUMBLINE_COPE || dape_.taps() > 0;
  const int format = is_read ? int{PLUMBLINE_FP32} : variant_.score_format;
  const Real z = rounded(scale * rounded(product(q, k, p_.head_dim), format), format);
  return fault_.is(F::scores_capped) ? 30 * std::tanh(z / 30) : z;
}

template <class Real>
Real Attention<Real>::capped(Real x, bool backward, Real& slope) const {
  using F = FaultKind;
  slope = 1;
  const auto cap = static_cast<Real>(p_.softcap);
  const bool ignored = fault_.is(F::softcap_ignored) || fault_.is(F::softcap_after_bias) ||
                       (backward && fault_.is(F::backward_softcap_ignored));
  if (cap == 0 || ignored) return x;
  const Real scale = fault_.is(F::softcap_before_scale) ? scale_ : Real(1);
  Real part = x / scale / cap;
  if (fault_.is(F::softcap_in_base_2)) part /= static_cast<Real>(ln_2);
  Real tanh = std::tanh(part);
  if (variant_.rough_tanh) tanh = bench::operand(tanh, 10, false);
  const Real of_slope = fault_.is(F::softcap_derivative_uncapped) ? part : tanh;
  if (!fault_.is(F::softcap_derivative_missing)) slope = 1 - of_slope * of_slope;
  return cap * tanh * scale;
}

template <class Real>
const DapeRow<Real>& Attention<Real>::dape_row(int batch, int query, bool backward) const {
  const auto [found, is_new] = dape_rows_.try_emplace({batch, query, backward});
  if (!is_new) return found->second;
  std::vector<Real> a, b;
  std::vector<char> seen;
  for (int h = 0; h < p_.heads; ++h) {
    for (int j = 0; j < p_.keys; ++j) {
      a.push_back(scaled_product(batch, h, query, j, backward));
      b.push_back(bias_(batch, h, query, j));
    }
  }
  const int position = query + first_position(p_, batch);
  for (int j = 0; j < p_.keys; ++j) {
    seen.push_back(visible(batch, 0, position, j, query, backward));  // without a mask tensor
  }
  return found->second = dape_.row(a, b, position, seen);
}

template <class Real>
CopeRow<Real> Attention<Real>::cope_row(int batch, int head, int query,
                                        const std::vector<int>& keys,
                                        const std::vector<Real>& scores) const {
  using F = FaultKind;
  CopeRow<Real> row{scores, {}, {}};
  const Real* q = q_.data() + in_.query_row(batch, head, query) * p_.head_dim;
  std::vector<Real> table(p_.head_dim);
  for (int n = 0; n < cope_.positions(); ++n) {
    const float* of_row = cope_.embedding(head, n);
    for (int d = 0; d < p_.head_dim; ++d) table[d] = operand(static_cast<Real>(of_row[d]));
    row.z.push_back(product(q, table.data(), p_.head_dim));
    if (fault_.is(F::cope_query_scaled)) row.z.back() *= scale_;
  }
  std::vector<Real> hidden(keys.size(), Real(0));
  if (fault_.is(F::cope_counts_hidden)) {
    Real sum = 0;
    for (int j = p_.keys, n = static_cast<int>(keys.size()); j-- > 0;) {
      if (n > 0 && keys[n - 1] == j) {
        hidden[--n] = sum;
      } else {
        sum += cope_.gate(scaled_product(batch, head, query, j, false));
      }
    }
  }
  cope_.count(row, hidden);
  return row;
}

/// What is added to the scaled products of a row's keys.
template <class Real>
std::vector<Real> Attention<Real>::added(int batch, int head, int query, Row<Real>& row,
                                         bool backward) const {
  using F = FaultKind;
  const std::size_t keys = row.keys.size();
  std::vector<Real> added(keys, Real(0));
  if (p_.bias == PLUMBLINE_COPE) row.cope = cope_row(batch, head, query, row.keys, row.z);
  if (backward && fault_.is(F::backward_bias_missing)) return added;
  for (std::size_t n = 0; n < keys; ++n) {
    if (dape_.taps() > 0) {
      added[n] = dape_row(batch, query, backward)
                     .added[static_cast<std::size_t>(head) * p_.keys + row.keys[n]];
    } else if (p_.bias == PLUMBLINE_ALIBI && variant_.alibi_of_key && p_.causal &&
               p_.window_left < 0 && p_.window_right < 0) {
      const int at = p_.options[PLUMBLINE_SLOPES_PER_BATCH] != 0 ? batch * p_.heads + head : head;
      added[n] = in_.parameter(PLUMBLINE_SLOPES)[at] * static_cast<Real>(row.keys[n]);
    } else if (p_.bias != PLUMBLINE_COPE) {
      added[n] = bias_(batch, head, query, row.keys[n]);
    } else {
      added[n] = cope_.added(row.cope, n);
    }
    if (!fault_.is(F::cope_of_key)) continue;
    // The table is met by the key in place of the query.
    const Real* k = k_.data() + in_.key_row(batch, kv_head(head), row.keys[n]) * p_.head_dim;
    CopeRow<Real> of_key{{}, {row.cope.counts[n]}, {}};
    for (int m = 0; m < cope_.positions(); ++m) {
      const float* table = cope_.embedding(head, m);
      const std::vector<Real> embedding(table, table + p_.head_dim);
      of_key.z.push_back(product(k, embedding.data(), p_.head_dim));
    }
    added[n] = cope_.added(of_key, 0);
  }
  return added;
}

template <class Real>
Row<Real> Attention<Real>::row(int batch, int head, int query, bool backward) const {
  using F = FaultKind;
  Row<Real> row;
  int i = query + first_position(p_, batch);
  if (fault_.is(F::position_clamped)) i = std::max(i, 0);
  if (fault_.is(F::more_queries_from_start) && p_.queries > p_.keys) i = query;
  for (int j = 0; j < p_.keys; ++j) {
    if (!visible(batch, head, i, j, query, backward) && !fault_.is(F::mask_of_minus_20)) continue;
    row.keys.push_back(j);
    Real slope = 1;
    row.z.push_back(capped(scaled_product(batch, head, query, j, backward), backward, slope));
    if (p_.softcap != 0) row.slope.push_back(slope);
  }
  const std::vector<Real> added = this->added(batch, head, query, row, backward);
  for (std::size_t n = 0; n < row.keys.size(); ++n) {
    Real& z = row.z[n];
    if (fault_.is(F::cope_replaces_score)) z = 0;
    Real bias = added[n];
    if (fault_.is(F::bias_scaled)) bias *= scale_;
    if (!in_.k_scale.empty()) {  // scale_after_bias
      bias *= in_.k_scale[in_.key_row(batch, kv_head(head), row.keys[n])];
    }
    z += bias;
    if (fault_.is(F::softcap_after_bias) && p_.softcap != 0) {
      const auto cap = static_cast<Real>(p_.softcap);
      z = cap * std::tanh(z / cap);
    }
    if (fault_.is(F::scores_in_bf16)) z = lost(z, PLUMBLINE_BF16);
    if (fault_.is(F::scores_in_fp16)) z = lost(z, PLUMBLINE_FP16);
    z = rounded(z, variant_.score_format);
    if (fault_.is(F::score_noise)) z += score_noise(batch, head, query, row.keys[n]);
    if (fault_.is(F::mask_of_minus_20) && !visible(batch, head, i, row.keys[n], query, backward)) {
      z -= 20;
    }
  }
  row.s = row.z;
  if (p_.ssmax && !row.keys.empty() && !fault_.is(F::ssmax_missing)) {
    auto n = static_cast<Real>(row.keys.size());
    if (fault_.is(F::ssmax_all_keys)) n = static_cast<Real>(p_.keys);
    if (fault_.is(F::ssmax_position)) n = static_cast<Real>(i + 1);
    row.log_n = fault_.is(F::ssmax_log_base_2) ? std::log2(n) : std::log(n);
    const int of = fault_.is(F::ssmax_next_head) ? (head + 1) % p_.heads : head;
    row.factor = in_.parameter(PLUMBLINE_SSMAX_SCALE)[of] * row.log_n;
    for (std::size_t m = 0; m < row.keys.size(); ++m) {
      if (fault_.is(F::ssmax_subtracted)) {
        row.s[m] = row.z[m] - row.factor;
      } else if (fault_.is(F::ssmax_without_bias)) {
        row.s[m] = (row.z[m] - added[m]) * row.factor + added[m];
      } else {
        row.s[m] = rounded(row.z[m] * row.factor, variant_.score_format);
      }
    }
  }
  dropped(row);
  return row;
}

// The members of this file; those of the others are instantiated there.
template Attention<float>::Attention(const Problem&, const Variant&, const Fault&);
template Attention<double>::Attention(const Problem&, const Variant&, const Fault&);
template Row<float> Attention<float>::row(int, int, int, bool) const;
template Row<double> Attention<double>::row(int, int, int, bool) const;
template float Attention<float>::operand(float) const;
template double Attention<double>::operand(double) const;
template double Attention<float>::part() const;
template double Attention<double>::part() const;
template CopeRow<float> Attention<float>::cope_row(int, int, int, const std::vector<int>&,
                                                   const std::vector<float>&) const;
template CopeRow<double> Attention<double>::cope_row(int, int, int, const std::vector<int>&,
                                                     const std::vector<double>&) const;
template const DapeRow<float>& Attention<float>::dape_row(int, int, bool) const;
template const DapeRow<double>& Attention<double>::dape_row(int, int, bool) const;
template float Attention<float>::capped(float, bool, float&) const;
template double Attention<double>::capped(double, bool, double&) const;
template int Attention<float>::kv_head(int) const;
template int Attention<double>::kv_head(int) const;
template float Attention<float>::product(const float*, const float*, int) const;
template double Attention<double>::product(const double*, const double*, int) const;
template void rotate(std::vector<float>&, const plumbline_problem&, int, int, bool, const Fault&);
template void rotate(std::vector<double>&, const plumbline_problem&, int, int, bool, const Fault&);

}  // namespace plumbline::bench
