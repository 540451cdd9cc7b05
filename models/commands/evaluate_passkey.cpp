// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate passkey: how often a model says five digits that stand somewhere in its
// prompt.
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/option_names.hpp"
#include "cli/progress.hpp"
#include "models/commands/asked_model.hpp"
#include "models/commands/evaluate_command.hpp"
#include "models/commands/models_backend.hpp"
#include "models/evaluation/lengths.hpp"
#include "models/evaluation/passkey.hpp"
#include "models/evaluation/passkey_report.hpp"
#include "models/text/passkey.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::cli {
namespace {

struct PasskeyOptions {
  AskedModelOptions asked;
  evaluation::PasskeySettings settings;
};

int evaluate(const PasskeyOptions& o) {
  Report json(o.asked.json, "--json"), svg(o.asked.svg, "--svg");
  const AskedModel model(o.asked);
  evaluation::PasskeySettings settings = o.settings;
  settings.seed = seed_from(o.asked.seed);
  settings.lengths = o.asked.lengths;
  if (settings.lengths.empty()) {
    settings.lengths = evaluation::usual_lengths(model.configuration.context,
                                                 text::shortest_passkey_prompt(*model.tokenizer));
  }
  evaluation::validate(settings, *model.tokenizer);
  evaluation::PasskeyResult result;
  {
    Progress progress(static_cast<long>(settings.lengths.size()) * settings.depths *
                      settings.prompts);
    result = evaluation::measure_passkey(
        *model.answerer, *model.tokenizer, settings,
        [&](long done, const std::string& now) { progress.update(done, now); });
  }
  if (o.asked.json != "-" && o.asked.svg != "-") std::cout << evaluation::table(result);
  if (json) {
    auto report = evaluation::to_json(result);
    report["model"] = to_json(o.asked, model);
    json.write(to_text(report));
  }
  if (svg) svg.write(pictures::svg_file(evaluation::heat_map(result, title_of(o.asked, model))));
  return all_right;
}

}  // namespace

void add_evaluate_passkey(CLI::App& evaluate_command, Run& run, char** argv) {
  auto o = std::make_shared<PasskeyOptions>();
  auto* command = evaluate_command.add_subcommand(
      "passkey", "Retrieval of a five-digit key by length and depth");
  add_asked_model_options(*command, o->asked);
  auto& s = o->settings;
  command->add_option("--depths", s.depths, "Number of evenly spaced places of the key")
      ->capture_default_str();
  command->add_option("--prompts", s.prompts, "Prompts per length and depth")
      ->capture_default_str();
  command->add_option("--batch", s.batch, "Prompts answered together")->capture_default_str();
  command->callback([o, command, argv, &run] {
    run = [o, command, argv] {
      go_to_backend(o->asked.backend, argv);
      return naming_options(*command, {}, [&] { return evaluate(*o); });
    };
  });
}

}  // namespace plumbline::cli
