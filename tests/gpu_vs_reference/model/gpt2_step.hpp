// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "tests/gpu_vs_reference/model/element_check.hpp"
#include "tests/gpu_vs_reference/model/model_oracles.hpp"

namespace plumbline::gpu_tests {

/// Sequences of two documents each; a fifth of the tokens has no target.
inline StepBatch causal_batch(bool documents, int sequences = 2) {
  StepBatch batch;
  batch.batch = sequences;
  for (int n = 0; n < batch.batch * batch.length; ++n) {
    batch.ids.push_back((7 * n + 3) % 19);
    batch.targets.push_back(n % 5 == 4 ? -100 : (5 * n + 1) % 19);
    if (documents) batch.documents.push_back(n % batch.length / 4);
  }
  return batch;
}

/// 2 layers, 2 heads, width 64.
inline gpu::ModelConfiguration small_gpt2(const char* position) {
  gpu::ModelConfiguration c{.layers = 2,
                            .heads = 2,
                            .kv_heads = 2,
                            .width = 64,
                            .hidden = 256,
                            .vocabulary = 19,
                            .context = 9,
                            .position = position};
  c.options.trains_mu = true;
  return c;
}

/// One configuration: a step on the device and in the oracle.
template <class Position>
void check_gpt2(const gpu::ModelConfiguration& c, Position position, bool documents = false,
                reference::PositionEmbedding embedding = {
                    .kind = reference::EmbeddedPositions::none}) {
  const StepBatch batch = causal_batch(documents);
  check_step(c.position.c_str(), step_on_device(c, batch),
             gpt2_oracle(c, batch, functions_of(std::move(position)), embedding));
}

template <class Position>
void check_gpt2(const char* name, Position position, bool ssmax = false, bool documents = false,
                reference::PositionEmbedding embedding = {
                    .kind = reference::EmbeddedPositions::none}) {
  gpu::ModelConfiguration c = small_gpt2(name);
  c.ssmax = ssmax;
  check_gpt2(c, std::move(position), documents, embedding);
}

}  // namespace plumbline::gpu_tests
