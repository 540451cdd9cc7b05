// SPDX-License-Identifier: Apache-2.0
// A backward pass that errs by as much as its contract allows, every error with the sign that moves
// a chosen element the most.
#pragma once

#include <cmath>
#include <vector>

#include "head_problem.hpp"

namespace plumbline::test {

/// Where errors may come from; a test has them one at a time, and all together.
enum Sources {
  common = 1,  // D
  lse = 2,     // recomputed
  weights = 4,
  rounding = 8,  // of P and dS
  dot_products = 16,
  sums = 32,
  derivatives = 64,
  stores = 128,
  left_out_keys = 256,
  all_sources = 511
};

struct BackwardFaults {
  double slope = 1.0, scale = 1.0;
  bool no_common = false, lse_base_2 = false;
  int dropped_key = -1;
};

inline double sign(double x) { return x < 0 ? -1.0 : 1.0; }

/// A backward pass in double but for the errors in `sources`, each as large as the contract allows.
/// Their signs add up in the target.
class UnluckyBackward {
 public:
  UnluckyBackward(const HeadProblem& x, const verdict::Contract& contract, Format format,
                  int sources, const Target& target, const BackwardFaults& faults = {})
      : x_(x),
        contract_(contract),
        format_(format),
        sources_(sources),
        target_(target),
        faults_(faults) {}

  double run() {
    double total = 0, size = 0;
    for (int i = 0; i < x_.rows; ++i) {
      if (target_.output == Target::grad_q || target_.output == Target::query_parameter) {
        if (i != target_.row) continue;
      }
      add_row(i, total, size);
    }
    double n = x_.rows;
    if (target_.output == Target::grad_q || target_.output == Target::query_parameter) n = x_.keys;
    if (target_.output == Target::head_parameter) n = x_.rows + x_.keys;
    if (sources_ & sums) {
      total += direction_ * verdict::gamma(n, contract_.unit_roundoff) * size;
    }
    const bool parameter =
        target_.output == Target::query_parameter || target_.output == Target::head_parameter;
    const double stored = verdict::unit_roundoff(parameter ? Format::fp32 : format_);
    if (sources_ & stores) total *= 1 + direction_ * sign(total) * stored;
    return total;
  }

 private:
  /// How the target changes with dS_ij, and with p_ij in dV.
  double weight(int i, int j) const {
    switch (target_.output) {
      case Target::grad_q:
        return x_.scale * x_.factor * x_.k[j * x_.dim + target_.component];
      case Target::grad_k:
        return j == target_.key ? x_.scale * x_.factor * x_.q[i * x_.dim + target_.component] : 0.0;
      case Target::grad_v:
        return j == target_.key ? x_.grad_o[i * x_.dim + target_.component] : 0.0;
      default:
        return x_.factor * x_.derivative[i * x_.keys + j];
    }
  }

