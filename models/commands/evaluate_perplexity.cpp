// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate perplexity: the mean loss of models on a text against context length.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/lists.hpp"
#include "cli/option_names.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "models/commands/evaluate_command.hpp"
#include "models/commands/models_backend.hpp"
#include "models/evaluation/perplexity_report.hpp"
#include "models/inference/trained_model.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::cli {
namespace {

struct PerplexityOptions {
  std::vector<std::string> models, data;
  evaluation::PerplexitySettings settings;
  std::string tokenizer, separator, json, svg, backend = "emulated";
  double validation = 0.1;
  bool whole = false;
};

/// What is evaluated on: the part of the data that training keeps for validation, or all of it.
text::TokenStream stream_of(const PerplexityOptions& o, const text::Tokenizer& tokenizer) {
  const std::vector<std::filesystem::path> paths(o.data.begin(), o.data.end());
  const text::TokenStream all =
      read_for("--data", [&] { return text::open_stream(paths, tokenizer, o.separator); });
  return o.whole ? all : text::split(all, o.validation).validation;
}

/// For all: perplexities of different tokens cannot be compared.
void expect_one_tokenizer(const PerplexityOptions& o,
                          const std::vector<inference::TrainedModel>& models) {
  if (!o.tokenizer.empty()) return;
  const std::string& first = models.front().tokenizer;
  for (std::size_t n = 1; n < models.size(); ++n) {
    if (models[n].tokenizer != first)
      throw BadInput(
          "models",
          in_quotes(o.models[n]) + " with the tokenizer " + in_quotes(models[n].tokenizer),
          "the first model's tokenizer, " + in_quotes(first));
  }
}

/// The position method's name, and the path where several models have one method.
std::vector<std::string> labels_of(const PerplexityOptions& o,
                                   const std::vector<inference::TrainedModel>& models) {
  std::vector<std::string> labels;
  for (std::size_t n = 0; n < models.size(); ++n) {
    const std::string& position = models[n].configuration.position;
    const auto same = std::ranges::count_if(
        models, [&](const auto& m) { return m.configuration.position == position; });
    labels.push_back(same > 1 ? position + ", " + o.models[n] : position);
  }
  return labels;
}

int evaluate(const PerplexityOptions& o) {
  expect_each_once("models", o.models);
  Report json(o.json, "--json"), svg(o.svg, "--svg");
  std::vector<inference::TrainedModel> models;
  for (const std::string& path : o.models) models.push_back(inference::load_trained_model(path));
  expect_one_tokenizer(o, models);
  const auto tokenizer = opened_tokenizer(o.tokenizer, models.front().tokenizer);
  const text::TokenStream stream = stream_of(o, *tokenizer);
  // Refused before any work.
  for (const auto& model : models) evaluation::validate_causal(model.configuration);
  for (const int length : o.settings.lengths)
    evaluation::windows_of(length, o.settings, stream.size());

  std::vector<evaluation::ModelPerplexity> all;
  const std::vector<std::string> labels = labels_of(o, models);
  {
    Progress progress(static_cast<long>(models.size() * o.settings.lengths.size()));
    for (std::size_t n = 0; n < models.size(); ++n) {
      const gpu::ModelConfiguration& model = models[n].configuration;
      all.push_back({labels[n], o.models[n], model.position, model.context, {}});
      for (const int length : o.settings.lengths) {
        progress.update(static_cast<long>(n * o.settings.lengths.size() + all[n].points.size()),
                        fmt::format("{} at {}", labels[n], length));
        all[n].points.push_back(
            evaluation::perplexity_at(length, o.settings, model, models[n].parameters, stream));
      }
    }
  }
  if (o.json != "-" && o.svg != "-") std::cout << evaluation::table(all);
  if (json) {
    auto report = evaluation::to_json(o.settings, all);
    report["data"] = o.data;
    report["part"] = o.whole ? 1.0 : o.validation;
    json.write(to_text(report));
  }
  if (svg) svg.write(pictures::svg_file(evaluation::picture(o.settings, all)));
  return all_right;
}

}  // namespace

void add_evaluate_perplexity(CLI::App& evaluate_command, Run& run, char** argv) {
  auto o = std::make_shared<PerplexityOptions>();
  auto* command =
      evaluate_command.add_subcommand("perplexity", "Perplexity on a text against context length");
  reads(command->add_option("models", o->models, "Runs' folders, checkpoints, Hugging Face's files")
            ->required()
            ->check(not_empty()));
  reads(command->add_option("--data", o->data, "Texts, or token shards (*.bin)")
            ->required()
            ->check(not_empty()));
  add_list(*command, "--lengths", o->settings.lengths, "Context lengths, e.g. 512,1024,2048")
      ->required();
  command
      ->add_option("--tokens", o->settings.tokens,
                   "Maximum number of tokens scored per length; 0: all")
      ->capture_default_str();
  command
      ->add_option("--last", o->settings.last,
                   "Score only the last N tokens of every longest window, the same ones at each "
                   "length; 0: all tokens of adjacent windows")
      ->capture_default_str();
  reads_tokenizer(
      command->add_option("--tokenizer", o->tokenizer, "Tokenizer, instead of the models'")
          ->check(not_empty()));
  command->add_option("--separator", o->separator, "A line that ends a document of a text");
  auto* share =
      command->add_option("--validation", o->validation,
                          "Fraction of the tokens, at the end, that training keeps for validation");
  share->capture_default_str();
  command->add_flag("--whole", o->whole, "All tokens of the data")->excludes(share);
  add_result_options(*command, o->json, o->svg);
  add_backend_option(*command, o->backend);
  command->callback([o, command, argv, &run] {
    run = [o, command, argv] {
      go_to_backend(o->backend, argv);
      return naming_options(*command, {}, [&] { return evaluate(*o); });
    };
  });
}

}  // namespace plumbline::cli
