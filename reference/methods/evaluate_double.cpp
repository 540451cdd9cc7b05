// SPDX-License-Identifier: Apache-2.0
#include "reference/methods/evaluate_by_name.hpp"

namespace plumbline::reference::methods {

template Results<double> evaluate(std::string_view, const Problem&, const Tensors<double>&, Pass);

}  // namespace plumbline::reference::methods
