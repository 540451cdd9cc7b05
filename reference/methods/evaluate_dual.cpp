// SPDX-License-Identifier: Apache-2.0
#include "reference/methods/evaluate_by_name.hpp"

namespace plumbline::reference::methods {

template Results<BoundedDual> evaluate(std::string_view, const Problem&,
                                       const Tensors<BoundedDual>&, Pass);

}  // namespace plumbline::reference::methods
