// SPDX-License-Identifier: Apache-2.0
#include "verdict/bounds/bias_gradient.hpp"

#include <cmath>
#include <cstdlib>
#include <map>

#include "verdict/bounds/fire_error.hpp"

namespace plumbline::verdict {
namespace {

using reference::RunningError;

constexpr double u = fp32_roundoff;

/// One row: the exact derivatives are the reference's adjoints of a gradient of 1.
struct Row {
  const cases::Case& the_case;
  const Contract& contract;
  const BiasError& bias_error;
  int batch, head, position;
  const std::vector<int>& visible;
  const std::vector<double>& bias;
  RowDerivatives& result;

  double parameter(plumbline_parameter p) const { return the_case[p][head]; }
  RowDerivative& add(plumbline_parameter p, int element = 0) const {
    result.parameters.push_back({p, element, {}, {}, {}});
    return result.parameters.back();
  }
  RunningError one() const { return RunningError(1.0); }

  void operator()(const reference::Nope<RunningError>&) const {}
  void operator()(const reference::Alibi<RunningError>&) const {}
  void operator()(const reference::AlibiKeyPosition<RunningError>&) const {}

  /// b = -A x^beta: theta_alpha has b itself, theta_beta b ln x, with ln x off by ln(x / lowest),
  /// 1 ulp and a change of base (4u |ln x|); theta_mu A beta x^(beta - 1) sign(j - i - mu)
  /// (e^theta_mu
  /// + e^-theta_mu), the last within (4 + 2 |theta_mu|) u and two roundings. The sign is 0 for
  /// j - i = mu, and certain otherwise unless |j - i - mu| is below the error of mu.
  void operator()(const reference::Ggd<RunningError>& ggd) const {
    const double theta_alpha = parameter(PLUMBLINE_THETA_ALPHA);
    const double beta = parameter(PLUMBLINE_THETA_BETA), theta_mu = parameter(PLUMBLINE_THETA_MU);
    RowDerivative alpha{PLUMBLINE_THETA_ALPHA, 0, {}, {}, {}};
    RowDerivative by_beta{PLUMBLINE_THETA_BETA, 0, {}, {}, {}},
        mu{PLUMBLINE_THETA_MU, 0, {}, {}, {}};
    for (std::size_t n = 0; n < visible.size(); ++n) {
      auto grad = ggd.zero_grad();
      ggd.accumulate_grad(grad, position, visible[n], one());
      const GgdBase base =
          ggd_base(theta_mu, the_case.options[PLUMBLINE_EPSILON], visible[n] - position);
      const double b = std::abs(bias[n]);
      const double b_error = b * ggd_power_error(base, theta_alpha, beta);
      const double log_x = std::abs(std::log(base.x));
      const double log_error = std::log(base.x / base.lowest) * (1 + 8 * u) + 4 * u * log_x;
      alpha.value.push_back(grad.theta_alpha);
      alpha.error.push_back(b_error);
      by_beta.value.push_back(grad.theta_beta);
      by_beta.error.push_back((b_error * (log_x + log_error) + b * log_error) * (1 + 4 * u));
      mu.value.push_back(grad.theta_mu);
      const double distance = std::abs(visible[n] - position - base.mu);
      const bool either_side = base.mu_error > 0 && distance <= base.mu_error + u * distance;
      const double size = std::exp(theta_alpha) * std::abs(beta) * std::pow(base.x, beta - 1) *
                          (std::exp(theta_mu) + std::exp(-theta_mu));
      const double relative = (1 + ggd_power_error(base, theta_alpha, beta - 1)) *
                                  (1 + (9 + 2 * std::abs(theta_mu)) * u) -
                              1.0;
      // By way of b beta / x where a kernel divides.
      const double divided = (1 + ggd_power_error(base, theta_alpha, beta)) *
                                 (base.x / base.lowest) * (1 + (11 + 2 * std::abs(theta_mu)) * u) -
                             1.0;
      const double off = std::max(relative, divided);
      const bool kink = visible[n] - position == base.mu;
      mu.error.push_back(either_side ? size * (2 + off) : kink ? 0.0 : size * off);
    }
    result.parameters = {std::move(alpha), std::move(by_beta), std::move(mu)};
  }

