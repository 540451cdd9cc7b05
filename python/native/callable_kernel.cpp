// SPDX-License-Identifier: Apache-2.0
#include "python/native/callable_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "ptx/cuda/options.hpp"
#include "verdict/cases/formats.hpp"
#include "verdict/cases/method_inputs.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::python {
namespace {

/// The interface has no word for "this function": it is the one of the innermost check.
thread_local CallableKernel* active = nullptr;

cases::Options options_of(const plumbline_problem& problem) {
  cases::Options options;
  std::copy_n(problem.options, options.size(), options.begin());
  return options;
}

std::size_t bytes_of_outputs(const cases::Spec& spec, std::int32_t is_float) {
  return cases::bytes_per_number(cases::output_format(spec.format, is_float));
}

/// The kernel's arrays by name, each with the memory that it is in.
class Arrays {
 public:
  explicit Arrays(const plumbline_problem& problem) : problem_(problem) {}

  void add(const std::string& name, const void* data, const cases::Shape& shape,
           std::size_t element_bytes = 4) {
    if (data == nullptr) return;
    json_[name] = {{"address", reinterpret_cast<std::uint64_t>(data)},
                   {"bytes", static_cast<std::size_t>(cases::elements(shape)) * element_bytes},
                   {"shape", shape}};
  }
  /// Of q, k, v, o and their gradients.
  void add_rows(const std::string& name, const void* data, const cases::Shape& shape,
                const plumbline_strides& strides, std::size_t element_bytes) {
    if (problem_.cu_seqlens_q) {
      const bool of_keys = name.ends_with('k') || name.ends_with('v');
      add(name, data, {of_keys ? problem_.total_k : problem_.total_q, shape[1], shape[3]},
          element_bytes);
      return;
    }
    add(name, data, shape, element_bytes);
    if (data == nullptr || problem_.strided == 0) return;
    const std::int64_t last = (shape[0] - 1) * strides.batch + (shape[1] - 1) * strides.head +
                              (shape[2] - 1) * strides.token;
    json_[name]["bytes"] = static_cast<std::size_t>(last + shape[3]) * element_bytes;
    json_[name]["strides"] = {strides.batch, strides.head, strides.token, 1};
  }
  /// lse, or its gradient.
  void add_lse(const std::string& name, const void* data, const cases::Spec& spec) {
    if (problem_.cu_seqlens_q) {
      add(name, data, {spec.heads, problem_.total_q});
    } else {
      add(name, data, cases::per_query(spec));
    }
  }
  const Json& json() const { return json_; }

 private:
  const plumbline_problem& problem_;
  Json json_ = Json::object();
};

Arrays inputs_of(const cases::Spec& spec, const plumbline_problem& problem) {
  const std::size_t bytes = cases::bytes_per_number(spec.format);
  const std::size_t of_cache = problem.cache_format == PLUMBLINE_CACHE_IN_FORMAT ? bytes : 1;
  const std::int64_t size = problem.page_size, pages = size > 0 ? (spec.keys + size - 1) / size : 0;
  /// What there is for each key as the cache has it.
  const auto cached = [&](cases::Shape shape) {
    if (size > 0) {
      shape[0] = spec.batch * pages;
      shape[2] = size;
    }
    return shape;
  };
  Arrays inputs(problem);
  inputs.add_rows("q", problem.q, cases::query_shape(spec), problem.q_strides, bytes);
  inputs.add_rows("k", problem.k, cached(cases::key_shape(spec)), problem.k_strides, of_cache);
  inputs.add_rows("v", problem.v, cached(cases::value_shape(spec)), problem.v_strides, of_cache);
  const cases::Shape of_scale =
      spec.scale_per_key ? cached(cases::per_cached(spec)) : cases::per_key_head(spec);
  inputs.add("q_scale", problem.q_scale, cases::per_key_head(spec));
  inputs.add("k_scale", problem.k_scale, of_scale);
  inputs.add("v_scale", problem.v_scale, of_scale);
  inputs.add("page_table", problem.pages, {spec.batch, pages});
  inputs.add("prefix_sums", problem.prefix_sums, {spec.batch, spec.heads, spec.keys}, 8);
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!cases::reads(spec, parameter)) continue;
    inputs.add(cases::parameter_name(spec.bias, parameter), problem.parameters[n],
               cases::shape_of(spec, options_of(problem), parameter));
  }
  inputs.add("lengths", problem.lengths, {spec.batch});
  inputs.add("cu_seqlens_q", problem.cu_seqlens_q, {spec.batch + 1});
  inputs.add("cu_seqlens_k", problem.cu_seqlens_k, {spec.batch + 1});
  inputs.add("documents", problem.documents, {spec.batch, spec.keys});
  inputs.add("mask", problem.mask, cases::mask_shape(spec), 1);
  inputs.add("keep", problem.keep, cases::keep_shape(spec), 1);
  return inputs;
}

