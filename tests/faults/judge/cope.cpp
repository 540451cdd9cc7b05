// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/cope.hpp"

#include <algorithm>
#include <cmath>

namespace plumbline::bench {
namespace {

using F = FaultKind;

}  // namespace

template <class Real>
const float* Cope<Real>::embedding(int head, int n) const {
  if (fault_.is(F::cope_table_of_next_head)) head = (head + 1) % in_.p.heads;
  return in_.parameter(PLUMBLINE_POSITION_EMBEDDING) +
         (static_cast<std::size_t>(head) * positions() + n) * in_.p.head_dim;
}

template <class Real>
Real Cope<Real>::gate(Real x) const {
  if (fault_.is(F::cope_gates_of_one)) return 1;
  if (fault_.is(F::cope_gate_unscaled)) x /= static_cast<Real>(in_.p.scale);
  if (fault_.is(F::cope_gate_sign)) x = -x;
  const auto power = [&](Real exponent) { return unfolded(exponent, variant_.exponential); };
  Real g = 0;
  if (variant_.stable_gates) {
    const Real t = power(-std::abs(x));
    g = (x < 0 ? t : Real(1)) / (1 + t);
  } else {
    g = 1 / (1 + power(-x));
  }
  return fault_.is(F::cope_gate_in_bf16) ? lost(g, PLUMBLINE_BF16) : g;
}

template <class Real>
void Cope<Real>::count(CopeRow<Real>& row, const std::vector<Real>& hidden) const {
  const std::size_t keys = row.scores.size();
  row.counts.resize(keys);
  double sum = 0;
  Real in_float = 0;
  for (std::size_t m = 0; m < keys; ++m) {
    const std::size_t n = fault_.is(F::cope_counts_from_start) ? m : keys - 1 - m;
    const auto now = [&] { return variant_.prefix_in_float ? in_float : static_cast<Real>(sum); };
    if (fault_.is(F::cope_counts_exclusive)) row.counts[n] = now();
    const Real g = gate(row.scores[n]);
    sum += g;
    in_float += g;
    if (!fault_.is(F::cope_counts_exclusive)) row.counts[n] = now();
    if (fault_.is(F::cope_counts_hidden)) row.counts[n] += hidden[n];
    if (fault_.is(F::cope_counts_in_bf16)) row.counts[n] = lost(row.counts[n], PLUMBLINE_BF16);
  }
}

template <class Real>
typename Cope<Real>::At Cope<Real>::at(Real count) const {
  const int last = positions() - 1;
  const int end = fault_.is(F::cope_clamped_early) ? std::max(last - 1, 0) : last;
  if (!(count > 0)) return {0, 0, false};  // also where it is not a number
  const bool beyond = !(count < static_cast<Real>(end));
  if (beyond && fault_.is(F::cope_clamp_missing) && last > 0) {
    return {last - 1, count - static_cast<Real>(last - 1), false};  // the last slope goes on
  }
  if (beyond) return {end, 0, true};
  const int row = static_cast<int>(count);
  return {row, count - static_cast<Real>(row), false};
}

template <class Real>
Real Cope<Real>::added(const CopeRow<Real>& row, std::size_t n) const {
  const int last = positions() - 1;
  auto [first, w, clamped] = at(row.counts[n]);
  if (fault_.is(F::cope_rounded_down)) w = 0;
  if (fault_.is(F::cope_rounded)) w = w < Real(0.5) ? Real(0) : Real(1);
  if (fault_.is(F::cope_weights_swapped) && !clamped) w = 1 - w;
  if (fault_.is(F::cope_row_after)) first = std::min(first + 1, last);
  const Real z = row.z[first], next = row.z[std::min(first + 1, last)];
  return variant_.by_difference ? z + w * (next - z) : (1 - w) * z + w * next;
}

template <class Real>
std::vector<Real> Cope<Real>::grad(const CopeRow<Real>& row, std::vector<Real>& logits) const {
  std::vector<Real> by_row(positions(), Real(0));
  const int last = positions() - 1;
  const std::size_t keys = row.scores.size();
  std::vector<Real> by_count(keys);
  for (std::size_t n = 0; n < keys; ++n) {
    const auto [first, w, clamped] = at(row.counts[n]);
    const int next = std::min(first + 1, last);
    if (fault_.is(F::cope_table_gradient_rounded_down)) {
      by_row[first] += logits[n];
    } else {
      by_row[first] += (1 - w) * logits[n];
      if (w > 0) by_row[next] += w * logits[n];
    }
    by_count[n] = clamped ? Real(0) : logits[n] * (row.z[next] - row.z[first]);
    if (clamped && fault_.is(F::cope_slope_beyond_table) && last > 0) {
      by_count[n] = logits[n] * (row.z[last] - row.z[last - 1]);
    }
  }
  if (fault_.is(F::cope_gate_gradient_missing)) return by_row;
  double sum = 0;
  Real in_float = 0;
  for (std::size_t m = 0; m < keys; ++m) {
    // Key n's gate counts for the keys up to n.
    const std::size_t n = fault_.is(F::cope_gate_gradient_from_end) ? keys - 1 - m : m;
    sum += by_count[n];
    in_float += by_count[n];
    Real x = row.scores[n];
    if (fault_.is(F::cope_gate_unscaled)) x /= static_cast<Real>(in_.p.scale);
    const Real t = unfolded(-std::abs(x), variant_.exponential);
    Real slope = t / ((1 + t) * (1 + t));
    if (fault_.is(F::cope_gate_slope_missing)) slope = 1 / (1 + std::exp(-x));
    if (fault_.is(F::cope_gate_gradient_scaled)) slope *= static_cast<Real>(in_.p.scale);
    logits[n] += slope * (variant_.prefix_in_float ? in_float : static_cast<Real>(sum));
  }
  return by_row;
}

template class Cope<float>;
template class Cope<double>;

}  // namespace plumbline::bench
