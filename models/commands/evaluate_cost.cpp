// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate cost: time and memory of inference by position method and length.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/lists.hpp"
#include "cli/option_names.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "models/commands/evaluate_command.hpp"
#include "models/commands/models_backend.hpp"
#include "models/evaluation/cost.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::cli {
namespace {

struct CostOptions {
  std::string preset = "nano", json, out, backend = "emulated";
  evaluation::CostSettings settings{
      {"nope", "cable", "alibi", "ggd", "rope", "sinusoidal"}, {}, 8, 3};
};

constexpr std::pair<evaluation::CostKind, const char*> pictures_of_cost[] = {
    {evaluation::CostKind::prompt, "prompt.svg"},
    {evaluation::CostKind::token, "token.svg"},
    {evaluation::CostKind::memory, "memory.svg"}};

/// The folder of --out, none if none was asked for.
std::filesystem::path folder_of(const CostOptions& o) {
  if (o.out.empty()) return {};
  std::vector<std::string> names;
  for (const auto& [kind, name] : pictures_of_cost) names.emplace_back(name);
  return made_folder(o.out, names);
}

int evaluate(const CostOptions& o) {
  const gpu::ModelConfiguration model = gpu::preset(o.preset);
  if (model.architecture == gpu::Architecture::bert)
    throw BadInput("--preset", in_quotes(o.preset), "a causal model");
  evaluation::validate(model, o.settings);
  const std::filesystem::path folder = folder_of(o);
  Report json(o.json, "--json");
  const bool emulated = o.backend == "emulated";
  const std::string machine = emulated ? "CPU emulation of the CUDA kernels" : "on a GPU";
  std::vector<evaluation::MethodCost> all;
  {
    const auto steps = o.settings.lengths.size() * o.settings.positions.size() *
                       static_cast<std::size_t>(o.settings.repeats);
    Progress progress(static_cast<long>(steps));
    long done = 0;
    all = evaluation::measure_cost(model, o.settings,
                                   [&](const std::string& what) { progress.update(done++, what); });
  }
  if (o.json != "-") {
    std::cout << evaluation::table(all);
    if (emulated)
      std::cout << "Times are those of the CPU emulation: they compare the methods' kernels with "
                   "each other and do not predict times on a GPU.\n";
  }
  if (json) {
    auto report = evaluation::to_json(all);
    report["backend"] = o.backend;
    report["preset"] = o.preset;
    report["repeats"] = o.settings.repeats;
    json.write(to_text(report));
  }
  if (!folder.empty()) {
    for (const auto& [kind, name] : pictures_of_cost)
      write_file(folder / name, pictures::svg_file(evaluation::picture_of(all, kind, machine)));
  }
  return all_right;
}

}  // namespace

void add_evaluate_cost(CLI::App& evaluate_command, Run& run, char** argv) {
  auto o = std::make_shared<CostOptions>();
  auto* command = evaluate_command.add_subcommand(
      "cost", "Time and memory of inference by position method and length");
  command->add_option("--preset", o->preset, "Sizes of the model, as for train")
      ->capture_default_str();
  add_list(*command, "--positions", o->settings.positions,
           "Position methods; the others are compared with the first");
  add_list(*command, "--lengths", o->settings.lengths, "Sequence lengths, e.g. 512,1024,2048")
      ->required();
  command->add_option("--new-tokens", o->settings.new_tokens, "New tokens, timed one by one")
      ->capture_default_str();
  command->add_option("--repeats", o->settings.repeats, "Repetitions; the minimum counts")
      ->capture_default_str();
  add_json_option(*command, o->json);
  command->add_option("--out", o->out, "Folder for the pictures")->check(not_empty());
  add_backend_option(*command, o->backend);
  command->callback([o, command, argv, &run] {
    run = [o, command, argv] {
      go_to_backend(o->backend, argv);
      return naming_options(*command, {{"position", "--positions"}}, [&] { return evaluate(*o); });
    };
  });
}

}  // namespace plumbline::cli
