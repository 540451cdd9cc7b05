// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/same_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "verdict/cases/method_inputs.hpp"

namespace plumbline::verdict {
namespace {

std::string difference(const std::string& name, const std::vector<float>& first,
                       const std::vector<float>& second) {
  const auto same = [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  };
  const auto [a, b] = std::mismatch(first.begin(), first.end(), second.begin(), second.end(), same);
  if (a == first.end() && b == second.end()) return "";
  return fmt::format(
      "the kernel declares that it is deterministic, but two runs differ: {}, element {}, {:.9g} "
      "and "
      "{:.9g}",
      name, a - first.begin(), *a, *b);
}

}  // namespace

std::string first_difference(cases::Bias bias, const cases::Outputs& first,
                             const cases::Outputs& second) {
  const std::pair<const char*, std::vector<float> cases::Outputs::*> tensors[] = {
      {"o", &cases::Outputs::o},
      {"lse", &cases::Outputs::lse},
      {"grad_q", &cases::Outputs::grad_q},
      {"grad_k", &cases::Outputs::grad_k},
      {"grad_v", &cases::Outputs::grad_v}};
  for (const auto& [name, tensor] : tensors) {
    std::string text = difference(name, first.*tensor, second.*tensor);
    if (!text.empty()) return text;
  }
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    std::string text = difference(cases::gradient_name(bias, static_cast<plumbline_parameter>(n)),
                                  first.grad_parameters[n], second.grad_parameters[n]);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace plumbline::verdict
