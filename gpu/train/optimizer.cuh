// SPDX-License-Identifier: Apache-2.0
// An update of a whole model, on the flat buffers of model/parameters.hpp.
#ifndef PLUMBLINE_GPU_TRAIN_OPTIMIZER_CUH
#define PLUMBLINE_GPU_TRAIN_OPTIMIZER_CUH

#include "core/device_buffer.cuh"
#include "model/parameters.hpp"
#include "ops/optimizer.cuh"
#include "train/settings.hpp"

namespace plumbline::gpu {

/// Clips by the global norm, then steps AdamW or RAdam with weight decay on the layout's decaying
/// range and without on the rest, then clamps the parameters that have a domain.
/// Parameters that are not trained keep their values; their gradients do not count in the norm.
class Optimizer {
 public:
  /// Both moments are 0. @throws BadInput as validate(settings).
  Optimizer(const Stream& stream, const ParameterLayout& layout, const OptimizerSettings& settings);

  /// Update `n`, counted from 0, of master [layout.size()]. Where the global norm of `gradients` is
  /// not finite, nothing is changed. In the order of the stream: nobody waits.
  void update(long n, double learning_rate, float* master, const float* gradients) {
    prepare(n, learning_rate);
    step(master, gradients);
  }
  /// Its two halves: what differs from update to update, sent to device memory; and the launches,
  /// which are the same in every update.
  void prepare(long n, double learning_rate);
  void step(float* master, const float* gradients);
  /// The norm of the last update's gradients, before clipping. Waits for it.
  double norm() const;

  DeviceBuffer<float>& mean() { return mean_; }
  DeviceBuffer<float>& mean_square() { return mean_square_; }

 private:
  AdamNumbers numbers(long n, double learning_rate, double weight_decay) const;
  void step(const AdamNumbers* numbers, float* master, const float* gradients,
            ParameterRange range);

  const Stream& stream_;
  const ParameterLayout& layout_;
  OptimizerSettings settings_;
  DeviceBuffer<float> mean_, mean_square_;
  DeviceBuffer<double> parts_, norm_;
  DeviceBuffer<float> factor_;
  DeviceBuffer<AdamNumbers> numbers_;  ///< of what decays, and of the rest
};

}  // namespace plumbline::gpu

#endif
