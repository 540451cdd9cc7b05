// SPDX-License-Identifier: Apache-2.0
// A model's parameters as the inputs of the harness.
#pragma once

#include <string>

#include "reference/model/layer_parameters.hpp"
#include "tests/reference/parameters.hpp"

namespace plumbline::reference {

/// Fills every parameter, in the order of for_each_parameter.
template <class Parameters, Real R>
void read_parameters(Reader<R>& reader, Parameters& p) {
  for_each_parameter(p, [&](const std::string&, auto& tensor) {
    for (Eigen::Index n = 0; n < tensor.size(); ++n) tensor.data()[n] = reader.number();
  });
}

template <class Parameters, Real R>
void write_parameters(Writer<R>& writer, const Parameters& p) {
  for_each_parameter(p, [&](const std::string&, const auto& tensor) {
    for (Eigen::Index n = 0; n < tensor.size(); ++n) writer.number(tensor.data()[n]);
  });
}

}  // namespace plumbline::reference
