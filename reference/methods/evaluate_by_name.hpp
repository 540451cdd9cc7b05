// SPDX-License-Identifier: Apache-2.0
// The definition of evaluate: included by one source file a scalar, and by nothing else.
#pragma once

#include "reference/methods/methods.hpp"
#include "reference/methods/registry.hpp"

namespace plumbline::reference::methods {

template <Real R>
Results<R> evaluate(std::string_view method, const Problem& problem, const Tensors<R>& tensors,
                    Pass pass) {
  method_of(method);  // throws for a name that is not there
  Results<R> results;
  for_each_method([&](auto adaptor) {
    using Method = decltype(adaptor);
    if (method == Method::name) results = evaluate_with<Method>(problem, tensors, pass);
  });
  return results;
}

}  // namespace plumbline::reference::methods
