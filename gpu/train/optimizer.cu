// SPDX-License-Identifier: Apache-2.0
#include "train/optimizer.cuh"

#include <cmath>
#include <limits>
#include <vector>

#include "ops/clamp.cuh"
#include "ops/global_norm.cuh"
#include "ops/optimizer.cuh"

namespace plumbline::gpu {

namespace {

/// A moment before the first update.
DeviceBuffer<float> zeros(const Stream& stream, std::size_t count) {
  DeviceBuffer<float> buffer(stream, count);
  const std::vector<float> host(count);
  buffer.copy_from_host(stream, host.data(), 0, count);
  stream.wait();
  return buffer;
}

std::size_t trained_count(const ParameterLayout& layout) { return layout.not_decaying().end; }

std::size_t norm_parts(const ParameterLayout& layout) {
  const GradientArray all{nullptr, trained_count(layout)};
  return global_norm_parts({&all, 1});
}

/// Without clipping every norm is small enough.
Clipping clipping_of(const OptimizerSettings& settings) {
  return {settings.max_norm > 0 ? settings.max_norm : std::numeric_limits<double>::max()};
}

}  // namespace

Optimizer::Optimizer(const Stream& stream, const ParameterLayout& layout,
                     const OptimizerSettings& settings)
    : stream_(stream),
      layout_(layout),
      settings_((validate(settings), settings)),
      mean_(zeros(stream, layout.size())),
      mean_square_(zeros(stream, layout.size())),
      parts_(stream, norm_parts(layout)),
      norm_(stream, 1),
      factor_(stream, 1) {}

void Optimizer::step(long n, double learning_rate, float* master, const float* gradients,
                     ParameterRange range, double weight_decay) {
  const AdamSettings adam{learning_rate, settings_.beta1, settings_.beta2, settings_.epsilon,
                          weight_decay};
  const std::size_t first = range.begin;
  const AdamTensor<float> tensor{
      master + first, mean_.data() + first, mean_square_.data() + first, gradients + first,
      nullptr,        range.size()};
  const int t = static_cast<int>(n + 1);
  switch (settings_.kind) {
    case OptimizerKind::adamw:
      return adamw_step(stream_, adam, t, factor_.data(), tensor);
    case OptimizerKind::radam:
      return radam_step(stream_, adam, RadamThreshold::paper, t, factor_.data(), tensor);
    case OptimizerKind::radam_pytorch:
      return radam_step(stream_, adam, RadamThreshold::pytorch, t, factor_.data(), tensor);
  }
}

void Optimizer::update(long n, double learning_rate, float* master, const float* gradients) {
  const GradientArray trained{gradients, trained_count(layout_)};
  global_norm(stream_, clipping_of(settings_), {&trained, 1}, parts_.data(), norm_.data(),
              factor_.data());
  step(n, learning_rate, master, gradients, layout_.decaying(), settings_.weight_decay);
  step(n, learning_rate, master, gradients, layout_.not_decaying(), 0.0);
  for (const Parameter& p : layout_.all()) {
    if (p.trained && (p.least > -INFINITY || p.most < INFINITY))
      clamp(stream_, master + p.offset, p.size(), p.least, p.most, factor_.data());
  }
}

double Optimizer::norm() const {
  double norm = 0.0;
  norm_.copy_to_host(stream_, &norm);
  stream_.wait();
  return norm;
}

}  // namespace plumbline::gpu
