// SPDX-License-Identifier: Apache-2.0
#include "models/evaluation/passkey_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace plumbline::evaluation {
namespace {

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// 0 to 9: the tenth that the accuracy is in; # for all keys, . for none.
char character(double accuracy) {
  if (accuracy >= 1) return '#';
  if (accuracy <= 0) return '.';
  return static_cast<char>('0' + static_cast<int>(10 * accuracy));
}

}  // namespace

nlohmann::ordered_json to_json(const PasskeyResult& result) {
  const PasskeySettings& s = result.settings;
  auto places = nlohmann::ordered_json::array(), means = places, lengths = places;
  const bool any = std::any_of(result.lengths.begin(), result.lengths.end(),
                               [](const PasskeyLength& l) { return l.refused.empty(); });
  for (int depth = 0; depth < s.depths; ++depth) {
    places.push_back(result.place(depth));
    if (any) means.push_back(result.accuracy_at_depth(depth));
  }
  for (const PasskeyLength& length : result.lengths) {
    nlohmann::ordered_json row{{"length", length.length}};
    if (!length.refused.empty()) {
      row["refused"] = length.refused;
    } else {
      row["accuracy"] = result.accuracy(length);
      row["digit_accuracy"] = result.digit_accuracy(length);
      row["accuracy_by_depth"] = nlohmann::ordered_json::array();
      for (const PasskeyCell& cell : length.cells) {
        row["accuracy_by_depth"].push_back(result.accuracy(cell));
      }
    }
    lengths.push_back(std::move(row));
  }
  return {{"format", "plumbline-passkey-1"},
          {"seed", s.seed},
          {"prompts", s.prompts},
          {"depths", std::move(places)},
          {"lengths", std::move(lengths)},
          {"accuracy_by_depth", std::move(means)}};
}

std::string table(const PasskeyResult& result) {
  std::string text = fmt::format("{:>8}  {:>8}  {:>6}  {}\n", "length", "accuracy", "digits",
                                 "by depth, front to end: # all keys, 9-0 tenths, . none");
  for (const PasskeyLength& length : result.lengths) {
    if (!length.refused.empty()) {
      text += fmt::format("{:>8}  not measured: {}\n", length.length, length.refused);
      continue;
    }
    std::string depths;
    for (const PasskeyCell& cell : length.cells) depths += character(result.accuracy(cell));
    text += fmt::format("{:>8}  {:>8.3f}  {:>6.3f}  {}\n", length.length, result.accuracy(length),
                        result.digit_accuracy(length), depths);
  }
  return text;
}

pictures::HeatMap heat_map(const PasskeyResult& result, const std::string& of) {
  pictures::HeatMap map;
  map.name = "passkey";
  map.title = "Passkeys retrieved: " + of;
  map.description =
      "The share of the prompts whose five-digit key was said in full, by length and by the place "
      "of the key; the last column and the bottom row are means.";
  map.x_label = "tokens of prompt and answer";
  map.y_label = "share of the filler before the key";
  for (const PasskeyLength& length : result.lengths) {
    map.columns.push_back(std::to_string(length.length));
  }
  map.columns.emplace_back("mean");
  for (int depth = 0; depth < result.settings.depths; ++depth) {
    map.rows.push_back(fmt::format("{:.2f}", result.place(depth)));
    auto& values = map.values.emplace_back();
    for (const PasskeyLength& length : result.lengths) {
      values.push_back(length.refused.empty()
                           ? result.accuracy(length.cells[static_cast<std::size_t>(depth)])
                           : not_measured);
    }
    values.push_back(result.accuracy_at_depth(depth));
  }
  map.rows.emplace_back("mean");
  auto& means = map.values.emplace_back();
  double sum = 0;
  int measured = 0;
  for (const PasskeyLength& length : result.lengths) {
    means.push_back(length.refused.empty() ? result.accuracy(length) : not_measured);
    if (!length.refused.empty()) continue;
    sum += means.back();
    ++measured;
  }
  means.push_back(measured ? sum / measured : not_measured);
  return map;
}

}  // namespace plumbline::evaluation
