// SPDX-License-Identifier: Apache-2.0
// plumbline evaluate retrieval: nDCG@10 of a BERT's embeddings, and hard negatives out of them.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/lists.hpp"
#include "cli/option_names.hpp"
#include "cli/outputs.hpp"
#include "models/commands/evaluate_command.hpp"
#include "models/commands/models_backend.hpp"
#include "models/commands/pooling.hpp"
#include "models/evaluation/retrieval.hpp"
#include "models/evaluation/retrieval_report.hpp"
#include "models/inference/trained_model.hpp"
#include "support/pictures/svg.hpp"

namespace plumbline::cli {
namespace {

struct RetrievalOptions {
  std::string model, task, split = "test", pooling = "mean", tokenizer, pairs, json, svg;
  std::string backend = "emulated";
  std::vector<int> lengths;
  int part = 32, negatives = 1;
};

/// Documents of a query that are needed for so many negatives, whatever is relevant.
std::size_t depth(const text::RetrievalTask& task, int negatives) {
  std::size_t judged = 0;
  for (const auto& query : task.queries()) judged = std::max(judged, query.relevance.size());
  return std::max<std::size_t>(10, judged + negatives);
}

int evaluate(const RetrievalOptions& o) {
  Report json(o.json, "--json"), svg(o.svg, "--svg"), mined(o.pairs, "--mine");
  if (o.negatives < 1) throw BadInput("--negatives", std::to_string(o.negatives), "at least 1");
  const auto task = read_for("--task", [&] { return text::RetrievalTask(o.task, o.split); });
  const inference::TrainedModel model = inference::load_trained_model(o.model);
  const auto tokenizer = opened_tokenizer(o.tokenizer, model.tokenizer);
  std::vector<int> lengths = o.lengths;
  if (lengths.empty()) lengths = {model.configuration.context};
  if (!o.pairs.empty() && lengths.size() > 1)
    throw BadInput("--lengths", fmt::format("{} lengths", lengths.size()), "one, with --mine");

  const gpu::Pooling pooling = pooling_from(o.pooling);
  for (const int length : lengths)  // all, before any work
    evaluation::validate({length, pooling, o.part}, model.configuration, *tokenizer);

  std::vector<evaluation::RetrievalPoint> points;
  std::string pairs;
  for (const int length : lengths) {
    const auto start = std::chrono::steady_clock::now();
    evaluation::TextEncoder encoder(model.configuration, model.parameters, *tokenizer,
                                    {length, pooling, o.part});
    const auto rankings = evaluation::rankings(encoder, task, depth(task, o.negatives));
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    points.push_back({length, evaluation::ndcg_at_10(task, rankings), passed.count()});
    if (mined)
      pairs = evaluation::mined_pairs(task, rankings, static_cast<std::size_t>(o.negatives));
  }
  const evaluation::RetrievalRun run{o.model, o.task, o.split, o.pooling};
  if (o.json != "-" && o.svg != "-" && o.pairs != "-") std::cout << evaluation::table(task, points);
  if (json) json.write(to_text(evaluation::to_json(run, task, points)));
  if (svg) svg.write(pictures::svg_file(evaluation::picture(run, points)));
  if (mined) mined.write(pairs);
  return all_right;
}

}  // namespace

void add_evaluate_retrieval(CLI::App& evaluate_command, Run& run, char** argv) {
  auto o = std::make_shared<RetrievalOptions>();
  auto* command = evaluate_command.add_subcommand(
      "retrieval", "nDCG@10 of a BERT's embeddings on a task in BEIR's layout");
  reads(command->add_option("model", o->model, "A run's folder, a checkpoint, Hugging Face's file")
            ->required()
            ->check(not_empty()));
  reads(command->add_option("--task", o->task, "Folder with corpus.jsonl, queries.jsonl, qrels/")
            ->required()
            ->check(not_empty()));
  command->add_option("--split", o->split, "qrels/SPLIT.tsv")->capture_default_str();
  add_list(*command, "--lengths", o->lengths,
           "Maximum tokens of a text; default: the model's context");
  command->add_option("--pooling", o->pooling, "mean or cls")->capture_default_str();
  command->add_option("--part", o->part, "Texts per micro-batch")->capture_default_str();
  reads_tokenizer(
      command->add_option("--tokenizer", o->tokenizer, "Tokenizer, instead of the model's")
          ->check(not_empty()));
  auto* mine = command->add_option("--mine", o->pairs,
                                   "Write the queries, their relevant documents and hard "
                                   "negatives to FILE, for `train --objective contrastive`");
  writes(mine->check(not_empty()));
  command->add_option("--negatives", o->negatives, "Hard negatives per query")
      ->capture_default_str()
      ->needs(mine);
  add_result_options(*command, o->json, o->svg);
  add_backend_option(*command, o->backend);
  command->callback([o, command, argv, &run] {
    run = [o, command, argv] {
      go_to_backend(o->backend, argv);
      return naming_options(*command, {{"length", "--lengths"}}, [&] { return evaluate(*o); });
    };
  });
}

}  // namespace plumbline::cli
