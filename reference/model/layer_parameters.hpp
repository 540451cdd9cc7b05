// SPDX-License-Identifier: Apache-2.0
// Parameters of layers, and how to go through all those of a model. A gradient has the type of what
// it is the gradient of.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "reference/core/linear_algebra.hpp"
#include "reference/core/preconditions.hpp"

namespace plumbline::reference {

/// A linear layer: weight [out, in] as PyTorch's Linear has it, bias [out], or empty for a layer
/// without. GPT-2's files hold the transpose, [in, out]; here they are all [out, in].
template <Real R>
struct LinearParameters {
  Matrix<R> weight;
  Vector<R> bias;
};

template <Real R>
LinearParameters<R> zero_linear(int out, int in, bool with_bias = true) {
  return {zeros<R>(out, in), zeros<R>(with_bias ? out : 0)};
}

/// @throws std::invalid_argument unless the layer has the shapes of zero_linear.
template <Real R>
void check_linear(const LinearParameters<R>& p, const std::string& name, int out, int in,
                  bool with_bias = true) {
  require(p.weight.rows() == out, (name + ".weight.rows()").c_str(), p.weight.rows(),
          "what the configuration asks for");
  require(p.weight.cols() == in, (name + ".weight.cols()").c_str(), p.weight.cols(),
          "what the configuration asks for");
  require(p.bias.size() == (with_bias ? out : 0), (name + ".bias.size()").c_str(), p.bias.size(),
          "what the configuration asks for");
}

/// LayerNorm's gamma and beta, [C]; RMSNorm's gamma, with an empty bias.
template <Real R>
struct NormParameters {
  Vector<R> weight, bias;
};

template <Real R>
NormParameters<R> zero_norm(int width, bool with_bias = true) {
  return {zeros<R>(width), zeros<R>(with_bias ? width : 0)};
}

/// visit(name + ".weight", ..) and, unless it is empty, visit(name + ".bias", ..).
template <class WeightAndBias, class Visit>
void visit_weight_and_bias(WeightAndBias& p, const std::string& name, const Visit& visit) {
  visit(name + ".weight", p.weight);
  if (p.bias.size() > 0) visit(name + ".bias", p.bias);
}

/// Calls visit(name, tensor) for every parameter of a model, in a fixed order. `name` is the name
/// in Hugging Face's files (const std::string&); `tensor` is a Matrix<R>& or a Vector<R>&, const if
/// the parameters are. A parameter that the configuration leaves out (a bias, a table) is not
/// visited; one that two layers share (the tied head) is visited once, under its first name.
template <class Parameters, class Visit>
void for_each_parameter(Parameters& p, const Visit& visit) {
  std::remove_const_t<Parameters>::each(p, visit);
}

/// How many numbers a model learns.
template <class Parameters>
std::int64_t parameter_count(const Parameters& p) {
  std::int64_t count = 0;
  for_each_parameter(p, [&](const std::string&, const auto& tensor) { count += tensor.size(); });
  return count;
}

/// to += more, element by element. @throws std::invalid_argument if the shapes differ.
template <class Tensor>
void add_to(Tensor& to, const std::type_identity_t<Tensor>& more) {
  require(more.rows() == to.rows(), "more.rows()", more.rows(), "the rows of what it is added to");
  require(more.cols() == to.cols(), "more.cols()", more.cols(),
          "the columns of what it is added to");
  for (Eigen::Index n = 0; n < to.size(); ++n) to.data()[n] += more.data()[n];
}

}  // namespace plumbline::reference
