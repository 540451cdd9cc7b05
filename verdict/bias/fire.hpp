// SPDX-License-Identifier: Apache-2.0
// FIRE. Its errors are in verdict/bounds/fire_error.hpp.
#pragma once

#include "reference/bias/fire.hpp"
#include "verdict/bias/derivatives.hpp"
#include "verdict/bounds/fire_error.hpp"

namespace plumbline::verdict::bias {

struct Fire : Unanswered {
  template <class R>
  static auto reading(const HeadOf<R>& of) {
    const auto hidden_weight = of.layer(PLUMBLINE_HIDDEN_WEIGHT);
    const int width = static_cast<int>(hidden_weight.size());
    return reference::Fire<R>(
        {hidden_weight, of.layer(PLUMBLINE_HIDDEN_BIAS), of.of_head(PLUMBLINE_OUTPUT_WEIGHT, width),
         of.parameter(PLUMBLINE_OUTPUT_BIAS), of.number(PLUMBLINE_C), of.number(PLUMBLINE_L)},
        R(of.option(PLUMBLINE_L0)), R(of.option(PLUMBLINE_EPSILON)));
  }
  static double error(const Pair& of, double) {
    return FireErrors(of.the_case, of.contract, of.head, of.i, of.j).bias_error;
  }
};

struct FireRow : DerivativeRow {
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
};
inline void derivatives(const DerivativeRow& row, const reference::Fire<RunningError>& bias) {
  FireRow{row}(bias);
}

}  // namespace plumbline::verdict::bias
