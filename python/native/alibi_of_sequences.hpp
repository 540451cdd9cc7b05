// SPDX-License-Identifier: Apache-2.0
// ALiBi with slopes of each sequence, which the registry's method (reference/methods/
// distance_methods.hpp) has not.
#pragma once

#include "reference/methods/distance_methods.hpp"
#include "reference/methods/method.hpp"

namespace plumbline::python {

/// slopes [batch, heads]. b_ij = -slopes[b, h] |i - j|.
struct AlibiOfSequences : reference::methods::AlibiMethod {
  static constexpr const char* name = "alibi_of_sequences";
  static std::vector<reference::methods::NamedShape> parameters(
      const reference::methods::Problem& p) {
    return {{"slopes", {p.shape.batch, p.shape.heads}}};
  }
  template <reference::Real R>
  static reference::Alibi<R> bias(const reference::methods::MethodInputs<R>& in, int b, int h) {
    return {in.number("slopes", b * in.shape().heads + h)};
  }
};

}  // namespace plumbline::python
