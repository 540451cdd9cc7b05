// SPDX-License-Identifier: Apache-2.0
// Biases of the offset i - j and a few numbers of each head. Besides being a DifferentiableBias,
// such a Form<R> has
//   static constexpr const char* name;
//   static constexpr std::array parameters, options;   their names
//   Form(parameters ..., options ...)                  all of them R
//   Grad::numbers() -> tuple of R                      in the order of the parameters
// and, where a model does not learn the parameters,
//   static std::array<double, n> published(int h, int heads)   those of head h
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "reference/bias/bias.hpp"

namespace plumbline::reference {

/// @param number, option R of a name.
template <template <class> class Form, Real R, class Number, class Option>
Form<R> bias_of_head(const Number& number, const Option& option) {
  return [&]<std::size_t... n, std::size_t... o>(std::index_sequence<n...>,
                                                 std::index_sequence<o...>) {
    return Form<R>{number(Form<R>::parameters[n])..., option(Form<R>::options[o])...};
  }
  (std::make_index_sequence<Form<R>::parameters.size()>(),
   std::make_index_sequence<Form<R>::options.size()>());
}

/// use(name, derivative) of every parameter.
template <template <class> class Form, Real R, class Use>
void each_of_head(const typename Form<R>::Grad& grad, const Use& use) {
  std::apply([&, n = std::size_t{0}](
                 const auto&... by) mutable { (use(Form<R>::parameters[n++], by), ...); },
             grad.numbers());
}

}  // namespace plumbline::reference
