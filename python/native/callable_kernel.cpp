// SPDX-License-Identifier: Apache-2.0
#include "python/native/callable_kernel.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "ptx/cuda/options.hpp"
#include "verdict/cases/formats.hpp"
#include "verdict/cases/method_inputs.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::python {
namespace {

namespace nb = nanobind;

/// The interface has no word for "this function": it is the one of the innermost check.
thread_local CallableKernel* active = nullptr;

cases::Spec spec_of(const plumbline_problem& problem) {
  cases::Spec spec;
  spec.bias = methods::bias_of(problem);
  spec.format = static_cast<cases::Format>(problem.format);
  spec.ssmax = problem.ssmax != 0;
  spec.batch = problem.batch;
  spec.heads = problem.heads;
  spec.kv_heads = problem.kv_heads;
  spec.queries = problem.queries;
  spec.keys = problem.keys;
  spec.head_dim = problem.head_dim;
  spec.query_offset = problem.query_offset;
  return spec;
}

cases::Options options_of(const plumbline_problem& problem) {
  cases::Options options;
  std::copy_n(problem.options, options.size(), options.begin());
  return options;
}

std::size_t bytes_of_outputs(const cases::Spec& spec) {
  return cases::bytes_per_number(cases::output_format(spec.format));
}

/// The kernel's arrays, each with the memory that it is in. Python gets and gives copies: what
/// outlives the call, such as the frames of an exception, must not point into that memory.
class Arrays {
 public:
  void add(const std::string& name, const void* data, const cases::Shape& shape,
           std::size_t element_bytes = 4) {
    if (data == nullptr) return;
    nb::list sizes;
    for (const auto size : shape) sizes.append(size);
    const auto bytes = static_cast<std::size_t>(cases::elements(shape)) * element_bytes;
    arrays_.push_back({name, static_cast<char*>(const_cast<void*>(data)), bytes, sizes});
  }

  nb::dict shapes() const {
    nb::dict result;
    for (const auto& array : arrays_) result[array.name.c_str()] = array.shape;
    return result;
  }
  /// (bytes, shape) by name.
  nb::dict contents() const {
    nb::dict result;
    for (const auto& array : arrays_) {
      result[array.name.c_str()] = nb::make_tuple(nb::bytes(array.data, array.bytes), array.shape);
    }
    return result;
  }
  /// Takes the bytes of every array. @throws std::runtime_error unless they are as many.
  void fill(const nb::dict& given) const {
    for (const auto& array : arrays_) {
      const auto bytes = nb::cast<nb::bytes>(given[array.name.c_str()]);
      if (bytes.size() != array.bytes) throw std::runtime_error(array.name + " has another size");
      std::memcpy(array.data, bytes.data(), array.bytes);
    }
  }

 private:
  struct Array {
    std::string name;
    char* data;
    std::size_t bytes;
    nb::list shape;
  };
  std::vector<Array> arrays_;
};

Arrays inputs_of(const plumbline_problem& problem) {
  const cases::Spec spec = spec_of(problem);
  const std::size_t bytes = cases::bytes_per_number(spec.format);
  Arrays inputs;
  inputs.add("q", problem.q, cases::query_shape(spec), bytes);
  inputs.add("k", problem.k, cases::key_shape(spec), bytes);
  inputs.add("v", problem.v, cases::key_shape(spec), bytes);
  inputs.add("q_scale", problem.q_scale, cases::per_key_head(spec));
  inputs.add("k_scale", problem.k_scale, cases::per_key_head(spec));
  inputs.add("v_scale", problem.v_scale, cases::per_key_head(spec));
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!cases::reads(spec, parameter)) continue;
    inputs.add(cases::info(parameter).name, problem.parameters[n],
               cases::shape_of(spec, options_of(problem), parameter));
  }
  inputs.add("lengths", problem.lengths, {spec.batch});
  inputs.add("documents", problem.documents, {spec.batch, spec.keys});
  return inputs;
}

/// The sizes and settings, and the method's options by their names.
nb::dict described(const char* pass, int variation, const plumbline_problem& problem) {
  const cases::Spec spec = spec_of(problem);
  nb::dict result, options;
  result["pass"] = pass;
  result["variation"] = variation;
  result["causal"] = problem.causal != 0;
  result["window"] = problem.window < 0 ? nb::none() : nb::cast(problem.window);
  result["query_offset"] = problem.query_offset;
  result["scale"] = problem.scale;
  result["softcap"] = problem.softcap == 0 ? nb::none() : nb::cast(problem.softcap);
  for (const plumbline_option option : cases::options_of(spec.bias)) {
    const double value = problem.options[option];
    options[cases::info(option).name] =
        cases::info(option).whole ? nb::cast(static_cast<long>(value)) : nb::cast(value);
  }
  result["options"] = options;
  return result;
}

}  // namespace

