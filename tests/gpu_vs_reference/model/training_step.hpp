// SPDX-License-Identifier: Apache-2.0
// One training step on the CUDA path and in the oracle, from the same numbers. Code of the host
// alone: what includes it runs with step_on_device.cu for the emulation and by nvcc alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/parameters.hpp"
#include "model/sequence_batch.hpp"
#include "reference/core/mask.hpp"
#include "reference/model/layer_parameters.hpp"
#include "reference/model/loss.hpp"
#include "support/draw.hpp"
#include "train/settings.hpp"

namespace plumbline::gpu_tests {

/// A batch in host memory. Targets: -100 for none.
struct StepBatch {
  int batch = 2, length = 7;
  std::vector<int> ids, targets, types, lengths, documents;

  gpu::SequenceBatch view() const {
    const auto data = [](const std::vector<int>& v) { return v.empty() ? nullptr : v.data(); };
    return {.batch = batch,
            .length = length,
            .ids = ids.data(),
            .targets = targets.data(),
            .types = data(types),
            .lengths = data(lengths),
            .documents = data(documents)};
  }

  int counted() const {
    return static_cast<int>(std::ranges::count_if(targets, [](int t) { return t >= 0; }));
  }
  /// Of all targets, those of sequence b.
  double share_of(int b) const {
    const reference::Targets own = targets_of(b);
    return static_cast<double>(std::ranges::count_if(
               own, [](const std::optional<int>& target) { return target.has_value(); })) /
           counted();
  }
  /// Tokens of sequence b before the padding.
  int tokens_of(int b) const { return lengths.empty() ? length : lengths[b]; }
  /// The numbers of sequence b, without padding.
  std::vector<int> of(const std::vector<int>& all, int b) const {
    const auto begin = all.begin() + static_cast<long>(b) * length;
    return {begin, begin + tokens_of(b)};
  }
  reference::Targets targets_of(int b) const {
    reference::Targets result;
    for (const int target : of(targets, b))
      result.push_back(target >= 0 ? std::optional<int>(target) : std::nullopt);
    return result;
  }
  reference::Mask mask_of(int b) const {
    reference::Mask mask;
    if (!documents.empty()) mask.documents = of(documents, b);
    return mask;
  }
};

/// Numbers at which every term of the gradients counts: linear layers that keep the size of what
/// they are given, gammas around 1, no bias at 0; position parameters inside of their domains.
inline void set_test_values(const gpu::Parameter& p, std::span<float> values) {
  std::uint64_t stream = 17;
  for (const char letter : p.name) stream = stream * 31 + static_cast<unsigned char>(letter);
  const Draw draw(3, stream);
  const auto ends = [&](const char* ending) { return p.name.ends_with(ending); };
  const bool norm = p.name.find("ln_") != std::string::npos ||
                    p.name.find("norm") != std::string::npos ||
                    p.name.find("LayerNorm") != std::string::npos;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const double x = draw.normal(n);
    double value = 0.2 * x;
    if (norm && ends(".weight")) value = 1 + 0.2 * x;
    if (p.shape.size() == 2 && ends(".weight")) value = x / std::sqrt(double(p.shape[1]));
    if (ends("embeddings.weight") || ends("wte.weight") || ends("wpe.weight") ||
        ends("embed_tokens.weight"))
      value = 0.5 * x;
    if (ends("position.p") || ends("position.a")) value = 0.2 + draw.uniform(n);
    if (ends("position.c") || ends("position.L") || ends("ssmax.scale")) value = 0.7 + 0.1 * x;
    if (ends("theta_alpha") || ends("theta_beta")) value = 0.5 * x;
    if (ends("position.hidden.weight") && p.shape.size() == 1) value = x;  // FIRE's
    values[n] = static_cast<float>(value);
  }
}

/// The optimizer of the step: CABLE's, which clips, and no warm-up.
inline const gpu::OptimizerSettings kOptimizer{};
constexpr double kRate = 6e-4;

/// The loss, and every parameter's gradient and value after the first update by its name.
struct StepResult {
  double loss = 0;
  std::map<std::string, std::vector<double>> gradients = {}, updated = {};
};

/// The CUDA path's; `change` may alter a parameter's values.
StepResult step_on_device(
    const gpu::ModelConfiguration& c, const StepBatch& batch,
    const std::function<void(const gpu::Parameter&, std::span<float>)>& change = {});

/// Fills a model of the oracle with the same numbers.
template <class Parameters>
void set_oracle_parameters(const gpu::ParameterLayout& layout, Parameters& to) {
  std::map<std::string, const gpu::Parameter*> by_name;
  for (const gpu::Parameter& p : layout.all()) by_name[p.name] = &p;
  reference::for_each_parameter(to, [&](const std::string& name, auto& tensor) {
    using R = std::decay_t<decltype(tensor.data()[0])>;
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    set_test_values(*by_name.at(name), values);
    for (std::size_t n = 0; n < values.size(); ++n) tensor.data()[n] = R(double{values[n]});
  });
}

}  // namespace plumbline::gpu_tests
