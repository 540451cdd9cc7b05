// SPDX-License-Identifier: Apache-2.0
#include "model/position.cuh"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "attention/score_methods.cuh"
#include "core/bfloat16.cuh"
#include "core/float16.cuh"
#include "methods.hpp"
#include "model/alibi_slopes.hpp"
#include "model/position_method.hpp"

namespace plumbline::gpu {

namespace {

std::vector<PositionInput> inputs(const ModelConfiguration& c) {
  return position_inputs(position_method(c.position).bias);
}

int gate_count(const ModelConfiguration& c) {
  const auto all = inputs(c);
  return static_cast<int>(std::ranges::count_if(
      all, [](const PositionInput& input) { return input.gate.has_value(); }));
}

std::size_t gate_values(const ModelConfiguration& c, int batch, int length) {
  return static_cast<std::size_t>(batch) * c.heads * length;
}

std::vector<plumbline_parameter> constants_of(const ModelConfiguration& c) {
  std::vector<plumbline_parameter> constants;
  for (const methods::Parameter& parameter :
       methods::of(position_method(c.position).bias).parameters)
    if (!parameter.in_models) constants.push_back(parameter.id);
  return constants;
}

/// [heads], as the method's authors have them.
std::vector<float> constant_numbers(const ModelConfiguration& c, plumbline_parameter id) {
  const PositionMethod& method = position_method(c.position);
  std::vector<float> numbers;
  if (id == PLUMBLINE_SLOPES) {
    for (const double exponent : alibi_exponents(c.heads, method.geometric_slopes))
      numbers.push_back(static_cast<float>(std::exp2(-exponent)));
    return numbers;
  }
  const auto& start = methods::parameter_of(methods::row(method.bias.method), id).start;
  for (int h = 0; h < c.heads; ++h) {
    const double number =
        start.as == methods::Start::by_head ? start.a * (h + 1) / c.heads : start.a;
    numbers.push_back(static_cast<float>(number));
  }
  return numbers;
}

/// What makes the numbers of a parameter that is computed from a layer's input.
std::optional<HeadGate> gate_of(const methods::Parameter& parameter) {
  if (!parameter.from_input) return std::nullopt;
  switch (parameter.id) {
    case PLUMBLINE_INCREMENTS:
      return HeadGate::increment;
    case PLUMBLINE_GAIN:
      return HeadGate::gain;
    case PLUMBLINE_LOG_FORGET:
      return HeadGate::log_forget;
    default:
      throw std::logic_error("no gate makes " + std::string(parameter.in_models));
  }
}

}  // namespace

std::vector<PositionInput> position_inputs(methods::Bias bias) {
  if (!methods::is_bias(bias)) throw std::invalid_argument("no attention layer has this bias");
  std::vector<PositionInput> inputs;
  for (const methods::Parameter& parameter : methods::of(bias).parameters)
    if (parameter.in_models)
      inputs.push_back({parameter.in_models, parameter.id, gate_of(parameter)});
  return inputs;
}

PositionWorkspace::PositionWorkspace(const Stream& stream, const ModelConfiguration& c, int batch,
                                     int length)
    : values_(gate_values(c, batch, length)),
      constants_(constants_of(c)),
      heads_(c.heads),
      constant_numbers_(stream, constants_.size() * static_cast<std::size_t>(c.heads)),
      gradients_(stream, gate_count(c) * values_),
      workspace_(stream,
                 gate_count(c) > 0 ? head_gate_workspace({batch, length, c.width, c.heads}) : 0) {
  for (std::size_t n = 0; n < constants_.size(); ++n) {
    const std::vector<float> numbers = constant_numbers(c, constants_[n]);
    constant_numbers_.copy_from_host(stream, numbers.data(), n * numbers.size(), numbers.size());
    stream.wait();  // the numbers leave the host's memory
  }
}

void PositionWorkspace::give_constants(plumbline_problem& problem) const {
  for (std::size_t n = 0; n < constants_.size(); ++n)
    problem.parameters[constants_[n]] = constant_numbers_.data() + n * heads_;
}

template <class Element>
std::size_t LayerPosition<Element>::activations(const ModelConfiguration& c, int batch,
                                                int length) {
  return gate_count(c) * gate_values(c, batch, length);
}

template <class Element>
LayerPosition<Element>::LayerPosition(const Stream& stream, const ModelConfiguration& c,
                                      const ParameterLayout& layout, int layer, const float* values,
                                      float* gradients, float* activations,
                                      const PositionWorkspace& workspace)
    : stream_(stream), workspace_(workspace), width_(c.width), heads_(c.heads) {
  const std::string attention = attention_name(c.architecture, layer);
  const auto value = [&](const std::string& name) { return values + layout[name].offset; };
  const auto gradient = [&](const std::string& name) {
    return layout[name].trained ? gradients + layout[name].offset : nullptr;
  };
  const auto give = [&](plumbline_parameter parameter, const std::string& name) {
    given_.push_back({parameter, value(name), gradient(name)});
  };
  for (const PositionInput& input : inputs(c)) {
    const std::string name = attention + ".position." + input.name;
    if (!input.gate) {
      give(input.parameter, name);
      continue;
    }
    const std::string weight = name + ".weight", bias = name + ".bias";
    const auto nth = gates_.size();
    gates_.push_back({input.parameter, *input.gate, value(weight), value(bias), gradient(weight),
                      gradient(bias), activations + nth * workspace.numbers(),
                      workspace.gradient(static_cast<int>(nth))});
  }
  if (c.ssmax) give(PLUMBLINE_SSMAX_SCALE, attention + ".ssmax.scale");
}

template <class Element>
void LayerPosition<Element>::give(plumbline_problem& problem) const {
  workspace_.give_constants(problem);
  for (const Given& given : given_) problem.parameters[given.parameter] = given.value;
  for (const Gate& gate : gates_) problem.parameters[gate.parameter] = gate.values;
}

template <class Element>
void LayerPosition<Element>::forward(int batch, int length, const Element* x,
                                     plumbline_problem& problem) const {
  for (const Gate& gate : gates_)
    head_gate_forward(stream_, gate.gate, shape(batch, length), x, gate.weight, gate.bias,
                      gate.values);
  give(problem);
}

template <class Element>
std::vector<RowMap> LayerPosition<Element>::gate_maps() const {
  const auto function = [](HeadGate gate) {
    switch (gate) {
      case HeadGate::increment:
        return RowFunction::increment;
      case HeadGate::gain:
        return RowFunction::gain;
      case HeadGate::log_forget:
        return RowFunction::log_forget;
    }
    throw std::logic_error("no such gate");
  };
  std::vector<RowMap> maps;
  for (const Gate& gate : gates_)
    maps.push_back({.out = heads_,
                    .format = Format::fp32,
                    .w = gate.weight,
                    .b = gate.bias,
                    .y = gate.values,
                    .function = function(gate.gate)});
  return maps;
}

template <class Element>
void LayerPosition<Element>::prepare_backward(plumbline_problem& problem,
                                              plumbline_gradients& gradients) const {
  give(problem);
  for (const Given& given : given_) gradients.grad_parameters[given.parameter] = given.gradient;
  for (const Gate& gate : gates_) gradients.grad_parameters[gate.parameter] = gate.grad_values;
}

template <class Element>
void LayerPosition<Element>::backward(int batch, int length, const Element* x,
                                      Element* grad_x) const {
  for (const Gate& gate : gates_)
    head_gate_backward<Element>(
        stream_, gate.gate, shape(batch, length), x, gate.weight, gate.values, gate.grad_values,
        {grad_x, Gradient::accumulate, gate.grad_weight, gate.grad_bias, Gradient::accumulate},
        workspace_.workspace());
}

template class LayerPosition<float>;
template class LayerPosition<bfloat16>;
template class LayerPosition<float16>;

}  // namespace plumbline::gpu
