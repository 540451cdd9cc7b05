// SPDX-License-Identifier: Apache-2.0
#include "train/optimizer.cuh"

#include <cmath>
#include <limits>
#include <vector>

#include "model/upload.cuh"
#include "ops/clamp.cuh"
#include "ops/global_norm.cuh"

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
      factor_(stream, 1),
      numbers_(stream, 2) {}

AdamNumbers Optimizer::numbers(long n, double learning_rate, double weight_decay) const {
  const AdamSettings adam{learning_rate, settings_.beta1, settings_.beta2, settings_.epsilon,
                          weight_decay};
  const int t = static_cast<int>(n + 1);
  switch (settings_.kind) {
    case OptimizerKind::radam:
      return radam_numbers(adam, RadamThreshold::paper, t);
    case OptimizerKind::radam_pytorch:
      return radam_numbers(adam, RadamThreshold::pytorch, t);
    case OptimizerKind::adamw:
      break;
  }
  return adamw_numbers(adam, t);
}

void Optimizer::prepare(long n, double learning_rate) {
  const AdamNumbers both[] = {numbers(n, learning_rate, settings_.weight_decay),
                              numbers(n, learning_rate, 0.0)};
  upload(stream_, both, 2, numbers_.data());
}

void Optimizer::step(const AdamNumbers* numbers, float* master, const float* gradients,
                     ParameterRange range) {
  const std::size_t first = range.begin;
  adam_step<float>(stream_, numbers, factor_.data(),
                   {master + first, mean_.data() + first, mean_square_.data() + first,
                    gradients + first, nullptr, range.size()});
}

void Optimizer::step(float* master, const float* gradients) {
  const GradientArray trained{gradients, trained_count(layout_)};
  global_norm(stream_, clipping_of(settings_), {&trained, 1}, parts_.data(), norm_.data(),
              factor_.data());
  step(numbers_.data(), master, gradients, layout_.decaying());
  step(numbers_.data() + 1, master, gradients, layout_.not_decaying());
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
