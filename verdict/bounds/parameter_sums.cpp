// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/parameter_sums.hpp"

#include <algorithm>
#include <cmath>

#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

using reference::RunningError;

void add_to(std::vector<double>& total, const std::vector<double>& part) {
  for (std::size_t n = 0; n < part.size(); ++n) total[n] += part[n];
}

/// sum_j g_j x_j of one row, g_j being c dS_j, and the bound of a kernel's: growth |sum| + common
/// |sum_j p_j x_j| + sum_j own_j |x_j| + (|g_j| + its error) e_j + left_out(x).
class RowSum {
 public:
  RowSum(const ParameterSums::Row& row, double factor) : row_(row), c_(std::abs(factor)) {}

  /// Another key, the n-th that is visible.
  void add(std::size_t n, const RunningError& g, const RunningError& x, double error,
           double lost = 0) {
    const RunningError term = g * x;
    value_ += term.value();
    radius_ += term.error();
    size_ += std::abs(term.value());
    by_p_ += row_.probability[n].value() * x.value();
    by_p_size_ += row_.probability[n].value() * std::abs(x.value());
    const double magnitude = std::abs(g.value()) + c_ * row_.errors.total[n];
    // A kernel's g may be infinite, and infinity times 0 is NaN.
    if (!(magnitude < 0x1p127)) own_ = infinity;
    own_ += c_ * row_.errors.own[n] * std::abs(x.value()) + magnitude * error;
    left_out_ += row_.errors.left_out[n] * std::abs(x.value());
    left_out_at_most_ =
        std::max(left_out_at_most_, row_.errors.left_out_rate[n] * std::abs(x.value()));
    magnitude_ += magnitude * (std::abs(x.value()) + error);
    lost_ += lost;
    ++terms_;
  }
  ParameterSum sum() const {
    // The double sum of p x is off by less than terms 2^-52 of the sum of magnitudes.
    const double by_p = std::abs(by_p_) + terms_ * 0x1p-52 * by_p_size_;
    const double error = row_.errors.growth * (std::abs(value_) + radius_) +
                         c_ * row_.errors.common * by_p + own_ +
                         c_ * std::min(left_out_, left_out_at_most_);
    return {value_, radius_, size_, error, magnitude_, lost_, terms_};
  }

 private:
  const ParameterSums::Row& row_;
  double c_;
  double value_ = 0, radius_ = 0, size_ = 0, by_p_ = 0, by_p_size_ = 0, own_ = 0, magnitude_ = 0;
  double left_out_ = 0, left_out_at_most_ = 0, lost_ = 0, terms_ = 0;
};

}  // namespace

void ParameterSum::add(const ParameterSum& part) {
  value += part.value;
  radius += part.radius;
  size += part.size;
  error += part.error;
  magnitude += part.magnitude;
  lost += part.lost;
  terms += part.terms;
}

ParameterSums::ParameterSums(const cases::Case& the_case, int first_query, int queries) {
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto p = static_cast<plumbline_parameter>(n);
    if (!cases::has_gradient(the_case.spec, p)) continue;
    std::size_t size = elements_of_head(the_case, p);
    if (p == PLUMBLINE_TENSOR && the_case.options[PLUMBLINE_PER_QUERY] != 0) {
      const auto keys = static_cast<std::size_t>(the_case.spec.keys);
      first_pair_ = first_query * keys;
      size = queries * keys;
    }
    sums_[n].resize(size);
    if (!methods::is_summed(p)) continue;
    for (auto* sums : {&prefix_.inner, &prefix_.by_query, &prefix_.by_key, &prefix_.queries,
                       &prefix_.magnitude}) {
      sums->assign(sums_[n].size(), 0.0);
    }
  }
}

