// SPDX-License-Identifier: Apache-2.0
#include "reference/methods/evaluate_by_name.hpp"

namespace plumbline::reference::methods {

template Results<Interval> evaluate(std::string_view, const Problem&, const Tensors<Interval>&,
                                    Pass);

}  // namespace plumbline::reference::methods