/// The sizes and settings, and the method's options by their names.
Json described(const char* pass, int variation, cases::Bias bias, const Takes& takes,
               const plumbline_problem& problem) {
  Json result, options = Json::object();
  result["pass"] = pass;
  result["variation"] = variation;
  result["causal"] = problem.causal != 0;
  if (takes.window_sides) {
    result["window"] = {problem.window_left, problem.window_right};
  } else {
    result["window"] = problem.window_left < 0 ? Json() : Json(problem.window_left);
  }
  result["keys"] = problem.keys;
  result["cache"] = cases::name(static_cast<cases::CacheFormat>(problem.cache_format));
  result["query_offset"] = problem.query_offset;
  result["queries_at_end"] = problem.queries_at_end != 0;
  result["scale"] = problem.scale;
  result["softcap"] = problem.softcap == 0 ? Json() : Json(problem.softcap);
  result["dropout_p"] = problem.dropout;
  result["dropout_seed"] = problem.dropout_seed;
  result["dropout_offset"] = problem.dropout_offset;
  result["rotary_dim"] = problem.rotary_dim;
  for (const plumbline_option option : cases::options_of(bias)) {
    const double value = problem.options[option];
    options[cases::info(option).name] =
        cases::info(option).whole ? Json(static_cast<long>(value)) : Json(value);
  }
  result["options"] = options;
  return result;
}

}  // namespace

CallableKernel::CallableKernel(plumbline_native_ask ask, std::string name, cases::Bias bias,
                               Takes takes, const plumbline_contract& contract, cases::Pass pass,
                               bool deterministic)
    : ask_(ask), name_(std::move(name)), bias_(bias), takes_(std::move(takes)), before_(active) {
  kernel_.name = name_.c_str();
  std::fill(std::begin(kernel_.contracts), std::end(kernel_.contracts), contract);
  kernel_.deterministic = deterministic;
  kernel_.ignores_hidden_keys = takes_.ignores_hidden;
  kernel_.supports = &supports;
  kernel_.forward = &forward;
  if (pass == cases::Pass::backward) kernel_.backward = &backward;
  if (pass == cases::Pass::decode) kernel_.decode = &decode;
  active = this;
}

CallableKernel::~CallableKernel() { active = before_; }

Json CallableKernel::answer_to(const Json& question) {
  const char* answer = nullptr;
  ask_(question.dump().c_str(), &answer);
  if (answer == nullptr) interrupted_ = true;
  return interrupted_ ? Json() : Json::parse(answer);
}

cases::Spec CallableKernel::spec_of(const plumbline_problem& problem) {
  cases::Spec spec;
  spec.bias = active->bias_;
  spec.format = static_cast<cases::Format>(problem.format);
  spec.ssmax = problem.ssmax != 0;
  spec.sinks = problem.sinks != 0;
  spec.batch = problem.batch;
  spec.heads = problem.heads;
  spec.kv_heads = problem.kv_heads;
  spec.queries = problem.queries;
  spec.keys = problem.keys;
  spec.head_dim = problem.head_dim;
  spec.value_dim = problem.value_dim;
  spec.mask.per_batch = problem.mask_per_batch != 0;
  spec.mask.per_head = problem.mask_per_head != 0;
  spec.query_offset = problem.query_offset;
  spec.queries_at_end = problem.queries_at_end != 0;
  spec.scale_per_key = problem.scale_per_key != 0;
  return spec;
}

