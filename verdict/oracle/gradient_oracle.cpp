// SPDX-License-Identifier: Apache-2.0
#include "verdict/oracle/gradient_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>

#include "verdict/bounds/backward.hpp"
#include "verdict/bounds/head_products.hpp"
#include "verdict/bounds/parameter_sums.hpp"
#include "verdict/bounds/roundoff.hpp"
#include "verdict/bounds/row.hpp"
#include "verdict/bounds/score_method_gradients.hpp"
#include "verdict/oracle/rows.hpp"
#include "verdict/oracle/sample.hpp"

namespace plumbline::verdict {
namespace {

using reference::RunningError;

class Work {
 public:
  Work(const cases::Case& c, const Contract& contract, const GradientFormats& formats,
       const cases::Outputs* given, int threads, const Sample& sample, const OtherRows& other)
      : case_(c),
        contract_(contract),
        given_(given),
        threads_(threads),
        sample_(sample),
        other_(other),
        reading_(c, is_alibi_of_key(contract, c.spec)),
        row_bounds_(c, contract, formats.o, reading_),
        bias_gradient_(c, contract, reading_, row_bounds_.bias_error()),
        left_out_(static_cast<std::size_t>(c.spec.batch) * c.spec.heads * c.spec.queries),
        products_(c, contract, formats, reading_) {}

  OracleGradients run() {
    const auto& s = case_.spec;
    OracleGradients result;
    result.q.resize(case_.q.size());
    result.k.resize(case_.k.size());
    result.v.resize(case_.v.size());
    std::vector<ParameterSums> sums;
    const int group = s.heads / s.kv_heads;
    // DAPE's heads depend on one another: those of a sequence are read together.
    const int together = s.bias.dape_taps() > 0 ? s.kv_heads : 1;
    for (int kv = 0; kv < s.batch * s.kv_heads; kv += together) {
      std::vector<HeadPairs> heads;
      const int batch = kv / s.kv_heads, first = kv % s.kv_heads * group;
      if (!sample_.has_key_head(kv)) {
        sums.insert(sums.end(), together * group, ParameterSums(case_, 0, 0));
        continue;
      }
      for (int n = 0; n < together * group; ++n) {
        heads.emplace_back(s.queries, s.keys, contract_.skipped_mass > 0);
        if (s.softcap != 0 || s.dropout > 0)
          heads.back().p_of_products = Numbers::Zero(s.queries, s.keys);
        sums.push_back(read_head(batch, first + n, heads.back()));
      }
      if (cases::needs_scores(s.bias)) {
        const ScoreMethodGradients gradients(case_, contract_, reading_,
                                             row_bounds_.score_method_errors(), bias_gradient_);
        gradients.pass(batch, first, heads, std::span(sums).last(heads.size()), threads_);
      }
      for (int n = 0; n < together; ++n) {
        products_.add(kv + n, std::span(heads).subspan(n * group, group), result);
      }
    }
    result.parameters = parameter_gradients(case_, contract_, sums);
    leave_out(result);
    return result;
  }

 private:
  /// Everything nonlinear: the rows of one query head.
  ParameterSums read_head(int batch, int head, HeadPairs& pairs) const {
    const int queries = case_.spec.queries;
    const int parts = (queries + rows_at_a_time - 1) / rows_at_a_time;
    std::vector<ParameterSums> sums;
    for (int first = 0; first < queries; first += rows_at_a_time) {
      sums.emplace_back(case_, first, std::min(rows_at_a_time, queries - first));
    }
    for_each_index(parts, threads_, [&](std::size_t part) {
      const int first = static_cast<int>(part) * rows_at_a_time;
      for (int query = first; query < std::min(first + rows_at_a_time, queries); ++query) {
        read_row(batch, head, query, pairs, sums[part]);
      }
    });
    ParameterSums total(case_);
    for (const ParameterSums& part : sums) total.add(part);
    return total;
  }