CallableKernel::CallableKernel(nb::object run, nb::object refusal, std::string name, Takes takes,
                               const plumbline_contract& contract, bool has_backward,
                               bool deterministic)
    : run_(std::move(run)),
      refusal_(std::move(refusal)),
      last_exception_(nb::none()),
      name_(std::move(name)),
      takes_(std::move(takes)),
      before_(active) {
  kernel_.name = name_.c_str();
  std::fill(std::begin(kernel_.contracts), std::end(kernel_.contracts), contract);
  kernel_.deterministic = deterministic;
  kernel_.supports = &supports;
  kernel_.forward = &forward;
  if (has_backward) kernel_.backward = &backward;
  active = this;
}

CallableKernel::~CallableKernel() { active = before_; }

bool CallableKernel::on_software_device() const {
  const nb::gil_scoped_acquire for_python;
  return nb::cast<bool>(nb::getattr(run_, "on_software_device", nb::bool_(false)));
}

void CallableKernel::look_for_signals() {
  if (PyErr_CheckSignals() == 0) return;
  const nb::python_error signal;
  interrupted_ = nb::borrow(signal.value());
}

void CallableKernel::raise_interruption() {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(interrupted_.ptr())), interrupted_.ptr());
  throw nb::python_error();
}

int CallableKernel::supports(const plumbline_problem* problem, int32_t) {
  const Takes& takes = active->takes_;
  const bool options = std::all_of(takes.options.begin(), takes.options.end(), [&](const auto& o) {
    return problem->options[o.first] == o.second;
  });
  return options && (!takes.causal || *takes.causal == (problem->causal != 0)) &&
         (takes.window || problem->window < 0) && (takes.lengths || problem->lengths == nullptr) &&
         (takes.documents || problem->documents == nullptr) &&
         (takes.ssmax || problem->ssmax == 0) &&
         (takes.softcap || problem->softcap == takes.own_softcap) &&
         (takes.grouped_heads || problem->heads == problem->kv_heads) &&
         (takes.query_offset || problem->queries == problem->keys) &&
         (takes.scale || problem->scale == 1 / std::sqrt(static_cast<double>(problem->head_dim)));
}

int CallableKernel::forward(const plumbline_problem* problem, const plumbline_outputs* outputs,
                            char* message, size_t message_size) {
  const nb::gil_scoped_acquire for_python;
  const cases::Spec spec = spec_of(*problem);
  Arrays arrays;
  arrays.add("o", outputs->o, cases::query_shape(spec), bytes_of_outputs(spec));
  arrays.add("lse", outputs->lse, cases::per_query(spec));
  return active->call(described("forward", active->variation_, *problem), inputs_of(*problem),
                      arrays, message, message_size);
}

int CallableKernel::backward(const plumbline_problem* problem, const plumbline_gradients* gradients,
                             char* message, size_t message_size) {
  const nb::gil_scoped_acquire for_python;
  const cases::Spec spec = spec_of(*problem);
  const std::size_t bytes = bytes_of_outputs(spec);
  Arrays inputs = inputs_of(*problem), arrays;
  inputs.add("o", gradients->o, cases::query_shape(spec), bytes);
  inputs.add("lse", gradients->lse, cases::per_query(spec));
  inputs.add("grad_o", gradients->grad_o, cases::query_shape(spec), bytes);
  arrays.add("grad_q", gradients->grad_q, cases::query_shape(spec), bytes);
  arrays.add("grad_k", gradients->grad_k, cases::key_shape(spec), bytes);
  arrays.add("grad_v", gradients->grad_v, cases::key_shape(spec), bytes);
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!cases::has_gradient(spec, parameter)) continue;
    arrays.add(cases::gradient_name(parameter), gradients->grad_parameters[n],
               cases::shape_of(spec, options_of(*problem), parameter));
  }
  return active->call(described("backward", active->variation_, *problem), inputs, arrays, message,
                      message_size);
}

template <class Arrays>
int CallableKernel::call(const nanobind::dict& problem, const Arrays& inputs, const Arrays& outputs,
                         char* message, std::size_t message_size) {
  std::string thrown;
  try {
    const nb::object result = run_(problem, inputs.contents(), outputs.shapes());
    // What the function has left in its inputs is compared with what it was given.
    inputs.fill(nb::cast<nb::dict>(result[0]));
    outputs.fill(nb::cast<nb::dict>(result[1]));
    return 0;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) {  // Ctrl-C, SystemExit: not the function's failure
      interrupted_ = nb::borrow(error.value());
      std::snprintf(message, message_size, "interrupted");
      return PLUMBLINE_DEVICE_LOST;  // the check then ends at once
    }
    const auto words = nb::cast<std::string>(nb::str(error.value()));
    if (error.matches(refusal_)) {
      std::snprintf(message, message_size, "%s", words.c_str());
      return 1;
    }
    last_exception_ = nb::borrow(error.value());
    thrown = nb::cast<std::string>(nb::str(error.type().attr("__name__"))) + ": " + words;
  }
  throw std::runtime_error(thrown);
}

OnVariations::OnVariations(CallableKernel& callable)
    : InProcessCaller(nullptr, callable.kernel()), callable_(callable) {
  for (auto& variation : ptx::cuda::named_variations()) names_.push_back(std::move(variation.name));
}

kernel_process::CallEnd OnVariations::call(const kernel_process::KernelCall& call) const {
  callable_.vary(call.variation);
  return InProcessCaller::call(call);
}

}  // namespace plumbline::python
