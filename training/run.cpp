// SPDX-License-Identifier: Apache-2.0
#include "training/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <span>

#include "model/initial_values.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/folder_lock.hpp"
#include "support/text.hpp"
#include "train/trainer.hpp"
#include "training/folder.hpp"
#include "training/log.hpp"
#include "training/objective.hpp"
#include "training/terms.hpp"

namespace plumbline::training {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Wanted>
const Wanted& checked(const Wanted& wanted) {
  validate(wanted);
  return wanted;
}

std::unique_ptr<text::Tokenizer> tokenizer_for(const Settings& settings) {
  auto tokenizer = text::open_tokenizer(settings.tokenizer);
  if (settings.model.vocabulary < tokenizer->vocabulary())
    throw BadInput("vocabulary", std::to_string(settings.model.vocabulary),
                   fmt::format("at least {}, as many as the tokenizer {} has",
                               tokenizer->vocabulary(), in_quotes(settings.tokenizer)));
  return tokenizer;
}

/// The newest checkpoint's state; a refusal tells which one is before it.
State resumed(const std::filesystem::path& newest, const Habits& habits, const Settings& settings,
              const gpu::ParameterLayout& layout, const Terms& terms) {
  try {
    return load_checkpoint(newest, settings.model, layout, terms);
  } catch (const OtherTerms&) {
    throw;  // those before it have the same terms
  } catch (const BadInput& error) {
    const auto all = checkpoints_in(habits.folder);
    if (all.size() < 2) throw;
    throw BadInput(fmt::format("--resume (the checkpoint before it is {}; move the newest away to "
                               "go on from there)",
                               path_in_quotes(all[all.size() - 2])),
                   error);
  }
}

}  // namespace

struct Run::Parts {
  /// Every rank for itself.
  Parts(const Settings& wanted, const Habits& wanted_habits, Ranks& of_run)
      : settings(checked(wanted)),
        habits(checked(wanted_habits)),
        tokenizer(tokenizer_for(settings)),
        objective(make_objective(settings, *tokenizer)),
        terms(terms_of(settings, objective->data())),
        ranks(of_run),
        trainer(settings.model,
                {.batch = settings.part,
                 .length = settings.length,
                 .deterministic = settings.deterministic,
                 .dropout_seed = settings.seed},
                settings.optimizer, ranks.communicator()) {
    const int parts = settings.batch / settings.part;
    if (ranks.count() > parts)
      throw BadInput("ranks", std::to_string(ranks.count()),
                     fmt::format("at most {}, the parts of an update: --batch {} / --part {}",
                                 parts, settings.batch, settings.part));
  }

  void begin_or_resume() {
    if (habits.resume) newest_checkpoint(habits);  // before anything is made
    lock.emplace(made(habits.folder));
    const std::filesystem::path newest = newest_checkpoint(habits);
    remove_partial_files(habits.folder);
    if (newest.empty()) {
      trainer.set_parameters(initial_values());
      save();  // whatever happens from now on, there is something to resume
    } else {
      const State state = resumed(newest, habits, settings, trainer.layout(), terms);
      updates = state.updates;
      trainer.set_parameters(state.parameters);
      trainer.set_moments(state.mean, state.mean_square);
      remove_old_checkpoints(habits);  // the killed run may have saved and not come that far
    }
    write_file(habits.folder / "run.json", terms.dump(2) + "\n");
    log.emplace(habits.folder / "log.jsonl", updates);
  }

  /// Rank 0 goes to the folder when nobody has an objection, and tells where to begin.
  void begin_together() {
    const std::string own = terms.dump();
    const bool same = ranks.as_on_first(std::as_bytes(std::span(own)));
    ranks.together([&] {
      if (!same)
        throw BadInput("data, or an option,", "another than rank 0's", "the same on all ranks");
    });
    on_first_rank([&] { begin_or_resume(); });
    double begun = static_cast<double>(updates);  // 0 elsewhere
    ranks.communicator().sum({&begun, 1});
    updates = static_cast<long>(begun);
    trainer.share_parameters();
  }

