// SPDX-License-Identifier: Apache-2.0
// The oracle's training step of a whole model, compiled once for all position methods.
#pragma once

#include <memory>

#include "reference/model/position_embedding.hpp"
#include "tests/gpu_vs_reference/model/any_position.hpp"
#include "tests/gpu_vs_reference/model/oracle_step.hpp"
#include "tests/gpu_vs_reference/model/training_step.hpp"

namespace plumbline::gpu_tests {

using AnyMethod = std::shared_ptr<const PositionFunctions>;

/// A model of the sizes of `c` with the method `position` in its attention layers.
OracleStep gpt2_oracle(const gpu::ModelConfiguration& c, const StepBatch& batch,
                       const AnyMethod& position, const reference::PositionEmbedding& embedding);
OracleStep bert_oracle(const gpu::ModelConfiguration& c, const StepBatch& batch,
                       const AnyMethod& position, const reference::PositionEmbedding& embedding);

}  // namespace plumbline::gpu_tests
