// SPDX-License-Identifier: Apache-2.0
// plumbline train: a model of gpu/ on texts or token shards.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/progress.hpp"
#include "cli/ranks.hpp"
#include "model/parameters.hpp"
#include "models/commands/interruption.hpp"
#include "models/commands/models_backend.hpp"
#include "models/commands/other_terms.hpp"
#include "models/commands/train_options.hpp"
#include "models/evaluation/curves.hpp"
#include "models/text/entropy.hpp"
#include "models/training/folder.hpp"
#include "models/training/run.hpp"
#include "support/files_in_use.hpp"

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

/// What is to be trained, as far as that is known before anything is read.
struct Size {
  std::int64_t parameters, tokens_per_update;
};

Size size_of(const training::Settings& settings) {
  Size size{0, training::tokens_per_update(settings)};
  const gpu::ParameterLayout layout(settings.model);
  for (const gpu::Parameter& p : layout.all()) size.parameters += static_cast<long>(p.size());
  return size;
}

/// 1234567 as 1,234,567.
std::string in_groups(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string duration(double seconds) {
  constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
  if (seconds < 2 * minute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * hour) return fmt::format("{:.0f} min", seconds / minute);
  if (seconds < 2 * day) return fmt::format("{:.0f} h", seconds / hour);
  return in_groups(std::lround(std::min(seconds / day, 1e12))) + " days";
}

void announce(const training::Settings& settings, long updates) {
  const Size size = size_of(settings);
  const int count = ranks().count();
  std::cerr << fmt::format("{}{}: {} parameters, {} tokens per update, {} updates\n",
                           device_shown(), count > 1 ? fmt::format(", {} ranks", count) : "",
                           in_groups(size.parameters), in_groups(size.tokens_per_update),
                           in_groups(updates));
}

/// @throws BadInput for a run that takes longer than it may.
void expect_pace(const training::Pace& pace, double hours_at_most) {
  const double rate = pace.tokens_per_second;
  std::cerr << fmt::format("{} tokens/s: the first line in {}, the end in {}\n",
                           rate < 10 ? fmt::format("{:.2f}", rate) : in_groups(std::lround(rate)),
                           duration(pace.seconds_to_line), duration(pace.seconds_to_end));
  const double hours = pace.seconds_to_end / 3600;
  if (hours > hours_at_most)
    throw BadInput("--hours-at-most", fmt::format("{:g}", hours_at_most),
                   fmt::format("at least {}, the hours that this run takes on this machine ({}). "
                               "Nothing was written",
                               static_cast<std::int64_t>(std::ceil(std::min(hours, 1e15))),
                               duration(pace.seconds_to_end)));
}

nlohmann::ordered_json to_json(const training::Outcome& o, const training::Settings& settings) {
  const Size size = size_of(settings);
  return {{"format", "plumbline-train-1"},
          {"device", device_shown()},
          {"parameters", size.parameters},
          {"tokens_per_update", size.tokens_per_update},
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
    std::cerr << "plumbline: training continues without curves: " << error.what() << "\n";
  }
}

/// Whether a report goes into a folder that is still to be made.
bool is_to_be_in(const std::filesystem::path& folder, const std::string& path) {
  if (path.empty() || path == "-") return false;
  const auto parent = std::filesystem::absolute(path).lexically_normal().parent_path();
  return parent == (std::filesystem::absolute(folder) / "").lexically_normal().parent_path() &&
         !std::filesystem::exists(folder);
}

/// What is said at the signal that asks a run to stop.
std::string words_at_signal(const std::filesystem::path& folder) {
  if (!ranks().first()) return "";
  if (ranks().count() == 1)
    return "\nplumbline: stopping after the current micro-batch; a second signal ends at once\n";
  return fmt::format(
      "\nplumbline: a rank was lost, or the run is to stop (mpirun says which); the checkpoints in "
      "{} are whole: --resume continues from the newest\n",
      path_in_quotes(folder));
}

int stopped(const training::Outcome& outcome, long updates) {
  if (ranks().first())
    std::cerr << fmt::format(
        "plumbline: stopped by SIG{} after update {} of {}, saved in {}; the same command with "
        "--resume continues\n",
        sigabbrev_np(outcome.signal), outcome.updates, updates, path_in_quotes(outcome.checkpoint));
  return 128 + outcome.signal;
}

/// The report may lie in the run's folder, but not where the run itself writes.
void expect_no_file_of_the_run(const TrainOptions& options) {
  if (options.json.empty() || options.json == "-") return;
  const auto place = [](const std::filesystem::path& path) {
    const auto plain = (behind_links(path) / "").parent_path();  // without a slash at its end
    return std::filesystem::weakly_canonical(std::filesystem::absolute(plain));
  };
  const auto json = place(options.json);
  if (json.parent_path() == place(options.habits.folder) &&
      training::is_of_run(json.filename().string()))
    throw BadInput("--json", path_in_quotes(options.json) + ", which the run itself writes (--out)",
                   "another file");
}

int train(const TrainOptions& options) {
  expect_no_file_of_the_run(options);
  const bool first = ranks().first();
  training::validate(options.settings);
  training::validate(options.habits);
  const long updates = options.habits.updates;
  std::optional<Interruption> interruption(words_at_signal(options.habits.folder));
  if (first) announce(options.settings, updates);
  std::optional<Report> json;
  if (!is_to_be_in(options.habits.folder, options.json)) json.emplace(first ? options.json : "");
  training::Run run(options.settings, options.habits, ranks());
  if (!json) json.emplace(first ? options.json : "");
  const bool prints = first && options.json != "-";
  if (prints && run.updates_made() > 0)
    std::cout << fmt::format("continuing after update {}\n", run.updates_made()) << std::flush;
  const long every = std::max(1L, updates / 20);
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::minutes silence{1};  // without a line
  auto last_line = Clock::now() - silence;    // the first update has one
  training::Outcome outcome;
  {
    Progress progress(updates);
    const auto report = [&](const training::Status& s) {
      if (s.validation_loss) draw_curves(options.habits.folder, progress);
      const bool telling = s.validation_loss || !s.saved.empty() || s.update % every == 0 ||
                           Clock::now() - last_line >= silence;
      if (prints && telling) {
        progress.clear();
        print(s);
        last_line = Clock::now();
      }
      progress.update(
          s.update, fmt::format("loss {:.3f}, norm {:.2f}, {:.0f} tokens/s, {:.0f} s left", s.loss,
                                s.norm, s.tokens_per_second, s.seconds_left));
    };
    outcome =
        run.train({.paced = [&](const auto& pace) { expect_pace(pace, options.hours_at_most); },
                   .report = report,
                   .signal = Interruption::signal});
  }
  interruption.reset();
  if (outcome.signal != 0) return stopped(outcome, updates);
  if (prints && options.settings.contrastive)
    std::cout << fmt::format(
        "validation loss {:.4f} nats per query; equal embeddings have {:.4f}\n",
        outcome.validation_loss, outcome.baseline.loss);
  else if (prints)
    std::cout << fmt::format(
        "validation loss {:.4f} nats per token (perplexity {:.2f}); the unigram entropy of the "
        "same "
        "tokens is {:.4f}\n",
        outcome.validation_loss, text::perplexity(outcome.validation_loss), outcome.baseline.loss);
  if (prints) std::cout << fmt::format("wrote {}\n", showable(outcome.checkpoint.native()));
  if (*json) json->write(to_text(to_json(outcome, options.settings)));
  return all_right;
}

/// What rank 0 finds in the folder of the run that is resumed, on all ranks.
long updates_declared(const TrainOptions& options) {
  double updates = 0;
  ranks().in_step([&] {
    ranks().together([&] {
      if (!ranks().first() || !options.habits.resume) return;
      updates = static_cast<double>(
          training::declared_updates({.folder = options.folder, .resume = true}));
    });
    ranks().communicator().sum({&updates, 1});
  });
  return static_cast<long>(updates);
}

}  // namespace

void add_train(CLI::App& app, Run& run, char** argv) {
  auto options = std::make_shared<TrainOptions>();
  auto* command = app.add_subcommand("train", train_description);
  add_train_options(*command, *options);
  command->footer("See docs/training.md.");
  command->callback([options, command, argv, &run] {
    run = [options, command, argv] {
      go_to_backend(options->backend, argv);
      try {
        return naming_options(*command, train_option_names(), [&] {
          TrainOptions given = *options;
          given.declared_updates = updates_declared(given);
          given.habits.rehearse = given.backend == "cuda";
          const TrainOptions all = completed(std::move(given), *command);
          try {
            return train(all);
          } catch (const training::OtherTerms& error) {
            throw in_options(error, all, *command);
          }
        });
      } catch (const training::Diverged& diverged) {
        std::cerr << "plumbline: " << diverged.what() << "\n";
        return static_cast<int>(verdict_against);
      } catch (const RankFailed& failure) {
        std::cerr << "plumbline: " << failure.what() << "\n";
        return static_cast<int>(failure.status());
      }
    };
  });
}

}  // namespace plumbline::cli
