// SPDX-License-Identifier: Apache-2.0
#include "python/native/oracle.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/native/fox_gates.hpp"
#include "reference/bias/alibi.hpp"
#include "reference/methods/methods.hpp"
#include "verdict/cases/case.hpp"

namespace plumbline::python {
namespace {

namespace nb = nanobind;
namespace methods = reference::methods;

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

/// An array of NumPy's that owns the numbers.
nb::object to_numpy(std::vector<double> values, const std::vector<std::size_t>& shape) {
  auto* kept = new std::vector<double>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<decltype(kept)>(p); });
  const nb::ndarray<nb::numpy, double> array(kept->data(), shape.size(), shape.data(), owner);
  return nb::cast(array);
}

nb::object to_numpy(methods::Tensor<double> tensor) {
  return to_numpy(std::move(tensor.data), {tensor.shape.begin(), tensor.shape.end()});
}

/// FoX is asked with its logarithms of gates, as kernels are; the registry's begins at the layer's
/// input.
methods::MethodInfo info_of(const std::string& method) {
  if (method != FoxGates::name) return methods::method_of(method);
  methods::MethodInfo info = methods::method_of(method);
  info.inputs = [](const methods::Problem& problem, bool ssmax) {
    return methods::input_shapes(FoxGates::kind, problem, ssmax, FoxGates::parameters(problem));
  };
  return info;
}

methods::Results<double> evaluate(const std::string& method, const methods::Problem& problem,
                                  const methods::Tensors<double>& tensors, methods::Pass pass) {
  if (method == FoxGates::name) {
    return methods::evaluate_with<FoxGates, double>(problem, tensors, pass);
  }
  return methods::evaluate(method, problem, tensors, pass);
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
methods::Tensors<double> tensors_of(const nb::dict& given,
                                    const std::vector<methods::NamedShape>& expected,
                                    bool gradients) {
  methods::Tensors<double> tensors;
  for (const auto& [name, shape] : expected) {
    if (!gradients && name.starts_with("grad_")) continue;
    if (!given.contains(name.c_str())) {
      throw std::invalid_argument(name + " is missing; expected an array of shape " + text(shape));
    }
    const auto array = nb::cast<Doubles>(given[name.c_str()]);
    std::vector<int> got(array.shape_ptr(), array.shape_ptr() + array.ndim());
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
    tensors[name] = {shape, {array.data(), array.data() + array.size()}};
  }
  return tensors;
}

/// @param tensors q, k, v, the parameters, ssmax_scale where there is SSMax, and for gradients
/// grad_o and grad_lse. @returns o, lse and, for gradients, grad_<input>.
nb::dict attention(const std::string& method, const nb::dict& tensors,
                   const std::map<std::string, double>& options, double scale,
                   std::optional<double> softcap, bool causal, std::optional<int> window,
                   std::vector<int> lengths, std::vector<int> documents, int query_offset,
                   bool gradients) {
  methods::Problem problem;
  const auto q = nb::cast<Doubles>(tensors["q"]), k = nb::cast<Doubles>(tensors["k"]);
  const auto size = [](const Doubles& array, int axis) {
    return static_cast<int>(array.shape(axis));
  };
  problem.shape = {size(q, 0), size(q, 1), size(k, 1),  size(q, 2),
                   size(k, 2), size(q, 3), query_offset};
  problem.mask = {causal, window, std::move(lengths), std::move(documents)};
  problem.scale = scale;
  problem.softcap = softcap;
  problem.options = options;
  const auto inputs = info_of(method).inputs(problem, tensors.contains("ssmax_scale"));
  const auto numbers = tensors_of(tensors, inputs, gradients);
  methods::Results<double> results;
  {
    const nb::gil_scoped_release others_may_run;
    results = evaluate(method, problem, numbers,
                       gradients ? methods::Pass::forward_and_backward : methods::Pass::forward);
  }
  for (const std::size_t row : results.empty_rows) {
    results.tensors.at("lse").data.at(row) = -std::numeric_limits<double>::infinity();
  }
  nb::dict named;
  for (auto& [name, tensor] : results.tensors) named[name.c_str()] = to_numpy(std::move(tensor));
  return named;
}

/// The numbers of any array that lies in this machine's memory, as doubles: also of those whose
/// type NumPy has not.
/// @throws nb::type_error for a type that is no real number of a size known here.
nb::object widened(const nb::ndarray<nb::ro, nb::device::cpu>& array) {
  const auto type = array.dtype();
  std::vector<std::size_t> shape(array.shape_ptr(), array.shape_ptr() + array.ndim());
  const auto* bytes = static_cast<const std::byte*>(array.data());
  std::vector<double> values(array.size());
  const auto fill = [&]<class Stored>(Stored, auto&& number) {
    std::vector<std::size_t> index(shape.size(), 0);
    for (double& value : values) {
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        offset += static_cast<std::int64_t>(index[axis]) * array.stride(axis);
      }
      Stored stored;
      std::memcpy(&stored, bytes + offset * static_cast<std::int64_t>(sizeof stored),
                  sizeof stored);
      value = number(stored);
      for (std::size_t axis = shape.size(); axis-- > 0;) {
        if (++index[axis] < shape[axis]) break;
        index[axis] = 0;
      }
    }
  };
  const auto exact = [](auto x) { return static_cast<double>(x); };
  using nb::dlpack::dtype_code;
  const auto code = static_cast<dtype_code>(type.code);
  if (type == nb::dtype<double>()) {
    fill(double{}, exact);
  } else if (type == nb::dtype<float>()) {
    fill(float{}, exact);
  } else if (code == dtype_code::Float && type.bits == 16 && type.lanes == 1) {
    fill(std::uint16_t{}, cases::from_fp16);
  } else if (code == dtype_code::Bfloat && type.bits == 16 && type.lanes == 1) {
    fill(std::uint16_t{}, cases::from_bf16);
  } else if (type == nb::dtype<std::int32_t>()) {
    fill(std::int32_t{}, exact);
  } else if (type == nb::dtype<std::int64_t>()) {
    fill(std::int64_t{}, exact);
  } else {
    throw nb::type_error(
        "its numbers are none of float64, float32, float16, bfloat16, int32, int64");
  }
  return to_numpy(std::move(values), shape);
}

}  // namespace

void bind_oracle(nb::module_& module) {
  module.def("attention", &attention, nb::arg("method"), nb::arg("tensors"), nb::arg("options"),
             nb::arg("scale"), nb::arg("softcap").none(), nb::arg("causal"),
             nb::arg("window").none(), nb::arg("lengths"), nb::arg("documents"),
             nb::arg("query_offset"), nb::arg("gradients"));
  module.def("widened", &widened, nb::arg("array"));
  module.def("alibi_slopes", [](int heads, bool geometric) {
    return geometric ? reference::alibi_slopes_geometric<double>(heads)
                     : reference::alibi_slopes<double>(heads);
  });
}

}  // namespace plumbline::python
