// SPDX-License-Identifier: Apache-2.0
// A training step of GPT-2 or BERT in double with the casts of a format where the CUDA path has
// them (gpu/model): the oracle's equations in the device's order of storing. Without casts it is
// the oracle itself, which a test holds it to.
#pragma once

#include <memory>

#include "model/configuration.hpp"
#include "reference/model/position_embedding.hpp"
#include "tests/gpu_vs_reference/model/cast_position.hpp"
#include "tests/gpu_vs_reference/model/casts.hpp"
#include "tests/gpu_vs_reference/model/training_step.hpp"

namespace plumbline::gpu_tests {

struct CastStepResult {
  double loss = 0;
  Tensors gradients = {};
};

/// One model, batch and position method; any number of steps with different casts.
struct CastStep {
  gpu::ModelConfiguration configuration;
  StepBatch batch;
  std::shared_ptr<const CastPosition> position;
  Tensors values;  ///< the master weights

  /// With the numbers of set_test_values.
  CastStep(const gpu::ModelConfiguration& c, StepBatch of, std::shared_ptr<const CastPosition>);

  CastStepResult run(const Casts& casts) const;
};

}  // namespace plumbline::gpu_tests