int CallableKernel::supports(const plumbline_problem* problem, int32_t pass) {
  const Takes& takes = active->takes_;
  if (problem->strided != 0 && !takes.strides) return 0;
  if ((problem->cu_seqlens_q != nullptr) != takes.packed) return 0;
  const bool options = std::all_of(takes.options.begin(), takes.options.end(), [&](const auto& o) {
    return problem->options[o.first] == o.second;
  });
  return options && (!takes.causal || *takes.causal == (problem->causal != 0)) &&
         (takes.window || (problem->window_left < 0 && problem->window_right < 0)) &&
         (takes.window_sides || problem->window_left == problem->window_right) &&
         (takes.lengths || problem->lengths == nullptr) &&
         (takes.documents || problem->documents == nullptr) &&
         (takes.mask || problem->mask == nullptr) &&
         (takes.value_dim || problem->value_dim == problem->head_dim) &&
         takes.values_in_keys == (problem->values_in_keys != 0) &&
         (takes.lse_gradient || problem->lse_gradient == 0) &&
         (takes.dropout || problem->dropout == 0) &&
         (!takes.makes_keep || problem->dropout == 0 || problem->dropout_generator != 0) &&
         takes.rotates(problem->rotary_dim, problem->head_dim) &&
         (takes.ssmax || problem->ssmax == 0) && (takes.sinks || problem->sinks == 0) &&
         (takes.softcap || problem->softcap == takes.own_softcap) &&
         (takes.grouped_heads || problem->heads == problem->kv_heads) &&
         takes.has_queries_of(*problem, pass) &&
         takes.reads_cache(problem->page_size, problem->cache_format,
                           problem->scale_per_key != 0) &&
         (takes.more_queries || problem->queries <= problem->keys) &&
         (takes.scale || problem->scale == 1 / std::sqrt(static_cast<double>(problem->head_dim)));
}

int CallableKernel::attend(const char* pass, const plumbline_problem& problem,
                           const plumbline_outputs& outputs, char* message,
                           std::size_t message_size) {
  const cases::Spec spec = spec_of(problem);
  Arrays arrays(problem);
  arrays.add_rows("o", outputs.o, cases::output_shape(spec), problem.o_strides,
                  bytes_of_outputs(spec, active->kernel_.contracts[0].float_o));
  arrays.add_lse("lse", outputs.lse, spec);
  return active->call(described(pass, active->variation_, spec.bias, active->takes_, problem),
                      inputs_of(spec, problem).json(), arrays.json(), message, message_size);
}

int CallableKernel::forward(const plumbline_problem* problem, const plumbline_outputs* outputs,
                            char* message, size_t message_size) {
  return attend("forward", *problem, *outputs, message, message_size);
}

int CallableKernel::decode(const plumbline_problem* problem, const plumbline_outputs* outputs,
                           char* message, size_t message_size) {
  return attend("decode", *problem, *outputs, message, message_size);
}

int CallableKernel::backward(const plumbline_problem* problem, const plumbline_gradients* gradients,
                             char* message, size_t message_size) {
  const cases::Spec spec = spec_of(*problem);
  const plumbline_contract& contract = active->kernel_.contracts[0];
  const std::size_t bytes = bytes_of_outputs(spec, contract.float_gradients);
  Arrays inputs = inputs_of(spec, *problem), arrays(*problem);
  const cases::Shape of_o = cases::output_shape(spec);
  inputs.add_rows("o", gradients->o, of_o, problem->o_strides,
                  bytes_of_outputs(spec, contract.float_o));
  inputs.add_lse("lse", gradients->lse, spec);
  inputs.add_rows("grad_o", gradients->grad_o, of_o, problem->o_strides, bytes_of_outputs(spec, 0));
  inputs.add_lse("grad_lse", gradients->grad_lse, spec);
  arrays.add_rows("grad_q", gradients->grad_q, cases::query_shape(spec), problem->q_strides, bytes);
  arrays.add_rows("grad_k", gradients->grad_k, cases::key_shape(spec), problem->k_strides, bytes);
  arrays.add_rows("grad_v", gradients->grad_v, cases::value_shape(spec), problem->v_strides, bytes);
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    const auto parameter = static_cast<plumbline_parameter>(n);
    if (!cases::has_gradient(spec, parameter)) continue;
    arrays.add(cases::gradient_name(spec.bias, parameter), gradients->grad_parameters[n],
               cases::shape_of(spec, options_of(*problem), parameter));
  }
  return active->call(
      described("backward", active->variation_, spec.bias, active->takes_, *problem), inputs.json(),
      arrays.json(), message, message_size);
}

int CallableKernel::call(const Json& problem, const Json& inputs, const Json& outputs,
                         char* message, std::size_t message_size) {
  const Json answer = answer_to({{"problem", problem}, {"inputs", inputs}, {"outputs", outputs}});
  if (interrupted()) {
    std::snprintf(message, message_size, "interrupted");
    return PLUMBLINE_DEVICE_LOST;  // the check then ends at once
  }
  on_software_device_ = argument<bool>(answer, "on_software_device");
  if (answer.contains("refused")) {
    std::snprintf(message, message_size, "%s", argument<std::string>(answer, "refused").c_str());
    return 1;
  }
  if (answer.contains("raised")) throw std::runtime_error(argument<std::string>(answer, "raised"));
  return 0;
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
