// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/perplexity_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "models/text/entropy.hpp"
#include "support/pictures/ticks.hpp"

namespace plumbline::evaluation {

namespace {

bool measured(const PerplexityPoint& point) { return point.refused.empty(); }

std::string cell(const PerplexityPoint& point) {
  return measured(point) ? fmt::format("{:.2f}", text::perplexity(point.loss)) : "-";
}

nlohmann::ordered_json to_json(const PerplexityPoint& point) {
  if (!measured(point)) return {{"length", point.length}, {"refused", point.refused}};
  return {{"length", point.length},
          {"windows", point.windows},
          {"tokens", point.tokens},
          {"loss", point.loss},
          {"standard_error", point.standard_error},
          {"perplexity", text::perplexity(point.loss)},
          {"seconds", point.seconds}};
}

pictures::Curve curve_of(const ModelPerplexity& model) {
  pictures::Curve curve{model.label, {}, {}, pictures::Curve::Mark::marked_line};
  for (const PerplexityPoint& point : model.points) {
    if (!measured(point)) continue;
    curve.x.push_back(point.length);
    curve.y.push_back(text::perplexity(point.loss));
  }
  return curve;
}

}  // namespace

nlohmann::ordered_json to_json(const PerplexitySettings& settings,
                               const std::vector<ModelPerplexity>& all) {
  auto models = nlohmann::ordered_json::array();
  for (const ModelPerplexity& model : all) {
    auto points = nlohmann::ordered_json::array();
    for (const PerplexityPoint& point : model.points) points.push_back(to_json(point));
    models.push_back({{"label", model.label},
                      {"path", model.path},
                      {"position", model.position},
                      {"trained_length", model.trained_length},
                      {"points", points}});
  }
  return {{"format", "plumbline-perplexity-1"},
          {"lengths", settings.lengths},
          {"last", settings.last},
          {"models", models}};
}

std::string table(const std::vector<ModelPerplexity>& all) {
  std::size_t widest = 6;
  for (const ModelPerplexity& model : all) widest = std::max(widest, model.label.size());
  std::string text = fmt::format("{:>{}}", "length", widest), notes;
  for (const PerplexityPoint& point : all.front().points)
    text += fmt::format("  {:>8}", point.length);
  for (const ModelPerplexity& model : all) {
    text += fmt::format("\n{:>{}}", model.label, widest);
    for (const PerplexityPoint& point : model.points) {
      text += fmt::format("  {:>8}", cell(point));
      if (!measured(point))
        notes += fmt::format("-: {} at {}: {}\n", model.label, point.length, point.refused);
    }
  }
  return text + "\n" + notes;
}

pictures::Picture picture(const PerplexitySettings& settings,
                          const std::vector<ModelPerplexity>& all) {
  pictures::Picture picture{.name = "perplexity",
                            .title = "Perplexity against context length",
                            .description = "One line a model; lower is better.",
                            .x = {},
                            .y = {},
                            .curves = {},
                            .maps = {}};
  std::vector<double> perplexities;
  std::set<int> trained;
  for (const ModelPerplexity& model : all) {
    trained.insert(model.trained_length);
    picture.description += " " + model.label + ":";
    for (const PerplexityPoint& point : model.points) {
      picture.description += fmt::format(" {} at {},", cell(point), point.length);
      if (measured(point)) perplexities.push_back(text::perplexity(point.loss));
    }
    picture.description.back() = '.';
    pictures::Curve curve = curve_of(model);
    if (!curve.x.empty()) picture.curves.push_back(std::move(curve));
  }
  if (trained.size() == 1) picture.title += fmt::format("; trained at {} tokens", *trained.begin());

  const std::set<int> lengths(settings.lengths.begin(), settings.lengths.end());
  picture.x =
      pictures::axis_over("context length (tokens)", {lengths.begin(), lengths.end()}, true);
  picture.x.at.assign(lengths.begin(), lengths.end());
  picture.y = pictures::axis_over("perplexity", perplexities, true);
  return picture;
}

}  // namespace plumbline::evaluation
