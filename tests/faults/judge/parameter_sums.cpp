// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/parameter_sums.hpp"

#include <limits>

namespace plumbline::bench {
namespace {

using F = FaultKind;

bool shared_by_heads(int parameter) {
  return parameter == PLUMBLINE_HIDDEN_WEIGHT || parameter == PLUMBLINE_HIDDEN_BIAS ||
         parameter == PLUMBLINE_C || parameter == PLUMBLINE_L;
}

bool is_custom(int parameter) { return parameter >= PLUMBLINE_CUSTOM_0; }

template <class Real>
Real sign(Real x) {
  return x > 0 ? Real(1) : x < 0 ? Real(-1) : Real(0);
}

}  // namespace

/// Numbers of a parameter that one row adds to.
template <class Real>
int ParameterSums<Real>::slice(int parameter) const {
  const auto& p = in_.p;
  if (is_custom(parameter)) {
    return custom_part(p, in_.formula, parameter - PLUMBLINE_CUSTOM_0, 0, 0, 0).size;
  }
  switch (parameter) {
    case PLUMBLINE_TABLE: {
      const int largest = static_cast<int>(in_.option(PLUMBLINE_LARGEST));
      return p.bias == PLUMBLINE_T5_CLIPPED ? largest + 1
             : p.bias == PLUMBLINE_T5_CLIPPED_OFFSET
                 ? 2 * largest + 1
                 : static_cast<int>(in_.option(PLUMBLINE_BUCKETS));
    }
    case PLUMBLINE_TENSOR:
      return p.keys;
    case PLUMBLINE_HIDDEN_WEIGHT:
      return bias_.hidden() * std::max(1, 2 * p.heads * taps_);
    case PLUMBLINE_HIDDEN_BIAS:
      return bias_.hidden();
    case PLUMBLINE_OUTPUT_WEIGHT:
      return bias_.hidden() * std::max(1, taps_);
    case PLUMBLINE_POSITION_EMBEDDING:
      return static_cast<int>(in_.option(PLUMBLINE_POSITIONS)) * p.head_dim;
    default:
      return 1;
  }
}

template <class Real>
ParameterSums<Real>::ParameterSums(const Bias<Real>& bias, int taps, const Wanted& wanted,
                                   bool in_float, Results<Real>& results)
    : bias_(bias),
      taps_(taps),
      in_(bias.problem()),
      fault_(bias.fault()),
      wanted_(wanted),
      in_float_(in_float),
      results_(results) {
  const auto& p = in_.p;
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    if (!wanted[n]) continue;
    row_[n].assign(slice(n), 0);
    std::size_t size = static_cast<std::size_t>(slice(n)) * (shared_by_heads(n) ? 1 : p.heads);
    const bool by_key = n == PLUMBLINE_INCREMENTS || n == PLUMBLINE_LOG_FORGET;
    if (by_key) size = static_cast<std::size_t>(p.batch) * p.heads * p.keys;
    if (n == PLUMBLINE_TENSOR) size = in_.tensor_rows() * p.keys;
    if (n == PLUMBLINE_GAIN) size = static_cast<std::size_t>(p.batch) * p.heads * p.queries;
    if (is_custom(n)) {
      const auto last = custom_part(p, in_.formula, n - PLUMBLINE_CUSTOM_0, p.batch - 1,
                                    p.heads - 1, p.queries - 1);
      size = last.begin + last.size;
    }
    results_.grad_parameters[n].assign(size, 0);
    if (by_key) of_sums_.assign(size, 0);
  }
}

template <class Real>
void ParameterSums<Real>::add(Real& total, Real term) const {
  total += term;
  if (fault_.is(F::parameter_in_bf16)) total = lost(total, PLUMBLINE_BF16);
}

/// rate: derivative of b by S_i, minus that by S_j.
template <class Real>
void ParameterSums<Real>::prefix(const Pair& at, Real dz, Real rate) {
  if (of_sums_.empty()) return;
  const Real term = dz * rate;
  if (!fault_.is(F::query_side_missing)) query_side_ += term;
  if (!fault_.is(F::key_side_missing)) {
    add(of_sums_[(static_cast<std::size_t>(at.batch) * in_.p.heads + at.head) * in_.p.keys + at.j],
        -term);
  }
}

