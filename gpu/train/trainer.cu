// SPDX-License-Identifier: Apache-2.0
#include "train/trainer.hpp"

#include <optional>
#include <stdexcept>

#include "core/graph.cuh"
#include "model/model.cuh"
#include "model/upload.cuh"
#include "train/gradient_sum.cuh"
#include "train/optimizer.cuh"

namespace plumbline::gpu {

namespace {

std::vector<float> downloaded(const Stream& stream, const float* device, std::size_t count) {
  std::vector<float> host(count);
  download(stream, device, count, host.data());
  return host;
}

/// @throws std::invalid_argument unless the buffer has `count` numbers.
void upload_all(const Stream& stream, const std::vector<float>& host, std::size_t count,
                float* device) {
  if (host.size() != count)
    throw std::invalid_argument("a buffer has " + std::to_string(host.size()) +
                                " numbers, expected " + std::to_string(count));
  upload(stream, host, device);
}

}  // namespace

struct Trainer::Parts {
  Parts(const ModelConfiguration& configuration, const ModelRun& run,
        const OptimizerSettings& settings, Communicator& of_run)
      : communicator(of_run),
        model(make_model(stream, configuration, run)),
        sum(stream, of_run, model->layout().size()) {
    if (communicator.rank() == 0) optimizer.emplace(stream, model->layout(), settings);
  }

  void add_to_sum() { sum.add(model->gradients()); }

  Optimizer& own_optimizer() {
    if (!optimizer) throw std::logic_error("the optimizer is that of rank 0");
    return *optimizer;
  }

  void share_parameters() {
    if (communicator.size() > 1) {
      stream.wait();
      communicator.broadcast(model->parameters(), model->layout().size(), 0);
    }
    model->parameters_changed();
  }

  /// Rank 0's own: the optimizer's launches, and one rank's for the parameters that have changed.
  void step(long n, double learning_rate, const float* gradients) {
    optimizer->prepare(n, learning_rate);
    if (gradients != stepped_by) {
      graph = std::make_unique<Graph>();
      stepped_by = gradients;
    }
    graph->run(stream, [&] {
      optimizer->step(model->parameters(), gradients);
      if (communicator.size() == 1) model->parameters_changed();
    });
  }

  Communicator& communicator;
  Stream stream;
  std::unique_ptr<Model> model;
  GradientSum sum;
  std::optional<Optimizer> optimizer;
  std::unique_ptr<Graph> graph;       ///< of step()
  const float* stepped_by = nullptr;  ///< its gradients
};

Trainer::Trainer(const ModelConfiguration& configuration, const ModelRun& run,
                 const OptimizerSettings& settings, Communicator& communicator)
    : parts_(std::make_unique<Parts>(configuration, run, settings, communicator)) {}

Trainer::~Trainer() = default;

const ParameterLayout& Trainer::layout() const { return parts_->model->layout(); }

PartRange Trainer::begin(int parts) { return parts_->sum.begin(parts); }

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

void Trainer::update(long n, double learning_rate) {
  Parts& p = *parts_;
  const float* gradients = p.sum.finish();
  if (p.optimizer) p.step(n, learning_rate, gradients);
  if (p.communicator.size() > 1) p.share_parameters();
}

std::size_t Trainer::update_nodes() const { return parts_->graph ? parts_->graph->nodes() : 0; }

double Trainer::norm() {
  Parts& p = *parts_;
  double norm = p.optimizer ? p.optimizer->norm() : 0.0;
  p.communicator.broadcast(std::as_writable_bytes(std::span(&norm, 1)), 0);
  return norm;
}

void Trainer::wait() const { parts_->stream.wait(); }

void Trainer::share_parameters() { parts_->share_parameters(); }

LossSum Trainer::loss(const SequenceBatch& batch) {
  const ChunkedLoss loss = parts_->model->loss(batch, 1);
  return {loss.sum, loss.counted};
}

std::vector<float> Trainer::parameters() const {
  return downloaded(parts_->stream, parts_->model->parameters(), layout().size());
}

std::vector<float> Trainer::mean() const {
  return downloaded(parts_->stream, parts_->own_optimizer().mean().data(), layout().size());
}

std::vector<float> Trainer::mean_square() const {
  return downloaded(parts_->stream, parts_->own_optimizer().mean_square().data(), layout().size());
}

void Trainer::set_parameters(const std::vector<float>& host) {
  Parts& p = *parts_;
  upload_all(p.stream, host, layout().size(), p.model->parameters());
  p.model->parameters_changed();
  p.stream.wait();
}

void Trainer::set_moments(const std::vector<float>& mean, const std::vector<float>& mean_square) {
  Optimizer& optimizer = parts_->own_optimizer();
  upload_all(parts_->stream, mean, layout().size(), optimizer.mean().data());
  upload_all(parts_->stream, mean_square, layout().size(), optimizer.mean_square().data());
}

}  // namespace plumbline::gpu
