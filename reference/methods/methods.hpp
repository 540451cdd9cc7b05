// SPDX-License-Identifier: Apache-2.0
// Every position method by its name: what a program needs, compiled once for each scalar
// (registry.hpp and method.hpp have the templates).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/methods/evaluate.hpp"
#include "reference/scalars/dual.hpp"
#include "reference/scalars/interval.hpp"
#include "reference/scalars/mpreal.hpp"
#include "reference/scalars/running_error.hpp"

namespace plumbline::reference::methods {

/// What is registered of a method.
struct MethodInfo {
  std::string name;
  Kind kind = Kind::bias;
  std::vector<std::string> options;  ///< all of them needed
  /// The names and shapes of all tensors of a problem, in the order of files; with `ssmax` or not.
  /// @throws std::invalid_argument for options that are missing or out of range.
  std::function<std::vector<NamedShape>(const Problem&, bool ssmax)> inputs;
  /// The mask that the method works under: its own, or the problem's.
  std::function<Mask(const Problem&)> mask;
};

/// All methods, in the order of the registry.
const std::vector<MethodInfo>& all_methods();

/// @throws std::invalid_argument naming all methods if there is none of this name.
const MethodInfo& method_of(std::string_view name);

/// A derivative with a bound on its rounding error.
using BoundedDual = BasicDual<RunningError>;

/// The results of the problem under the method, as evaluate_bias, evaluate_rotation,
/// evaluate_embedding or evaluate_logits (evaluate.hpp) tell.
/// @throws std::invalid_argument for an unknown method, for tensors or options that are missing or
/// too small, and as the method's equations do.
template <Real R>
Results<R> evaluate(std::string_view method, const Problem& problem, const Tensors<R>& tensors,
                    Pass pass = Pass::forward_and_backward);

extern template Results<double> evaluate(std::string_view, const Problem&, const Tensors<double>&,
                                         Pass);
extern template Results<RunningError> evaluate(std::string_view, const Problem&,
                                               const Tensors<RunningError>&, Pass);
extern template Results<MpReal> evaluate(std::string_view, const Problem&, const Tensors<MpReal>&,
                                         Pass);
extern template Results<Interval> evaluate(std::string_view, const Problem&,
                                           const Tensors<Interval>&, Pass);
extern template Results<BoundedDual> evaluate(std::string_view, const Problem&,
                                              const Tensors<BoundedDual>&, Pass);

/// The same numbers in another scalar.
template <Real R>
Tensors<R> lifted(const Tensors<float>& tensors) {
  Tensors<R> result;
  for (const auto& [name, tensor] : tensors) {
    Tensor<R>& copy = result[name];
    copy.shape = tensor.shape;
    for (float number : tensor.data) copy.data.push_back(R(double{number}));
  }
  return result;
}

}  // namespace plumbline::reference::methods
