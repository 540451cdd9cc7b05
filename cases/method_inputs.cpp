// SPDX-License-Identifier: Apache-2.0
#include "cases/method_inputs.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

namespace plumbline::cases {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The code of Kerple clamps to 0.01, as a float has it.
constexpr double kerple_least = 0.01f;

// In the order of plumbline_parameter.
constexpr std::array<ParameterInfo, PLUMBLINE_PARAMETER_COUNT> parameter_infos{{
    {"ssmax_scale", -infinity, infinity, true},
    {"slopes", -infinity, infinity, true},
    {"increments", 0, infinity, true},
    {"gain", 0, infinity, true},
    {"theta_alpha", -infinity, infinity, true},
    {"theta_beta", -infinity, infinity, true},
    {"theta_mu", -infinity, infinity, true},
    {"p", kerple_least, infinity, true},
    {"a", kerple_least, infinity, true},
    {"table", -infinity, infinity, true},
    {"hidden_weight", -infinity, infinity, true},
    {"hidden_bias", -infinity, infinity, true},
    {"output_weight", -infinity, infinity, true},
    {"output_bias", -infinity, infinity, true},
    {"c", -infinity, infinity, false},
    {"L", -infinity, infinity, false},
    {"log_forget", -infinity, 0, true},
    {"position_embedding", -infinity, infinity, true},
}};

// In the order of plumbline_option. A fp32 kernel may take epsilon as a float.
constexpr std::array<OptionInfo, PLUMBLINE_OPTION_COUNT> option_infos{{
    {"epsilon", 1e-5, 0x1p-126, 0x1p127, false},
    {"buckets", 32, 2, 4096, true},
    {"max_distance", 128, 2, largest_size, true},
    {"largest", 256, 0, 4096, true},
    {"hidden", 32, 1, 256, true},
    {"L0", 512, 0x1p-20, largest_size, false},
    {"base", 10000, 1, 0x1p40, false},
    {"positions", 64, 1, 4096, true},
}};

struct Inputs {
  std::vector<plumbline_parameter> parameters;
  std::vector<plumbline_option> options;
};

/// Of DAPE: the additive method's parameters, then the network's.
Inputs corrected(std::vector<plumbline_parameter> additive) {
  additive.insert(additive.end(), {PLUMBLINE_HIDDEN_WEIGHT, PLUMBLINE_HIDDEN_BIAS,
                                   PLUMBLINE_OUTPUT_WEIGHT, PLUMBLINE_OUTPUT_BIAS});
  return {std::move(additive), {PLUMBLINE_HIDDEN}};
}

const Inputs& inputs_of(BiasMethod bias) {
  static const std::array<Inputs, PLUMBLINE_BIAS_COUNT> all{{
      {{}, {}},                                      // nope
      {{PLUMBLINE_SLOPES}, {}},                      // alibi
      {{PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN}, {}},  // cable
      {{PLUMBLINE_INCREMENTS}, {}},                  // cable_nw
      {{PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN}, {}},  // k_cable
      {{PLUMBLINE_INCREMENTS}, {}},                  // k_cable_nw
      {{PLUMBLINE_THETA_ALPHA, PLUMBLINE_THETA_BETA, PLUMBLINE_THETA_MU}, {PLUMBLINE_EPSILON}},
      {{PLUMBLINE_P, PLUMBLINE_A}, {}},                                  // kerple_log
      {{PLUMBLINE_P, PLUMBLINE_A}, {}},                                  // kerple_power
      {{PLUMBLINE_TABLE}, {PLUMBLINE_BUCKETS, PLUMBLINE_MAX_DISTANCE}},  // t5
      {{PLUMBLINE_TABLE}, {PLUMBLINE_BUCKETS, PLUMBLINE_MAX_DISTANCE}},  // t5_bidirectional
      {{PLUMBLINE_TABLE}, {PLUMBLINE_LARGEST}},                          // t5_clipped
      {{PLUMBLINE_TABLE}, {PLUMBLINE_LARGEST}},                          // t5_clipped_offset
      {{PLUMBLINE_HIDDEN_WEIGHT, PLUMBLINE_HIDDEN_BIAS, PLUMBLINE_OUTPUT_WEIGHT,
        PLUMBLINE_OUTPUT_BIAS, PLUMBLINE_C, PLUMBLINE_L},
       {PLUMBLINE_HIDDEN, PLUMBLINE_L0, PLUMBLINE_EPSILON}},    // fire
      {{PLUMBLINE_LOG_FORGET}, {}},                             // fox
      {{}, {PLUMBLINE_BASE}},                                   // rope_interleaved
      {{}, {PLUMBLINE_BASE}},                                   // rope_half_split
      {{PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN}, {}},             // cable_paper
      {{PLUMBLINE_INCREMENTS}, {}},                             // cable_nw_paper
      {{PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN}, {}},             // k_cable_paper
      {{PLUMBLINE_POSITION_EMBEDDING}, {PLUMBLINE_POSITIONS}},  // cope
      corrected({PLUMBLINE_SLOPES}),                            // dape_v1_alibi
      corrected({PLUMBLINE_P, PLUMBLINE_A}),                    // dape_v1_kerple_log
      corrected({PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN}),        // dape_v1_cable
      corrected({PLUMBLINE_SLOPES}),                            // dape_v2_alibi
      corrected({PLUMBLINE_P, PLUMBLINE_A}),                    // dape_v2_kerple_log
      corrected({PLUMBLINE_INCREMENTS, PLUMBLINE_GAIN}),        // dape_v2_cable
  }};
  return all.at(static_cast<std::size_t>(bias));
}

}  // namespace

