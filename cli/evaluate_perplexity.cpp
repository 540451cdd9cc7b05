// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate perplexity: the mean loss of models on a text against context length.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/evaluate_command.hpp"
#include "cli/models_backend.hpp"
#include "evaluation/perplexity.hpp"
#include "inference/trained_model.hpp"
#include "text/entropy.hpp"

namespace plumbline::cli {
namespace {

struct Options {
  std::vector<std::string> models, data;
  evaluation::PerplexitySettings settings;
  std::string tokenizer, separator, json, backend = "emulated";
  double validation = 0.1;
  bool whole = false;
};

struct Evaluated {
  std::string label, path;
  gpu::ModelConfiguration model;
  std::vector<evaluation::PerplexityPoint> points;
};

/// What is evaluated on: the part of the data that training keeps for validation, or all of it.
text::TokenStream stream_of(const Options& o, const text::Tokenizer& tokenizer) {
  const std::vector<std::filesystem::path> paths(o.data.begin(), o.data.end());
  const text::TokenStream all = text::open_stream(paths, tokenizer, o.separator);
  return o.whole ? all : text::split(all, o.validation).validation;
}

/// One tokenizer for all: perplexities of different tokens cannot be compared.
std::string tokenizer_of(const Options& o, const std::vector<inference::TrainedModel>& models) {
  if (!o.tokenizer.empty()) return o.tokenizer;
  const std::string& first = models.front().tokenizer;
  if (first.empty())
    throw BadInput("--tokenizer", "missing", "its name: the model's files do not say it");
  for (std::size_t n = 1; n < models.size(); ++n) {
    if (models[n].tokenizer != first)
      throw BadInput(
          "models",
          in_quotes(o.models[n]) + " with the tokenizer " + in_quotes(models[n].tokenizer),
          "the first model's tokenizer, " + in_quotes(first));
  }
  return first;
}

/// The position method's name, and the path where several models have one method.
std::vector<std::string> labels_of(const Options& o,
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

std::string cell(const evaluation::PerplexityPoint& point) {
  return point.refused.empty() ? fmt::format("{:.2f}", text::perplexity(point.loss)) : "-";
}

void print(const std::vector<Evaluated>& all) {
  std::size_t widest = 6;
  for (const Evaluated& e : all) widest = std::max(widest, e.label.size());
  std::cout << fmt::format("{:>{}}", "length", widest);
  for (const auto& point : all.front().points) std::cout << fmt::format("  {:>8}", point.length);
  for (const Evaluated& e : all) {
    std::cout << fmt::format("\n{:>{}}", e.label, widest);
    for (const auto& point : e.points) std::cout << fmt::format("  {:>8}", cell(point));
  }
  std::cout << "\n";
  for (const Evaluated& e : all)
    for (const auto& point : e.points)
      if (!point.refused.empty())
        std::cout << fmt::format("-: {} at {}: {}\n", e.label, point.length, point.refused);
}

nlohmann::ordered_json to_json(const evaluation::PerplexityPoint& point) {
  if (!point.refused.empty()) return {{"length", point.length}, {"refused", point.refused}};
  return {{"length", point.length},
          {"windows", point.windows},
          {"tokens", point.tokens},
          {"loss", point.loss},
          {"standard_error", point.standard_error},
          {"perplexity", text::perplexity(point.loss)},
          {"seconds", point.seconds}};
}

nlohmann::ordered_json to_json(const Options& o, const std::vector<Evaluated>& all) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const Evaluated& e : all) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const auto& point : e.points) points.push_back(to_json(point));
    models.push_back({{"label", e.label},
                      {"path", e.path},
                      {"position", e.model.position},
                      {"trained_length", e.model.context},
                      {"points", points}});
  }
  return {{"format", "plumbline-perplexity-1"},
          {"data", o.data},
          {"scored", o.settings.last > 0 ? "last" : "all"},
          {"last", o.settings.last},
          {"models", models}};
}

int evaluate(const Options& o) {
  Report json(o.json);
  std::vector<inference::TrainedModel> models;
  for (const std::string& path : o.models) models.push_back(inference::load_trained_model(path));
  const auto tokenizer = text::open_tokenizer(tokenizer_of(o, models));
  const text::TokenStream stream = stream_of(o, *tokenizer);
  for (const int length : o.settings.lengths)
    evaluation::windows_of(length, o.settings, stream.size());  // refused before any work

  std::vector<Evaluated> all;
  const std::vector<std::string> labels = labels_of(o, models);
  for (std::size_t n = 0; n < models.size(); ++n) {
    all.push_back({labels[n], o.models[n], models[n].configuration, {}});
    for (const int length : o.settings.lengths) {
      all.back().points.push_back(evaluation::perplexity_at(
          length, o.settings, models[n].configuration, models[n].parameters, stream));
    }
  }
  if (o.json != "-") print(all);
  if (json) json.write(to_text(to_json(o, all)));
  return all_right;
}

}  // namespace

void add_evaluate_perplexity(CLI::App& evaluate_command, Run& run, char** argv) {
  auto o = std::make_shared<Options>();
  auto* command =
      evaluate_command.add_subcommand("perplexity", "Perplexity on a text against context length");
  command->add_option("models", o->models, "Runs' folders, checkpoints, Hugging Face's files")
      ->required()
      ->check(not_empty());
  command->add_option("--data", o->data, "Texts, or token shards (*.bin)")
      ->required()
      ->check(not_empty());
  command->add_option("--lengths", o->settings.lengths, "Context lengths, e.g. 512,1024,2048")
      ->required()
      ->delimiter(',');
  command->add_option("--tokens", o->settings.tokens, "Most tokens scored at a length; 0: all")
      ->capture_default_str();
  command
      ->add_option("--last", o->settings.last,
                   "Score the last N tokens of every longest window, the same at each length; "
                   "0: all tokens of windows side by side")
      ->capture_default_str();
  command->add_option("--tokenizer", o->tokenizer, "In place of the models'");
  command->add_option("--separator", o->separator, "A line that ends a document of a text");
  auto* share = command->add_option("--validation", o->validation,
                                    "The last share of the tokens, as training keeps it");
  share->capture_default_str();
  command->add_flag("--whole", o->whole, "All tokens of the data")->excludes(share);
  command->add_option("--json", o->json, "Write the result as JSON to FILE (default: -)")
      ->type_name("[FILE]")
      ->expected(0, 1)
      ->check(not_empty())
      ->default_str("-");
  add_backend_option(*command, o->backend);
  command->callback([o, argv, &run] {
    run = [o, argv] {
      go_to_backend(o->backend, argv);
      return evaluate(*o);
    };
  });
}

}  // namespace plumbline::cli