void ParameterSums::add(const Contract& contract, const Row& row) {
  largest_row_ = std::max(largest_row_, static_cast<double>(row.visible.size()));
  ++rows_;
  for (const RowDerivative& theta : row.derivatives.parameters) {
    RowSum sum(row, row.factor);
    for (std::size_t m = 0; m < theta.value.size(); ++m) {
      const std::size_t n = theta.keys.empty() ? m : theta.keys[m];
      sum.add(n, row.grad_z[n], theta.value[m], theta.error[m],
              theta.lost.empty() ? 0.0 : theta.lost[m]);
    }
    sums_[theta.parameter][theta.element].add(sum.sum());
  }
  if (row.derivatives.pairs) {
    auto& sums = sums_[PLUMBLINE_TENSOR];
    const std::size_t first = *row.derivatives.pairs - first_pair_;
    for (std::size_t n = 0; n < row.visible.size(); ++n) {
      RowSum sum(row, row.factor);
      sum.add(n, row.grad_z[n], RunningError(1.0), 0.0);
      sums[first + row.visible[n]].add(sum.sum());
    }
  }
  if (row.derivatives.prefix.used) add_prefix(contract, row);
  if (row.logits) {
    // ds_h = ln n sum_j dS_j z_j: the logarithm within 1 ulp, and the products, 8u.
    RowSum sum(row, 1.0);
    const RunningError log_n =
        reference::log(RunningError(static_cast<double>(row.visible.size())));
    for (std::size_t n = 0; n < row.visible.size(); ++n) {
      sum.add(n, row.grad_s[n], (*row.logits)[n], (*row.logit_error)[n]);
    }
    ParameterSum part = sum.sum();
    const RunningError value = log_n * RunningError(part.value, part.radius);
    part.value = value.value();
    part.radius = value.error();
    part.size *= log_n.value();
    part.error = log_n.value() * (part.error + 8 * u * part.magnitude);
    part.magnitude *= log_n.value() * (1 + 8 * u);
    sums_[PLUMBLINE_SSMAX_SCALE][0].add(part);
  }
}

/// theta_k gets sum_j g_j x_j over the keys j < k for k <= i, over j >= k for k > i.
void ParameterSums::add_prefix(const Contract& contract, const Row& row) {
  const PrefixDerivative& by = row.derivatives.prefix;
  auto& sums = sums_[by.parameter];
  const int keys = static_cast<int>(sums.size()), i = row.position;
  const int n = static_cast<int>(row.visible.size());
  const double c = std::abs(row.factor);
  RowSum before(row, row.factor);
  for (int k = 1, m = 0; k <= i; ++k) {
    for (; m < n && row.visible[m] < k; ++m) {
      before.add(m, row.grad_z[m], by.value[m], by.rounding[m] + by.kink[m],
                 by.lost.empty() ? 0.0 : by.lost[m]);
    }
    sums[k].add(before.sum());
  }
  RowSum after(row, row.factor);
  for (int k = keys - 1, m = n - 1; k > i; --k) {
    for (; m >= 0 && row.visible[m] >= k; --m) {
      after.add(m, row.grad_z[m], by.value[m], by.rounding[m] + by.kink[m],
                by.lost.empty() ? 0.0 : by.lost[m]);
    }
    sums[k].add(after.sum());
  }
  double size = 0;
  for (int m = 0; m < n; ++m) {
    const int j = row.visible[m];
    const double x = j == i ? by.own : std::abs(by.value[m].value());
    const double magnitude = std::abs(row.grad_z[m].value()) + c * row.errors.total[m];
    if (!row.in_memory)
      prefix_.inner[std::min(i, j)] +=
          2 * (c * (row.errors.own[m] + row.errors.left_out[m]) * x +
               magnitude * (by.rounding[m] + by.kink[m]) +
               (by.lost.empty() ? 0.0 : by.lost[m]) * result_underflow(contract));
    const double term = magnitude * (x + by.rounding[m] + by.kink[m]);
    prefix_.by_key[j] += term;
    ++prefix_.queries[j];
    size += term;
  }
  prefix_.by_query[i] += (gamma(n, contract.unit_roundoff) + 4 * u) * size;
  prefix_.magnitude[i] += size;
}

void ParameterSums::add_sink_alone(std::size_t element, const ParameterSum& sum) {
  add(PLUMBLINE_SINKS, element, sum);
  largest_row_ = std::max(largest_row_, 1.0);
  ++rows_;
}

void ParameterSums::add(const ParameterSums& part) {
  for (int p = 0; p < PLUMBLINE_PARAMETER_COUNT; ++p) {
    const std::size_t first = p == PLUMBLINE_TENSOR ? part.first_pair_ - first_pair_ : 0;
    for (std::size_t n = 0; n < part.sums_[p].size(); ++n) {
      sums_[p][first + n].add(part.sums_[p][n]);
    }
  }
  add_to(prefix_.inner, part.prefix_.inner);
  add_to(prefix_.by_query, part.prefix_.by_query);
  add_to(prefix_.by_key, part.prefix_.by_key);
  add_to(prefix_.queries, part.prefix_.queries);
  add_to(prefix_.magnitude, part.prefix_.magnitude);
  largest_row_ = std::max(largest_row_, part.largest_row_);
  rows_ += part.rows_;
}

