// SPDX-License-Identifier: Apache-2.0
#include "python/native/native.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python/native/alibi_of_sequences.hpp"
#include "python/native/custom_method.hpp"
#include "python/native/fox_gates.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/methods/methods.hpp"

namespace plumbline::python {
namespace {

/// FoX is asked with its logarithms of gates, as kernels are; the registry's begins at the layer's
/// input. ALiBi may be asked with slopes of each sequence (AlibiOfSequences::name).
std::vector<reference::methods::NamedShape> inputs_of(const std::string& method,
                                                      const CustomProblem& problem, bool ssmax) {
  if (problem.custom) {
    return reference::methods::input_shapes(CustomMethod::kind, problem, ssmax,
                                            CustomMethod::parameters(problem));
  }
  if (method == FoxGates::name) {
    return reference::methods::input_shapes(FoxGates::kind, problem, ssmax,
                                            FoxGates::parameters(problem));
  }
  if (method == AlibiOfSequences::name) {
    return reference::methods::input_shapes(AlibiOfSequences::kind, problem, ssmax,
                                            AlibiOfSequences::parameters(problem));
  }
  return reference::methods::method_of(method).inputs(problem, ssmax);
}

reference::methods::Results<double> evaluate(const std::string& method,
                                             const CustomProblem& problem,
                                             const reference::methods::Tensors<double>& tensors,
                                             reference::methods::Pass pass) {
  if (problem.custom) {
    return reference::methods::evaluate_with<CustomMethod, double>(problem, tensors, pass);
  }
  if (method == FoxGates::name) {
    return reference::methods::evaluate_with<FoxGates, double>(problem, tensors, pass);
  }
  if (method == AlibiOfSequences::name) {
    return reference::methods::evaluate_with<AlibiOfSequences, double>(problem, tensors, pass);
  }
  return reference::methods::evaluate(method, problem, tensors, pass);
}

std::string text(const std::vector<int>& shape) {
  std::string result = "(";
  for (std::size_t n = 0; n < shape.size(); ++n) {
    result += (n > 0 ? ", " : "") + std::to_string(shape[n]);
  }
  return result + (shape.size() == 1 ? ",)" : ")");
}

/// The tensors that the problem has, each of its shape; what comes from the rest of the model only
/// for gradients.
reference::methods::Tensors<double> tensors_of(
    const Json& given, const std::vector<reference::methods::NamedShape>& expected,
    bool gradients) {
  reference::methods::Tensors<double> tensors;
  for (const auto& [name, shape] : expected) {
    if (!gradients && name.starts_with("grad_")) continue;
    if (!given.contains(name)) {
      throw std::invalid_argument(name + " is missing; expected an array of shape " + text(shape));
    }
    auto got = argument<std::vector<int>>(given[name], "shape");
    // Kernels and files know DAPE's weights with an axis of taps, which the registry has in the
    // axis before it.
    if (got.size() == shape.size() + 1 && name.ends_with("_weight")) {
      const int taps = got.back();
      got.pop_back();
      got.back() *= taps;
    }
    if (got != shape) {
      throw std::invalid_argument(name + " has shape " + text(got) + "; expected " + text(shape));
    }
    std::size_t count = 1;
    for (const int size : shape) count *= static_cast<std::size_t>(size);
    const auto* numbers = address_of<double>(given[name]);
    tensors[name] = {shape, {numbers, numbers + count}};
  }
  return tensors;
}

/// tensors: q, k, v, the parameters, ssmax_scale where there is SSMax, sinks where there are some,
/// the factors of P where there is dropout, and for gradients grad_o and grad_lse. @returns o, lse
/// and, for gradients, grad_<input>.
Json attention(const Json& arguments, plumbline_native_ask) {
  const auto method = argument<std::string>(arguments, "method");
  const auto tensors = argument<Json>(arguments, "tensors");
  const auto gradients = argument<bool>(arguments, "gradients");
  CustomProblem problem;
  if (!arguments.at("custom").is_null()) {
    problem.custom = &cases::custom_of(bias_of(arguments, "method"));
  }
  const auto q = argument<std::array<int, 4>>(argument<Json>(tensors, "q"), "shape");
  const auto k = argument<std::array<int, 4>>(argument<Json>(tensors, "k"), "shape");
  problem.shape = {q[0], q[1], k[1], q[2], k[2], q[3]};
  problem.shape.value_dim = argument<std::array<int, 4>>(argument<Json>(tensors, "v"), "shape")[3];
  auto offsets = argument<std::vector<int>>(arguments, "query_offsets");
  problem.shape.query_offset = offsets.at(0);
  const bool same = std::ranges::count(offsets, offsets[0]) == std::ssize(offsets);
  if (!same) problem.shape.query_offsets = std::move(offsets);
  problem.mask.causal = argument<bool>(arguments, "causal");
  const auto [left, right] = argument<std::array<int, 2>>(arguments, "window");
  problem.mask.window = {left, right};
  problem.mask.lengths = argument<std::vector<int>>(arguments, "lengths");
  problem.mask.documents = argument<std::vector<int>>(arguments, "documents");
  problem.scale = argument<double>(arguments, "scale");
  if (!arguments["softcap"].is_null()) problem.softcap = argument<double>(arguments, "softcap");
  problem.options = argument<std::map<std::string, double>>(arguments, "options");
  auto inputs = inputs_of(method, problem, tensors.contains("ssmax_scale"));
  if (tensors.contains("sinks")) inputs.push_back({"sinks", {problem.shape.heads}});
  if (tensors.contains("dropout")) inputs.push_back({"dropout", {q[0], q[1], q[2], k[2]}});
  const reference::methods::Tensors<double> numbers = tensors_of(tensors, inputs, gradients);
  const Json mask = argument<Json>(arguments, "mask");
  const bool custom = problem.custom && problem.custom->visible;
  if (custom || !mask.is_null()) {
    const auto axes =
        mask.is_null() ? std::array<int, 4>{} : argument<std::array<int, 4>>(mask, "shape");
    const auto* seen = mask.is_null() ? nullptr : address_of<std::uint8_t>(mask);
    problem.mask.also = [&, axes, seen, custom](int batch, int head, int i, int j) {
      const auto& s = problem.shape;
      if (seen) {
        const std::size_t b = axes[0] > 1 ? batch : 0, h = axes[1] > 1 ? head : 0;
        const std::size_t row = (b * axes[1] + h) * s.queries + (i - s.first_position(batch));
        if (seen[row * s.keys + j] == 0) return false;
      }
      if (!custom) return true;
      const auto read = [&](int n, reference::Formula::Place) {
        const auto& [name, per, id] = problem.custom->declared[n];
        return numbers.at(name).data[per == reference::Formula::Per::all ? 0 : batch];
      };
      const double sees =
          reference::formula::value_in_double(*problem.custom->visible, i, j, 0, read);
      if (std::isnan(sees)) {
        throw std::invalid_argument("visible is nan at i = " + std::to_string(i) +
                                    ", j = " + std::to_string(j) +
                                    "; expected a decision that fp32 does not "
                                    "round to the other side");
      }
      return sees != 0;
    };
  }
  reference::methods::Results<double> results =
      evaluate(method, problem, numbers,
               gradients ? reference::methods::Pass::forward_and_backward
                         : reference::methods::Pass::forward);
  for (const std::size_t row : results.empty_rows) {
    results.tensors.at("lse").data.at(row) = -std::numeric_limits<double>::infinity();
  }
  Json named;
  for (auto& [name, tensor] : results.tensors) {
    named[name] = array(std::move(tensor.data), "<f8", tensor.shape);
  }
  return named;
}

Json alibi_slopes(const Json& arguments, plumbline_native_ask) {
  const int heads = argument<int>(arguments, "heads");
  return argument<bool>(arguments, "geometric") ? reference::alibi_slopes_geometric<double>(heads)
                                                : reference::alibi_slopes<double>(heads);
}

}  // namespace

Functions oracle_functions() {
  return {{"attention", &attention}, {"alibi_slopes", &alibi_slopes}};
}

}  // namespace plumbline::python
