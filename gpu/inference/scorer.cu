// SPDX-License-Identifier: Apache-2.0
#include "inference/scorer.hpp"

#include <stdexcept>
#include <string>

#include "model/model.cuh"
#include "model/upload.cuh"

namespace plumbline::gpu {

struct Scorer::Parts {
  Parts(const ModelConfiguration& configuration, const ModelRun& run)
      : model(make_model(stream, configuration, run)) {}

  Stream stream;
  std::unique_ptr<Model> model;
};

Scorer::Scorer(const ModelConfiguration& configuration, const ModelRun& run,
               const std::vector<float>& parameters)
    : parts_(std::make_unique<Parts>(configuration, run)) {
  if (parameters.size() != layout().size())
    throw std::invalid_argument("there are " + std::to_string(parameters.size()) +
                                " parameters, expected " + std::to_string(layout().size()));
  upload(parts_->stream, parameters, parts_->model->parameters());
  parts_->model->parameters_changed();
  parts_->stream.wait();
}

Scorer::~Scorer() = default;

const ParameterLayout& Scorer::layout() const { return parts_->model->layout(); }

std::vector<float> Scorer::losses(const SequenceBatch& batch) {
  parts_->model->loss(batch, 1);  // the mean is not asked for, and there may be no target
  return parts_->model->losses();
}

std::vector<float> Scorer::logits(const SequenceBatch& batch) {
  return parts_->model->logits(batch);
}

std::vector<float> Scorer::embeddings(const SequenceBatch& batch, Pooling pooling) {
  return parts_->model->embeddings(batch, pooling);
}

AttentionWeights Scorer::attention_weights(int layer) {
  return parts_->model->attention_weights(layer);
}

}  // namespace plumbline::gpu