namespace {

/// The double sum's own rounding: terms sums of up to keys terms each.
double radius_of(const ParameterSum& sum) {
  return 1.001 * (sum.radius + gamma(2 * sum.terms + 64, 0x1p-53) * sum.size) + 0x1p-1000;
}

OracleNumber gradient(const Contract& contract, cases::Format format, const ParameterSum& sum,
                      double additions) {
  const double lost = sum.lost * result_underflow(contract);
  const double bound =
      gradient_bound(contract, format, sum.value, sum.error + lost, sum.magnitude, additions, 1.0);
  return {sum.value, radius_of(sum), bound};
}

/// Positions from the last one: what lies at k or behind it goes through the reverse sum.
void prefix_gradients(const Contract& contract, const ParameterSums& head,
                      const std::vector<ParameterSum>& sums, OracleNumber* result) {
  const PrefixSums& prefix = head.prefix();
  const bool in_float = contract.prefix_sum == PLUMBLINE_PREFIX_SUM_FP32;
  const double reverse_roundoff = in_float ? contract.unit_roundoff : 0x1p-53;
  const int keys = static_cast<int>(sums.size());
  double inner = 0, accumulated = 0, magnitude = 0;
  for (int k = keys - 1; k >= 0; --k) {
    inner += prefix.inner[k];
    accumulated += prefix.by_query[k] +
                   (gamma(prefix.queries[k], contract.unit_roundoff) + 4 * u) * prefix.by_key[k];
    magnitude += prefix.magnitude[k] + prefix.by_key[k];
    const double error = sums[k].error + sums[k].lost * result_underflow(contract) + inner +
                         accumulated + gamma(keys - k, reverse_roundoff) * magnitude;
    double bound =
        gradient_bound(contract, cases::Format::fp32, sums[k].value, error, 0.0, 2.0 * keys, 1.0);
    if (!(magnitude < 0x1p127)) bound = INFINITY;
    result[k] = {sums[k].value, radius_of(sums[k]), bound};
  }
}

}  // namespace

std::array<std::vector<OracleNumber>, PLUMBLINE_PARAMETER_COUNT> parameter_gradients(
    const cases::Case& the_case, const Contract& contract,
    const std::vector<ParameterSums>& heads) {
  std::array<std::vector<OracleNumber>, PLUMBLINE_PARAMETER_COUNT> result;
  const auto& spec = the_case.spec;
  for (int which = 0; which < PLUMBLINE_PARAMETER_COUNT; ++which) {
    const auto p = static_cast<plumbline_parameter>(which);
    if (!cases::has_gradient(spec, p)) continue;
    const std::size_t size = the_case[p].size(), of_head = elements_of_head(the_case, p);
    auto& gradients = result[which];
    gradients.resize(size);
    if (methods::is_summed(p)) {
      for (std::size_t head = 0; head < heads.size(); ++head) {
        prefix_gradients(contract, heads[head], heads[head].of(p), &gradients[head * of_head]);
      }
      continue;
    }
    std::vector<ParameterSum> total(size);
    std::vector<double> rows(size, 0.0);
    double longest = 0;
    for (std::size_t head = 0; head < heads.size(); ++head) {
      const std::size_t part = part_of_head(the_case, p, static_cast<int>(head));
      longest = std::max(longest, heads[head].largest_row());
      // Of a bias tensor nothing is there where the head is outside of the sample.
      for (std::size_t n = 0; n < heads[head].of(p).size(); ++n) {
        total[part * of_head + n].add(heads[head].of(p)[n]);
        rows[part * of_head + n] += heads[head].rows();
      }
    }
    const cases::Format format = cases::format_of(the_case, p).value_or(cases::Format::fp32);
    for (std::size_t n = 0; n < size; ++n) {
      // A query's own gain is a sum over its keys; everything else passes through two sums.
      const double through = p == PLUMBLINE_GAIN ? longest : longest + rows[n];
      gradients[n] = gradient(contract, format, total[n], std::min(through, total[n].terms));
      // The same for all keys of a row: 0 if D is sum_j p_j dP_j, and a kernel may say so at once.
      if (p == PLUMBLINE_OUTPUT_BIAS && !the_case.spec.lse_gradient) {
        gradients[n].bound += std::abs(gradients[n].value);
      }
    }
  }
  return result;
}

}  // namespace plumbline::verdict