  /// Gain: the bias of gain 1, off as bias_error says. Prefix sums: g sign(d), whose sign is
  /// certain unless d is 0 or below its error.
  void operator()(const reference::Cable<RunningError>& cable) const {
    gain_and_prefix(cable, [&](double d, double e, std::size_t) { return e + 2 * u * d; });
    result.prefix.own = bias_error.gain(batch, head, position);
    for (std::size_t n = 0; n < visible.size(); ++n) kink_of_distance(n);
  }
  void operator()(const reference::CableNw<RunningError>& cable) const {
    prefix(cable);
    result.prefix.own = 1.0;
    for (std::size_t n = 0; n < visible.size(); ++n) kink_of_distance(n);
  }
  /// Gain: ln(1 + d^2), off as in bias_error. Prefix sums: g k(d), k = 2d / (1 + d^2), with
  /// |k(d + e) - k(d)| = 2 |e (1 - d (d + e))| / ((1 + d^2)(1 + (d + e)^2)), and six roundings.
  void operator()(const reference::KCable<RunningError>& cable) const {
    gain_and_prefix(cable, [&](double d, double e, std::size_t) {
      const SquareError square = square_error(d, e);
      return square.error / square.lowest + u + 4 * u * std::log1p(d * d);
    });
    smooth_slopes([&](int j) { return distance(j); });
  }
  void operator()(const reference::KCableNw<RunningError>& cable) const {
    prefix(cable);
    smooth_slopes([&](int j) { return distance(j); });
  }
  /// b = g (S_i - S_j), as printed, g = 1 in the form without and in FoX. Gain: the difference.
  /// Prefix sums: g, exactly.
  void operator()(const reference::CablePaper<RunningError>& cable) const {
    gain_and_prefix(cable, [&](double d, double e, std::size_t) { return e + 2 * u * d; });
    result.prefix.own = bias_error.gain(batch, head, position);
  }
  void operator()(const reference::CableNwPaper<RunningError>& cable) const {
    prefix(cable);
    result.prefix.own = 1.0;
  }
  /// b = -ln(1 + t^2), t = g d. Gain: d k(t), off by what d and k are, and eight roundings. Prefix
  /// sums: g k(t), as K-CABLE's with t for d.
  void operator()(const reference::KCablePaper<RunningError>& cable) const {
    const auto weighted = [&](int j) {
      return bias_error.weighted_distance(batch, head, position, j);
    };
    gain_and_prefix(cable, [&](double d, double e, std::size_t n) {
      const auto [t, t_error] = weighted(visible[n]);
      const double slope = 2 * t / (1 + t * t);
      return (d + e) * slope_error(t, t_error) + (e + 8 * u * d) * slope;
    });
    smooth_slopes(weighted);
  }

  /// -p ln(1 + a x): dp = -ln(1 + a x), off as the bias is; da = -p x / (1 + a x), six roundings.
  void operator()(const reference::KerpleLog<RunningError>& kerple) const {
    kerple_derivatives(kerple, [&](std::size_t n, double by_p, double by_a) {
      const bool same = visible[n] == position;
      return std::pair{same ? 0.0 : 2.001 * u + 7 * u * by_p, 6 * u * by_a};
    });
  }
  /// -a x^p: dp = -a x^p ln x, da = -x^p; the power as in bias_error, the logarithm 4u.
  void operator()(const reference::KerplePower<RunningError>& kerple) const {
    const double p_value = parameter(PLUMBLINE_P);
    kerple_derivatives(kerple, [&](std::size_t n, double by_p, double by_a) {
      const int x = std::abs(visible[n] - position);
      if (x == 0) return std::pair{0.0, 0.0};
      const double power = 16 * u + 4 * u * std::abs(p_value * std::log(x));
      return std::pair{by_p * ((1 + power) * (1 + 8 * u) - 1.0),
                       by_a * ((1 + power) * (1 + 2 * u) - 1.0)};
    });
  }

