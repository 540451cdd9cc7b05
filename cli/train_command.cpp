// SPDX-License-Identifier: Apache-2.0
// plumbline train: a model of gpu/ on texts or token shards.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/models_backend.hpp"
#include "cli/other_terms.hpp"
#include "cli/progress.hpp"
#include "cli/ranks.hpp"
#include "cli/train_options.hpp"
#include "evaluation/curves.hpp"
#include "text/entropy.hpp"
#include "training/run.hpp"

namespace plumbline::cli {
namespace {

void print(const training::Status& s) {
  std::cout << fmt::format(
      "update {:>6} of {}  loss {:.4f}  norm {:.3f}  rate {:.2e}  {:.0f} tokens/s  {:.0f} s left",
      s.update, s.updates, s.loss, s.norm, s.learning_rate, s.tokens_per_second, s.seconds_left);
  if (s.validation_loss) std::cout << fmt::format("  validation {:.4f}", *s.validation_loss);
  if (!s.saved.empty()) std::cout << "  saved " << s.saved.filename().string();
  std::cout << std::endl;
}

nlohmann::ordered_json to_json(const training::Outcome& o) {
  return {{"format", "plumbline-train-1"},
          {"updates", o.updates},
          {"validation_loss", o.validation_loss},
          {"validation_perplexity", text::perplexity(o.validation_loss)},
          {o.baseline.name, o.baseline.loss},
          {"checkpoint", o.checkpoint.string()}};
}

/// What the log has so far, as pictures beside it. No picture is worth a run: what is in their way
/// is told.
void draw_curves(const std::filesystem::path& folder, Progress& progress) {
  try {
    evaluation::write_training_curves({evaluation::read_log(folder, "run")}, folder);
  } catch (const std::exception& error) {
    progress.clear();
    std::cerr << "plumbline: training goes on without its curves: " << error.what() << "\n";
  }
}

/// Whether a report goes into a folder that is still to be made.
bool is_to_be_in(const std::filesystem::path& folder, const std::string& path) {
  if (path.empty() || path == "-") return false;
  const auto parent = std::filesystem::absolute(path).lexically_normal().parent_path();
  return parent == (std::filesystem::absolute(folder) / "").lexically_normal().parent_path() &&
         !std::filesystem::exists(folder);
}

int train(const TrainOptions& options) {
  const bool first = ranks().first();
  std::optional<Report> json;
  if (!is_to_be_in(options.habits.folder, options.json)) json.emplace(first ? options.json : "");
  training::Run run(options.settings, options.habits, ranks());
  if (!json) json.emplace(first ? options.json : "");
  tell_of_lost_ranks(options.habits.folder);
  const bool prints = first && options.json != "-";
  if (prints && run.updates_made() > 0)
    std::cout << fmt::format("going on after update {}\n", run.updates_made());
  const long every = std::max(1L, options.settings.schedule.updates / 20);
  training::Outcome outcome;
  {
    Progress progress(options.settings.schedule.updates);
    outcome = run.train([&](const training::Status& s) {
      if (s.validation_loss) draw_curves(options.habits.folder, progress);
      const bool telling = s.validation_loss || !s.saved.empty() || s.update % every == 0;
      if (prints && telling) {
        progress.clear();
        print(s);
      }
      progress.update(
          s.update, fmt::format("loss {:.3f}, norm {:.2f}, {:.0f} tokens/s, {:.0f} s left", s.loss,
                                s.norm, s.tokens_per_second, s.seconds_left));
    });
  }
  if (prints && options.settings.contrastive)
    std::cout << fmt::format(
        "validation loss {:.4f} nats a query; embeddings that are all the same have {:.4f}\n",
        outcome.validation_loss, outcome.baseline.loss);
  else if (prints)
    std::cout << fmt::format(
        "validation loss {:.4f} nats a token (perplexity {:.2f}); the unigram entropy of the same "
        "tokens is {:.4f}\n",
        outcome.validation_loss, text::perplexity(outcome.validation_loss), outcome.baseline.loss);
  if (prints) std::cout << fmt::format("wrote {}\n", outcome.checkpoint.string());
  if (*json) json->write(to_text(to_json(outcome)));
  return all_right;
}

}  // namespace

void add_train(CLI::App& app, Run& run, char** argv) {
  auto options = std::make_shared<TrainOptions>();
  auto* command = app.add_subcommand("train", train_description);
  add_train_options(*command, *options);
  command->footer("docs/training.md tells more.");
  command->callback([options, command, argv, &run] {
    run = [options, command, argv] {
      go_to_backend(options->backend, argv);
      try {
        return naming_options(*command, train_option_names(), [&] {
          const TrainOptions all = completed(*options, *command);
          try {
            return train(all);
          } catch (const training::OtherTerms& error) {
            throw in_options(error, all, *command);
          }
        });
      } catch (const training::Diverged& diverged) {
        std::cerr << "plumbline: " << diverged.what() << "\n";
        return static_cast<int>(verdict_against);
      } catch (const training::RankFailed& failure) {
        std::cerr << "plumbline: " << failure.what() << "\n";
        return static_cast<int>(failure.status());
      }
    };
  });
}

}  // namespace plumbline::cli
