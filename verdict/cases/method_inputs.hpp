// SPDX-License-Identifier: Apache-2.0
// What each bias method reads (kernel_abi/methods.hpp), of a case.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernel_abi/methods.hpp"
#include "verdict/cases/spec.hpp"
#include "verdict/cases/tensor_shapes.hpp"

namespace plumbline::cases {

using Options = std::array<double, PLUMBLINE_OPTION_COUNT>;

using methods::OptionInfo;
using methods::ParameterInfo;
const ParameterInfo& info(plumbline_parameter parameter);

const OptionInfo& info(plumbline_option option);

/// In the order of files. SSMax's scale and the sinks are not among them: they go with every
/// method.
std::vector<plumbline_parameter> parameters_of(Bias);
std::vector<plumbline_option> options_of(Bias);

/// Whether a method, with SSMax and sinks or without, reads the parameter.
bool reads(const Spec& spec, plumbline_parameter parameter);

/// The shape of a parameter that the spec's method reads.
Shape shape_of(const Spec& spec, const Options& options, plumbline_parameter parameter);

/// Where the numbers of a query row begin in a bias tensor, and in the part of it that is a head's.
std::size_t first_of_row(const Spec& spec, const Options& options, int batch, int head, int query);
std::size_t first_of_row_in_head(const Spec& spec, const Options& options, int query);

/// Whether the backward pass gives a gradient of it.
bool has_gradient(const Spec& spec, plumbline_parameter parameter);

/// As files, reports and Python call it: a custom bias has names of its own.
const char* parameter_name(Bias, plumbline_parameter);
/// "grad_" before it.
std::string gradient_name(Bias, plumbline_parameter);

/// Every option as it is where nothing is said. FIRE's epsilon is 1e-6 in its code, GGD's 1e-5.
Options default_options(Bias);

}  // namespace plumbline::cases
