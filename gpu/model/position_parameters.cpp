// SPDX-License-Identifier: Apache-2.0
// What a layer learns for its position method, and how it begins: as the methods' published codes
// have it, the linear maps like the model's other linear layers, N(0, 0.02) with biases 0.
#include "attention/score_methods.cuh"
#include "model/parameter_list.hpp"
#include "model/position_method.hpp"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

namespace {

constexpr Start kLinear{Start::Kind::normal, 0.02};

Start constant(double value) { return {Start::Kind::constant, value}; }

/// A map of the layer's input to the heads.
void add_gate(std::vector<Parameter>& list, const std::string& name, const ModelConfiguration& c) {
  list.push_back({.name = name + ".weight", .shape = {c.heads, c.width}, .start = kLinear});
  list.push_back({.name = name + ".bias", .shape = {c.heads}});
}

void add_prior(std::vector<Parameter>& list, const std::string& name, const ModelConfiguration& c) {
  const bool slope = c.options.prior_start == PriorStart::slope;
  const Start alpha = slope ? Start{Start::Kind::log_alibi_slope, 0.0} : constant(0.0);
  list.push_back({.name = name + "theta_alpha", .shape = {c.heads}, .start = alpha});
  list.push_back(
      {.name = name + "theta_beta", .shape = {c.heads}, .start = constant(slope ? 1.0 : 0.0)});
  list.push_back({.name = name + "theta_mu", .shape = {c.heads}, .trained = c.options.trains_mu});
}

/// p in [0.01, 2] for the power, at least 0.01 for the logarithm; a at least 0.01. They begin
/// uniform in (0, 2) and (0, 1).
void add_kerple(std::vector<Parameter>& list, const std::string& name, const ModelConfiguration& c,
                bool power) {
  const Start of_p{Start::Kind::uniform, 2.0}, of_a{Start::Kind::uniform, 1.0};
  list.push_back({.name = name + "p", .shape = {c.heads}, .start = of_p, .least = 0.01f});
  if (power) list.back().most = 2.0f;
  list.push_back({.name = name + "a", .shape = {c.heads}, .start = of_a, .least = 0.01f});
}

void add_table(std::vector<Parameter>& list, const std::string& name, const ModelConfiguration& c,
               int rows) {
  list.push_back({.name = name + "table", .shape = {c.heads, rows}, .start = kLinear});
}

void add_fire(std::vector<Parameter>& list, const std::string& name, const ModelConfiguration& c) {
  const int hidden = c.options.hidden;
  list.push_back({.name = name + "hidden.weight", .shape = {hidden}, .start = kLinear});
  list.push_back({.name = name + "hidden.bias", .shape = {hidden}});
  list.push_back({.name = name + "output.weight", .shape = {c.heads, hidden}, .start = kLinear});
  list.push_back({.name = name + "output.bias", .shape = {c.heads}});
  list.push_back({.name = name + "c", .shape = {1}, .start = constant(0.1)});
  list.push_back({.name = name + "L", .shape = {1}, .start = constant(1.0)});
}

/// Convolutions along the keys, over the heads' products and biases as channels.
void add_dape(std::vector<Parameter>& list, const std::string& name, const ModelConfiguration& c,
              int taps) {
  const int hidden = c.options.hidden;
  list.push_back(
      {.name = name + "hidden.weight", .shape = {hidden, 2 * c.heads * taps}, .start = kLinear});
  list.push_back({.name = name + "hidden.bias", .shape = {hidden}});
  list.push_back(
      {.name = name + "output.weight", .shape = {c.heads, hidden * taps}, .start = kLinear});
  list.push_back({.name = name + "output.bias", .shape = {c.heads}});
}

}  // namespace

std::vector<Parameter> position_parameters(const ModelConfiguration& c,
                                           const std::string& attention) {
  const std::string name = attention + ".position.";
  const PositionOptions& o = c.options;
  std::vector<Parameter> list;
  const int method = position_method(c.position).bias;
  switch (const int bias = additive_part(method); bias) {
    case PLUMBLINE_CABLE:
    case PLUMBLINE_K_CABLE:
    case PLUMBLINE_CABLE_PAPER:
    case PLUMBLINE_K_CABLE_PAPER:
      add_gate(list, name + "increment", c);
      add_gate(list, name + "gain", c);
      break;
    case PLUMBLINE_CABLE_NW:
    case PLUMBLINE_K_CABLE_NW:
    case PLUMBLINE_CABLE_NW_PAPER:
      add_gate(list, name + "increment", c);
      break;
    case PLUMBLINE_FOX:
      add_gate(list, name + "forget_gate", c);
      break;
    case PLUMBLINE_GGD:
      add_prior(list, name, c);
      break;
    case PLUMBLINE_KERPLE_LOG:
    case PLUMBLINE_KERPLE_POWER:
      add_kerple(list, name, c, bias == PLUMBLINE_KERPLE_POWER);
      break;
    case PLUMBLINE_T5:
    case PLUMBLINE_T5_BIDIRECTIONAL:
      add_table(list, name, c, o.buckets);
      break;
    case PLUMBLINE_T5_CLIPPED:
      add_table(list, name, c, o.largest + 1);
      break;
    case PLUMBLINE_T5_CLIPPED_OFFSET:
      add_table(list, name, c, 2 * o.largest + 1);
      break;
    case PLUMBLINE_FIRE:
      add_fire(list, name, c);
      break;
    case PLUMBLINE_COPE:  // as published it begins without positions
      list.push_back({.name = name + "embedding", .shape = {c.heads * o.positions, c.head_dim()}});
      break;
    default:
      break;
  }
  if (const int taps = dape_taps(method); taps > 0) add_dape(list, name, c, taps);
  if (c.ssmax)
    list.push_back(
        {.name = attention + ".ssmax.scale", .shape = {c.heads}, .start = constant(1.0)});
  return list;
}

}  // namespace plumbline::gpu