  /// Returns the mean loss and adds up the gradients of update `n`.
  double add_parts(long n) {
    std::vector<double> losses;  // each part's on its own rank, 0 elsewhere: the sum is exact
    ranks.together([&] {
      losses.resize(objective->begin(trainer, n));
      const gpu::PartRange own = trainer.begin(static_cast<int>(losses.size()));
      for (int k = own.begin; k < own.end; ++k) losses[k] = objective->add(trainer, k);
    });
    ranks.communicator().sum(losses);
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

  /// What a checkpoint stands for must be what every rank goes on from.
  void check_parameters() {
    if (ranks.count() == 1) return;
    std::vector<float> own;
    ranks.together([&] { own = trainer.parameters(); });
    const bool same = ranks.as_on_first(std::as_bytes(std::span(own)));
    ranks.together([&] {
      if (!same)
        throw std::runtime_error(
            fmt::format("after update {} its parameters are others than rank 0's, which must not "
                        "be; the checkpoints in {} are as they were",
                        updates, path_in_quotes(habits.folder)));
    });
  }

  std::vector<float> initial_values() const {
    if (settings.initial) return *settings.initial;
    std::vector<float> values(trainer.layout().size());
    gpu::set_initial_values(trainer.layout(), settings.seed, values);
    return values;
  }

  double validation_loss() { return objective->validation_loss(trainer, habits.evaluation_rows); }

  bool due(long every) const {
    return updates == settings.schedule.updates || (every > 0 && updates % every == 0);
  }

  /// Adds what was evaluated and saved to the status of an update that was made.
  void write(Status& status, double tokens_per_update) {
    nlohmann::ordered_json line{{"update", status.update},
                                {"tokens", static_cast<double>(status.update) * tokens_per_update},
                                {"loss", status.loss},
                                {"norm", status.norm},
                                {"learning_rate", status.learning_rate},
                                {"tokens_per_second", status.tokens_per_second}};
    if (due(habits.evaluate_every)) {
      status.validation_loss = validation_loss();
      line["validation_loss"] = *status.validation_loss;
    }
    log->write(line);
    if (due(habits.save_every)) status.saved = save();
  }

  /// The others wait for it.
  template <class Work>
  void on_first_rank(Work work) {
    ranks.together([&] {
      if (ranks.first()) work();
    });
  }

  Outcome train(const std::function<void(const Status&)>& report) {
    const long all = settings.schedule.updates, begun = updates;
    const double tokens = static_cast<double>(objective->tokens_per_update());
    const auto start = Clock::now();
    while (updates < all) {
      const auto begin = Clock::now();
      Status status;
      status.updates = all;
      status.learning_rate = gpu::learning_rate(settings.schedule, updates);
      status.loss = add_parts(updates);
      status.norm = trainer.update(updates, status.learning_rate);
      if (!std::isfinite(status.norm)) ranks.together([&] { throw diverged(status.loss); });
      status.update = ++updates;
      status.tokens_per_second = tokens / seconds_since(begin);
      status.seconds_left = seconds_since(start) * (all - updates) / (updates - begun);
      if (due(habits.save_every)) check_parameters();
      on_first_rank([&] {
        try {
          write(status, tokens);
        } catch (const BadInput& error) {  // a full disk
          throw BadInput(fmt::format("after update {} (the checkpoints in {} are whole; --resume "
                                     "goes on from the newest)",
                                     updates, path_in_quotes(habits.folder)),
                         error);
        }
        report(status);
      });
    }
    Outcome outcome;
    on_first_rank([&] {
      outcome.updates = updates;
      outcome.validation_loss = validation_loss();
      outcome.baseline = objective->baseline();
      outcome.checkpoint = checkpoints_in(habits.folder).back();
    });
    return outcome;
  }

  Diverged diverged(double loss) const {
    return Diverged(
        fmt::format("the gradient of update {} is not finite (its loss is {}); the checkpoints in "
                    "{} are as they were",
                    updates + 1, loss, path_in_quotes(habits.folder)));
  }

  std::filesystem::path save() {
    const std::filesystem::path path = checkpoint_path(habits.folder, updates);
    save_checkpoint(path, settings.model, trainer.layout(), terms,
                    {updates, trainer.parameters(), trainer.mean(), trainer.mean_square()});
    remove_old_checkpoints(habits);
    return path;
  }

  const Settings settings;
  const Habits habits;
  const std::unique_ptr<text::Tokenizer> tokenizer;
  const std::unique_ptr<Objective> objective;
  const Terms terms;
  Ranks& ranks;
  gpu::Trainer trainer;
  std::optional<FolderLock> lock;  // what is written is rank 0's
  std::optional<Log> log;
  long updates = 0;  ///< made
};

Run::Run(const Settings& settings, const Habits& habits, Ranks& ranks) {
  ranks.in_step([&] {
    ranks.together([&] { parts_ = std::make_unique<Parts>(settings, habits, ranks); });
    parts_->begin_together();
  });
}

Run::~Run() = default;

long Run::updates_made() const { return parts_->updates; }

Outcome Run::train(const std::function<void(const Status&)>& report) {
  Outcome outcome;
  parts_->ranks.in_step([&] { outcome = parts_->train(report); });
  return outcome;
}

}  // namespace plumbline::training
