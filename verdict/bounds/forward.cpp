// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/forward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "verdict/bounds/rescales.hpp"
#include "verdict/bounds/roundoff.hpp"
#include "verdict/cases/formats.hpp"

namespace plumbline::verdict {
namespace {

/// Below this a rounded sum does not overflow in fp32.
constexpr double fp32_safe = 0x1p127;

/// p (e^h - 1) from ln p, without underflow of p or overflow of e^h on the way.
double weight_error(double log_probability, double h) {
  return std::exp(log_probability + h) * -std::expm1(-h);
}

/// The largest |sum of weights times v| that a kernel may hold on its way, for each component, in
/// units of the largest weight until then: the largest over m of sum over s_j <= s_m of
/// e^(s_j - s_m) |v_j|, with scores that are off by `h`, and never more than the sum of all |v_j|.
std::vector<double> largest_sums(const ForwardRow& row, double h) {
  std::vector<std::size_t> by_score(row.score.size());
  std::iota(by_score.begin(), by_score.end(), std::size_t{0});
  std::sort(by_score.begin(), by_score.end(),
            [&](std::size_t a, std::size_t b) { return row.score[a] < row.score[b]; });
  const std::size_t value_dim = row.output.size();
  std::vector<double> weighted(value_dim, 0.0), all(value_dim, 0.0), largest(value_dim, 0.0);
  double unit = -infinity;  // of `weighted`
  std::size_t next = 0;
  for (const std::size_t m : by_score) {
    // Whatever may be counted before m is the largest: with their errors, scores up to s_m + 2h.
    for (; next < by_score.size() && row.score[by_score[next]] <= row.score[m] + 2 * h; ++next) {
      const std::size_t j = by_score[next];
      const double rescale = std::exp(unit - row.score[j]);
      unit = row.score[j];
      for (std::size_t d = 0; d < value_dim; ++d) {
        const double size = row.value_factor * std::abs(row.value[j][d]);
        weighted[d] = weighted[d] * rescale + size;
        all[d] += size;
      }
    }
    const double factor = std::exp(unit - row.score[m] + 2 * h);
    for (std::size_t d = 0; d < value_dim; ++d) {
      largest[d] = std::max(largest[d], std::min(all[d], factor * weighted[d]));
    }
  }
  return largest;
}

}  // namespace

double product_roundoff(const Contract& contract, int head_dim) {
  const double sum = gamma(head_dim, contract.unit_roundoff), r = contract.operand_roundoff;
  return sum + 3 * u + r * (2 + r) * (1 + sum);
}

double score_rounding(const Contract& contract, int head_dim, double scale, bool ssmax,
                      double factor, double score, double product, double magnitude,
                      double bias_error) {
  if (contract.score_format == PLUMBLINE_FP32) return 0.0;
  const StoredRounding rounding = stored_rounding(contract, contract.score_format);
  const double tau = std::abs(scale), c = std::abs(factor);
  const double before = product_roundoff(contract, head_dim) * magnitude;
  double error = before;
  // In units of the product with tau: before tau it may be larger, and lose less.
  const StoredRounding unscaled{rounding.relative, rounding.absolute * tau, rounding.largest * tau};
  error += unscaled.of(std::abs(product) + error);
  error += rounding.of(std::abs(product) + error);
  error += bias_error;
  const double sum = c > 0 ? std::abs(score) / c : std::abs(product) + bias_error;
  error += rounding.of(sum + error);
  if (ssmax && c > 0) error += rounding.of(c * (sum + error)) / c;
  return error - before - bias_error;
}

std::vector<double> score_errors(const Contract& contract, int head_dim, double scale, bool ssmax,
                                 double factor, std::span<const double> score,
                                 std::span<const double> products,
                                 std::span<const double> bias_error) {
  const double dot = product_roundoff(contract, head_dim);
  const double lost = (head_dim + 2) * result_underflow(contract);
  const double c = std::abs(factor);
  std::vector<double> error(score.size());
  for (std::size_t j = 0; j < score.size(); ++j) {
    const double unfactored = c > 0.0 ? std::abs(score[j]) / c : 0.0;
    error[j] = c * (dot * products[j] + bias_error[j] + u * unfactored + lost);
    // c = s ln n: a logarithm within 1 ulp (2u), its product with s (u), the product c t (u) or the
    // two with c folded into tau and into b (2u); one more for a factor log2 e.
    if (ssmax) error[j] += 6 * u * std::abs(score[j]);
    // A correct kernel overflows here: nothing can be asked of it.
    if (!(products[j] < fp32_safe * std::min(1.0, std::abs(scale)) && c * products[j] < fp32_safe &&
          std::abs(score[j]) < fp32_safe && unfactored < fp32_safe)) {
      error[j] = infinity;
    }
    error[j] *= second_order;
  }
  return error;
}

ForwardRowBounds forward_row_bounds(const Contract& contract, cases::Format format,
                                    const ForwardRow& row) {
  const std::size_t n = row.score.size();
  const std::size_t value_dim = row.output.size();
  const std::size_t best = std::max_element(row.score.begin(), row.score.end()) - row.score.begin();
  const double maximum = row.score[best];
  const double log_sum = std::max(row.lse - maximum, 0.0);
  const int rescale_count = rescales(row.score, contract.splits, contract.skipped_mass > 0);
  const double sum_error = gamma(static_cast<double>(n), contract.unit_roundoff);
  const ProbabilityRounding p_rounding = scaled_probability_rounding(contract);

  // h_j: the weight exp(s_j - m) is off by a factor in [e^-h, e^h] once every rescale has reached
  // it. Splits are merged through the rounded LSE of each.
  const double merge = contract.splits > 1 ? 4 * u * (std::abs(maximum) + std::log(n) + 1.0) : 0.0;
  std::vector<double> h(n);
  for (std::size_t j = 0; j < n; ++j) {
    h[j] = row.score_error[j] + 4 * u * (std::abs(row.score[j]) + std::abs(maximum)) +
           (1 + rescale_count) * -std::log1p(-contract.exp_error) + merge;
    if (!(h[j] < infinity)) h[j] = infinity;  // not a number: nothing is known of this score
  }
  const double largest_h = *std::max_element(h.begin(), h.end());

  // A common factor of all weights cancels in o. Measured against the largest weight, the other
  // weights are off by h_j + h_best and that one by nothing: better where one key takes it all.
  double plain = 0.0, relative = 0.0;
  for (std::size_t j = 0; j < n; ++j) {
    plain += weight_error(row.score[j] - row.lse, h[j]);
    if (j != best) relative += weight_error(row.score[j] - row.lse, h[j] + h[best]);
  }
  const bool against_best = relative < plain;

  // Keys that may be left out, and their probability together. The others' then grow by 1/(1 - it).
  double left_out = 0.0;
  for (const double p : row.probability) left_out += p <= contract.skipped_mass ? p : 0.0;
  left_out = std::min(left_out, contract.skipped_mass);
  const double kept = 1.0 - left_out;
  const double total_weight_error = (against_best ? relative : plain) / kept;

  ForwardRowBounds bounds;
  bounds.ill_conditioned = !(total_weight_error <= 0.1);
  bounds.weight_error = total_weight_error;
  bounds.largest_weight_exponent = largest_h;
  bounds.rescales = rescale_count;
  bounds.output.resize(value_dim);
  bounds.systematic.resize(value_dim);
  bounds.random.resize(value_dim);
  bounds.beside_random.resize(value_dim);
  bounds.before_storing.resize(value_dim);

  // LSE is 1-Lipschitz in the scores (maximum norm), whatever the condition of the weights.
  double lse_error = largest_h;
  if (!bounds.ill_conditioned) {
    const double shift = against_best ? h[best] : 0.0;
    lse_error = std::min(lse_error, (total_weight_error + shift) / (1.0 - total_weight_error));
  }
  const double rounded_sum = p_rounding.format + static_cast<double>(n) * p_rounding.absolute;
  lse_error += sum_error + rescale_count * u + (contract.sums_rounded_p ? rounded_sum : 0.0) -
               std::log1p(-left_out);
  bounds.lse = second_order *
               (lse_error + u * std::abs(row.lse) + 4 * u * (std::abs(maximum) + log_sum + 1.0));

  const double normaliser = bounds.ill_conditioned ? 1.0 : kept * (1.0 - total_weight_error);
  std::vector<double> deviation(value_dim, 0.0), magnitude(value_dim, 0.0), largest(value_dim, 0.0);
  std::vector<double> spread(value_dim, 0.0), lost_distance(value_dim, 0.0),
      squares(value_dim, 0.0);
  const bool random_signs = row.random_signs && !bounds.ill_conditioned;
  const double rounded_again = row.dropout_error > 0 ? dropout_roundings(contract) : 0.0;
  const double of_operands =
      p_rounding.relative + rounded_again +
      contract.operand_roundoff * (1.0 + p_rounding.relative) +
      (contract.sums_rounded_p ? p_rounding.format : 0.0);  // that is their mean
  for (std::size_t j = 0; j < n; ++j) {
    const double hj = against_best ? (j == best ? 0.0 : h[j] + h[best]) : h[j];
    const double p = row.probability[j];
    const double moved = bounds.ill_conditioned ? 0.0 : weight_error(row.score[j] - row.lse, hj);
    const bool may_be_left_out = p <= contract.skipped_mass;
    const float* v = row.value[j];
    // What weight and operands are off by, a mean over all keys included: no function of v.
    double off = moved + p * total_weight_error * kept + of_operands * (p + moved);
    if (contract.skipped_mass > 0) off += (may_be_left_out ? p : 0.0) + p * left_out;
    for (std::size_t d = 0; d < value_dim; ++d) {
      const double value = row.value_factor * v[d], size = std::abs(value);
      const double distance = std::abs(value - row.output[d]);
      deviation[d] += moved * distance;
      spread[d] += (p + moved) * distance;
      magnitude[d] += (p + moved) * size;
      largest[d] = std::max(largest[d], size);
      bounds.random[d] += off * size * off * size;
      squares[d] += (p + moved) * size * (p + moved) * size;
      if (may_be_left_out) lost_distance[d] = std::max(lost_distance[d], distance);
    }
  }
  // Underflow: each of n weights, an exponential within 2.5 ulp of a subnormal and its rounding to
  // P, relative to a denominator of at least 1; and each of n products. In 8 bits that rounding is
  // all that counts; it moves the weight, and the sum of the weights where that is of rounded ones.
  const double of_exponential = 8.0 * result_underflow(contract);
  const bool eight_bits =
      cases::has_scales(static_cast<cases::Format>(contract.probability_format));
  const double lost_weight =
      static_cast<double>(n) *
      (eight_bits ? 2.0 * p_rounding.absolute + of_exponential : 8.0 * p_rounding.absolute);
  // Of what m multiplies afterwards, m times as much, the division before it included.
  const double m = row.value_factor;
  const double lost_product =
      2.0 * (m * static_cast<double>(n) + (m - 1)) * result_underflow(contract);
  // A value that underflows on its way into the product; the weights add up to less than 2.
  const double lost_operand = 2.0 * m * operand_underflow(contract);
  bounds.weight_sum =
      random_signs ? weight_sum_error(contract, row.probability, row.spread) : SumError{sum_error};
  const bool keeps_sums = contract.output_sum_format != PLUMBLINE_FP32;
  const auto kept_sums = keeps_sums ? largest_sums(row, largest_h) : std::vector<double>();
  const double o_rounding =
      unit_roundoff(format) + (unit_roundoff(format) == u ? 0.0 : u);  // of an fp32 result
  for (std::size_t d = 0; d < value_dim; ++d) {
    const double o = std::abs(row.output[d]);
    double error, result;  // result: bound of |sum p' v| over the perturbed weights p'
    if (bounds.ill_conditioned) {
      double low = infinity, high = -infinity;
      for (std::size_t j = 0; j < n; ++j) {
        low = std::min(low, row.value_factor * row.value[j][d]);
        high = std::max(high, row.value_factor * row.value[j][d]);
      }
      error = std::max(high - row.output[d], row.output[d] - low);
      magnitude[d] = result = largest[d];
      spread[d] = high - low;
    } else {
      error = (deviation[d] + left_out * lost_distance[d]) / normaliser;
      magnitude[d] /= normaliser;
      spread[d] = spread[d] / normaliser + error;
      result = o + error;
    }
    const double accumulation = sum_error + 2 * rescale_count * u;
    double accumulated = accumulation * magnitude[d];
    if (random_signs) {
      const double additions = static_cast<double>(n) + 2.0 * rescale_count * contract.splits;
      accumulated = std::min(accumulated, signed_sum_error(contract, additions, magnitude[d],
                                                           std::sqrt(squares[d]) / normaliser));
    }
    if (keeps_sums) {
      // Of each block's product, and of each later block's rescale and sum; before the division by
      // l, which is at least 1 in the units of the largest weight.
      const double keys = std::max(row.keys, static_cast<double>(n));
      const double roundings = 2 * sum_blocks(contract, static_cast<double>(n), keys) - 1;
      const StoredRounding rounding = stored_rounding(contract, contract.output_sum_format);
      const StoredRounding in_o{rounding.relative, rounding.absolute * m, infinity};
      const double kept_sum = (1 + p_rounding.relative) * (1 + accumulation) * kept_sums[d];
      accumulated +=
          in_o.of_several(roundings, (1 + p_rounding.relative) * magnitude[d] + accumulated);
      bounds.overflows |= !(rounding.of_several(roundings, kept_sum) < infinity);
    }
    const double of_sum = bounds.weight_sum.systematic +
                          largest_deviation * bounds.weight_sum.random +
                          2 * rescale_count * u;  // of l
    const double rounding_of_p =
        contract.sums_rounded_p ? p_rounding.format * spread[d] +
                                      (1.0 + p_rounding.format) * p_rounding.operand * magnitude[d]
                                : p_rounding.relative * magnitude[d];
    const double rounding_of_v =
        contract.operand_roundoff * (1.0 + p_rounding.relative) * magnitude[d];
    const double rounding =
        rounding_of_p + rounding_of_v + (row.dropout_error + rounded_again) * magnitude[d] +
        (1.0 + p_rounding.relative) * (1.0 + contract.operand_roundoff) * accumulated +
        (of_sum + 4 * u) * result + lost_weight * largest[d] + lost_product + lost_operand;
    const double arithmetic = rounding - rounding_of_p - lost_weight * largest[d];
    bounds.systematic[d] =
        second_order * (error + arithmetic / (1.0 - accumulation) + 2 * u * (o + error));
    error += accumulation < 1.0 ? rounding / (1.0 - accumulation) : infinity;
    if (random_signs && accumulation < 0.5) {
      const double lost_sum = contract.sums_rounded_p ? 1.0 - p_rounding.format : 1.0;
      bounds.random[d] = std::sqrt(bounds.random[d]) / (normaliser * lost_sum);
      bounds.beside_random[d] = (rounding - rounding_of_p - rounding_of_v) / (1.0 - accumulation);
      error = std::min(error, bounds.beside_random[d] + largest_deviation * bounds.random[d]);
    } else {
      bounds.random[d] = 0.0;
    }
    bounds.before_storing[d] = second_order * (error + u * (o + error)) +
                               (contract.flushes_subnormals ? result_underflow(contract) : 0.0);
    bounds.output[d] =
        second_order * (error + o_rounding * (o + error)) + stored_underflow(contract, format);
    if (!(o + bounds.output[d] < largest_safe(format))) bounds.output[d] = infinity;
    bounds.beside_random[d] += o_rounding * (o + error) + stored_underflow(contract, format);
  }
  return bounds;
}

}  // namespace plumbline::verdict