template <class Real>
void ParameterSums<Real>::fire(const Pair& at, Real dz) {
  const auto r = bias_.reach(at);
  Real by_y = 0;
  for (int w = 0; w < bias_.hidden(); ++w) {
    const Real in = bias_.unit(r, w),
               out = in_.parameter(PLUMBLINE_OUTPUT_WEIGHT)[at.head * bias_.hidden() + w];
    row_[PLUMBLINE_OUTPUT_WEIGHT][w] += dz * std::max(in, Real(0));
    if (!(in > 0) && !fault_.is(F::dead_units_count)) continue;
    row_[PLUMBLINE_HIDDEN_BIAS][w] += dz * out;
    row_[PLUMBLINE_HIDDEN_WEIGHT][w] += dz * out * r.y;
    by_y += out * in_.parameter(PLUMBLINE_HIDDEN_WEIGHT)[w];
  }
  row_[PLUMBLINE_OUTPUT_BIAS][0] += dz;
  const Real c = in_.parameter(PLUMBLINE_C)[0], L = in_.parameter(PLUMBLINE_L)[0];
  const Real x = bias_.distance(at), size = std::abs(c);
  const Real by_numerator = x / (1 + size * x);
  const Real by_denominator = r.threshold / (1 + size * r.threshold);
  row_[PLUMBLINE_C][0] +=
      dz * by_y * sign(c) * (by_numerator - r.y * by_denominator) / r.denominator;
  if (!r.by_threshold) return;
  const Real reach = size * std::abs(static_cast<Real>(in_.option(PLUMBLINE_L0)));
  row_[PLUMBLINE_L][0] -=
      dz * by_y * sign(L) * r.y * reach / (1 + size * r.threshold) / r.denominator;
}

template <class Real>
void ParameterSums<Real>::custom(const Pair& at, Real dz) {
  const auto b = bias_.custom(at);
  for (int n = 0; n < static_cast<int>(b.by.size()); ++n) {
    auto& sums = row_[PLUMBLINE_CUSTOM_0 + n];
    if (!is_of_keys(in_.formula, n)) {
      sums[0] += dz * b.by[n];
      continue;
    }
    if (!fault_.is(F::key_side_missing)) sums[at.j] += dz * b.by[n];
    if (!fault_.is(F::query_side_missing)) sums[at.i] += dz * b.by_own;
  }
  prefix(at, dz, b.by_difference);
}

template <class Real>
void ParameterSums<Real>::pair(const Pair& at, Real dz) {
  const auto distance_sign = [&](Real d) {
    return fault_.is(F::distance_sign_ignored) ? Real(1) : sign(d);
  };
  switch (bias_.method()) {
    case PLUMBLINE_CABLE: {
      const Real d = bias_.difference(at);
      row_[PLUMBLINE_GAIN][0] -= dz * std::abs(d);
      return prefix(at, dz, -bias_.gain(at) * distance_sign(d));
    }
    case PLUMBLINE_CABLE_NW:
      return prefix(at, dz, -distance_sign(bias_.difference(at)));
    case PLUMBLINE_K_CABLE: {
      const Real d = bias_.difference(at);
      row_[PLUMBLINE_GAIN][0] -= dz * std::log(1 + d * d);
      return prefix(at, dz, -bias_.gain(at) * (2 * d / (1 + d * d)));
    }
    case PLUMBLINE_K_CABLE_NW: {
      const Real d = bias_.difference(at);
      return prefix(at, dz, -(2 * d / (1 + d * d)));
    }
    case PLUMBLINE_K_CABLE_PAPER: {
      const Real d = bias_.difference(at), g = bias_.gain(at), t = g * d;
      const Real k = 2 * t / (1 + t * t);
      row_[PLUMBLINE_GAIN][0] -= dz * k * d;
      return prefix(at, dz, -g * k);
    }
    case PLUMBLINE_CABLE_PAPER:
      row_[PLUMBLINE_GAIN][0] += dz * bias_.difference(at);
      return prefix(at, dz, bias_.gain(at));
    case PLUMBLINE_CABLE_NW_PAPER:
    case PLUMBLINE_FOX:
      return prefix(at, dz, 1);
    case PLUMBLINE_GGD: {
      const Real alpha = std::exp(Real(in_.parameter(PLUMBLINE_THETA_ALPHA)[at.head]));
      const Real theta = in_.parameter(PLUMBLINE_THETA_MU)[at.head];
      const Real from = static_cast<Real>(at.j - at.i) - bias_.mu(at), beta = bias_.beta(at);
      const Real x = std::abs(from) + bias_.epsilon(), b = -alpha * std::pow(x, beta);
      row_[PLUMBLINE_THETA_ALPHA][0] += dz * b;
      row_[PLUMBLINE_THETA_BETA][0] += dz * b * std::log(x);
      row_[PLUMBLINE_THETA_MU][0] += dz * (alpha * beta * std::pow(x, beta - 1)) * sign(from) *
                                     (std::exp(theta) + std::exp(-theta));
      return;
    }
    case PLUMBLINE_KERPLE_LOG: {
      const Real p = in_.parameter(PLUMBLINE_P)[at.head], a = in_.parameter(PLUMBLINE_A)[at.head];
      const Real x = bias_.distance(at);
      row_[PLUMBLINE_P][0] -= dz * std::log(1 + a * x);
      row_[PLUMBLINE_A][0] -= dz * (p * x / (1 + a * x));
      return;
    }
    case PLUMBLINE_KERPLE_POWER: {
      const Real p = in_.parameter(PLUMBLINE_P)[at.head], a = in_.parameter(PLUMBLINE_A)[at.head];
      const Real x = bias_.distance(at);
      if (x == 0) return;
      const Real power = std::pow(x, p);
      row_[PLUMBLINE_P][0] -= dz * (a * power * std::log(x));
      row_[PLUMBLINE_A][0] -= dz * power;
      return;
    }
    case PLUMBLINE_T5:
    case PLUMBLINE_T5_BIDIRECTIONAL:
    case PLUMBLINE_T5_CLIPPED:
    case PLUMBLINE_T5_CLIPPED_OFFSET:
      row_[PLUMBLINE_TABLE][bias_.table_row(at)] += dz;
      return;
    case PLUMBLINE_FIRE:
      return fire(at, dz);
    case PLUMBLINE_BIAS_TENSOR:
      row_[PLUMBLINE_TENSOR][at.key] += dz;
      return;
    case PLUMBLINE_NOPE:
    case PLUMBLINE_ALIBI:
    case PLUMBLINE_COPE:
      return;
    case PLUMBLINE_CUSTOM:
      return custom(at, dz);
  }
  const auto by = bias_.plain(at).derivatives;
  const auto& parameters = methods::row(bias_.method()).parameters;
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    row_[parameters.items[n].id][0] += dz * by[n];
  }
}