  void add_row(int i, double& total, double& size) const {
    const ExactRow row(x_, i);
    const bool given = x_.weights == Weights::of_saved_output;
    const double omega = contract_.exp_error;
    const auto p_rounding = verdict::probability_rounding(contract_);
    const bool of_p = target_.output == Target::grad_v;
    // The target falls with D by this much.
    double by_common = 0, by_growth = 0;
    for (int j = 0; j < x_.keys; ++j) {
      by_common += row.p[j] * weight(i, j);
      by_growth += (of_p ? row.p[j] : row.grad_s(j)) * weight(i, j);
    }
    const double d_up = of_p ? 0.0 : -sign(by_common) * direction_;  // D's wanted direction
    const double l_up = -sign(by_growth) * direction_;
    const std::vector<bool> left_out = keys_left_out(row);
    double l = row.lse;
    if (!given && (sources_ & lse)) l += l_up * worst_lse_error(i, row);
    if (faults_.lse_base_2) l /= std::log(2.0);

    const double r = contract_.operand_roundoff;
    const double dot = verdict::gamma(x_.dim, contract_.unit_roundoff) + r * (2 + r);
    // A kernel may add p dlse with a p of its own, whose errors have the other signs.
    double by_lse = 0;
    for (int j = 0; j < x_.keys; ++j) by_lse += row.p[j] * row.grad_lse * weight(i, j);
    const double l_of_lse =
        row.lse +
        (!given && (sources_ & lse) ? -sign(by_lse) * direction_ * worst_lse_error(i, row) : 0.0);
    const auto p_of = [&](int j, double up, bool errs, double l) {
      double s = x_.score[i * x_.keys + j] + (faults_.slope - 1) * x_.derivative[i * x_.keys + j];
      if (errs) s += up * x_.score_error[i * x_.keys + j];
      return std::exp(s - l) * (errs ? 1 + up * omega : 1);
    };
    double common_term = 0, products = 0;
    for (int d = 0; d < x_.dim && given; ++d) {
      const double term = double{x_.grad_o[i * x_.dim + d]} * x_.o[i * x_.dim + d];
      common_term += term;
      products += std::abs(term);
    }
    for (int j = 0; j < x_.keys && !given; ++j) {
      if (left_out[j]) continue;
      const double p = p_of(j, d_up * sign(row.grad_p[j]), sources_ & common, l);
      common_term += p * row.grad_p[j];
      products += p * row.grad_products[j];
    }
    if (sources_ & common) common_term += d_up * dot * products;
    if (faults_.no_common) common_term = 0;

    std::vector<double> p(x_.keys), grad_p(x_.keys), by_own_p(x_.keys);
    for (int j = 0; j < x_.keys; ++j) {
      const double up = direction_ * sign((of_p ? 1.0 : row.grad_p[j] - row.common) * weight(i, j));
      p[j] = p_of(j, up, sources_ & weights, l);
      if (j == faults_.dropped_key || left_out[j]) p[j] = 0;
      if (!of_p && row.grad_lse != 0) {
        const double up_of_lse = direction_ * sign(row.grad_lse * weight(i, j));
        by_own_p[j] = p_of(j, up_of_lse, sources_ & weights, l_of_lse) * row.grad_lse;
        if (j == faults_.dropped_key || left_out[j]) by_own_p[j] = 0;
      }
      grad_p[j] = row.grad_p[j];
      if (sources_ & dot_products) {
        grad_p[j] += direction_ * sign(weight(i, j)) * dot * row.grad_products[j];
      }
    }
    for (int j = 0; j < x_.keys; ++j) {
      const double w = weight(i, j);
      double value = of_p ? p[j] : (p[j] * (grad_p[j] - common_term) + by_own_p[j]) * faults_.scale;
      const bool parameter =
          target_.output == Target::query_parameter || target_.output == Target::head_parameter;
      if ((sources_ & rounding) && !parameter) {
        value *= 1 + direction_ * sign(value * w) * (p_rounding.relative + r);
      }
      double term = value * w;
      if (parameter && (sources_ & derivatives)) {
        term += direction_ * std::abs(value * x_.factor) * x_.derivative_error[i * x_.keys + j];
      }
      total += term;
      size += std::abs(term);
    }
  }

  /// As many keys as may be left out, from the first.
  std::vector<bool> keys_left_out(const ExactRow& row) const {
    std::vector<bool> left_out(x_.keys, false);
    double mass = 0;
    for (int j = 0; j < x_.keys && (sources_ & left_out_keys); ++j) {
      left_out[j] = mass + row.p[j] <= contract_.skipped_mass;
      if (left_out[j]) mass += row.p[j];
    }
    return left_out;
  }

  /// All scores up or down together, and the exponentials with them.
  double worst_lse_error(int i, const ExactRow& row) const {
    double total = 0;
    for (int j = 0; j < x_.keys; ++j) {
      total += row.p[j] * std::exp(x_.score_error[i * x_.keys + j]) * (1 + contract_.exp_error);
    }
    return std::log(total);
  }

  const HeadProblem& x_;
  verdict::Contract contract_;
  Format format_;
  int sources_;
  Target target_;
  BackwardFaults faults_;
  double direction_ = 1.0;
};

}  // namespace plumbline::test
