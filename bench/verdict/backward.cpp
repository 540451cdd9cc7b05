// SPDX-License-Identifier: Apache-2.0
// The backward pass, row by row.
#include <limits>

#include "bench/verdict/parameter_sums.hpp"

namespace plumbline::bench {
namespace {

using F = FaultKind;

/// dK or dV, as several partial sums over the rows.
template <class Real>
class KeySums {
 public:
  KeySums(std::size_t size, int parts, bool cuts, bool overwrites, bool in_bf16)
      : size_(size),
        parts_(parts),
        cuts_(cuts),
        overwrites_(overwrites),
        in_bf16_(in_bf16),
        sums_(size * parts, Real(0)) {}
  void add(std::size_t at, int row, Real term) {
    Real& total = sums_[(row % parts_) * size_ + at];
    total = overwrites_ ? term : sum(total, term, cuts_);
    if (in_bf16_) total = rounded(total, PLUMBLINE_BF16);
  }
  std::vector<Real> total(Real factor) const {
    std::vector<Real> result(size_);
    for (std::size_t at = 0; at < size_; ++at) {
      Real total = sums_[at];
      for (int part = 1; part < parts_; ++part) {
        total = sum(total, sums_[part * size_ + at], cuts_);
      }
      result[at] = total * factor;
    }
    return result;
  }

