// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "support/atomic_file.hpp"
#include "support/error.hpp"
#include "support/pictures/svg.hpp"
#include "support/pictures/ticks.hpp"
#include "support/text.hpp"

namespace plumbline::evaluation {

namespace {

using pictures::Curve;
using pictures::Picture;

/// NaN for null: JSON has no other word for a loss that is not finite.
double number(const nlohmann::json& line, const char* field, const std::string& place) {
  const auto found = line.find(field);
  if (found != line.end() && found->is_null()) return std::nan("");
  if (found == line.end() || !found->is_number())
    throw BadInput(place, found == line.end() ? "missing" : found->dump(),
                   fmt::format("the number \"{}\" of a training run's log", field));
  return found->get<double>();
}

/// What a loss of the run counts: run.json, beside the log, says what was trained.
std::string unit_of(const std::filesystem::path& run) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(run / "run.json", none)) return "nats per token";
  const auto terms = nlohmann::json::parse(read_file(run / "run.json"), nullptr, false);
  const bool contrastive = terms.is_object() && terms.contains("objective") &&
                           terms["objective"].is_object() &&
                           terms["objective"].value("kind", "") == "contrastive";
  return contrastive ? "nats" : "nats per token";
}

/// At most about 500 points of a curve: each the mean of as many neighbours as it takes.
Curve thinned(const std::string& label, const std::vector<double>& x, const std::vector<double>& y,
              Curve::Mark mark) {
  Curve curve{label, {}, {}, mark};
  const std::size_t group = (x.size() + 499) / 500;
  for (std::size_t first = 0; first < x.size(); first += group) {
    const std::size_t end = std::min(first + group, x.size());
    double sum = 0.0;
    for (std::size_t n = first; n < end; ++n) sum += y[n];
    curve.x.push_back(x[end - 1]);
    curve.y.push_back(sum / static_cast<double>(end - first));
  }
  return curve;
}

Picture over_updates(const std::string& name, const std::string& title, const std::string& y_label,
                     std::vector<Curve> curves, bool logarithmic) {
  std::vector<double> x, y;
  std::string description = title + ".";
  for (const Curve& curve : curves) {
    x.insert(x.end(), curve.x.begin(), curve.x.end());
    y.insert(y.end(), curve.y.begin(), curve.y.end());
    description += fmt::format(" {}: from {:.4g} at update {} to {:.4g} at update {}.", curve.label,
                               curve.y.front(), curve.x.front(), curve.y.back(), curve.x.back());
  }
  return {name,
          title,
          description,
          {"updates", 0.0, *std::ranges::max_element(x)},
          pictures::axis_over(y_label, y, logarithmic),
          std::move(curves),
          {}};
}

}  // namespace

TrainingLog read_log(const std::filesystem::path& run, const std::string& label) {
  const std::filesystem::path path = run / "log.jsonl";
  const std::string text = read_file(path);
  TrainingLog log{label, {}, {}, {}, {}, {}, {}, unit_of(run)};
  int lines = 0;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string place = fmt::format("{}, line {}", path_in_quotes(path), ++lines);
    const auto line =
        nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                              text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_object())
      throw BadInput(place, in_quotes(text.substr(begin, end - begin)), "a JSON object");
    log.updates.push_back(number(line, "update", place));
    log.losses.push_back(number(line, "loss", place));
    log.norms.push_back(number(line, "norm", place));
    log.learning_rates.push_back(number(line, "learning_rate", place));
    if (line.contains("validation_loss")) {
      log.evaluated.push_back(log.updates.back());
      log.validation_losses.push_back(number(line, "validation_loss", place));
    }
  }
  if (log.updates.empty())
    throw BadInput(path_in_quotes(path), "without a line", "a run that made an update");
  return log;
}

std::vector<NamedPicture> training_curves(const std::vector<TrainingLog>& runs) {
  if (runs.empty()) throw std::logic_error("curves of no run");
  const auto other_unit = [&](const TrainingLog& run) { return run.unit != runs.front().unit; };
  const std::string unit = std::ranges::any_of(runs, other_unit) ? "nats" : runs.front().unit;
  std::vector<Curve> losses, validation, norms, rates;
  for (const TrainingLog& run : runs) {
    const bool alone = runs.size() == 1;
    const auto label = [&](const char* what) { return alone ? what : run.label; };
    losses.push_back(thinned(label("training"), run.updates, run.losses, Curve::Mark::line));
    if (!run.evaluated.empty())
      validation.push_back(thinned(label("validation"), run.evaluated, run.validation_losses,
                                   Curve::Mark::marked_line));
    norms.push_back(thinned(label("norm"), run.updates, run.norms, Curve::Mark::line));
    rates.push_back(
        thinned(label("learning rate"), run.updates, run.learning_rates, Curve::Mark::line));
  }
  std::vector<NamedPicture> all;
  if (runs.size() == 1) {
    losses.insert(losses.end(), validation.begin(), validation.end());
    validation.clear();
  }
  all.push_back(
      {"loss.svg", over_updates("loss", "Loss in training", unit, std::move(losses), false)});
  if (!validation.empty())
    all.push_back(
        {"validation_loss.svg", over_updates("validation_loss", "Loss on the validation part", unit,
                                             std::move(validation), false)});
  all.push_back({"norm.svg", over_updates("norm", "Norm of the gradient, before clipping", "norm",
                                          std::move(norms), true)});
  all.push_back({"learning_rate.svg",
                 over_updates("learning_rate", "Learning rate", "rate", std::move(rates), false)});
  return all;
}

void write_training_curves(const std::vector<TrainingLog>& runs,
                           const std::filesystem::path& folder) {
  for (const NamedPicture& named : training_curves(runs))
    write_file(folder / named.file, pictures::svg_file(named.picture));
}

}  // namespace plumbline::evaluation
