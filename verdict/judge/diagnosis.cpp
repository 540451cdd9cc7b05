// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "verdict/cases/method_inputs.hpp"

namespace plumbline::verdict {
namespace {

using Tensor = std::vector<float>;
using Named = std::pair<std::string, const Tensor*>;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// What an output of the format holds, widened, where the kernel wrote nothing: all bits set.
std::uint32_t unwritten_bits(cases::Format format) {
  switch (format) {
    case cases::Format::bf16:
      return bits(cases::from_bf16(0xFFFF));
    case cases::Format::fp16:
      return bits(cases::from_fp16(0xFFFF));
    default:
      return 0xFFFFFFFF;
  }
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return bits(x) == bits(y); });
}

Diagnosis of_output(const Named& named, const std::vector<Named>& inputs, std::uint32_t unwritten) {
  const auto& [name, values] = named;
  const auto count = [&](auto is) { return std::count_if(values->begin(), values->end(), is); };
  const auto all = static_cast<long>(values->size());
  if (const auto missing = count([&](float x) { return bits(x) == unwritten; })) {
    return {"not_written", fmt::format("{}: {} of {} elements {} not written", name, missing, all,
                                       missing == 1 ? "was" : "were")};
  }
  if (const auto nans = count([](float x) { return std::isnan(x); })) {
    return {"nan",
            fmt::format("{}: {} of {} elements {} NaN", name, nans, all, nans == 1 ? "is" : "are")};
  }
  if (count([](float x) { return x == 0; }) == all) {
    return {"zeros", fmt::format("{}: every element is 0", name)};
  }
  for (const auto& [input, input_values] : inputs) {
    if (same_bits(*values, *input_values)) {
      return {"copies_input", fmt::format("{} is the input {}, bit by bit", name, input)};
    }
  }
  return {};
}

}  // namespace

Diagnosis diagnose(const cases::Case& the_case, const cases::Outputs& outputs,
                   const Judgement& judgement) {
  const std::vector<Named> inputs = {
      {"q", &the_case.q}, {"k", &the_case.k}, {"v", &the_case.v}, {"grad_o", &the_case.grad_o}};
  const std::uint32_t of_format = unwritten_bits(cases::output_format(the_case.spec.format)),
                      of_floats = unwritten_bits(cases::Format::fp32);
  Diagnosis found;
  const auto look_at = [&](const std::string& name, const Tensor& values, std::uint32_t unwritten) {
    const auto is_float = [&](float x) { return std::bit_cast<std::uint32_t>(x) == of_floats; };
    if (std::ranges::any_of(values, is_float)) unwritten = of_floats;  // by its contract
    const auto judged = std::find_if(judgement.outputs.begin(), judgement.outputs.end(),
                                     [&](const auto& output) { return output.name == name; });
    if (judged == judgement.outputs.end() || judged->outcome != Outcome::fail) return;
    if (found.kind.empty() && !values.empty()) {
      found = of_output({name, &values}, inputs, unwritten);
    }
  };
  look_at("o", outputs.o, of_format);
  look_at("lse", outputs.lse, of_floats);
  look_at("grad_q", outputs.grad_q, of_format);
  look_at("grad_k", outputs.grad_k, of_format);
  look_at("grad_v", outputs.grad_v, of_format);
  for (int n = 0; n < PLUMBLINE_PARAMETER_COUNT; ++n) {
    look_at(cases::gradient_name(the_case.spec.bias, static_cast<plumbline_parameter>(n)),
            outputs.grad_parameters[n], of_floats);
  }
  return found;
}

}  // namespace plumbline::verdict
