// SPDX-License-Identifier: Apache-2.0
// The CUDA path's training step: one source for the emulation and for nvcc.
#include "model/model.cuh"
#include "model/upload.cuh"
#include "tests/gpu_vs_reference/model/training_step.hpp"
#include "train/optimizer.cuh"

namespace plumbline::gpu_tests {

StepResult step_on_device(
    const gpu::ModelConfiguration& c, const StepBatch& batch,
    const std::function<void(const gpu::Parameter&, std::span<float>)>& change) {
  const gpu::Stream stream;
  const auto model = gpu::make_model(stream, c, {.batch = batch.batch, .length = batch.length});
  const gpu::ParameterLayout& layout = model->layout();
  std::vector<float> values(layout.size()), gradients(layout.size());
  for (const gpu::Parameter& p : layout.all()) {
    const std::span<float> own = std::span(values).subspan(p.offset, p.size());
    set_test_values(p, own);
    if (change) change(p, own);
  }
  gpu::upload(stream, values, model->parameters());
  model->parameters_changed();
  StepResult result{.loss = model->add_gradients(batch.view()).mean};
  gpu::download(stream, model->gradients(), gradients.size(), gradients.data());
  gpu::Optimizer optimizer(stream, layout, kOptimizer);
  optimizer.update(0, kRate, model->parameters(), model->gradients());
  gpu::download(stream, model->parameters(), values.size(), values.data());
  for (const gpu::Parameter& p : layout.all()) {
    const auto of = [&](const std::vector<float>& flat) {
      const auto begin = flat.begin() + static_cast<long>(p.offset);
      return std::vector<double>(begin, begin + static_cast<long>(p.size()));
    };
    result.gradients[p.name] = of(gradients);
    result.updated[p.name] = of(values);
  }
  return result;
}

}  // namespace plumbline::gpu_tests
