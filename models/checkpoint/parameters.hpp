// SPDX-License-Identifier: Apache-2.0
// A model's parameters, seen as named arrays of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/core/linear_algebra.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/scalars/double.hpp"

namespace plumbline::checkpoint {

/// A parameter where it lies in memory; Number is double, or const double.
template <class Number>
struct Parameter {
  std::string name;                 ///< Hugging Face's, in full
  std::vector<std::int64_t> shape;  ///< in memory: [rows, columns] of a matrix, [size] of a vector
  Number* values;                   ///< row-major
};

/// Every parameter of a model in double precision (reference/model: whatever for_each_parameter
/// goes through, a gradient too), in that order. The result points into the model.
template <class Model>
auto parameters_of(Model& model) {
  using Number = std::conditional_t<std::is_const_v<Model>, const double, double>;
  std::vector<Parameter<Number>> parameters;
  reference::for_each_parameter(model, [&](const std::string& name, auto& tensor) {
    std::vector<std::int64_t> shape{tensor.rows()};
    // A vector's type says so; a matrix of one column stays a matrix.
    if constexpr (std::decay_t<decltype(tensor)>::ColsAtCompileTime != 1) {
      shape.push_back(tensor.cols());
    }
    parameters.push_back({name, std::move(shape), tensor.data()});
  });
  return parameters;
}

}  // namespace plumbline::checkpoint
