// SPDX-License-Identifier: Apache-2.0
#include "train/trainer.hpp"

#include <stdexcept>

#include "core/fill_zero.cuh"
#include "model/model.cuh"
#include "model/upload.cuh"
#include "ops/residual.cuh"
#include "train/optimizer.cuh"

namespace plumbline::gpu {

namespace {

std::vector<float> fetched(const Stream& stream, const DeviceBuffer<float>& buffer) {
  std::vector<float> host(buffer.size());
  buffer.copy_to_host(stream, host.data());
  stream.wait();
  return host;
}

void put(const Stream& stream, const std::vector<float>& host, DeviceBuffer<float>& buffer) {
  if (host.size() != buffer.size())
    throw std::invalid_argument("a buffer has " + std::to_string(host.size()) +
                                " numbers, expected " + std::to_string(buffer.size()));
  buffer.copy_from_host(stream, host.data(), 0, host.size());
  stream.wait();
}

}  // namespace

struct Trainer::Parts {
  Parts(const ModelConfiguration& configuration, const ModelRun& run,
        const OptimizerSettings& settings)
      : model(make_model(stream, configuration, run)),
        optimizer(stream, model->layout(), settings),
        sum(stream, model->layout().size()) {
    fill_zero(stream, sum.data(), sum.size());
  }

  void add_to_sum() {
    gpu::add<float>(stream, sum.data(), model->gradients(), sum.data(), sum.size());
  }

  Stream stream;
  std::unique_ptr<Model> model;
  Optimizer optimizer;
  DeviceBuffer<float> sum;  // of the parts' gradients
};

Trainer::Trainer(const ModelConfiguration& configuration, const ModelRun& run,
                 const OptimizerSettings& settings)
    : parts_(std::make_unique<Parts>(configuration, run, settings)) {}

Trainer::~Trainer() = default;

const ParameterLayout& Trainer::layout() const { return parts_->model->layout(); }

LossSum Trainer::add(const SequenceBatch& part, std::int64_t denominator) {
  Model& model = *parts_->model;
  model.zero_gradients();
  const ChunkedLoss loss = model.add_gradients(part, 1.0, denominator);
  parts_->add_to_sum();
  return {loss.sum, loss.counted};
}

std::vector<float> Trainer::embeddings(const SequenceBatch& part, Pooling pooling,
                                       bool with_dropout) {
  return parts_->model->embeddings(part, pooling, with_dropout);
}

void Trainer::add_embedding_gradients(const SequenceBatch& part, Pooling pooling,
                                      const std::vector<float>& grad) {
  parts_->model->zero_gradients();
  parts_->model->add_embedding_gradients(part, pooling, grad);
  parts_->add_to_sum();
}

double Trainer::update(long n, double learning_rate) {
  Parts& p = *parts_;
  const double norm = p.optimizer.update(n, learning_rate, p.model->parameters(), p.sum.data());
  p.model->parameters_changed();
  fill_zero(p.stream, p.sum.data(), p.sum.size());
  p.stream.wait();
  return norm;
}

LossSum Trainer::loss(const SequenceBatch& batch) {
  const ChunkedLoss loss = parts_->model->loss(batch, 1);
  return {loss.sum, loss.counted};
}

std::vector<float> Trainer::parameters() const {
  Parts& p = *parts_;
  std::vector<float> host(layout().size());
  download(p.stream, p.model->parameters(), host.size(), host.data());
  return host;
}

std::vector<float> Trainer::mean() const {
  return fetched(parts_->stream, parts_->optimizer.mean());
}

std::vector<float> Trainer::mean_square() const {
  return fetched(parts_->stream, parts_->optimizer.mean_square());
}

void Trainer::set_parameters(const std::vector<float>& host) {
  Parts& p = *parts_;
  if (host.size() != layout().size())
    throw std::invalid_argument("there are " + std::to_string(host.size()) +
                                " parameters, expected " + std::to_string(layout().size()));
  upload(p.stream, host.data(), host.size(), p.model->parameters());
  p.model->parameters_changed();
  p.stream.wait();
}

void Trainer::set_moments(const std::vector<float>& mean, const std::vector<float>& mean_square) {
  put(parts_->stream, mean, parts_->optimizer.mean());
  put(parts_->stream, mean_square, parts_->optimizer.mean_square());
}

}  // namespace plumbline::gpu
