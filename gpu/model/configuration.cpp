// SPDX-License-Identifier: Apache-2.0
#include "model/configuration.hpp"

#include <fmt/format.h>
#include <cmath>

#include <map>

#include "attention/head_dims.cuh"
#include "attention/score_methods.cuh"
#include "model/position_method.hpp"
#include "plumbline_kernel.h"
#include "support/error.hpp"
#include "support/text.hpp"

namespace plumbline::gpu {

namespace {

const std::map<std::string_view, ModelConfiguration>& presets() {
  const auto gpt2 = [](int layers, int heads, int width) {
    return ModelConfiguration{
        .layers = layers, .heads = heads, .kv_heads = heads, .width = width, .hidden = 4 * width};
  };
  const auto bam = [](int layers, int heads, int width, int hidden) {
    return ModelConfiguration{.architecture = Architecture::llama_style,
                              .layers = layers,
                              .heads = heads,
                              .kv_heads = heads,
                              .width = width,
                              .hidden = hidden,
                              .vocabulary = 32768,
                              .context = 512,
                              .position = "ggd"};
  };
  static const std::map<std::string_view, ModelConfiguration> all = [&] {
    ModelConfiguration nano = gpt2(2, 2, 64);
    nano.vocabulary = 261;  // the byte tokenizer (models/text/byte_tokenizer.hpp)
    nano.context = 64;
    ModelConfiguration bert{
        .architecture = Architecture::bert, .vocabulary = 30522, .context = 512, .epsilon = 1e-12};
    return std::map<std::string_view, ModelConfiguration>{{"nano", nano},
                                                          {"gpt2_tiny", gpt2(6, 8, 512)},
                                                          {"gpt2_small", gpt2(12, 12, 768)},
                                                          {"gpt2_medium", gpt2(24, 16, 1024)},
                                                          {"bert_base", bert},
                                                          {"bam_120m", bam(12, 16, 768, 2 * 768)},
                                                          {"bam_432m", bam(14, 24, 1536, 2 * 1536)},
                                                          {"bam_1b", bam(15, 32, 2048, 4 * 2048)}};
  }();
  return all;
}

template <class Number>
void expect(bool holds, const std::string& field, Number value, const std::string& expected) {
  if (holds) return;
  throw BadInput(field, fmt::format("{}", value), expected);
}

void check_sizes(const ModelConfiguration& c) {
  const struct {
    const char* name;
    int value;
  } sizes[] = {{"layers", c.layers},     {"heads", c.heads},
               {"kv_heads", c.kv_heads}, {"width", c.width},
               {"hidden", c.hidden},     {"vocabulary", c.vocabulary},
               {"context", c.context},   {"token_types", c.token_types}};
  for (const auto& [name, value] : sizes)
    expect(value >= 1 && value <= 1 << 24, name, value, "at least 1 and at most 16777216");
  expect(c.layers <= 10000, "layers", c.layers, "at most 10000");
  expect(c.width % c.heads == 0, "heads", c.heads, fmt::format("a divisor of width, {}", c.width));
  expect(is_among(c.head_dim(), HeadDims{}), "width / heads", c.head_dim(),
         "one of " + list_of(HeadDims{}));
  if (c.architecture == Architecture::llama_style)
    expect(c.heads % c.kv_heads == 0, "kv_heads", c.kv_heads,
           fmt::format("a divisor of heads, {}", c.heads));
  else
    expect(c.kv_heads == c.heads, "kv_heads", c.kv_heads, fmt::format("heads, {}", c.heads));
  expect(std::isfinite(c.epsilon) && c.epsilon >= 0x1p-100, "epsilon", c.epsilon,
         "a finite number above 2^-100");
  expect(c.dropout >= 0.0 && c.dropout < 1.0, "dropout", c.dropout, "at least 0 and below 1");
}

void check_t5(const PositionOptions& o, bool bidirectional) {
  const int of_direction = bidirectional ? o.buckets / 2 : o.buckets;
  expect(of_direction >= 2, "buckets", o.buckets, "at least 2 for each direction");
  expect(!bidirectional || o.buckets % 2 == 0, "buckets", o.buckets,
         "an even number, for both directions");
  expect(o.max_distance > of_direction / 2, "max_distance", o.max_distance,
         fmt::format("above {}, where the buckets of one distance end", of_direction / 2));
}

/// An option that the bias reads.
void check_option(const ModelConfiguration& c, methods::Bias bias, plumbline_option option) {
  const PositionOptions& o = c.options;
  const auto expect_above_zero = [](double value, const char* name) {
    expect(std::isfinite(value) && value > 0, name, value, "a finite number above 0");
  };
  switch (option) {
    case PLUMBLINE_EPSILON:
      if (bias.method == PLUMBLINE_FIRE) return expect_above_zero(o.fire_epsilon, "fire_epsilon");
      return expect_above_zero(o.prior_epsilon, "prior_epsilon");
    case PLUMBLINE_BUCKETS:
      return check_t5(o, bias.method == PLUMBLINE_T5_BIDIRECTIONAL);
    case PLUMBLINE_MAX_DISTANCE:
      return;  // with the buckets
    case PLUMBLINE_LARGEST:
      return expect(o.largest >= 0, "largest", o.largest, "at least 0");
    case PLUMBLINE_HIDDEN:
      if (bias.dape > 0)
        return expect(o.hidden >= 1 && o.hidden <= 4096, "hidden of dape", o.hidden, "1 .. 4096");
      return expect(o.hidden >= 1, "hidden of " + c.position, o.hidden, "at least 1");
    case PLUMBLINE_L0:
      return expect_above_zero(o.L0, "L0");
    case PLUMBLINE_BASE:
      return expect_above_zero(o.base, "base");
    case PLUMBLINE_POSITIONS:
      return expect(o.positions >= 1 && o.positions <= 1 << 20, "positions of " + c.position,
                    o.positions, "1 .. 2^20");
    case PLUMBLINE_PER_BATCH:
    case PLUMBLINE_PER_HEAD:
    case PLUMBLINE_PER_QUERY:
    case PLUMBLINE_IN_FORMAT_OF_O:
    case PLUMBLINE_SLOPES_PER_BATCH:
      return;  // no model's
  }
}

void check_position(const ModelConfiguration& c) {
  const PositionMethod& method = position_method(c.position);
  const PositionOptions& o = c.options;
  if (c.architecture == Architecture::bert && method.causal_only)
    throw BadInput("position", in_quotes(c.position),
                   "a method for both directions, as BERT attends to keys on both sides");
  const bool sinusoidal = method.embedded == EmbeddedPositions::sinusoidal ||
                          method.embedded == EmbeddedPositions::sinusoidal_own_frequency;
  if (sinusoidal) {
    expect(c.width % 2 == 0, "width", c.width, "an even number for sinusoidal positions");
    expect(std::isfinite(o.amplitude), "amplitude", o.amplitude, "a finite number");
  }
  if (sinusoidal)
    expect(std::isfinite(o.base) && o.base > 0, "base", o.base, "a finite number above 0");
  if (method.window != PositionWindow::none) {
    const int least = method.window == PositionWindow::keys ? 1 : 0;
    expect(o.window >= least, "window", o.window, fmt::format("at least {}", least));
  }
  for (const methods::Option& option : methods::of(method.bias).options)
    check_option(c, method.bias, option.id);
}

}  // namespace

const std::vector<std::string_view>& preset_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const auto& [name, configuration] : presets()) list.push_back(name);
    return list;
  }();
  return names;
}

ModelConfiguration preset(std::string_view name) {
  const auto found = presets().find(name);
  if (found != presets().end()) return found->second;
  std::string names;
  for (const std::string_view known : preset_names())
    names += (names.empty() ? "" : ", ") + std::string(known);
  throw BadInput("preset", in_quotes(name), "one of " + names);
}

void validate(const ModelConfiguration& c) {
  check_sizes(c);
  check_position(c);
}

}  // namespace plumbline::gpu
