// SPDX-License-Identifier: Apache-2.0
// A custom bias as a method of the oracle's registry has to look.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/bias/custom.hpp"
#include "reference/bias/prefix_sum.hpp"
#include "reference/methods/method.hpp"
#include "verdict/cases/custom_bias.hpp"

namespace plumbline::python {

struct CustomProblem : reference::methods::Problem {
  const cases::CustomBias* custom = nullptr;
};

/// The parameters of the declaration, by its names. Every problem is a CustomProblem.
struct CustomMethod {
  using Per = reference::Formula::Per;
  static constexpr auto kind = reference::methods::Kind::bias;
  static std::vector<const char*> options() { return {}; }

  static const cases::CustomBias& custom_of(const reference::methods::Problem& problem) {
    return *static_cast<const CustomProblem&>(problem).custom;
  }
  static std::vector<int> shape_of(const cases::CustomParameter& parameter,
                                   const reference::methods::Problem& p) {
    switch (parameter.per) {
      case Per::all:
        return {1};
      case Per::head:
        return {p.shape.heads};
      case Per::sequence:
        return {p.shape.batch};
      case Per::query:
        return {p.shape.batch, p.shape.heads, p.shape.queries};
      case Per::key:
      case Per::prefix_sum:
        return {p.shape.batch, p.shape.heads, p.shape.keys};
    }
    throw std::logic_error("a parameter without a shape");
  }
  static std::vector<reference::methods::NamedShape> parameters(
      const reference::methods::Problem& problem) {
    std::vector<reference::methods::NamedShape> all;
    for (const auto& parameter : custom_of(problem).declared) {
      all.push_back({parameter.name, shape_of(parameter, problem)});
    }
    return all;
  }

  template <reference::Real R>
  static reference::Custom<R> bias(const reference::methods::MethodInputs<R>& in, int b, int h) {
    const cases::CustomBias& custom = custom_of(in.problem());
    reference::Custom<R> of_head{&custom.expression, h, in.shape().first_position(b), {}};
    for (const auto& parameter : custom.declared) {
      if (parameter.per == Per::key || parameter.per == Per::prefix_sum) {
        reference::require_rows_at_keys(in.shape());
      }
      const auto [row, size] = part_of(parameter, in.problem(), b, h);
      auto numbers = in.vector(parameter.name, row, size);
      of_head.numbers.push_back(parameter.per == Per::prefix_sum ? reference::prefix_sum(numbers)
                                                                 : std::move(numbers));
    }
    return of_head;
  }
  template <reference::Real R>
  static void add_grad(const reference::methods::MethodInputs<R>& in, int b, int h,
                       const std::vector<reference::Vector<R>>& grad,
                       reference::methods::Tensors<R>& out) {
    const cases::CustomBias& custom = custom_of(in.problem());
    for (std::size_t n = 0; n < grad.size(); ++n) {
      const auto& parameter = custom.declared[n];
      const auto [row, size] = part_of(parameter, in.problem(), b, h);
      reference::methods::add(
          out, "grad_" + parameter.name, shape_of(parameter, in.problem()),
          static_cast<std::size_t>(row) * size,
          parameter.per == Per::prefix_sum ? reference::prefix_sum_grad(grad[n]) : grad[n]);
    }
  }

 private:
  /// Which row of how many numbers is the head's.
  static std::pair<int, int> part_of(const cases::CustomParameter& parameter,
                                     const reference::methods::Problem& problem, int b, int h) {
    if (parameter.per == Per::all) return {0, 1};
    if (parameter.per == Per::head) return {h, 1};
    if (parameter.per == Per::sequence) return {b, 1};
    return {b * problem.shape.heads + h, shape_of(parameter, problem).back()};
  }
};

}  // namespace plumbline::python
