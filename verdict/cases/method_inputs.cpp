// SPDX-License-Identifier: Apache-2.0
#include "verdict/cases/method_inputs.hpp"

#include <algorithm>

namespace plumbline::cases {

static_assert(PLUMBLINE_PARAMETER_COUNT <= PLUMBLINE_PARAMETER_CAPACITY &&
                  PLUMBLINE_OPTION_COUNT <= PLUMBLINE_OPTION_CAPACITY,
              "plumbline_kernel.h: the arrays of a problem have no room for them all");

const ParameterInfo& info(plumbline_parameter parameter) {
  return methods::parameter_infos.at(parameter);
}
const OptionInfo& info(plumbline_option option) { return methods::option_infos.at(option); }

std::vector<plumbline_parameter> parameters_of(Bias bias) {
  std::vector<plumbline_parameter> ids;
  for (const auto& parameter : methods::of(bias).parameters) ids.push_back(parameter.id);
  return ids;
}
std::vector<plumbline_option> options_of(Bias bias) {
  std::vector<plumbline_option> ids;
  for (const auto& option : methods::of(bias).options) ids.push_back(option.id);
  return ids;
}

bool reads(const Spec& spec, plumbline_parameter parameter) {
  if (parameter == PLUMBLINE_SSMAX_SCALE) return spec.ssmax;
  if (parameter == PLUMBLINE_SINKS) return spec.sinks;
  return methods::of(spec.bias).reads(parameter);
}

bool has_gradient(const Spec& spec, plumbline_parameter parameter) {
  return reads(spec, parameter) &&
         methods::parameter_of(methods::of(spec.bias), parameter).has_gradient;
}

const char* parameter_name(Bias bias, plumbline_parameter parameter) {
  for (const auto& of_bias : methods::row(bias).parameters) {
    if (of_bias.id == parameter && of_bias.name) return of_bias.name;
  }
  return info(parameter).name;
}
std::string gradient_name(Bias bias, plumbline_parameter parameter) {
  return std::string("grad_") + parameter_name(bias, parameter);
}

Options default_options(Bias bias) {
  Options options;
  std::ranges::transform(methods::option_infos, options.begin(), &OptionInfo::otherwise);
  options[PLUMBLINE_EPSILON] = methods::row(bias).epsilon;
  return options;
}

std::size_t first_of_row(const Spec& spec, const Options& options, int batch, int head, int query) {
  const Shape shape = shape_of(spec, options, PLUMBLINE_TENSOR);
  const auto along = [&](std::size_t axis, int index) { return shape[axis] > 1 ? index : 0; };
  const std::int64_t of_head = along(0, batch) * shape[1] + along(1, head);
  return static_cast<std::size_t>((of_head * shape[2] + along(2, query)) * shape[3]);
}
std::size_t first_of_row_in_head(const Spec& spec, const Options& options, int query) {
  return first_of_row(spec, options, 0, 0, query);
}

Shape shape_of(const Spec& spec, const Options& options, plumbline_parameter parameter) {
  const methods::Method method = methods::of(spec.bias);
  const methods::Sizes sizes{spec.batch, spec.heads,    spec.queries,
                             spec.keys,  spec.head_dim, options.data()};
  Shape shape;
  for (const auto extent : methods::parameter_of(method, parameter).shape) {
    const bool none =
        extent == methods::Extent::batch_or_none && options[PLUMBLINE_SLOPES_PER_BATCH] == 0;
    if (none) continue;
    shape.push_back(methods::size_of(extent, method, sizes));
  }
  return shape;
}

}  // namespace plumbline::cases
