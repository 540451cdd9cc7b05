// SPDX-License-Identifier: Apache-2.0
#include "models/checkpoint/device_model.hpp"

#include <stdexcept>
#include <vector>

#include "models/checkpoint/float_parameters.hpp"

namespace plumbline::checkpoint {
namespace {

template <class Number>
std::vector<Parameter<Number>> within(const gpu::ParameterLayout& layout,
                                      std::span<Number> values) {
  if (values.size() != layout.size()) {
    throw std::invalid_argument("values.size() is " + std::to_string(values.size()) +
                                ", must be the layout's, " + std::to_string(layout.size()));
  }
  std::vector<Parameter<Number>> parameters;
  for (const gpu::Parameter& p : layout.all()) {
    parameters.push_back({p.name, p.shape, values.data() + p.offset});
  }
  return parameters;
}

}  // namespace

const Naming& naming_of(gpu::Architecture architecture) {
  switch (architecture) {
    case gpu::Architecture::bert:
      return bert_naming();
    case gpu::Architecture::llama_style:
      return llama_naming();
    default:
      return gpt2_naming();
  }
}

void load_model(const std::filesystem::path& path, gpu::Architecture architecture,
                const gpu::ParameterLayout& layout, std::span<float> values) {
  load_parameters(path, naming_of(architecture), within(layout, values));
}

void save_model(const std::filesystem::path& path, gpu::Architecture architecture,
                const gpu::ParameterLayout& layout, std::span<const float> values) {
  save_parameters(path, naming_of(architecture), within(layout, values));
}

}  // namespace plumbline::checkpoint