template <class Real>
void ParameterSums<Real>::add_to_row(plumbline_parameter parameter, std::size_t begin,
                                     const std::vector<Real>& terms) {
  if (!wanted_[parameter]) return;
  for (std::size_t n = 0; n < terms.size(); ++n) row_[parameter][begin + n] += terms[n];
}

template <class Real>
void ParameterSums<Real>::finish_row(int batch, int head, int row) {
  const auto& p = in_.p;
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    if (!wanted_[n] || n == PLUMBLINE_INCREMENTS || n == PLUMBLINE_LOG_FORGET) continue;
    auto& total = results_.grad_parameters[n];
    const bool left_out = (fault_.is(F::parameter_last_batch) && batch < p.batch - 1) ||
                          (fault_.is(F::parameter_last_row_missing) && row == p.queries - 1);
    const std::size_t size = row_[n].size();
    const int of = fault_.is(F::parameter_of_next_head) ? (head + 1) % p.heads : head;
    std::size_t begin = shared_by_heads(n) ? 0 : of * size;
    if (n == PLUMBLINE_TENSOR) begin = in_.tensor_row(batch, of, row) * p.keys;
    if (n == PLUMBLINE_GAIN) begin = in_.query_row(batch, of, row);
    if (is_custom(n)) {
      begin = custom_part(p, in_.formula, n - PLUMBLINE_CUSTOM_0, batch, of, row).begin;
    }
    for (std::size_t m = 0; m < size; ++m) {
      if (!left_out) add(total[begin + m], row_[n][m]);
      row_[n][m] = 0;
    }
  }
  if (!of_sums_.empty() && row + first_position(p, batch) >= 0) {
    add(of_sums_[(static_cast<std::size_t>(batch) * p.heads + head) * p.keys + row +
                 first_position(p, batch)],
        query_side_);
  }
  query_side_ = 0;
}

template <class Real>
void ParameterSums<Real>::finish() {
  const auto& p = in_.p;
  for (const int n : {PLUMBLINE_INCREMENTS, PLUMBLINE_LOG_FORGET}) {
    if (!wanted_[n]) continue;
    auto& total = results_.grad_parameters[n];
    for (std::size_t begin = 0; begin < total.size(); begin += p.keys) {
      double sum = 0;
      Real in_float = 0;
      for (int m = 0; m < p.keys; ++m) {
        const std::size_t at = begin + (fault_.is(F::forward_sum) ? m : p.keys - 1 - m);
        if (fault_.is(F::reverse_sum_missing)) sum = in_float = 0;
        const auto now = [&] { return in_float_ ? in_float : static_cast<Real>(sum); };
        if (fault_.is(F::reverse_sum_exclusive)) total[at] = now();
        sum += of_sums_[at];
        in_float += of_sums_[at];
        if (!fault_.is(F::reverse_sum_exclusive)) total[at] = now();
      }
    }
  }
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    for (Real& x : results_.grad_parameters[n]) {
      if (fault_.is(F::parameter_zero)) x = 0;
      if (fault_.is(F::parameter_nan)) x = std::numeric_limits<Real>::quiet_NaN();
      if (fault_.is(F::parameter_sign)) x = -x;
      if (fault_.is(F::parameter_doubled)) x *= 2;
      if (fault_.is(F::parameter_scaled)) x *= static_cast<Real>(p.scale);
      if (fault_.is(F::parameter_gradient_off)) x *= static_cast<Real>(1 + fault_.amount);
    }
  }
}

template class ParameterSums<float>;
template class ParameterSums<double>;

}  // namespace plumbline::bench