 private:
  std::size_t size_;
  int parts_;
  bool cuts_, overwrites_, in_bf16_;
  std::vector<Real> sums_;
};

}  // namespace

template <class Real>
void Attention<Real>::backward(Results<Real>& results,
                               const std::array<bool, PLUMBLINE_PARAMETER_COUNT>& wanted) const {
  const auto is = [&](F kind) { return fault_.is(kind); };
  const auto off = static_cast<Real>(1 + fault_.amount);
  const int dim = p_.head_dim, group = p_.heads / p_.kv_heads;
  std::vector<Real> grad_o(in_.grad_o.begin(), in_.grad_o.end());
  std::vector<Real> operand_grad_o(grad_o);
  for (Real& x : operand_grad_o) x = operand(x);
  results.grad_q.assign(grad_o.size(), 0);
  const std::size_t keys = in_.k.size();
  KeySums<Real> dk(keys, variant_.key_sums, variant_.cuts, is(F::dk_overwritten),
                   is(F::dk_in_bf16));
  KeySums<Real> dv(keys, variant_.key_sums, variant_.cuts, is(F::dv_overwritten),
                   is(F::dv_in_bf16));
  ParameterSums<Real> parameters(bias_, wanted, variant_.prefix_in_float, results);
  const auto exp_of = [&](Real x) {
    return exponential(x, variant_.exponential == Exponential::folded ? Exponential::base_2
                                                                      : variant_.exponential);
  };
  for (int b = 0; b < p_.batch; ++b) {
    for (int h = 0; h < p_.heads; ++h) {
      const bool group_counts = h % group == group - 1;  // where the last of a group alone counts
      for (int n_row = 0; n_row < p_.queries; ++n_row) {
        const int r = variant_.descending ? p_.queries - 1 - n_row : n_row;
        const Row<Real> row = this->row(b, h, r, true);
        const std::size_t at = in_.query_row(b, h, r), n = row.keys.size();
        if (n == 0) {
          parameters.finish_row(b, h, r);
          continue;
        }
        const std::size_t before = in_.query_row(b, h, std::max(r - 1, 0));
        const Real* upstream = operand_grad_o.data() + at * dim;
        std::vector<Real> p(n), dp(n);
        const int kv = kv_head(h);
        for (std::size_t m = 0; m < n; ++m) {
          dp[m] = product(upstream, v_.data() + in_.key_row(b, kv, row.keys[m]) * dim);
        }
        Real lse = results.lse[is(F::lse_of_row_before) ? before : at], d = 0;
        if (variant_.anew) {
          const Real maximum = *std::max_element(row.s.begin(), row.s.end());
          Real total = 0;
          for (const Real s : row.s) total += exp_of(s - maximum);
          lse = maximum + std::log(total);
        }
        if (is(F::backward_lse_off)) lse += static_cast<Real>(fault_.amount);
        for (std::size_t m = 0; m < n; ++m) p[m] = exp_of(row.s[m] - lse);
        if (variant_.anew) {
          for (std::size_t m = 0; m < n; ++m) d += p[m] * dp[m];
        } else {
          const std::size_t of = is(F::d_of_row_before) ? before : at;
          for (int c = 0; c < dim; ++c) d += grad_o[of * dim + c] * results.o[of * dim + c];
        }
        if (is(F::d_missing)) d = 0;
        if (is(F::d_sign)) d = -d;
        if (is(F::d_half)) d /= 2;
        if (is(F::d_off)) d *= off;
        if (is(F::d_in_bf16)) d = rounded(d, PLUMBLINE_BF16);
        Real of_ssmax = 0;
        Real* dq = results.grad_q.data() + at * dim;
        for (std::size_t m = 0; m < n; ++m) {
          const int j = row.keys[m];
          Real ds = p[m] * (dp[m] - d);
          if (is(F::ds_without_p)) ds = dp[m] - d;
          if (is(F::ds_doubled)) ds *= 2;
          if (is(F::ds_sign)) ds = -ds;
          if (is(F::ds_noise)) ds *= 1 + score_noise(b, h, r, j);
          if (is(F::ds_in_fp16)) ds = rounded(ds, PLUMBLINE_FP16);
          of_ssmax += ds * row.z[m];
          const Real dz = is(F::ssmax_factor_missing) ? ds : ds * row.factor;
          Real p_used = weight(p[m]), z_used = weight(dz);
          if constexpr (std::is_same_v<Real, float>) {
            if (is(F::backward_p_truncated)) {
              z_used = truncated(dz, variant_.p_format);
              p_used = truncated(p[m], variant_.p_format);
            }
            if (is(F::dv_p_truncated)) p_used = truncated(p[m], variant_.p_format);
          }
          if (is(F::dv_of_ds)) p_used = z_used;
          const Real* k = k_.data() + in_.key_row(b, kv, j) * dim;
          const Real* q = q_.data() + at * dim;
          const int k_head = is(F::dk_head_of_next) ? (kv + 1) % p_.kv_heads : kv;
          const int v_head = is(F::dv_head_of_next) ? (kv + 1) % p_.kv_heads : kv;
          const std::size_t to_k = in_.key_row(b, k_head, j) * dim;
          const std::size_t to_v = in_.key_row(b, v_head, j) * dim;
          const bool last_row = r == p_.queries - 1;
          for (int c = 0; c < dim; ++c) {
            if (!(is(F::dq_last_key_missing) && m == n - 1)) {
              dq[c] = sum(dq[c], z_used * k[c], variant_.cuts);
              if (is(F::dq_in_bf16)) dq[c] = rounded(dq[c], PLUMBLINE_BF16);
            }
            if (!(is(F::dk_last_row_missing) && last_row) &&
                !(is(F::dk_last_head_only) && !group_counts)) {
              dk.add(to_k + c, n_row, z_used * q[c]);
            }
            if (!(is(F::dv_last_row_missing) && last_row) &&
                !(is(F::dv_last_head_only) && !group_counts)) {
              dv.add(to_v + c, n_row, p_used * upstream[c]);
            }
          }
          parameters.pair(bias_.pair(b, h, r, j), dz);
        }
        for (int c = 0; c < dim; ++c) dq[c] *= is(F::dq_unscaled) ? Real(1) : scale_;
        if (wanted[PLUMBLINE_SSMAX_SCALE]) {
          parameters.ssmax(of_ssmax * (is(F::ssmax_gradient_without_log) ? Real(1) : row.log_n));
        }
        parameters.finish_row(b, h, r);
      }
    }
  }
  parameters.finish();
  results.grad_k = dk.total(is(F::dk_unscaled) ? Real(1) : scale_);
  results.grad_v = dv.total(1);
  if (p_.bias == PLUMBLINE_ROPE_INTERLEAVED || p_.bias == PLUMBLINE_ROPE_HALF_SPLIT) {
    if (is(F::rope_not_turned_back)) return;
    const int sign = is(F::rope_turned_on) ? 1 : -1;
    turn(results.grad_q, p_, p_.queries, p_.query_offset, sign, false, fault_);
    turn(results.grad_k, p_, p_.keys, 0, sign, true, fault_);
  }
}

template void Attention<float>::backward(Results<float>&,
                                         const std::array<bool, PLUMBLINE_PARAMETER_COUNT>&) const;
template void Attention<double>::backward(Results<double>&,
                                          const std::array<bool, PLUMBLINE_PARAMETER_COUNT>&) const;

}  // namespace plumbline::bench
