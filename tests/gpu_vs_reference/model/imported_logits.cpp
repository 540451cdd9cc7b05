// SPDX-License-Identifier: Apache-2.0
// usage: model_imported_logits WEIGHTS OUTPUT ID...
// The logits of a GPT-2 on the device for a file with Hugging Face's names, and config.json beside
// it, one a line, each with the bound of its error; pytorch_logits.py compares them with PyTorch's.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "model/model.cuh"
#include "model/upload.cuh"
#include "models/checkpoint/load.hpp"
#include "models/inference/trained_model.hpp"
#include "reference/model/gpt2.hpp"
#include "support/error.hpp"
#include "tests/gpu_vs_reference/model/rounding_bound.hpp"
#include "tests/gpu_vs_reference/model/traced_tier.hpp"

namespace {

using namespace plumbline;
using reference::Traced;

std::vector<float> of_device(const inference::TrainedModel& imported, const std::vector<int>& ids) {
  const gpu::Stream stream;
  const int length = static_cast<int>(ids.size());
  const auto model =
      gpu::make_model(stream, imported.configuration, {.batch = 1, .length = length});
  gpu::upload(stream, imported.parameters, model->parameters());
  model->parameters_changed();
  return model->logits({.batch = 1, .length = length, .ids = ids.data()});
}

/// The bounds; the values are PyTorch's matter.
std::vector<double> bounds(const char* weights, const gpu::ModelConfiguration& c,
                           const std::vector<int>& ids) {
  auto oracle = reference::gpt2(c.layers, c.heads, c.width);
  oracle.vocabulary = c.vocabulary;
  oracle.positions = c.context;
  oracle.epsilon = c.epsilon;
  auto numbers = reference::Gpt2Parameters<double>::zero(oracle);
  checkpoint::load(weights, checkpoint::gpt2_naming(), numbers);
  std::vector<double> flat;
  reference::for_each_parameter(numbers, [&](const std::string&, const auto& tensor) {
    flat.insert(flat.end(), tensor.data(), tensor.data() + tensor.size());
  });
  auto traced = reference::Gpt2Parameters<Traced>::zero(oracle);
  std::size_t next = 0;
  reference::for_each_parameter(traced, [&](const std::string&, auto& tensor) {
    for (Eigen::Index n = 0; n < tensor.size(); ++n) tensor.data()[n] = Traced(flat[next++]);
  });
  const auto state = reference::gpt2_forward<reference::TracedTier>(oracle, traced, ids);
  const auto logits = reference::gpt2_logits<reference::TracedTier>(traced, state.hidden);
  std::vector<double> result;
  for (Eigen::Index n = 0; n < logits.size(); ++n) {
    const std::vector<reference::Tape::Edge> seed{{logits.data()[n].node(), 1.0}};
    result.push_back(gpu_tests::bound_of(Traced::tape.reach({&seed, 1}).front()));
  }
  return result;
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<int> ids;
  for (int n = 3; n < count; ++n) ids.push_back(std::atoi(arguments[n]));
  const inference::TrainedModel imported = inference::load_trained_model(arguments[1]);
  const std::vector<float> logits = of_device(imported, ids);
  const std::vector<double> bound = bounds(arguments[1], imported.configuration, ids);
  std::FILE* output = std::fopen(arguments[2], "w");
  if (!output) return 1;
  for (std::size_t n = 0; n < logits.size(); ++n)
    std::fprintf(output, "%.17g %.17g\n", static_cast<double>(logits[n]), bound[n]);
  return std::fclose(output) == 0 ? 0 : 1;
} catch (const BadInput& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
