// SPDX-License-Identifier: Apache-2.0
#include "models/training/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "model/initial_values.hpp"
#include "models/training/folder.hpp"
#include "models/training/log.hpp"
#include "models/training/objective.hpp"
#include "models/training/terms.hpp"
#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/folder_lock.hpp"
#include "support/text.hpp"
#include "train/trainer.hpp"

namespace plumbline::training {

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
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
                               "continue from there)",
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
        all(habits.updates > 0 ? habits.updates : settings.schedule.updates),
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
    if (newest.empty()) return trainer.set_parameters(initial_values());
    const State state = resumed(newest, habits, settings, trainer.layout(), terms);
    if (state.updates > all)
      throw BadInput("updates", std::to_string(all),
                     fmt::format("at least {}: so many has the run in {} made already",
                                 state.updates, path_in_quotes(habits.folder)));
    updates = saved = state.updates;
    trainer.set_parameters(state.parameters);
    trainer.set_moments(state.mean, state.mean_square);
  }

  /// From here on the folder is written to.
  void open_folder() {
    if (log) return;
    remove_partial_files(habits.folder);
    if (saved != updates) save();    // whatever happens from now on, there is something to resume
    remove_old_checkpoints(habits);  // a killed run may have saved and not come that far
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
    first = updates = static_cast<long>(begun);
    trainer.share_parameters();
  }

  /// The gradients of an update, while this rank adds its own.
  struct Gradients {
    std::vector<double> losses;  ///< each part's on its own rank, 0 elsewhere: the sum is exact
    gpu::PartRange left;         ///< parts of this rank
    int signal = 0;              ///< that asks this rank to stop
  };

  Gradients begin_update(long n) {
    Gradients g;
    g.losses.resize(objective->begin(trainer, n));
    g.left = trainer.begin(static_cast<int>(g.losses.size()));
    return g;
  }

  void add_parts(Gradients& g, int count, const Watcher& watcher) {
    for (; count > 0 && g.signal == 0; --count, ++g.left.begin) {
      g.signal = watcher.signal();
      if (g.signal != 0) return;
      g.losses[g.left.begin] = objective->add(trainer, g.left.begin);
    }
  }

  /// @param before seconds of an update before its parts, @param part of one.
  Pace pace(int parts, double before, double part) const {
    const double more = (parts - 1) / ranks.count() * part;  // of the rank with the most
    const double update = before + part + more;
    return {.tokens_per_second = static_cast<double>(tokens_per_update(settings)) / update,
            .seconds_to_line = more,
            .seconds_to_end = more + static_cast<double>(all - updates - 1) * update};
  }

  /// The first part of the first update, and what its time says. Returns what no update takes.
  Clock::duration begin_run(Gradients& g, const Watcher& watcher) {
    const auto start = Clock::now();
    Clock::time_point begin, middle, end;
    ranks.together([&] {
      if (habits.rehearse) {
        g = begin_update(updates);
        add_parts(g, 1, watcher);
        trainer.wait();
      }
      begin = Clock::now();
      g = begin_update(updates);
      middle = Clock::now();
      add_parts(g, 1, watcher);
      trainer.wait();
      end = Clock::now();
    });
    on_first_rank([&] {
      if (g.signal == 0)
        watcher.paced(
            pace(static_cast<int>(g.losses.size()), seconds(begin, middle), seconds(middle, end)));
      open_folder();
    });
    return Clock::now() - start - (end - begin);
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

  bool due(long every) const { return updates == all || (every > 0 && updates % every == 0); }

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

  /// Whether an update is reported before the next one begins. Else one rank alone waits for none
  /// of its updates: that an update was made is reported when the next one's losses are there.
  bool reports_at_once() const {
    return ranks.count() > 1 || updates == first + 1 || due(habits.save_every) ||
           due(habits.evaluate_every);
  }

  /// Reports the last update, unless that is done.
  void report(const Watcher& watcher) {
    if (!unreported) return;
    Status status = *std::exchange(unreported, std::nullopt);
    status.norm = trainer.norm();
    if (!std::isfinite(status.norm)) ranks.together([&] { throw diverged(status); });
    if (due(habits.save_every)) check_parameters();
    on_first_rank([&] {
      try {
        write(status, static_cast<double>(tokens_per_update(settings)));
      } catch (const BadInput& error) {  // a full disk
        throw BadInput(fmt::format("after update {} (the checkpoints in {} are whole; --resume "
                                   "continues from the newest)",
                                   updates, path_in_quotes(habits.folder)),
                       error);
      }
      watcher.report(status);
    });
  }

  Outcome train(const Watcher& watcher) {
    const double tokens = static_cast<double>(tokens_per_update(settings));
    auto start = Clock::now(), begin = start;
    int signal = 0;
    while (updates < all) {
      Gradients g;
      if (updates == first) {
        const Clock::duration aside = begin_run(g, watcher);
        start += aside;
        begin += aside;
      }
      ranks.together([&] {
        if (updates != first) g = begin_update(updates);
        add_parts(g, g.left.size(), watcher);
      });
      report(watcher);
      signal = ranks.any_of(g.signal);
      if (signal != 0) break;  // without this update
      ranks.communicator().sum(g.losses);
      Status status;
      status.updates = all;
      status.learning_rate = gpu::learning_rate(settings.schedule, updates);
      status.loss = std::accumulate(g.losses.begin(), g.losses.end(), 0.0);
      trainer.update(updates, status.learning_rate);
      status.update = ++updates;
      const bool at_once = reports_at_once();
      if (at_once) trainer.wait();
      const auto end = Clock::now();
      status.tokens_per_second = tokens / seconds(begin, end);
      status.seconds_left = seconds(start, end) * static_cast<double>(all - updates) /
                            static_cast<double>(updates - first);
      begin = end;
      unreported = status;
      if (!at_once) continue;
      report(watcher);
      begin = Clock::now();
    }
    if (signal != 0) check_parameters();
    Outcome outcome;
    outcome.signal = signal;
    on_first_rank([&] {
      open_folder();  // of a run that had ended already
      outcome.updates = updates;
      if (saved != updates) save();
      outcome.checkpoint = checkpoint_path(habits.folder, updates);
      if (signal != 0) return;
      outcome.validation_loss = validation_loss();
      outcome.baseline = objective->baseline();
    });
    return outcome;
  }

  Diverged diverged(const Status& status) const {
    return Diverged(
        fmt::format("the gradient of update {} is not finite (its loss is {}); the checkpoints in "
                    "{} are as they were",
                    status.update, status.loss, path_in_quotes(habits.folder)));
  }

  std::filesystem::path save() {
    const std::filesystem::path path = checkpoint_path(habits.folder, updates);
    save_checkpoint(path, settings.model, trainer.layout(), terms,
                    {updates, trainer.parameters(), trainer.mean(), trainer.mean_square()});
    remove_old_checkpoints(habits);
    saved = updates;
    return path;
  }

  const Settings settings;
  const Habits habits;
  const long all;  ///< updates
  const std::unique_ptr<text::Tokenizer> tokenizer;
  const std::unique_ptr<Objective> objective;
  const Terms terms;
  Ranks& ranks;
  gpu::Trainer trainer;
  std::optional<FolderLock> lock;  // what is written is rank 0's
  std::optional<Log> log;
  std::optional<Status> unreported;  ///< of the last update
  long updates = 0;                  ///< made
  long first = 0;                    ///< made before this process
  long saved = -1;                   ///< that the newest checkpoint has
};

Run::Run(const Settings& settings, const Habits& habits, Ranks& ranks) {
  ranks.in_step([&] {
    ranks.together([&] { parts_ = std::make_unique<Parts>(settings, habits, ranks); });
    parts_->begin_together();
  });
}

Run::~Run() = default;

long Run::updates_made() const { return parts_->updates; }

Outcome Run::train(const Watcher& watcher) {
  Outcome outcome;
  parts_->ranks.in_step([&] { outcome = parts_->train(watcher); });
  return outcome;
}

}  // namespace plumbline::training
