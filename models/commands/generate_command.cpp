// SPDX-License-Identifier: Apache-2.0
// plumbline generate: texts continued by a trained model.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/option_names.hpp"
#include "cli/outputs.hpp"
#include "models/commands/models_backend.hpp"
#include "models/inference/generate.hpp"
#include "models/inference/growing_text.hpp"
#include "models/training/model_json.hpp"
#include "support/text.hpp"

namespace plumbline::cli {
namespace {

struct GenerateOptions {
  std::string model, tokenizer, format, seed = "1", json, backend = "emulated";
  std::vector<std::string> prompts, prompt_files;
  inference::GenerationSettings settings;
  bool not_deterministic = false;
};

inference::TrainedModel model_of(const GenerateOptions& o) {
  inference::TrainedModel model = inference::load_trained_model(o.model);
  if (!o.format.empty()) model.configuration.format = training::format_from(o.format, "--format");
  if (!o.tokenizer.empty()) model.tokenizer = o.tokenizer;
  if (model.tokenizer.empty())
    throw BadInput("--tokenizer", "missing", "its name: the model's files do not say it");
  return model;
}

std::vector<std::string> prompts_of(const GenerateOptions& o) {
  std::vector<std::string> all = o.prompts;
  for (const std::string& path : o.prompt_files) all.push_back(read_file(path));
  if (all.empty()) throw BadInput("--prompt", "missing", "a text, or --prompt-file");
  return all;
}

nlohmann::ordered_json to_json(const GenerateOptions& o, const text::Tokenizer& tokenizer,
                               const std::vector<std::string>& prompts,
                               const std::vector<inference::Continuation>& all,
                               double tokens_per_second) {
  const inference::SamplingSettings& s = o.settings.sampling;
  nlohmann::ordered_json json{{"format", "plumbline-generate-1"},
                              {"model", o.model},
                              {"temperature", s.temperature},
                              {"top_k", s.top_k},
                              {"top_p", s.top_p},
                              {"seed", s.seed},
                              {"tokens_per_second", tokens_per_second},
                              {"continuations", nlohmann::ordered_json::array()}};
  for (const inference::Continuation& c : all)
    json["continuations"].push_back({{"prompt", prompts[c.prompt]},
                                     {"sample", c.sample},
                                     {"tokens", c.tokens},
                                     {"text", tokenizer.decode(c.tokens)},
                                     {"end_of_text", c.ended}});
  return json;
}

/// A model's text for standard output: as it is, but on a terminal what could steer that.
std::string shown(const std::string& text) {
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  return terminal ? showable(text) : text;
}

/// Prints several continuations in their order, each as soon as it and those before it are ready.
class Printer {
 public:
  Printer(const text::Tokenizer& tokenizer, int tokens)
      : tokenizer_(tokenizer), tokens_(static_cast<std::size_t>(tokens)) {}

  /// After every token of any of them.
  void operator()(const inference::Continuation& c) {
    if (!c.ended && c.tokens.size() < tokens_) return;
    ready_[c.number] = fmt::format("== prompt {}, sample {}\n{}\n", c.prompt + 1, c.sample + 1,
                                   tokenizer_.decode(c.tokens));
    for (auto next = ready_.begin(); next != ready_.end() && next->first == printed_; ++printed_) {
      std::cout << shown(next->second) << std::flush;
      next = ready_.erase(next);
    }
  }

 private:
  const text::Tokenizer& tokenizer_;
  std::size_t tokens_, printed_ = 0;
  std::map<std::size_t, std::string> ready_;  // by number
};

int generate(const GenerateOptions& o) {
  const std::vector<std::string> prompts = prompts_of(o);
  Report json(o.json);
  const inference::TrainedModel model = model_of(o);
  const auto tokenizer = text::open_tokenizer(model.tokenizer);
  const bool prints = o.json != "-";
  const bool alone = prompts.size() * o.settings.samples == 1;
  inference::GrowingText text;
  inference::OnToken on_token;
  if (prints && alone)
    on_token = [&](const auto& continuation) {
      std::cout << shown(text.added(tokenizer->decode(continuation.tokens))) << std::flush;
    };
  else if (prints)
    on_token = Printer(*tokenizer, o.settings.tokens);

  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto all = inference::generate(model, *tokenizer, prompts, o.settings, on_token);
  const std::chrono::duration<double> seconds = Clock::now() - start;
  double tokens = 0;
  for (const auto& continuation : all) tokens += static_cast<double>(continuation.tokens.size());

  if (prints && alone) std::cout << shown(text.rest(tokenizer->decode(all.front().tokens))) << "\n";
  if (json) json.write(to_text(to_json(o, *tokenizer, prompts, all, tokens / seconds.count())));
  return all_right;
}

void add_sampling_options(CLI::App& command, GenerateOptions& o) {
  inference::SamplingSettings& s = o.settings.sampling;
  command
      .add_option("--temperature", s.temperature,
                  "Divides the logits; 0: always the most likely token")
      ->capture_default_str();
  command.add_option("--top-k", s.top_k, "Only the k most likely tokens; 0: all")
      ->capture_default_str();
  command
      .add_option("--top-p", s.top_p,
                  "Only the smallest set of tokens whose total probability reaches this")
      ->capture_default_str();
  command.add_option("--seed", o.seed, "Seed of the draws")->capture_default_str();
}

}  // namespace

void add_generate(CLI::App& app, Run& run, char** argv) {
  auto o = std::make_shared<GenerateOptions>();
  auto* command = app.add_subcommand("generate", generate_description);
  reads(command
            ->add_option("model", o->model, "A run's folder, a checkpoint, or Hugging Face's files")
            ->required()
            ->check(not_empty()));
  command->add_option("--prompt", o->prompts, "Text to continue; may be given several times")
      ->allow_extra_args(false);
  reads(command->add_option("--prompt-file", o->prompt_files, "File with a text to continue")
            ->check(not_empty())
            ->allow_extra_args(false));
  command->add_option("--tokens", o->settings.tokens, "Maximum tokens of a continuation")
      ->capture_default_str();
  command->add_option("--samples", o->settings.samples, "Continuations per prompt")
      ->capture_default_str();
  command->add_option("--batch", o->settings.batch, "Sequences that are continued together")
      ->capture_default_str();
  add_sampling_options(*command, *o);
  command->add_option("--format", o->format, "fp32, tf32, bf16 or fp16 (default: the model's)");
  reads_tokenizer(
      command->add_option("--tokenizer", o->tokenizer,
                          "byte, or the path of a SentencePiece model (default: the model's)"));
  command->add_flag("--not-deterministic", o->not_deterministic,
                    "Process the sequences of a batch together: faster on a GPU, but the last bits "
                    "of logits depend on the batch");
  add_json_option(*command, o->json);
  add_backend_option(*command, o->backend);
  command->footer("See docs/generating.md.");
  command->callback([o, command, argv, &run] {
    run = [o, command, argv] {
      go_to_backend(o->backend, argv);
      o->settings.sampling.seed = seed_from(o->seed);
      o->settings.deterministic = !o->not_deterministic;
      return naming_options(*command, {}, [&] { return generate(*o); });
    };
  });
}

}  // namespace plumbline::cli