  /// FIRE: exact derivatives by reference/, errors by fire_error.hpp. A unit that may be on either
  /// side of its kink may or may not have its derivative.
  void operator()(const reference::Fire<RunningError>& fire) const {
    const int width = static_cast<int>(the_case[PLUMBLINE_HIDDEN_WEIGHT].size());
    const float* output_weight =
        the_case[PLUMBLINE_OUTPUT_WEIGHT].data() + static_cast<std::size_t>(head) * width;
    const int first = static_cast<int>(result.parameters.size());
    for (const auto p : {PLUMBLINE_HIDDEN_WEIGHT, PLUMBLINE_HIDDEN_BIAS, PLUMBLINE_OUTPUT_WEIGHT}) {
      for (int w = 0; w < width; ++w) add(p, w);
    }
    for (const auto p : {PLUMBLINE_OUTPUT_BIAS, PLUMBLINE_C, PLUMBLINE_L}) add(p);
    auto* of = result.parameters.data() + first;
    const auto push = [](RowDerivative& derivative, const RunningError& value, double error) {
      derivative.value.push_back(value);
      derivative.error.push_back(error);
    };
    for (const int j : visible) {
      auto grad = fire.zero_grad();
      fire.accumulate_grad(grad, position, j, one());
      const FireErrors errors(the_case, contract, head, position, j);
      for (int w = 0; w < width; ++w) {
        const double v = std::abs(output_weight[w]);
        const bool kink = errors.kink[w], on = errors.hidden[w] > 0;
        push(of[w], grad.hidden_weight[w],
             kink ? v * (errors.y + errors.y_error)
             : on ? v * (errors.y_error + 2 * u * errors.y)
                  : 0.0);
        push(of[width + w], grad.hidden_bias[w], kink ? v : 0.0);
        push(of[2 * width + w], grad.output_weight[w], errors.hidden_error[w]);
      }
      push(of[3 * width], grad.output_bias, 0.0);
      push(of[3 * width + 1], grad.c, errors.c_error);
      push(of[3 * width + 2], grad.L, errors.L_error);
    }
  }

 private:
  template <class Bias>
  void prefix(const Bias& of_bias) const {
    result.prefix.used = true;
    result.prefix.parameter =
        static_cast<plumbline_parameter>(methods::row(the_case.spec.bias.method).summed());
    auto grad = of_bias.zero_grad();
    for (const int j : visible) {
      of_bias.accumulate_grad(grad, position, j, one());
      result.prefix.value.push_back(position == j ? RunningError(0.0)
                                                  : grad.prefix_sum[std::max(position, j)]);
      grad.prefix_sum[position] = grad.prefix_sum[j] = RunningError(0.0);
      result.prefix.rounding.push_back(0.0);
      result.prefix.kink.push_back(0.0);
    }
  }

  template <class Bias, class Error>
  void gain_and_prefix(const Bias& of_bias, const Error& gain_error) const {
    prefix(of_bias);
    const int query = position - the_case.spec.query_offset;
    RowDerivative& gain = add(PLUMBLINE_GAIN, query);
    auto grad = of_bias.zero_grad();
    for (std::size_t n = 0; n < visible.size(); ++n) {
      grad.gain[query] = RunningError(0.0);
      of_bias.accumulate_grad(grad, position, visible[n], one());
      gain.value.push_back(grad.gain[query]);
      const auto [d, e] = distance(visible[n]);
      gain.error.push_back(visible[n] == position ? 0.0 : gain_error(d, e, n));
    }
  }

