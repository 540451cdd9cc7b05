// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/custom.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/faults/judge/bias.hpp"
#include "verdict/cases/custom_bias.hpp"

namespace plumbline::bench {
namespace {

using nlohmann::json;

cases::Bias declared(const char* name, const char* formula, const json& parameters) {
  return cases::declare_custom_bias(
      {{"name", name}, {"formula", formula}, {"parameters", parameters}}, name);
}

json uniform(const char* name, const char* per, double least, double most) {
  return {{"name", name}, {"per", per}, {"uniform", {least, most}}};
}

json normal(const char* name, const char* per, double deviation) {
  return {{"name", name}, {"per", per}, {"normal", deviation}};
}

}  // namespace

const std::vector<cases::Bias>& custom_biases() {
  // In the order of Formula.
  static const std::vector<cases::Bias> all{
      declared("log_distance", "-rate * log1p(abs(i - j) / reach)",
               json::array({uniform("rate", "head", 0.0625, 2), uniform("reach", "all", 1, 16)})),
      declared("bump", "height * exp(-decay * (j - i - shift) ** 2)",
               json::array({normal("height", "head", 1), uniform("decay", "head", 0.01, 0.5),
                            normal("shift", "sequence", 2)})),
      declared("of_tokens", "of_query[i] * tanh(of_key[j] - of_key[i])",
               json::array({normal("of_query", "query", 1), normal("of_key", "key", 1)})),
      declared("saturating", "-most * (abs(passed) / (1 + abs(passed)))",
               json::array(
                   {uniform("most", "head", 0.0625, 4), uniform("passed", "prefix_sum", 0, 0.5)}))};
  return all;
}

cases::Bias custom_bias(Formula formula) {
  return custom_biases().at(static_cast<std::size_t>(formula) - 1);
}

Formula built_in_formula(const cases::Bias& bias) {
  const auto& all = custom_biases();
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (bias.custom == all[n].custom) return static_cast<Formula>(n + 1);
  }
  return Formula::none;
}

CustomPart custom_part(const plumbline_problem& p, Formula formula, int n, int batch, int head,
                       int row) {
  const std::size_t of_head = static_cast<std::size_t>(batch) * p.heads + head;
  switch (formula) {
    case Formula::log_distance:
      return {n == 0 ? static_cast<std::size_t>(head) : 0};
    case Formula::bump:
      return {static_cast<std::size_t>(n == 2 ? batch : head)};
    case Formula::of_tokens:
      if (is_of_keys(formula, n)) return {of_head * p.keys, p.keys};
      return {of_head * p.queries + row};
    case Formula::saturating:
      return {static_cast<std::size_t>(head)};
    case Formula::none:
      break;
  }
  throw std::invalid_argument("a custom bias that the campaign's kernel does not have");
}

template <class Real>
CustomValue<Real> Bias<Real>::custom(const Pair& at) const {
  using F = FaultKind;
  const auto number = [&](int n, int key = 0) {
    const int head = fault_.is(F::custom_of_head_0) ? 0 : at.head;
    const auto part = custom_part(in_.p, in_.formula, n, at.batch, head, at.row);
    const auto id = static_cast<plumbline_parameter>(PLUMBLINE_CUSTOM_0 + n);
    return static_cast<Real>(in_.parameter(id)[part.begin + key]);
  };
  switch (in_.formula) {
    case Formula::log_distance: {
      const Real rate = number(0), reach = number(1), x = distance(at);
      const Real logarithm = std::log1p(x / reach);
      return {-rate * logarithm, {-logarithm, rate * x / (reach * (reach + x))}};
    }
    case Formula::bump: {
      const Real height = number(0);
      Real decay = number(1);
      if (fault_.is(F::custom_decay_in_bf16)) decay = lost(decay, PLUMBLINE_BF16);
      const int offset = fault_.is(F::custom_distance_reversed) ? at.i - at.j : at.j - at.i;
      const Real from = static_cast<Real>(offset) - number(2);
      const Real e = std::exp(-decay * (from * from)), bump = height * e;
      return {bump, {e, -bump * (from * from), 2 * bump * decay * from}};
    }
    case Formula::of_tokens: {
      const Real of_query = number(0);
      const Real tanh = std::tanh(number(1, at.j) - number(1, at.i));
      const Real slope = of_query * (1 - tanh * tanh);
      return {of_query * tanh, {tanh, slope}, -slope};
    }
    case Formula::saturating: {
      const Real most = number(0), d = difference(at), size = std::abs(d);
      const Real part = size / (1 + size);
      const Real slope = most / ((1 + size) * (1 + size));
      return {-most * part, {-part}, 0, d > 0 ? -slope : d < 0 ? slope : Real(0)};
    }
    case Formula::none:
      break;
  }
  throw std::invalid_argument("a custom bias that the campaign's kernel does not have");
}

template CustomValue<float> Bias<float>::custom(const Pair&) const;
template CustomValue<double> Bias<double>::custom(const Pair&) const;

}  // namespace plumbline::bench