  void read_row(int batch, int head, int query, HeadPairs& pairs, ParameterSums& sums) const;
  void read_empty_row(int batch, int head, int query, HeadPairs& pairs, std::size_t q_row,
                      ParameterSums& sums) const;
  /// A row's part of the gradient of its sink, -p (D - dlse).
  ParameterSum sink_gradient(const BackwardRow& row, int head, const RunningError& p,
                             const RunningError& delta, const RunningError& grad_lse) const;
  /// Of a row that sees nothing else: p = 1 and D = 0.
  void add_sink_alone(int head, std::size_t q_row, ParameterSums& sums) const;
  /// dlse of a row, of the natural logarithm; 0 where no gradient comes in through lse.
  RunningError grad_lse(std::size_t q_row) const {
    if (!case_.spec.lse_gradient) return RunningError(0.0);
    const double given = case_.grad_lse[q_row];
    if (contract_.lse_base_2 == 0) return RunningError(given);
    return RunningError(given * std::numbers::log2e, 0x1p-51 * std::abs(given));
  }
  /// Of one pair, as an operand of dV: P within `error`, and what dropout makes of it.
  /// @param dropout m of the key, or null
  void set_probability(HeadPairs& pairs, int query, int key, const RunningError& probability,
                       double error, const RunningError* dropout) const;
  void leave_out(OracleGradients& result) const;

  /// A row's P and D: of the o and lse that were given, or exact.
  struct Weights {
    BoundedRow bounded;
    reference::Vector<RunningError> probability;
    RunningError sink{0.0};  ///< its probability
    double lse = 0, lse_error = 0;
    std::optional<RunningError> common;  ///< of the given o; without it sum_j p_j dP_j
    bool known = true;                   ///< what was given is finite
  };
  Weights weights_of(int batch, int head, int query, const std::vector<int>& visible) const;

  /// tau q.k + b of a row.
  reference::Vector<RunningError> logits(int batch, int head, int query,
                                         const std::vector<int>& visible) const {
    const auto& s = case_.spec;
    const int kv = batch * s.kv_heads + head / (s.heads / s.kv_heads);
    const int position = case_.position(batch, query);
    return reading_.with_bias(batch, head, position, [&](const auto& bias) {
      const auto scores = [&](const auto& added) {
        return reference::biased_scores(reading_.q(batch, head, query), *reading_.k(kv), visible,
                                        RunningError(case_.scale), added, position,
                                        reading_.softcap());
      };
      if (!other_.bias) return scores(bias);
      const auto of_key = [&](int key) { return bias(position, key).value(); };
      return scores([&](int, int key) {
        const double other = other_.bias(of_key, batch, head, query, key);
        return RunningError(other, bias(position, key).error() + 0x1p-52 * std::abs(other));
      });
    });
  }
  /// d s_j / d(c tau q.k_j) of a row: 1 without a softcap.
  reference::Vector<RunningError> slopes(int batch, int head, int query,
                                         const std::vector<int>& visible) const {
    const auto& s = case_.spec;
    const int kv = batch * s.kv_heads + head / (s.heads / s.kv_heads);
    const auto cap = reading_.softcap();
    if (!cap) {
      return reference::Vector<RunningError>::Constant(static_cast<Eigen::Index>(visible.size()),
                                                       RunningError(1.0));
    }
    auto slopes = reference::scaled_scores(reading_.q(batch, head, query), *reading_.k(kv), visible,
                                           RunningError(case_.scale));
    for (RunningError& x : slopes) x = reference::softcap_derivative(x, *cap);
    return slopes;
  }
  RunningError ssmax_factor(int head, const std::vector<int>& visible) const {
    return reference::ssmax_factor(RunningError(double{case_[PLUMBLINE_SSMAX_SCALE][head]}),
                                   static_cast<int>(visible.size()));
  }

