// SPDX-License-Identifier: Apache-2.0
// The backward pass, row by row.
#include "tests/faults/judge/backward.hpp"

#include <limits>

namespace plumbline::bench {
namespace {

using F = FaultKind;

}  // namespace

/// dL/dlse of a row, of the natural logarithm.
template <class Real>
Real Attention<Real>::grad_lse(std::size_t row) const {
  if (in_.grad_lse.empty()) return 0;
  const Real given = in_.grad_lse[row];
  return variant_.lse_base_2 && !fault_.is(F::grad_lse_of_natural) ? given / static_cast<Real>(ln_2)
                                                                   : given;
}

/// dL/dlogits of a row, and what it adds to dV.
template <class Real>
RowGradient<Real> Attention<Real>::softmax_gradient(int b, int h, int r,
                                                    BackwardSums<Real>& sums) const {
  const auto is = [&](F kind) { return fault_.is(kind); };
  const auto exp_of = [&](Real x) {
    if (x == 0 && variant_.inexact_exp_zero) return static_cast<Real>(1 - 5.3e-5F);
    return unfolded(x, variant_.exponential);
  };
  const int dim = p_.value_dim, group = p_.heads / p_.kv_heads, kv = kv_head(h);
  RowGradient<Real> grad;
  grad.row = this->row(b, h, r, true);
  const Row<Real>& row = grad.row;
  const std::size_t at = in_.query_row(b, h, r), n = row.keys.size();
  if (n == 0) {
    if (sees_sink_alone()) {
      grad.by_sink = lone_sink_gradient(h, at, sums);
    } else if (variant_.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_MEANS) {
      share_empty_row(b, h, r, sums);
    }
    return grad;
  }
  const std::size_t before = in_.query_row(b, h, std::max(r - 1, 0));
  const Real* upstream = sums.operand_grad_o.data() + at * dim;
  std::vector<Real> p(n), dp(n), kept(n);
  for (std::size_t m = 0; m < n; ++m) {
    const Real* v = v_.data() + in_.key_row(b, kv, row.keys[m]) * dim;
    kept[m] = this->kept(b, h, r, row.keys[m]);
    const Real of_value = product(upstream, v, dim);
    dp[m] = rounded(is(F::backward_dp_undropped) ? of_value : kept[m] * of_value,
                    variant_.grad_probability_format);
  }
  Real lse = variant_.no_lse ? Real(0) : sums.results.lse[is(F::lse_of_row_before) ? before : at];
  const Real lse_to_base_2 = lse;
  if (variant_.lse_base_2 && !is(F::backward_reads_natural_lse)) lse *= static_cast<Real>(ln_2);
  Real d = 0;
  if (variant_.recomputed) {
    Real maximum = *std::max_element(row.s.begin(), row.s.end());
    if (has_sinks()) maximum = std::max(maximum, sink(h));
    Real total = has_sinks() ? exp_of(sink(h) - maximum) : Real(0);
    for (const Real s : row.s) total += exp_of(s - maximum);
    lse = maximum + std::log(total);
  }
  if (is(F::backward_lse_off)) lse += static_cast<Real>(fault_.amount);
  const bool in_base_2 = variant_.lse_base_2 && !variant_.recomputed &&
                         variant_.exponential == Exponential::folded &&
                         !is(F::backward_reads_natural_lse);
  const auto probability = [&](Real s) {
    const Real p =
        in_base_2 ? std::exp2(s * static_cast<Real>(1 / ln_2) - lse_to_base_2) : exp_of(s - lse);
    return variant_.saves_rounded_p ? rounded(p, variant_.p_format) : p;
  };
  for (std::size_t m = 0; m < n; ++m) p[m] = probability(row.s[m]);
  const int of_terms = variant_.delta_format;
  if (variant_.recomputed) {
    for (std::size_t m = 0; m < n; ++m) d += rounded(p[m] * dp[m], of_terms);
  } else {
    const std::size_t of = is(F::d_of_row_before) ? before : at;
    for (int c = 0; c < dim; ++c) {
      d += rounded(sums.grad_o[of * dim + c] * sums.results.o[of * dim + c], of_terms);
    }
  }
  d = rounded(d, of_terms);
  if (is(F::backward_d_undropped)) {
    d = 0;
    for (std::size_t m = 0; m < n; ++m) {
      d += p[m] * product(upstream, v_.data() + in_.key_row(b, kv, row.keys[m]) * dim, dim);
    }
  }
  if (is(F::d_missing)) d = 0;
  if (is(F::d_sign)) d = -d;
  if (is(F::d_half)) d /= 2;
  if (is(F::d_off)) d *= static_cast<Real>(1 + fault_.amount);
  if (is(F::d_in_bf16)) d = lost(d, PLUMBLINE_BF16);
  Real through_lse = grad_lse(at);
  if (is(F::grad_lse_ignored)) through_lse = 0;
  if (is(F::grad_lse_sign)) through_lse = -through_lse;
  const bool apart = variant_.lse_gradient_apart;
  const Real own_d = d;
  if (!apart && !in_.grad_lse.empty()) d = rounded(d - through_lse, of_terms);
  if (has_sinks()) {
    const Real of_sink = probability(sink(h));
    grad.by_sink = apart ? of_sink * through_lse - of_sink * d : -(of_sink * d);
    if (is(F::grad_sinks_without_d)) grad.by_sink = of_sink * through_lse;
    if (is(F::grad_sinks_without_grad_lse)) grad.by_sink = -(of_sink * own_d);
  }
  grad.keys = row.keys;
  const bool group_counts = h % group == group - 1;  // where the last of a group alone counts
  const bool left_out = (is(F::dv_last_row_missing) && r == p_.queries - 1) ||
                        (is(F::dv_last_head_only) && !group_counts);
  const int v_head = is(F::dv_head_of_next) ? (kv + 1) % p_.kv_heads : kv;
  for (std::size_t m = 0; m < n; ++m) {
    const int j = row.keys[m];
    Real ds = p[m] * (dp[m] - d);
    if (apart) ds += p[m] * through_lse;
    if (is(F::ds_without_p)) ds = dp[m] - d;
    if (is(F::ds_doubled)) ds *= 2;
    if (is(F::ds_sign)) ds = -ds;
    if (is(F::ds_noise)) ds *= 1 + score_noise(b, h, r, j);
    if (is(F::ds_in_fp16)) ds = lost(ds, PLUMBLINE_FP16);
    grad.by_ssmax += ds * row.z[m];
    const Real dz = is(F::ssmax_factor_missing) ? ds : ds * row.factor;
    grad.product.push_back(row.slope.empty() ? dz : row.slope[m] * dz);
    grad.bias.push_back(is(F::softcap_derivative_of_bias) ? grad.product.back() : dz);
    const Real to_keep = is(F::backward_dv_undropped) ? Real(1) : kept[m];
    Real p_used = weight(p[m], to_keep);
    if (is(F::backward_p_truncated) || is(F::dv_p_truncated)) {
      p_used = to_keep * truncated(static_cast<float>(p[m]), variant_.p_format);
    }
    if (is(F::dv_of_ds)) p_used = weight(dz);
    const std::size_t to_v = in_.key_row(b, v_head, j) * dim;
    for (int c = 0; c < dim && !left_out; ++c) {
      sums.dv.add(to_v + c, h % group, sums.rows_done, p_used * upstream[c]);
    }
  }
  return grad;
}

/// Of a row that sees nothing else: P = 1, o = 0.
template <class Real>
Real Attention<Real>::lone_sink_gradient(int h, std::size_t row,
                                         const BackwardSums<Real>& sums) const {
  if (in_.grad_lse.empty() || fault_.is(F::grad_sinks_without_lone_rows) ||
      fault_.is(F::grad_sinks_without_grad_lse)) {
    return 0;
  }
  if (variant_.recomputed) return grad_lse(row);
  Real lse = sums.results.lse[row];
  if (variant_.lse_base_2) lse *= static_cast<Real>(ln_2);
  const Real p = unfolded(sink(h) - lse, variant_.exponential);
  return grad_lse(row) * (variant_.saves_rounded_p ? rounded(p, variant_.p_format) : p);
}

/// A row without a key that is the mean of all values gives each its share.
template <class Real>
void Attention<Real>::share_empty_row(int b, int h, int r, BackwardSums<Real>& sums) const {
  const int dim = p_.value_dim, group = p_.heads / p_.kv_heads;
  const Real* upstream = sums.operand_grad_o.data() + in_.query_row(b, h, r) * dim;
  for (int j = 0; j < p_.keys; ++j) {
    const Real share = weight(1 / static_cast<Real>(p_.keys), kept(b, h, r, j));
    const std::size_t to_v = in_.key_row(b, kv_head(h), j) * dim;
    for (int c = 0; c < dim; ++c) {
      sums.dv.add(to_v + c, h % group, sums.rows_done, share * upstream[c]);
    }
  }
}

/// Back through the network, which has all keys of all heads.
template <class Real>
void Attention<Real>::dape_gradient(int b, int r, std::vector<RowGradient<Real>>& heads,
                                    BackwardSums<Real>& sums) const {
  const auto keys = static_cast<std::size_t>(p_.keys);
  std::vector<Real> logits(heads.size() * keys, Real(0));
  for (std::size_t h = 0; h < heads.size(); ++h) {
    for (std::size_t m = 0; m < heads[h].keys.size(); ++m) {
      logits[h * keys + heads[h].keys[m]] += heads[h].product[m];
    }
  }
  const auto grad = dape_.grad(dape_row(b, r, true), logits, r + first_position(p_, b));
  sums.parameters.add_to_row(PLUMBLINE_HIDDEN_WEIGHT, 0, grad.first_weight);
  sums.parameters.add_to_row(PLUMBLINE_HIDDEN_BIAS, 0, grad.first_bias);
  const std::size_t weights = grad.second_weight.size() / heads.size();
  for (std::size_t h = 0; h < heads.size(); ++h) {
    heads[h].keys.resize(keys);
    for (std::size_t j = 0; j < keys; ++j) heads[h].keys[j] = static_cast<int>(j);
    heads[h].product.assign(grad.a.begin() + h * keys, grad.a.begin() + (h + 1) * keys);
    heads[h].bias.assign(grad.b.begin() + h * keys, grad.b.begin() + (h + 1) * keys);
    const auto of_head = grad.second_weight.begin() + h * weights;
    heads[h].output_weight.assign(of_head, of_head + weights);
    heads[h].output_bias = {grad.second_bias[h]};
  }
}

template <class Real>
void Attention<Real>::cope_gradient(int b, int h, int r, RowGradient<Real>& grad,
                                    BackwardSums<Real>& sums) const {
  const int dim = p_.head_dim;
  const std::vector<Real> by_row = cope_.grad(grad.row.cope, grad.product);
  const std::size_t at = in_.query_row(b, h, r) * dim;
  for (int n = 0; n < cope_.positions(); ++n) {
    std::vector<Real> to_table(dim);
    for (int c = 0; c < dim; ++c) {
      to_table[c] = by_row[n] * q_[at + c];
      if (!fault_.is(F::cope_dq_without_table)) {
        grad.added_to_q[c] += by_row[n] * static_cast<Real>(cope_.embedding(h, n)[c]);
      }
    }
    sums.parameters.add_to_row(PLUMBLINE_POSITION_EMBEDDING, static_cast<std::size_t>(n) * dim,
                               to_table);
  }
}

/// What a row adds to dQ, dK and to the parameters' gradients.
template <class Real>
void Attention<Real>::product_gradient(int b, int h, int r, const RowGradient<Real>& grad,
                                       BackwardSums<Real>& sums) const {
  const auto is = [&](F kind) { return fault_.is(kind); };
  const int dim = p_.head_dim, group = p_.heads / p_.kv_heads, kv = kv_head(h);
  const std::size_t at = in_.query_row(b, h, r), n = grad.keys.size();
  Real* dq = sums.results.grad_q.data() + at * dim;
  const Real* q = q_.data() + at * dim;
  const int k_head = is(F::dk_head_of_next) ? (kv + 1) % p_.kv_heads : kv;
  const bool left_out = (is(F::dk_last_row_missing) && r == p_.queries - 1) ||
                        (is(F::dk_last_head_only) && h % group != group - 1);
  const int kept = unless_rotated(variant_.gradient_sum_format);
  std::vector<Real> of_block(dim, Real(0));
  for (std::size_t m = 0; m < n; ++m) {
    const int j = grad.keys[m];
    Real z_used = weight(grad.product[m]);
    if (is(F::backward_p_truncated)) {
      z_used = truncated(static_cast<float>(grad.product[m]), variant_.p_format);
    }
    const Real* k = k_.data() + in_.key_row(b, kv, j) * dim;
    const std::size_t to_k = in_.key_row(b, k_head, j) * dim;
    for (int c = 0; c < dim; ++c) {
      if (!(is(F::dq_last_key_missing) && m == n - 1)) {
        Real& total = kept == PLUMBLINE_FP32 ? dq[c] : of_block[c];
        total = sum(total, z_used * k[c], variant_.cuts);
        if (is(F::dq_in_bf16)) dq[c] = lost(dq[c], PLUMBLINE_BF16);
      }
      if (!left_out) sums.dk.add(to_k + c, h % group, sums.rows_done, z_used * q[c]);
    }
    const bool ends = (m + 1) % static_cast<std::size_t>(variant_.tile) == 0 || m + 1 == n;
    for (int c = 0; c < dim && ends && kept != PLUMBLINE_FP32; ++c) {
      dq[c] = rounded(dq[c] + rounded(of_block[c], kept), kept);
      of_block[c] = 0;
    }
    sums.parameters.pair(bias_.pair(b, h, r, j), grad.bias[m]);
  }
  for (int c = 0; c < dim; ++c) {
    dq[c] *= is(F::dq_unscaled) ? Real(1) : scale_;
    if (!grad.added_to_q.empty()) dq[c] += grad.added_to_q[c];
  }
}

/// RoPE rotates dQ and dK back before anything is stored in a format.
template <class Real>
int Attention<Real>::unless_rotated(int format) const {
  const bool rotated = p_.rope != PLUMBLINE_NO_ROPE;
  return rotated ? int{PLUMBLINE_FP32} : format;
}

template <class Real>
void Attention<Real>::backward(Results<Real>& results,
                               const std::array<bool, PLUMBLINE_PARAMETER_COUNT>& wanted) const {
  const auto is = [&](F kind) { return fault_.is(kind); };
  const std::vector<Real> grad_o(in_.grad_o.begin(), in_.grad_o.end());
  const KeptSums of_keys{variant_.key_sums, p_.heads / p_.kv_heads, variant_.tile,
                         unless_rotated(variant_.head_gradient_format),
                         unless_rotated(variant_.gradient_sum_format)};
  BackwardSums<Real> sums{
      results,
      grad_o,
      grad_o,
      {in_.k.size(), of_keys, variant_.cuts, is(F::dk_overwritten), is(F::dk_in_bf16)},
      {in_.v.size(), of_keys, variant_.cuts, is(F::dv_overwritten), is(F::dv_in_bf16)},
      {bias_, dape_.taps(), wanted, variant_.prefix_in_float, results}};
  for (Real& x : sums.operand_grad_o) x = operand(x);
  results.grad_q.assign(in_.q.size(), 0);
  for (int b = 0; b < p_.batch; ++b) {
    for (sums.rows_done = 0; sums.rows_done < p_.queries; ++sums.rows_done) {
      const int r = variant_.descending ? p_.queries - 1 - sums.rows_done : sums.rows_done;
      std::vector<RowGradient<Real>> heads;
      for (int h = 0; h < p_.heads; ++h) heads.push_back(softmax_gradient(b, h, r, sums));
      // With DAPE heads see the same keys.
      if (dape_.taps() > 0 && !heads.front().keys.empty()) dape_gradient(b, r, heads, sums);
      for (int h = 0; h < p_.heads; ++h) {
        RowGradient<Real>& grad = heads[h];
        if (!grad.keys.empty()) {
          if (p_.bias == PLUMBLINE_COPE) {
            grad.added_to_q.assign(p_.head_dim, Real(0));
            cope_gradient(b, h, r, grad, sums);
          }
          product_gradient(b, h, r, grad, sums);
          sums.parameters.add_to_row(PLUMBLINE_OUTPUT_WEIGHT, 0, grad.output_weight);
          sums.parameters.add_to_row(PLUMBLINE_OUTPUT_BIAS, 0, grad.output_bias);
          if (wanted[PLUMBLINE_SSMAX_SCALE]) {
            sums.parameters.ssmax(grad.by_ssmax *
                                  (is(F::ssmax_gradient_without_log) ? Real(1) : grad.row.log_n));
          }
        }
        sums.parameters.add_to_row(PLUMBLINE_SINKS, 0,
                                   {is(F::grad_sinks_sign) ? -grad.by_sink : grad.by_sink});
        sums.parameters.finish_row(b, h, r);
      }
      const bool last = sums.rows_done + 1 == p_.queries;
      sums.dk.row_is_done(sums.rows_done, last);
      sums.dv.row_is_done(sums.rows_done, last);
    }
  }
  sums.parameters.finish();
  results.grad_k = sums.dk.total(is(F::dk_unscaled) ? Real(1) : scale_);
  results.grad_v = sums.dv.total(1);
  if (p_.rope != PLUMBLINE_NO_ROPE) {
    if (is(F::rope_not_rotated_back)) return;
    const int sign = is(F::rope_rotated_on) ? 1 : -1;
    rotate(results.grad_q, p_, p_.queries, sign, false, fault_);
    rotate(results.grad_k, p_, p_.keys, sign, true, fault_);
  }
}

template void Attention<float>::backward(Results<float>&,
                                         const std::array<bool, PLUMBLINE_PARAMETER_COUNT>&) const;
template void Attention<double>::backward(Results<double>&,
                                          const std::array<bool, PLUMBLINE_PARAMETER_COUNT>&) const;

}  // namespace plumbline::bench