  void kink_of_distance(std::size_t n) const {
    if (visible[n] == position) return;
    const auto [d, e] = distance(visible[n]);
    const double gain = bias_error.gain(batch, head, position);
    result.prefix.kink[n] = d == 0 ? gain : d <= e ? 2 * gain : 0.0;
  }

  BiasError::Distance distance(int j) const {
    return bias_error.distance(batch, head, position, j);
  }

  /// How far k(t) = 2t / (1 + t^2) moves with an error e of t, whatever its sign.
  static double slope_error(double t, double e) {
    if (!(square_error(t, e).error < INFINITY)) return INFINITY;
    const double least = std::max(t - e, 0.0);
    return 2 * e * (1 + t * (t + e)) / ((1 + t * t) * (1 + least * least)) * (1 + 8 * u);
  }

  /// Prefix sums: g k(t), t and its error being `argument` of the key.
  template <class Argument>
  void smooth_slopes(const Argument& argument) const {
    for (std::size_t n = 0; n < visible.size(); ++n) {
      if (visible[n] == position) continue;
      const auto [t, e] = argument(visible[n]);
      const double moved = slope_error(t, e);
      const double error = bias_error.gain(batch, head, position) * moved +
                           6 * u * std::abs(result.prefix.value[n].value());
      result.prefix.rounding[n] = moved < INFINITY ? error : INFINITY;
    }
  }

  template <class Kerple, class Errors>
  void kerple_derivatives(const Kerple& kerple, const Errors& errors) const {
    RowDerivative by_p{PLUMBLINE_P, 0, {}, {}, {}}, by_a{PLUMBLINE_A, 0, {}, {}, {}};
    for (std::size_t n = 0; n < visible.size(); ++n) {
      auto grad = kerple.zero_grad();
      kerple.accumulate_grad(grad, position, visible[n], one());
      const auto [p_error, a_error] = errors(n, std::abs(grad.p.value()), std::abs(grad.a.value()));
      by_p.value.push_back(grad.p);
      by_p.error.push_back(p_error);
      by_a.value.push_back(grad.a);
      by_a.error.push_back(a_error);
    }
    result.parameters = {std::move(by_p), std::move(by_a)};
  }

 public:
  /// T5: 1 for the entry of the table that the pair takes, exactly.
  template <class Table>
  void table(const Table& table_row) const {
    std::map<int, std::vector<int>> keys;
    for (std::size_t n = 0; n < visible.size(); ++n) {
      keys[table_row(position, visible[n])].push_back(static_cast<int>(n));
    }
    for (auto& [row, of_row] : keys) {
      const std::size_t size = of_row.size();
      result.parameters.push_back({PLUMBLINE_TABLE, row, std::move(of_row),
                                   std::vector<RunningError>(size, one()),
                                   std::vector<double>(size, 0.0)});
    }
  }
  template <reference::RelativeRow Rows>
  void operator()(const reference::RelativeTable<RunningError, Rows>&) const {}
};

}  // namespace

int elements_of_head(const cases::Case& the_case, plumbline_parameter parameter) {
  const auto& spec = the_case.spec;
  std::size_t size = the_case[parameter].size();
  const methods::Method method = methods::of(spec.bias);
  for (const methods::Extent extent : methods::parameter_of(method, parameter).shape) {
    if (extent == methods::Extent::batch) size /= spec.batch;
    if (extent == methods::Extent::heads) size /= spec.heads;
  }
  return static_cast<int>(size);
}

RowDerivatives BiasGradient::row(int batch, int head, int position, const std::vector<int>& visible,
                                 const std::vector<double>& bias) const {
  RowDerivatives result;
  if (case_.spec.bias.method == PLUMBLINE_COPE) return result;
  const Row row{case_, contract_, bias_error_, batch, head, position, visible, bias, result};
  if (!case_[PLUMBLINE_TABLE].empty()) {
    row.table([&](int i, int j) { return reading_.table_row(i, j); });
  } else {
    reading_.with_additive_bias(batch, head, position, row);
  }
  return result;
}

}  // namespace plumbline::verdict