  const cases::Case& case_;
  const Contract& contract_;
  const cases::Outputs* given_;
  int threads_;
  const Sample& sample_;
  const OtherRows& other_;
  CaseReading<RunningError> reading_;
  RowBounds row_bounds_;
  BiasGradient bias_gradient_;
  /// Rows that the contract leaves out; each is written by the thread that reads it.
  enum LeftOut : char { judged, no_drift, not_judged };
  mutable std::vector<LeftOut> left_out_;
  HeadProducts products_;
};

/// A row that sees no key may be a mean of all v: then those get their share of dO.
void Work::read_empty_row(int batch, int head, int query, HeadPairs& pairs, std::size_t q_row,
                          ParameterSums& sums) const {
  if (!case_.has_row(batch, query)) return;
  if (sees_its_sink(contract_, case_.spec)) {  // all of the row, without a value
    if (case_.spec.lse_gradient) add_sink_alone(head, q_row, sums);
    return;
  }
  if (contract_.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_MEANS) {
    const double share = 1.0 / case_.spec.keys;
    const double off =
        (6 * u + gamma(case_.spec.keys, contract_.unit_roundoff) + 2 * contract_.exp_error) * share;
    std::vector<int> all(case_.spec.keys);
    std::iota(all.begin(), all.end(), 0);
    const auto dropout = reading_.dropout(batch, head, query, all);
    for (const int j : all) {
      set_probability(pairs, query, j, RunningError(share, 0x1p-53 * share), off,
                      dropout.size() > 0 ? &dropout[j] : nullptr);
    }
  }
  if (contract_.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_MEANS) left_out_[q_row] = no_drift;
  if (contract_.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_NAN ||
      contract_.empty_rows == PLUMBLINE_EMPTY_ROWS_ARE_NOT_MINE) {
    left_out_[q_row] = not_judged;
  }
}

/// Everything that a row which is not judged has a share in.
void Work::leave_out(OracleGradients& result) const {
  const auto& s = case_.spec;
  const std::size_t dim = s.head_dim, of_keys = s.keys * dim,
                    of_values = std::size_t(s.keys) * s.value_width();
  const auto mark = [](std::vector<OracleNumber>& numbers, std::size_t first, std::size_t count) {
    for (std::size_t n = first; n < first + count; ++n) {
      numbers[n].not_judged = true;
      numbers[n].weight = 0;
    }
  };
  for (std::size_t row = 0; row < left_out_.size(); ++row) {
    if (!left_out_[row]) continue;
    // The gate has added it up. A mean's weights are all the same, and round to one side.
    result.v_drift = {};
    if (left_out_[row] == no_drift) continue;
    const std::size_t bh = row / s.queries, batch = bh / s.heads;
    const std::size_t kv = batch * s.kv_heads + bh % s.heads / (s.heads / s.kv_heads);
    mark(result.q, row * dim, dim);
    mark(result.k, kv * of_keys, of_keys);
    mark(result.v, kv * of_values, of_values);
    for (auto& parameter : result.parameters) mark(parameter, 0, parameter.size());
    result.q_drift = result.k_drift = {};
  }
}

Work::Weights Work::weights_of(int batch, int head, int query,
                               const std::vector<int>& visible) const {
  const auto& s = case_.spec;
  const std::size_t q_row = (static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query;
  Weights result;
  const bool given_lse = given_ != nullptr && !contract_.no_lse;
  if (given_ != nullptr) {
    const std::span o = std::span(given_->o).subspan(q_row * s.value_width(), s.value_width());
    result.lse = given_lse ? given_->lse[q_row] : 0.0;
    if (contract_.lse_base_2) result.lse *= std::numbers::ln2;
    result.known = std::isfinite(result.lse) &&
                   std::all_of(o.begin(), o.end(), [](float x) { return std::isfinite(x); });
  }
  const auto common_of_output = [&] {
    const int width = s.value_width();
    const auto o = vector_of<RunningError>(given_->o, q_row * width, width);
    const auto grad_o = vector_of<RunningError>(case_.grad_o, q_row * width, width);
    return reference::dot(reference::view(grad_o), reference::view(o));
  };
  if (!given_lse || !result.known) {
    const auto exact = reading_.row(batch, head, query, visible);
    result.bounded = row_bounds_.row(exact, batch, head, query, visible);
    result.probability = exact.probability;
    result.sink = exact.sink;
    result.lse = result.bounded.forward.lse;
    result.lse_error = result.bounded.bounds.lse;
    result.lse_error += lse_rounding(contract_, std::abs(result.lse) + result.lse_error);
    if (given_ != nullptr && result.known) result.common = common_of_output();
    return result;
  }
  auto scores = logits(batch, head, query, visible);
  if (s.ssmax) {
    const RunningError factor = ssmax_factor(head, visible);
    for (RunningError& score : scores) score = factor * score;
  }
  result.bounded = row_bounds_.scores(scores, batch, head, query, visible);
  const RunningError lse(result.lse, contract_.lse_base_2 ? 0x1p-52 * std::abs(result.lse) : 0.0);
  for (RunningError& score : scores) {
    score = reference::exp(score - lse);
    result.bounded.probability.push_back(score.value());
  }
  result.probability = std::move(scores);
  if (const auto sink = reading_.sink(head)) {
    result.sink = reference::exp(*sink - lse);
  }
  result.common = common_of_output();
  return result;
}

ParameterSum Work::sink_gradient(const BackwardRow& row, int head, const RunningError& p,
                                 const RunningError& delta, const RunningError& grad_lse) const {
  const double sink = case_[PLUMBLINE_SINKS][head];
  // As a key's: weight_exponent() and exp_underflow() in backward.cpp.
  const ProbabilityRounding saved =
      contract_.saves_rounded_p ? probability_rounding(contract_) : ProbabilityRounding{};
  const double exponent =
      row_bounds_.sink_error(sink) + 4 * u * (std::abs(sink) + std::abs(row.lse)) -
      std::log1p(-contract_.exp_error) - std::log1p(-saved.format) + row.lse_error;
  const double p_off = std::exp(sink - row.lse + exponent) * -std::expm1(-exponent) +
                       8 * result_underflow(contract_) + saved.absolute;
  const double p_error = p_off < infinity ? p_off : infinity;
  const double size = std::abs(delta.value()) + std::abs(grad_lse.value()),
               p_size = std::abs(p.value());
  const RunningError gradient = p * (grad_lse - delta);
  ParameterSum part;
  part.value = gradient.value();
  part.radius = gradient.error();
  part.size = std::abs(gradient.value());
  // The product is rounded, and its factors are off.
  const double larger = p_size + p_error;
  part.error = second_order * (larger * row.common_error + p_error * size + 2 * u * larger * size) +
               result_underflow(contract_);
  if (!(part.error < infinity)) part.error = infinity;
  part.magnitude = larger * (size + row.common_error);
  part.terms = 1;
  return part;
}

void Work::add_sink_alone(int head, std::size_t q_row, ParameterSums& sums) const {
  const double sink = case_[PLUMBLINE_SINKS][head];
  BackwardRow row;
  row.lse = sink;
  RunningError p(1.0);
  if (given_ != nullptr && !contract_.no_lse) {
    row.lse = given_->lse[q_row];
    if (contract_.lse_base_2) row.lse *= std::numbers::ln2;
    const double rounding = contract_.lse_base_2 ? 0x1p-52 * std::abs(row.lse) : 0.0;
    p = reference::exp(RunningError(sink) - RunningError(row.lse, rounding));
    if (!std::isfinite(row.lse)) row.lse_error = infinity;
  } else {
    const double error = row_bounds_.sink_error(sink);
    row.lse_error = error + 8 * u * std::abs(sink) - 2 * std::log1p(-contract_.exp_error);
    row.lse_error += lse_rounding(contract_, std::abs(sink) + row.lse_error);
  }
  const RunningError grad_lse = this->grad_lse(q_row);
  row.common_error = with_lse_gradient(contract_, 0.0, 0.0, grad_lse.value());
  sums.add_sink_alone(0, sink_gradient(row, head, p, RunningError(0.0), grad_lse));
}

void Work::set_probability(HeadPairs& pairs, int query, int key, const RunningError& probability,
                           double error, const RunningError* dropout) const {
  RunningError p = probability;
  double p_error = error;
  if (dropout) {
    const double m = dropout->value();
    p = *dropout * p;
    p_error = m * error;
    p_error += (dropout_error(case_.spec) + dropout_roundings(contract_)) *
               (std::abs(p.value()) + p_error);
  }
  pairs.p(query, key) = p.value();
  pairs.p_radius(query, key) = p.error();
  if (p.value() == 0 && p_error == 0) return;
  // P may be rounded, and underflow, before its product with m.
  const Operand operand =
      rounded_probability(contract_, p.value(), p_error, dropout ? 1 + dropout->value() : 1.0);
  pairs.p_error(query, key) = operand.error;
  pairs.p_magnitude(query, key) = operand.magnitude;
}

void Work::read_row(int batch, int head, int query, HeadPairs& pairs, ParameterSums& sums) const {
  const auto& s = case_.spec;
  auto visible = reading_.visible(batch, head, query);
  if (other_.visible) visible = other_.visible(batch, head, query, std::move(visible));
  const std::size_t q_row = (static_cast<std::size_t>(batch) * s.heads + head) * s.queries + query;
  if (visible.empty()) return read_empty_row(batch, head, query, pairs, q_row, sums);
  const int n = static_cast<int>(visible.size()), position = case_.position(batch, query);
  const int kv = batch * s.kv_heads + head / (s.heads / s.kv_heads);
  const Weights weights = weights_of(batch, head, query, visible);
  const BoundedRow& bounded = weights.bounded;
  if (left_out(contract_, bounded).any()) left_out_[q_row] = not_judged;

  // The adjoint, as in reference/attention/attention_grad.hpp.
  const int width = s.value_width();
  const auto grad_o = vector_of<RunningError>(case_.grad_o, q_row * width, width);
  reference::Vector<RunningError> grad_p(n), grad_s(n), grad_z(n);
  const auto dropout = reading_.dropout(batch, head, query, visible);
  std::vector<double> grad_products(n), grad_operands(n);
  const auto of_head = reading_.v(kv);
  for (int m = 0; m < n; ++m) {
    const auto v = reference::row(*of_head, visible[m]);
    grad_p[m] = reference::dot(reference::view(grad_o), v);
    for (int d = 0; d < width; ++d) {
      grad_products[m] += std::abs(grad_o[d].value() * v[d].value());
      grad_operands[m] += std::abs(grad_o[d].value()) + std::abs(v[d].value());
    }
    if (dropout.size() == 0) continue;
    grad_p[m] = dropout[m] * grad_p[m];
    for (auto* sizes : {&grad_products, &grad_operands}) (*sizes)[m] *= dropout[m].value();
  }
  const RunningError delta =
      weights.common ? *weights.common : reference::dot(weights.probability, grad_p);
  const RunningError grad_lse = this->grad_lse(q_row), common = delta - grad_lse;
  RunningError factor(1.0);
  if (s.ssmax) factor = ssmax_factor(head, visible);
  for (int m = 0; m < n; ++m) {
    grad_s[m] = weights.probability[m] * (grad_p[m] - common);
    grad_z[m] = s.ssmax ? factor * grad_s[m] : grad_s[m];
  }

  BackwardRow row;
  const auto grad_p_values = values(grad_p);
  row.score = bounded.score;
  row.score_error = bounded.score_error;
  row.probability = bounded.probability;
  row.lse = weights.lse;
  row.lse_error = weights.known ? weights.lse_error : infinity;
  row.grad_probability = grad_p_values;
  row.grad_products = grad_products;
  row.grad_operands = grad_operands;
  row.common = delta.value();
  row.factor = bounded.factor;
  row.ssmax = s.ssmax;
  row.value_dim = width;
  row.dropout_error = dropout_error(s);
  row.largest_factor = dropout_factor(s);
  const auto of_row = [&](const std::vector<float>& tensor) {
    return std::span(tensor).subspan(q_row * width, width);
  };
  row.common_error =
      weights.common ? common_error_of_output(contract_, of_row(case_.grad_o), of_row(given_->o))
                     : common_error_of_probabilities(contract_, row);
  if (s.lse_gradient) {
    row.common_error =
        with_lse_gradient(contract_, delta.value(), row.common_error, grad_lse.value());
    row.common = common.value();
    row.grad_lse = std::abs(grad_lse.value());
  }
  const BackwardRowErrors errors = backward_row_errors(contract_, row);
  if (s.sinks) {
    sums.add(PLUMBLINE_SINKS, 0, sink_gradient(row, head, weights.sink, delta, grad_lse));
  }

  const double c = std::abs(bounded.factor), tau = std::abs(case_.scale);
  // dS, dZ = c dS, tau dS or tau dZ is rounded: an underflow, in terms of dZ.
  const double underflow_factor =
      std::max(1.0, c) * (tau > 0 ? std::max(1.0, 1 / tau) : 1.0) * dropout_factor(s);
  pairs.growth[query] = errors.growth;
  pairs.common[query] = c * errors.common;
  pairs.keys[query] = n;
  pairs.underflow_factor[query] = underflow_factor;
  const bool capped = s.softcap != 0;
  const auto slope = slopes(batch, head, query, visible);
  for (int m = 0; m < n; ++m) {
    const int j = visible[m];
    // dX = dA/dx dZ: what is shared by the row, and what its products lose.
    const double g = slope[m].value(), carried = g * c;
    double own = 0.0;
    RunningError grad_x = grad_z[m];
    if (capped) {
      const double g_error = bounded.softcap_derivative_error[m];
      own = (std::abs(grad_z[m].value()) + c * errors.total[m]) *
            (g_error + 2 * u * (std::abs(g) + g_error));
      grad_x = slope[m] * grad_x;
    }
    if (pairs.p_of_products.size() > 0) {
      pairs.p_of_products(query, j) = bounded.probability[m] * g;
    }
    const double size = std::abs(grad_x.value());
    set_probability(pairs, query, j, weights.probability[m], errors.probability[m],
                    dropout.size() > 0 ? &dropout[m] : nullptr);
    const double largest =
        std::max(1.0, c) * std::max(1.0, tau) * (std::abs(grad_s[m].value()) + errors.total[m]);
    const Operand z = rounded_operand(contract_, size, carried * errors.total[m] + own, largest,
                                      underflow_factor);
    pairs.z(query, j) = grad_x.value();
    pairs.z_radius(query, j) = grad_x.error();
    pairs.z_error(query, j) = z.error;
    pairs.z_magnitude(query, j) = z.magnitude;
    pairs.row_error(query, j) = z.error - carried * (errors.total[m] - errors.own[m]);
    if (cases::needs_scores(s.bias)) {
      // Of the logits: score_method_gradients.hpp rotates them into the scores'.
      pairs.z_error(query, j) = c * errors.total[m];
      pairs.growth[query] = pairs.common[query] = 0.0;
      continue;
    }
    if (pairs.left_out.size() == 0) continue;
    pairs.left_out(query, j) = carried * errors.left_out[m];
    pairs.left_out_rate(query, j) = carried * errors.left_out_rate[m];
  }

  const bool additive = !cases::needs_scores(s.bias);
  ParameterSums::Row parameters{
      position,
      visible,
      weights.probability,
      grad_s,
      grad_z,
      errors,
      bounded.factor,
      additive ? bias_gradient_.row(batch, head, position, visible, bounded.bias)
               : RowDerivatives{}};
  reference::Vector<RunningError> logits;
  std::vector<double> logit_error;
  if (s.ssmax) {
    logits = this->logits(batch, head, query, visible);
    logit_error = score_errors(contract_, s.head_dim, case_.scale, false, 1.0, values(logits),
                               bounded.products, bounded.bias_error);
    for (int m = 0; m < n; ++m) logit_error[m] += 8 * u * std::abs(logits[m].value());
    parameters.logits = &logits;
    parameters.logit_error = &logit_error;
  }
  sums.add(contract_, parameters);
}

}  // namespace

OracleGradients gradient_oracle(const cases::Case& the_case, const Contract& contract,
                                const GradientFormats& formats, const cases::Outputs* given,
                                int threads) {
  return gradient_oracle(the_case, contract, formats, given, threads, Sample(the_case.spec));
}

OracleGradients gradient_oracle(const cases::Case& the_case, const Contract& contract,
                                const GradientFormats& formats, const cases::Outputs* given,
                                int threads, const Sample& sample, const OtherRows& other) {
  return Work(the_case, contract, formats, given, threads, sample, other).run();
}

}  // namespace plumbline::verdict
