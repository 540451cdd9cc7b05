// SPDX-License-Identifier: Apache-2.0
// A model that was trained here or elsewhere, ready to be run: what generation and evaluation begin
// with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/parameters.hpp"

namespace plumbline::inference {

struct TrainedModel {
  gpu::ModelConfiguration configuration;  ///< format and dropout as in training
  std::vector<float> parameters;          ///< a flat buffer of gpu::ParameterLayout(configuration)
  /// As text::open_tokenizer takes it. Empty where the files do not say which one it is: Hugging
  /// Face's without a tokenizer.model.
  std::string tokenizer;
};

/// Takes a run's folder (its newest checkpoint), one checkpoint of ours, Hugging Face's
/// model.safetensors with config.json beside it (models/checkpoint/huggingface.hpp), or the folder
/// of these two. Hugging Face's model computes in fp32.
/// @throws BadInput naming the file, the field, its value and what was expected: a path that is
/// neither, a file that is damaged (training::load_checkpoint, checkpoint::load_parameters), a
/// configuration that no model here has.
TrainedModel load_trained_model(const std::filesystem::path&);

}  // namespace plumbline::inference
