// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate maps: attention weights and biases of every head, drawn.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/option_names.hpp"
#include "cli/outputs.hpp"
#include "models/commands/evaluate_command.hpp"
#include "models/commands/models_backend.hpp"
#include "models/evaluation/maps.hpp"
#include "models/inference/trained_model.hpp"
#include "models/text/token_stream.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::cli {
namespace {

struct MapsOptions {
  std::string model, text, tokenizer, out, json, backend = "emulated";
  std::vector<std::string> data;
  int length = 64;
};

/// The text's tokens, or the first ones of the data.
std::vector<text::Token> tokens_of(const MapsOptions& o, const text::Tokenizer& tokenizer) {
  if (o.length < 1) throw BadInput("--length", std::to_string(o.length), "at least 1");
  if (!o.text.empty()) {
    std::vector<text::Token> tokens = tokenizer.encode(o.text);
    tokens.resize(std::min<std::size_t>(tokens.size(), o.length));
    return tokens;
  }
  if (o.data.empty()) throw BadInput("--text", "missing", "a text, or --data with files");
  const auto stream = read_for("--data", [&] {
    return text::open_stream({o.data.begin(), o.data.end()}, tokenizer);
  });
  std::vector<text::Token> tokens(std::min<std::int64_t>(stream.size(), o.length));
  stream.read(0, tokens);
  return tokens;
}

std::string file_of(const char* kind, int layer) {
  return fmt::format("{}-layer-{}.svg", kind, layer);
}

/// The pictures that there will be.
std::vector<std::string> files_of(const gpu::ModelConfiguration& model, bool priors) {
  std::vector<std::string> names;
  for (int layer = 0; layer < model.layers; ++layer) {
    names.push_back(file_of("attention", layer));
    if (!model.ssmax) names.push_back(file_of("bias", layer));
  }
  if (priors) names.emplace_back("theta.svg");
  return names;
}

int evaluate(const MapsOptions& o) {
  const inference::TrainedModel model = inference::load_trained_model(o.model);
  const auto tokens = tokens_of(o, *opened_tokenizer(o.tokenizer, model.tokenizer));
  evaluation::validate(model.configuration, tokens);
  const auto priors = evaluation::prior_exponents(model.configuration, model.parameters);
  const std::vector<std::string> files = files_of(model.configuration, !priors.empty());
  const std::filesystem::path folder = made_folder(o.out, files);
  Report json(o.json, "--json");  // perhaps into that folder

  const auto maps = evaluation::head_maps(model.configuration, model.parameters, tokens);
  const auto draw = [&](const std::string& file, const pictures::Picture& picture) {
    write_file(folder / file, pictures::svg_file(picture));
  };
  for (int layer = 0; layer < model.configuration.layers; ++layer) {
    const auto one = [&](evaluation::MapKind kind, const char* name_of_kind) {
      draw(file_of(name_of_kind, layer), evaluation::picture_of(maps, layer, kind));
    };
    one(evaluation::MapKind::attention, "attention");
    if (!model.configuration.ssmax) one(evaluation::MapKind::bias, "bias");
  }
  if (!priors.empty()) draw("theta.svg", evaluation::picture_of(priors));
  if (json) {
    auto report = evaluation::to_json(maps, priors);
    report["model"] = o.model;
    report["position"] = model.configuration.position;
    report["tokens"] = tokens;
    json.write(to_text(report));
  }
  if (o.json != "-")
    std::cout << fmt::format("{} tokens, {} layers of {} heads: wrote pictures into {}\n",
                             tokens.size(), model.configuration.layers, model.configuration.heads,
                             showable(folder.native()));
  return all_right;
}

}  // namespace

void add_evaluate_maps(CLI::App& evaluate_command, Run& run, char** argv) {
  auto o = std::make_shared<MapsOptions>();
  auto* command = evaluate_command.add_subcommand(
      "maps", "Draw attention weights and biases of every head on a text, and GGD's exponents");
  reads(command->add_option("model", o->model, "A run's folder, a checkpoint, Hugging Face's file")
            ->required()
            ->check(not_empty()));
  auto* text =
      command->add_option("--text", o->text, "Text that the model reads")->check(not_empty());
  reads(command
            ->add_option("--data", o->data,
                         "Read the first tokens of these texts or token shards instead")
            ->excludes(text));
  command->add_option("--length", o->length, "Maximum number of tokens")->capture_default_str();
  command->add_option("--out", o->out, "Folder for the pictures")->required()->check(not_empty());
  reads_tokenizer(
      command->add_option("--tokenizer", o->tokenizer, "Tokenizer, instead of the model's")
          ->check(not_empty()));
  add_json_option(*command, o->json, "Write the numbers as JSON to FILE (default: -)");
  add_backend_option(*command, o->backend);
  command->callback([o, command, argv, &run] {
    run = [o, command, argv] {
      go_to_backend(o->backend, argv);
      return naming_options(*command, {}, [&] { return evaluate(*o); });
    };
  });
}

}  // namespace plumbline::cli
