// SPDX-License-Identifier: Apache-2.0
#include "models/commands/asked_model.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/lists.hpp"
#include "cli/outputs.hpp"
#include "models/commands/evaluate_command.hpp"
#include "models/commands/models_backend.hpp"
#include "models/inference/trained_model.hpp"

namespace plumbline::cli {

void add_asked_model_options(CLI::App& command, AskedModelOptions& o) {
  reads(
      command.add_option("model", o.path, "A run's folder, a checkpoint, or Hugging Face's files")
          ->required()
          ->check(not_empty()));
  add_list(command, "--lengths", o.lengths,
           "Tokens of prompt and answer, e.g. 512,1024,2048 (default: the training length times 1, "
           "2, 4, 8, if a prompt fits)");
  command.add_option("--seed", o.seed, "Seed of keys, values and places")->capture_default_str();
  reads_tokenizer(command
                      .add_option("--tokenizer", o.tokenizer,
                                  "Tokenizer, instead of the model's: byte, or a path")
                      ->check(not_empty()));
  command.add_flag("--not-deterministic", o.not_deterministic,
                   "Process the prompts of a batch together: faster on a GPU, but the last bits of "
                   "logits depend on the other prompts");
  add_result_options(command, o.json, o.svg);
  add_backend_option(command, o.backend);
}

AskedModel::AskedModel(const AskedModelOptions& o) {
  inference::TrainedModel model = inference::load_trained_model(o.path);
  configuration = model.configuration;
  tokenizer_name = o.tokenizer.empty() ? model.tokenizer : o.tokenizer;
  tokenizer = opened_tokenizer(o.tokenizer, model.tokenizer);
  if (tokenizer->vocabulary() > configuration.vocabulary) {
    throw BadInput("tokenizer " + in_quotes(tokenizer_name),
                   fmt::format("of {} tokens", tokenizer->vocabulary()),
                   fmt::format("at most the model's vocabulary, {}", configuration.vocabulary));
  }
  answerer = std::make_unique<evaluation::DecoderAnswerer>(
      configuration, std::move(model.parameters), !o.not_deterministic);
}

nlohmann::ordered_json to_json(const AskedModelOptions& o, const AskedModel& model) {
  return {{"path", o.path},
          {"position", model.configuration.position},
          {"trained_length", model.configuration.context},
          {"tokenizer", model.tokenizer_name}};
}

std::string title_of(const AskedModelOptions& o, const AskedModel& model) {
  return model.configuration.position + ", " + o.path;
}

}  // namespace plumbline::cli
