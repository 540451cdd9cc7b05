// SPDX-License-Identifier: Apache-2.0
// FoX from the logarithms of its gates on, which is what a kernel reads: the registry's method
// (reference/methods/learned_methods.hpp) begins at the layer's input.
#pragma once

#include "reference/methods/learned_methods.hpp"
#include "reference/methods/method.hpp"

namespace plumbline::python {

/// log_forget [batch, heads, keys], <= 0. b_ij = F_i - F_j, F the prefix sum of log_forget.
struct FoxGates {
  static constexpr const char* name = "fox";
  static constexpr auto kind = reference::methods::Kind::bias;
  static std::vector<const char*> options() { return {}; }
  static std::vector<reference::methods::NamedShape> parameters(
      const reference::methods::Problem& p) {
    return {{"log_forget", {p.shape.batch, p.shape.heads, p.shape.keys}}};
  }
  template <reference::Real R>
  static reference::Fox<R> bias(const reference::methods::MethodInputs<R>& in, int b, int h) {
    const auto& s = in.shape();
    return {reference::prefix_sum(in.vector("log_forget", b * s.heads + h, s.keys))};
  }
  template <reference::Real R>
  static void add_grad(const reference::methods::MethodInputs<R>& in, int b, int h,
                       const reference::CableNwGrad<R>& grad, reference::methods::Tensors<R>& out) {
    const auto& s = in.shape();
    reference::methods::add(out, "grad_log_forget", {s.batch, s.heads, s.keys},
                            static_cast<std::size_t>(b * s.heads + h) * s.keys,
                            reference::prefix_sum_grad(grad.prefix_sum));
  }
};

}  // namespace plumbline::python
