// SPDX-License-Identifier: Apache-2.0
#include "models/commands/train_options.hpp"

#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "models/commands/fine_tuning.hpp"
#include "models/commands/models_backend.hpp"
#include "models/training/model_json.hpp"

namespace plumbline::cli {
namespace {

/// The rows of a batch that come closest to `tokens` from below, in whole parts; at least one part.
int rows_for(long tokens, int length, int part) {
  return static_cast<int>(std::max(1L, tokens / (static_cast<long>(length) * part))) * part;
}

/// What suits a preset: nano a minute on two processors, the others the papers' runs (CABLE,
/// section 4.2; BAM, appendix C and table 1).
training::Settings settings_for(const std::string& preset) {
  training::Settings s;
  s.model = gpu::preset(preset);
  s.length = s.model.context;
  if (preset == "nano") {
    s.schedule = {.highest = 3e-3, .lowest = 3e-4, .warm_up = 20, .updates = 300};
    return s;
  }
  s.part = 8;
  if (s.model.architecture == gpu::Architecture::llama_style) {
    s.optimizer = {.kind = gpu::OptimizerKind::radam, .beta2 = 0.999};
    s.schedule.highest = preset == "bam_120m" ? 1e-3 : preset == "bam_432m" ? 5e-4 : 3e-4;
    s.schedule.lowest = s.schedule.highest / 10;
    s.schedule.updates = 19251;
  }
  return s;
}

/// CABLE, section 4.2; BAM, appendix C.
long usual_tokens_per_update(const gpu::ModelConfiguration& model) {
  return model.architecture == gpu::Architecture::llama_style ? 589824 : 524288;
}

gpu::OptimizerKind optimizer_from(const std::string& name) {
  if (name == "adamw") return gpu::OptimizerKind::adamw;
  if (name == "radam") return gpu::OptimizerKind::radam;
  if (name == "radam_pytorch") return gpu::OptimizerKind::radam_pytorch;
  throw BadInput("--optimizer", in_quotes(name), "adamw, radam or radam_pytorch");
}

bool is_contrastive(const TrainOptions& options) {
  if (options.objective != "language_model" && options.objective != "contrastive")
    throw BadInput("--objective", in_quotes(options.objective), "language_model or contrastive");
  return options.objective == "contrastive";
}

/// What has no meaning for the run's objective is refused, not ignored.
void expect_options_of_the_objective(const TrainOptions& options, const CLI::App& command) {
  const bool contrastive = is_contrastive(options);
  const auto refuse = [&](const char* option, const char* objective) {
    if (command.count(option) > 0)
      throw BadInput(option, "given with --objective " + options.objective,
                     std::string("only with --objective ") + objective);
  };
  if (contrastive) {
    for (const char* option :
         {"--document-mask", "--masking", "--separator", "--sequential", "--tokens-per-update"})
      refuse(option, "language_model");
  } else {
    for (const char* option : {"--pairs", "--pooling", "--temperature", "--hard-negatives"})
      refuse(option, "contrastive");
  }
}

void add_model_options(CLI::App& command, TrainOptions& o) {
  auto& s = o.settings;
  command
      .add_option("--preset", o.preset,
                  "nano, gpt2_tiny, gpt2_small, gpt2_medium, bert_base, "
                  "bam_120m, bam_432m, bam_1b")
      ->capture_default_str();
  command.add_flag("--ssmax", o.ssmax, "Scalable softmax");
  command.add_option("--layers", s.model.layers, "Number of layers");
  command.add_option("--heads", s.model.heads, "Number of attention heads");
  command.add_option("--width", s.model.width, "Width of the residual stream");
  command.add_option("--vocabulary", s.model.vocabulary, "Rows of the embedding");
  command.add_option("--dropout", s.model.dropout, "Fraction of numbers that dropout sets to 0");
  command.add_option("--format", o.format, "fp32, tf32 or bf16 (with fp32 master weights)");
}

void add_fine_tuning_options(CLI::App& command, TrainOptions& o) {
  reads(command
            .add_option("--from", o.from,
                        "Start from the weights of a run, a checkpoint or Hugging Face's model: "
                        "for fine-tuning, or another --length")
            ->check(not_empty()));
  command.add_option("--objective", o.objective, "language_model, or contrastive for a BERT")
      ->capture_default_str();
  reads(command
            .add_option("--pairs", o.contrastive.pairs,
                        "Contrastive: JSON lines of queries, positives")
            ->check(not_empty()));
  command.add_option("--pooling", o.pooling, "Contrastive: mean or cls")->capture_default_str();
  command
      .add_option("--temperature", o.contrastive.temperature,
                  "Contrastive: temperature of the softmax")
      ->capture_default_str();
  command
      .add_option("--hard-negatives", o.contrastive.hard_negatives,
                  "Contrastive: maximum number used per pair")
      ->capture_default_str();
}

void add_run_options(CLI::App& command, TrainOptions& o) {
  auto& s = o.settings;
  reads(command.add_option("data", o.data, "Texts, or token shards (*.bin, from `tokenize`)")
            ->check(not_empty()));
  command.add_option("--out", o.folder, "The run's folder, for log and checkpoints")
      ->required()
      ->check(not_empty());
  command.add_flag("--resume", o.habits.resume,
                   "Continue from the newest checkpoint in the folder");
  reads_tokenizer(command
                      .add_option("--tokenizer", o.tokenizer,
                                  "byte, gpt2 (shards only), or a SentencePiece model")
                      ->capture_default_str());
  command.add_option("--separator", s.separator, "A line that ends a document of a text");
  command.add_option("--validation", s.validation, "Fraction of the tokens kept for validation")
      ->capture_default_str();
  command.add_option("--length", o.length, "Tokens per row; the model's context");
  auto* batch = command.add_option("--batch", s.batch, "Rows per update");
  command
      .add_option("--tokens-per-update", o.tokens_per_update,
                  "Instead of --batch: as many rows as have this many tokens in total (default for "
                  "all presets but nano: 524288; BAM's: 589824)")
      ->check(whole_number_from(1, 1L << 40))
      ->excludes(batch);
  command.add_option("--part", s.part, "Rows per micro-batch");
  command.add_flag("--sequential", o.sequential, "Take windows in the order of the data");
  command.add_flag("--document-mask", s.document_mask, "Attention stays within a document");
  command.add_option("--masking", s.masking, "BERT: fraction of the tokens to predict")
      ->capture_default_str();
  command.add_option(
      "--updates", s.schedule.updates,
      "Updates of the whole run; with --resume, more are trained at the lowest rate");
  command.add_option("--learning-rate", s.schedule.highest, "Learning rate after the warm-up");
  command.add_option("--lowest-learning-rate", s.schedule.lowest, "Learning rate at the end");
  command.add_option("--warm-up", s.schedule.warm_up, "Updates of the warm-up");
  command.add_option("--optimizer", o.optimizer, "adamw, radam or radam_pytorch");
  command.add_option("--weight-decay", s.optimizer.weight_decay,
                     "Weight decay of matrices and tables");
  command.add_option("--clip", s.optimizer.max_norm, "Global norm to clip to; 0: none");
  command.add_option("--seed", o.seed, "Seed of initial values, order, masking, dropout")
      ->capture_default_str();
  command.add_flag("--not-deterministic", o.not_deterministic,
                   "Faster kernels whose last bits differ from run to run");
  command
      .add_option("--hours-at-most", o.hours_at_most,
                  "End at once if the time of the first micro-batch predicts a longer run")
      ->check(number_from(0, 1e6))
      ->capture_default_str();
  command.add_option("--save-every", o.habits.save_every, "Updates between checkpoints")
      ->capture_default_str();
  command.add_option("--evaluate-every", o.habits.evaluate_every, "Updates between evaluations")
      ->capture_default_str();
  command.add_option("--evaluation-rows", o.habits.evaluation_rows, "Maximum rows per evaluation")
      ->capture_default_str();
  command.add_option("--keep", o.habits.keep, "Number of checkpoints to keep")
      ->capture_default_str();
  add_json_option(command, o.json, "Write the outcome as JSON to FILE (default: -)");
}

}  // namespace

const OptionNames& train_option_names() {
  static const OptionNames names{{"context", "--length"},
                                 {"deterministic", "--not-deterministic"},
                                 {"highest", "--learning-rate"},
                                 {"kind", "--optimizer"},
                                 {"kv_heads", "--heads"},
                                 {"lowest", "--lowest-learning-rate"},
                                 {"masking rate", "--masking"},
                                 {"max_norm", "--clip"},
                                 {"positions of cope", "--positions"},
                                 {"shuffled", "--sequential"},
                                 {"trains_mu", "--train-mu"},
                                 {"width / heads", "--width / --heads"}};
  return names;
}

void add_train_options(CLI::App& command, TrainOptions& o) {
  add_model_options(command, o);
  add_position_options(command, o.position);
  add_run_options(command, o);
  add_fine_tuning_options(command, o);
  add_backend_option(command, o.backend);
}

TrainOptions completed(TrainOptions options, const CLI::App& command) {
  expect_options_of_the_objective(options, command);
  training::Settings preset = settings_for(options.preset);
  if (!options.from.empty()) preset = begun_with(options.from, std::move(preset));
  if (is_contrastive(options)) preset = for_contrast(std::move(preset));
  training::Settings& s = options.settings;
  s.initial = preset.initial;
  const auto given = [&](const char* option) { return command.count(option) > 0; };
  const auto keep = [&](const char* option, auto& value, const auto& of_preset) {
    if (!given(option)) value = of_preset;
  };
  keep("--layers", s.model.layers, preset.model.layers);
  keep("--heads", s.model.heads, preset.model.heads);
  keep("--width", s.model.width, preset.model.width);
  keep("--vocabulary", s.model.vocabulary, preset.model.vocabulary);
  keep("--dropout", s.model.dropout, preset.model.dropout);
  keep("--batch", s.batch, preset.batch);
  keep("--part", s.part, given("--batch") ? s.batch : preset.part);
  keep("--updates", s.schedule.updates, preset.schedule.updates);
  options.habits.updates = s.schedule.updates;
  if (options.declared_updates > 0 && given("--updates"))  // a run that goes on has its schedule
    s.schedule.updates = std::min(s.schedule.updates, options.declared_updates);
  keep("--learning-rate", s.schedule.highest, preset.schedule.highest);
  keep("--lowest-learning-rate", s.schedule.lowest,
       given("--learning-rate") ? s.schedule.highest / 10 : preset.schedule.lowest);
  keep("--warm-up", s.schedule.warm_up,
       is_contrastive(options) ? warm_up_for_contrast(s.schedule.updates)
                               : std::min(preset.schedule.warm_up, s.schedule.updates / 10));
  keep("--weight-decay", s.optimizer.weight_decay, preset.optimizer.weight_decay);
  keep("--clip", s.optimizer.max_norm, preset.optimizer.max_norm);
  s.optimizer.kind =
      given("--optimizer") ? optimizer_from(options.optimizer) : preset.optimizer.kind;
  s.optimizer.beta2 = preset.optimizer.beta2;

  gpu::ModelConfiguration model = preset.model;
  model.layers = s.model.layers;
  model.heads = s.model.heads;
  if (given("--heads")) model.kv_heads = model.heads;
  model.width = s.model.width;
  if (given("--width")) {
    const long hidden = static_cast<long>(preset.model.hidden / preset.model.width) * model.width;
    model.hidden = static_cast<int>(std::min(hidden, 0x7fffffffL));
  }
  model.vocabulary = s.model.vocabulary;
  model.dropout = s.model.dropout;
  model.options = preset.model.options;
  choose_position(command, options.position, s.initial != nullptr, model);
  if (given("--format")) model.format = training::format_from(options.format, "--format");
  if (given("--masking") && model.architecture != gpu::Architecture::bert)
    throw BadInput("--masking", "given for a model that predicts the next token",
                   "only for a BERT");
  model.ssmax = options.ssmax || preset.model.ssmax;
  s.length = given("--length") ? options.length : preset.length;
  const bool by_tokens = options.preset != "nano" && !is_contrastive(options);
  if (s.length >= 1 && s.part >= 1 && !given("--batch") &&
      (given("--tokens-per-update") || by_tokens))
    s.batch = rows_for(given("--tokens-per-update") ? options.tokens_per_update
                                                    : usual_tokens_per_update(preset.model),
                       s.length, s.part);
  // A table of learnable positions has the rows that it has.
  if (given("--length") && !(s.initial && model.position == "learnable")) model.context = s.length;
  if (s.initial) expect_same_parameters(model, preset.model);
  s.model = model;
  s.tokenizer = given("--tokenizer") ? options.tokenizer : preset.tokenizer;
  if (s.tokenizer.empty())
    throw BadInput("--tokenizer", "missing", "its name: the files of --from do not say it");
  if (is_contrastive(options)) {
    options.contrastive.pooling = pooling_from(options.pooling);
    s.contrastive = options.contrastive;
  }
  s.shuffled = !options.sequential;
  s.deterministic = !options.not_deterministic;
  s.seed = seed_from(options.seed);
  s.data.assign(options.data.begin(), options.data.end());
  options.habits.folder = options.folder;
  return options;
}

}  // namespace plumbline::cli
