// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate needles: RULER's eight needle tasks by length.
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/lists.hpp"
#include "cli/option_names.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "models/commands/asked_model.hpp"
#include "models/commands/evaluate_command.hpp"
#include "models/commands/models_backend.hpp"
#include "models/evaluation/lengths.hpp"
#include "models/evaluation/needles.hpp"
#include "models/evaluation/needles_report.hpp"
#include "models/text/needles.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::cli {
namespace {

struct NeedlesOptions {
  AskedModelOptions asked;
  evaluation::NeedleSettings settings;
  std::string essay;
};

std::vector<std::string> all_tasks() {
  std::vector<std::string> names;
  for (const text::NeedleTask& task : text::needle_tasks()) names.emplace_back(task.name);
  return names;
}

int evaluate(const NeedlesOptions& o) {
  Report json(o.asked.json, "--json"), svg(o.asked.svg, "--svg");
  evaluation::NeedleSettings settings = o.settings;
  settings.seed = seed_from(o.asked.seed);
  if (settings.tasks.empty()) settings.tasks = all_tasks();
  if (!o.essay.empty()) {
    settings.essay = read_for("--essay", [&] { return read_file(o.essay); });
    if (settings.essay.empty())
      throw BadInput("--essay", path_in_quotes(o.essay) + ", which is empty", "a text");
  }
  const AskedModel model(o.asked);
  settings.lengths = o.asked.lengths;
  if (settings.lengths.empty()) {
    settings.lengths = evaluation::usual_lengths(
        model.configuration.context, evaluation::shortest_length(settings, *model.tokenizer));
  }
  evaluation::validate(settings, *model.tokenizer);
  evaluation::NeedleResult result;
  {
    Progress progress(static_cast<long>(settings.tasks.size() * settings.lengths.size()) *
                      settings.prompts);
    result = evaluation::measure_needles(
        *model.answerer, *model.tokenizer, settings,
        [&](long done, const std::string& now) { progress.update(done, now); });
  }
  if (o.asked.json != "-" && o.asked.svg != "-") std::cout << evaluation::table(result);
  if (json) {
    auto report = evaluation::to_json(result);
    if (!o.essay.empty()) report["essay"] = o.essay;
    report["model"] = to_json(o.asked, model);
    json.write(to_text(report));
  }
  if (svg) svg.write(pictures::svg_file(evaluation::heat_map(result, title_of(o.asked, model))));
  return all_right;
}

}  // namespace

void add_evaluate_needles(CLI::App& evaluate_command, Run& run, char** argv) {
  auto o = std::make_shared<NeedlesOptions>();
  auto* command = evaluate_command.add_subcommand("needles", "RULER's needle tasks by length");
  add_asked_model_options(*command, o->asked);
  auto& s = o->settings;
  add_list(*command, "--tasks", s.tasks,
           "single_1 to single_3, multikey_1 to multikey_3, multivalue, multiquery (default: all)");
  command->add_option("--prompts", s.prompts, "Prompts per task and length")->capture_default_str();
  command->add_option("--answer-room", s.answer_room, "Tokens reserved for an answer")
      ->capture_default_str();
  reads(command
            ->add_option("--essay", o->essay,
                         "Text to hide the needles in, instead of the built-in one")
            ->check(not_empty()));
  command->add_option("--batch", s.batch, "Prompts answered together")->capture_default_str();
  command->callback([o, command, argv, &run] {
    run = [o, command, argv] {
      go_to_backend(o->asked.backend, argv);
      return naming_options(*command, {{"needle task", "--tasks"}}, [&] { return evaluate(*o); });
    };
  });
}

}  // namespace plumbline::cli
