// SPDX-License-Identifier: Apache-2.0
#include "models/inference/trained_model.hpp"

#include "models/checkpoint/device_model.hpp"
#include "models/checkpoint/huggingface.hpp"
#include "models/training/checkpoint.hpp"
#include "models/training/settings.hpp"
#include "support/error.hpp"
#include "support/mapped_file.hpp"
#include "support/safetensors.hpp"
#include "support/text.hpp"

namespace plumbline::inference {

namespace {

bool is_checkpoint(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  try {
    return parse_safetensors(mapped.bytes()).metadata.contains("terms");
  } catch (const BadInput& error) {
    throw BadInput(path_in_quotes(path), error);
  }
}

TrainedModel from_checkpoint(const std::filesystem::path& path) {
  const training::Terms terms = training::read_terms(path);
  TrainedModel model;
  try {
    model.configuration = training::model_of(terms);
    const auto tokenizer = terms.find("tokenizer");
    if (tokenizer == terms.end() || !tokenizer->is_string())
      throw BadInput("terms: tokenizer", "missing", "a tokenizer's name");
    model.tokenizer = tokenizer->get<std::string>();
  } catch (const BadInput& error) {
    throw BadInput(path_in_quotes(path), error);
  }
  const gpu::ParameterLayout layout(model.configuration);
  model.parameters = training::load_checkpoint(path, model.configuration, layout, terms).parameters;
  return model;
}

TrainedModel from_huggingface(const std::filesystem::path& path) {
  TrainedModel model;
  model.configuration = checkpoint::huggingface_configuration(path.parent_path() / "config.json");
  const gpu::ParameterLayout layout(model.configuration);
  model.parameters.assign(layout.size(), 0.0f);
  checkpoint::load_model(path, model.configuration.architecture, layout, model.parameters);
  const std::filesystem::path tokenizer = path.parent_path() / "tokenizer.model";
  std::error_code unreadable;
  if (std::filesystem::exists(tokenizer, unreadable)) model.tokenizer = tokenizer.string();
  return model;
}

/// The file that a folder's model is in.
std::filesystem::path file_in(const std::filesystem::path& folder) {
  const auto checkpoints = training::checkpoints_in(folder);
  if (!checkpoints.empty()) return checkpoints.back();
  const std::filesystem::path weights = folder / "model.safetensors";
  std::error_code unreadable;
  if (std::filesystem::exists(weights, unreadable)) return weights;
  throw BadInput("model", path_in_quotes(folder) + ", which holds no model",
                 "a run's folder with a checkpoint, or one with model.safetensors and config.json");
}

}  // namespace

TrainedModel load_trained_model(const std::filesystem::path& path) {
  std::error_code unreadable;  // what cannot be read is refused when it is opened
  if (std::filesystem::status(path, unreadable).type() == std::filesystem::file_type::not_found)
    throw BadInput("model", path_in_quotes(path) + ", which does not exist",
                   "a run's folder, a checkpoint, or Hugging Face's model.safetensors");
  const std::filesystem::path file =
      std::filesystem::is_directory(path, unreadable) ? file_in(path) : path;
  return is_checkpoint(file) ? from_checkpoint(file) : from_huggingface(file);
}

}  // namespace plumbline::inference