const ParameterInfo& info(plumbline_parameter parameter) { return parameter_infos.at(parameter); }
const OptionInfo& info(plumbline_option option) { return option_infos.at(option); }

std::span<const plumbline_parameter> parameters_of(BiasMethod bias) {
  return inputs_of(bias).parameters;
}
std::span<const plumbline_option> options_of(BiasMethod bias) { return inputs_of(bias).options; }

bool reads(const Spec& spec, plumbline_parameter parameter) {
  if (parameter == PLUMBLINE_SSMAX_SCALE) return spec.ssmax;
  const auto all = parameters_of(spec.bias);
  return std::find(all.begin(), all.end(), parameter) != all.end();
}

bool has_gradient(const Spec& spec, plumbline_parameter parameter) {
  return parameter != PLUMBLINE_SLOPES && reads(spec, parameter);
}

std::string gradient_name(plumbline_parameter parameter) {
  return std::string("grad_") + info(parameter).name;
}

Options default_options(BiasMethod bias) {
  Options options;
  std::transform(option_infos.begin(), option_infos.end(), options.begin(),
                 [](const OptionInfo& option) { return option.otherwise; });
  if (bias == BiasMethod::fire) options[PLUMBLINE_EPSILON] = 1e-6;
  return options;
}

Shape shape_of(const Spec& spec, const Options& options, plumbline_parameter parameter) {
  const auto whole = [&](plumbline_option option) {
    return static_cast<std::int64_t>(options[option]);
  };
  switch (parameter) {
    case PLUMBLINE_SSMAX_SCALE:
    case PLUMBLINE_SLOPES:
    case PLUMBLINE_THETA_ALPHA:
    case PLUMBLINE_THETA_BETA:
    case PLUMBLINE_THETA_MU:
    case PLUMBLINE_P:
    case PLUMBLINE_A:
    case PLUMBLINE_OUTPUT_BIAS:
      return {spec.heads};
    case PLUMBLINE_INCREMENTS:
    case PLUMBLINE_LOG_FORGET:
      return {spec.batch, spec.heads, spec.keys};
    case PLUMBLINE_GAIN:
      return {spec.batch, spec.heads, spec.queries};
    case PLUMBLINE_TABLE:
      switch (spec.bias) {
        case BiasMethod::t5_clipped:
          return {spec.heads, whole(PLUMBLINE_LARGEST) + 1};
        case BiasMethod::t5_clipped_offset:
          return {spec.heads, 2 * whole(PLUMBLINE_LARGEST) + 1};
        default:
          return {spec.heads, whole(PLUMBLINE_BUCKETS)};
      }
    case PLUMBLINE_HIDDEN_BIAS:
      return {whole(PLUMBLINE_HIDDEN)};
    case PLUMBLINE_HIDDEN_WEIGHT:
      if (const int taps = dape_taps(spec.bias)) {
        return {whole(PLUMBLINE_HIDDEN), 2 * spec.heads, taps};
      }
      return {whole(PLUMBLINE_HIDDEN)};
    case PLUMBLINE_OUTPUT_WEIGHT:
      if (const int taps = dape_taps(spec.bias)) {
        return {spec.heads, whole(PLUMBLINE_HIDDEN), taps};
      }
      return {spec.heads, whole(PLUMBLINE_HIDDEN)};
    case PLUMBLINE_POSITION_EMBEDDING:
      return {spec.heads, whole(PLUMBLINE_POSITIONS), spec.head_dim};
    case PLUMBLINE_C:
    case PLUMBLINE_L:
      return {1};
  }
  throw std::logic_error("a parameter without a shape");
}

}  // namespace plumbline::cases
