// SPDX-License-Identifier: Apache-2.0
// What section 4.2 lets one compute: sizes of the models and lengths of the training.
#pragma once

#include "proofs_checks/statement.hpp"

namespace plumbline::proofs_checks::cable {

/// Layers, heads, width and number of trained positions (0: no table), and whether CABLE is on.
inline Sample model(double L, double H, double C, double P, double cable) {
  return Sample{}.with("L", {L}).with("H", {H}).with("C", {C}).with("P", {P}).with("cable",
                                                                                   {cable});
}

/// What CABLE adds as published code has it: two linear maps C -> H with bias terms in each layer.
template <class R>
R added_parameters_of(const Inputs<R>& in) {
  return R(2.0) * in.number("L") * (in.number("C") + R(1.0)) * in.number("H");
}

/// What parameters_of counts, as a hypothesis.
inline constexpr const char* gpt2_parameters_counted =
    "GPT-2 with a vocabulary of 50304, tied embeddings, linear maps and LayerNorms with bias "
    "terms: V C + P C + L (12 C^2 + 13 C) + 2 C parameters, P = 1024 positions or, for the "
    "relative encodings, none.";

/// GPT-2 with a vocabulary of 50304 and tied embeddings: V C + P C + L (12 C^2 + 13 C) + 2 C.
template <class R>
R parameters_of(const Inputs<R>& in) {
  const R &C = in.number("C"), &P = in.number("P");
  return R(50304.0) * C + P * C + in.number("L") * (R(12.0) * C * C + R(13.0) * C) + R(2.0) * C +
         in.number("cable") * added_parameters_of(in);
}

/// The number of parameters lies in [lower, upper].
struct ParametersLieIn {
  static constexpr Relation relation = Relation::at_least_zero;
  double lower, upper;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R count = parameters_of(in);
    return {{count - R(lower), "the lower end"}, {R(upper) - count, "the upper end"}};
  }
};

/// lower <= steps * tokens / data <= upper: the number of epochs.
struct EpochsLieIn {
  static constexpr Relation relation = Relation::at_least_zero;
  double lower, upper;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R seen = in.number("steps") * in.number("tokens per step");
    const R& data = in.number("tokens of the data");
    return {{seen - R(lower) * data, "the lower end, in tokens"},
            {R(upper) * data - seen, "the upper end, in tokens"}};
  }
};

}  // namespace plumbline::proofs_checks::cable
