// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/method_inputs.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace plumbline::cases {
namespace {

const methods::Method& row(BiasMethod bias) { return methods::row(static_cast<int>(bias)); }

/// The ids of what each row lists.
/// @param items gives the parameters or the options of a row.
template <class Id, class Items>
std::array<std::vector<Id>, PLUMBLINE_BIAS_COUNT> ids_of(Items items) {
  std::array<std::vector<Id>, PLUMBLINE_BIAS_COUNT> ids;
  for (const auto& method : methods::all) {
    for (const auto& item : items(method)) ids.at(method.bias).push_back(item.id);
  }
  return ids;
}

}  // namespace

const ParameterInfo& info(plumbline_parameter parameter) {
  return methods::parameter_infos.at(parameter);
}
const OptionInfo& info(plumbline_option option) { return methods::option_infos.at(option); }

std::span<const plumbline_parameter> parameters_of(BiasMethod bias) {
  static const auto ids =
      ids_of<plumbline_parameter>([](const auto& method) { return method.parameters; });
  return ids.at(static_cast<std::size_t>(bias));
}
std::span<const plumbline_option> options_of(BiasMethod bias) {
  static const auto ids =
      ids_of<plumbline_option>([](const auto& method) { return method.options; });
  return ids.at(static_cast<std::size_t>(bias));
}

bool reads(const Spec& spec, plumbline_parameter parameter) {
  return parameter == PLUMBLINE_SSMAX_SCALE ? spec.ssmax : row(spec.bias).reads(parameter);
}

bool has_gradient(const Spec& spec, plumbline_parameter parameter) {
  return parameter != PLUMBLINE_SLOPES && reads(spec, parameter);
}

std::string gradient_name(plumbline_parameter parameter) {
  return std::string("grad_") + info(parameter).name;
}

Options default_options(BiasMethod bias) {
  Options options;
  std::ranges::transform(methods::option_infos, options.begin(), &OptionInfo::otherwise);
  options[PLUMBLINE_EPSILON] = row(bias).epsilon;
  return options;
}

Shape shape_of(const Spec& spec, const Options& options, plumbline_parameter parameter) {
  const methods::Method& method = row(spec.bias);
  const methods::Sizes sizes{spec.batch, spec.heads,    spec.queries,
                             spec.keys,  spec.head_dim, options.data()};
  Shape shape;
  for (const auto extent : methods::parameter_of(method, parameter).shape) {
    shape.push_back(methods::size_of(extent, method, sizes));
  }
  return shape;
}

}  // namespace plumbline::cases
