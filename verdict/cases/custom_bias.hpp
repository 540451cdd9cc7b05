// SPDX-License-Identifier: Apache-2.0
// Biases that no list has: a formula with its parameters, as a user of the judge declares them.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_abi/methods.hpp"
#include "reference/bias/formula.hpp"

namespace plumbline::cases {

struct CustomParameter {
  std::string name;
  reference::Formula::Per per{};
  plumbline_parameter id{};
};

/// b_ij = formula. docs/custom_bias.md says how it is written, and what its error may be.
struct CustomBias : methods::Method {                   ///< the row, whose texts are those below
  std::array<std::string, PLUMBLINE_ROPE_COUNT> names;  ///< by RoPE
  std::string text;
  std::vector<CustomParameter> declared;  ///< as the expression numbers them
  reference::Formula expression;
  std::optional<reference::Formula> visible;  ///< what must hold for a key besides; never per head
  double error_factor = 1;  ///< by which the bound of a kernel's error is multiplied
  nlohmann::json declaration;
};

/// Declares the bias of {"name", "formula", "parameters": [{"name", "per", "uniform" or "normal"}],
/// "error_factor"}; from here on bias_from() knows its name. The same declaration again is the same
/// bias; another one of the same name takes its place, and biases of the old one live on.
/// @throws BadInput naming `what` and the field.
methods::Bias declare_custom_bias(const nlohmann::json& declaration, const std::string& what);
/// The same from a file. @throws BadInput naming the file.
methods::Bias declare_custom_bias_of_file(const std::string& path);

/// Of a bias with PLUMBLINE_CUSTOM.
inline const CustomBias& custom_of(const methods::Bias& bias) {
  return static_cast<const CustomBias&>(*bias.custom);
}

/// The last one declared of this name, "log_decay" or "log_decay+rope_half_split".
std::optional<methods::Bias> find_custom_bias(std::string_view name);

}  // namespace plumbline::cases
