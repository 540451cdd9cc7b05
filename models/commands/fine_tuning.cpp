// SPDX-License-Identifier: Apache-2.0
#include "models/commands/fine_tuning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/inference/trained_model.hpp"
#include "models/training/model_json.hpp"
#include "support/error.hpp"

namespace plumbline::cli {
namespace {

template <class T>
void expect_same(const char* field, const T& wanted, const T& of_weights) {
  if (wanted != of_weights)
    throw BadInput(field, fmt::format("{}", wanted),
                   fmt::format("{}, as the weights of --from have it", of_weights));
}

}  // namespace

training::Settings begun_with(const std::filesystem::path& weights, training::Settings preset) {
  inference::TrainedModel model = inference::load_trained_model(weights);
  preset.model = model.configuration;
  preset.length = model.configuration.context;
  preset.tokenizer = model.tokenizer;
  preset.schedule.highest /= 10;
  preset.schedule.lowest /= 10;
  preset.initial = std::make_shared<const std::vector<float>>(std::move(model.parameters));
  return preset;
}

void expect_same_parameters(const gpu::ModelConfiguration& wanted,
                            const gpu::ModelConfiguration& of_weights) {
  expect_same("layers", wanted.layers, of_weights.layers);
  expect_same("heads", wanted.heads, of_weights.heads);
  expect_same("width", wanted.width, of_weights.width);
  expect_same("vocabulary", wanted.vocabulary, of_weights.vocabulary);
  expect_same("position", wanted.position, of_weights.position);
  expect_same("ssmax", wanted.ssmax, of_weights.ssmax);
  const gpu::ParameterLayout layout(wanted), has(of_weights);
  for (const gpu::Parameter& p : layout.all())
    expect_same(p.name.c_str(), fmt::format("[{}]", fmt::join(p.shape, ", ")),
                fmt::format("[{}]", fmt::join(has[p.name].shape, ", ")));
}

long warm_up_for_contrast(long updates) { return updates / 20; }

training::Settings for_contrast(training::Settings preset) {
  preset.batch = preset.part = 128;
  preset.schedule.highest = 2e-5;
  preset.schedule.lowest = 0;
  preset.optimizer.weight_decay = 0.01;
  return preset;
}

}  // namespace plumbline::cli
