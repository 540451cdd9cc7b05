// SPDX-License-Identifier: Apache-2.0
#include "reference/methods/methods.hpp"

#include <stdexcept>

#include "reference/methods/registry.hpp"

namespace plumbline::reference::methods {

const std::vector<MethodInfo>& all_methods() {
  static const std::vector<MethodInfo> all = [] {
    std::vector<MethodInfo> methods;
    for_each_method([&](auto adaptor) {
      using Method = decltype(adaptor);
      const auto options = Method::options();
      methods.push_back({Method::name,
                         Method::kind,
                         {options.begin(), options.end()},
                         [](const Problem& problem, bool ssmax) {
                           return input_shapes(Method::kind, problem, ssmax,
                                               Method::parameters(problem));
                         },
                         [](const Problem& problem) { return mask_of<Method>(problem); }});
    });
    return methods;
  }();
  return all;
}

const MethodInfo& method_of(std::string_view name) {
  std::string known;
  for (const MethodInfo& method : all_methods()) {
    if (method.name == name) return method;
    known += (known.empty() ? "" : ", ") + method.name;
  }
  throw std::invalid_argument("method is " + std::string(name) + "; expected one of " + known);
}

}  // namespace plumbline::reference::methods
