// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/needles_report.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace plumbline::evaluation {

nlohmann::ordered_json to_json(const NeedleResult& result) {
  const NeedleSettings& s = result.settings;
  auto scores = nlohmann::ordered_json::array();
  for (const NeedleCell& cell : result.cells) {
    nlohmann::ordered_json row{{"task", cell.task}, {"length", cell.length}};
    if (cell.refused.empty()) {
      row["score"] = cell.score;
    } else {
      row["refused"] = cell.refused;
    }
    scores.push_back(std::move(row));
  }
  return {{"format", "plumbline-needles-1"},
          {"seed", s.seed},
          {"prompts", s.prompts},
          {"answer_room", s.answer_room},
          {"scores", std::move(scores)}};
}

std::string table(const NeedleResult& result) {
  const NeedleSettings& s = result.settings;
  std::string text = fmt::format("{:<10}", "task");
  for (const int length : s.lengths) text += fmt::format("  {:>7}", length);
  text += "\n";
  std::map<int, std::string> refused;  // by length: the tasks do not matter
  for (std::size_t task = 0; task < s.tasks.size(); ++task) {
    text += fmt::format("{:<10}", s.tasks[task]);
    for (std::size_t length = 0; length < s.lengths.size(); ++length) {
      const NeedleCell& cell = result.cell(task, length);
      if (cell.refused.empty()) {
        text += fmt::format("  {:>7.3f}", cell.score);
      } else {
        text += fmt::format("  {:>7}", "-");
        refused[cell.length] = cell.refused;
      }
    }
    text += "\n";
  }
  for (const auto& [length, why] : refused) {
    text += fmt::format("{} tokens not measured: {}\n", length, why);
  }
  return text;
}

pictures::HeatMap heat_map(const NeedleResult& result, const std::string& of) {
  const NeedleSettings& s = result.settings;
  pictures::HeatMap map;
  map.name = "needles";
  map.title = "Needles found: " + of;
  map.description = "The share of the answers that were said, by task and length.";
  map.x_label = "tokens of prompt and answer";
  map.rows = s.tasks;
  for (const int length : s.lengths) map.columns.push_back(std::to_string(length));
  for (std::size_t task = 0; task < s.tasks.size(); ++task) {
    auto& values = map.values.emplace_back();
    for (std::size_t length = 0; length < s.lengths.size(); ++length) {
      const NeedleCell& cell = result.cell(task, length);
      values.push_back(cell.refused.empty() ? cell.score
                                            : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return map;
}

}  // namespace plumbline::evaluation
