// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "tests/gpu_vs_reference/model/element_check.hpp"
#include "tests/gpu_vs_reference/model/model_oracles.hpp"

namespace plumbline::gpu_tests {

/// Two sequences of the lengths [2], two token types, few targets.
inline StepBatch masked_batch(std::vector<int> lengths) {
  StepBatch batch;
  batch.lengths = std::move(lengths);
  for (int n = 0; n < batch.batch * batch.length; ++n) {
    const bool padding = n % batch.length >= batch.lengths[n / batch.length];
    batch.ids.push_back((7 * n + 3) % 19);
    batch.types.push_back(n % batch.length / 3 % 2);
    batch.targets.push_back(padding || n % 3 != 1 ? -100 : (5 * n + 1) % 19);
  }
  return batch;
}

/// 2 heads, width 64.
inline gpu::ModelConfiguration small_bert(const char* position, int layers) {
  gpu::ModelConfiguration c{.architecture = gpu::Architecture::bert,
                            .layers = layers,
                            .heads = 2,
                            .kv_heads = 2,
                            .width = 64,
                            .hidden = 96,
                            .vocabulary = 19,
                            .context = 9,
                            .epsilon = 1e-12,
                            .position = position};
  c.options.trains_mu = true;
  return c;
}

template <class Position>
void check_bert(const gpu::ModelConfiguration& c, const StepBatch& batch, Position position,
                reference::PositionEmbedding embedding = {
                    .kind = reference::EmbeddedPositions::none}) {
  check_step(c.position.c_str(), step_on_device(c, batch),
             bert_oracle(c, batch, functions_of(std::move(position)), embedding));
}

}  // namespace plumbline::gpu_tests
