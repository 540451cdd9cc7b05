// SPDX-License-Identifier: Apache-2.0
// What a layer learns for its position method, and how it begins: as the methods' published codes
// have it, the linear maps like the model's other linear layers, N(0, 0.02) with biases 0.
#include <array>
#include <stdexcept>

#include "methods.hpp"
#include "model/parameter_list.hpp"
#include "model/position_method.hpp"

namespace plumbline::gpu {

namespace {

Start constant(double value) { return {Start::Kind::constant, value}; }

/// A map of the layer's input to the heads.
void add_gate(std::vector<Parameter>& list, const std::string& name, const ModelConfiguration& c) {
  list.push_back({.name = name + ".weight",
                  .shape = {c.heads, c.width},
                  .start = {Start::Kind::normal, methods::rows::linear}});
  list.push_back({.name = name + ".bias", .shape = {c.heads}});
}

Start start_of(const methods::Parameter& parameter) {
  const double value = parameter.start.a;
  switch (parameter.start.as) {
    case methods::Start::constant:
      return constant(value);
    case methods::Start::normal:
      return {Start::Kind::normal, value};
    case methods::Start::uniform:
      return {Start::Kind::uniform, value};
    case methods::Start::by_head:
      break;  // of a constant
  }
  throw std::logic_error("a start that no model has");
}

/// The prior's may begin as ALiBi.
void start_prior(Parameter& parameter, plumbline_parameter id, const PositionOptions& options) {
  const bool slope = options.prior_start == PriorStart::slope;
  if (id == PLUMBLINE_THETA_ALPHA && slope) parameter.start = {Start::Kind::log_alibi_slope, 0.0};
  if (id == PLUMBLINE_THETA_BETA && slope) parameter.start = constant(1.0);
  if (id == PLUMBLINE_THETA_MU) parameter.trained = options.trains_mu;
}

/// At most two axes: of three, the first two are one where the last is a head's components, else
/// the last two.
std::vector<std::int64_t> shape_in_models(const methods::Method& method,
                                          const methods::Parameter& parameter,
                                          const methods::Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const auto extent : parameter.shape)
    shape.push_back(methods::size_of(extent, method, sizes));
  if (shape.size() < 3) return shape;
  if (parameter.shape.items[2] == methods::Extent::head_dim) return {shape[0] * shape[1], shape[2]};
  return {shape[0], shape[1] * shape[2]};
}

}  // namespace

std::vector<Parameter> position_parameters(const ModelConfiguration& c,
                                           const std::string& attention) {
  const std::string name = attention + ".position.";
  const PositionOptions& o = c.options;
  std::array<double, PLUMBLINE_OPTION_COUNT> options{};
  options[PLUMBLINE_HIDDEN] = o.hidden;
  options[PLUMBLINE_BUCKETS] = o.buckets;
  options[PLUMBLINE_LARGEST] = o.largest;
  options[PLUMBLINE_POSITIONS] = o.positions;
  const methods::Method method = methods::of(position_method(c.position).bias);
  const methods::Sizes sizes{.heads = c.heads, .head_dim = c.head_dim(), .options = options.data()};
  std::vector<Parameter> list;
  for (const methods::Parameter& parameter : method.parameters) {
    if (!parameter.in_models) continue;
    if (parameter.from_input) {
      add_gate(list, name + parameter.in_models, c);
      continue;
    }
    list.push_back({.name = name + parameter.in_models,
                    .shape = shape_in_models(method, parameter, sizes),
                    .start = start_of(parameter),
                    .least = parameter.least,
                    .most = parameter.most});
    start_prior(list.back(), parameter.id, o);
  }
  if (c.ssmax)
    list.push_back(
        {.name = attention + ".ssmax.scale", .shape = {c.heads}, .start = constant(1.0)});
  return list;
}

}  // namespace plumbline::gpu
