// SPDX-License-Identifier: Apache-2.0
#include "model/parameters.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "model/parameter_list.hpp"
#include "support/error.hpp"

namespace plumbline::gpu {

std::size_t Parameter::size() const {
  std::size_t numbers = 1;
  for (const std::int64_t extent : shape) numbers *= static_cast<std::size_t>(extent);
  return numbers;
}

ParameterLayout::ParameterLayout(const ModelConfiguration& configuration) {
  validate(configuration);
  all_ = parameter_list(configuration);
  constexpr double most = 0x1p40;
  double numbers = 0;  // in double, which no product of sizes overflows
  for (const Parameter& parameter : all_) {
    double size = 1;
    for (const std::int64_t extent : parameter.shape) size *= static_cast<double>(extent);
    numbers += size;
  }
  if (!(numbers <= most))
    throw BadInput("the model's size", fmt::format("{:.0f}", numbers), "at most 2^40 parameters");

  std::size_t end = 0;
  const auto place_those = [&](const auto& wanted) {
    const std::size_t begin = end;
    for (Parameter& parameter : all_) {
      if (!wanted(parameter)) continue;
      parameter.offset = end;
      end += (parameter.size() + alignment - 1) / alignment * alignment;
    }
    return ParameterRange{begin, end};
  };
  decaying_ = place_those([](const Parameter& p) { return p.decays(); });
  not_decaying_ = place_those([](const Parameter& p) { return p.trained && !p.decays(); });
  not_trained_ = place_those([](const Parameter& p) { return !p.trained; });
  for (std::size_t n = 0; n < all_.size(); ++n) place_[all_[n].name] = n;
}

bool ParameterLayout::has(std::string_view name) const { return place_.find(name) != place_.end(); }

const Parameter& ParameterLayout::operator[](std::string_view name) const {
  const auto found = place_.find(name);
  if (found == place_.end())
    throw std::logic_error(fmt::format("the model has no parameter {}", name));
  return all_[found->second];
}

std::size_t ParameterLayout::count() const {
  std::size_t numbers = 0;
  for (const Parameter& parameter : all_) numbers += parameter.size();
  return numbers;
}

}  // namespace plumbline::gpu
