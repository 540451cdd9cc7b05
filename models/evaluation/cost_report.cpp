// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "models/evaluation/cost.hpp"
#include "support/pictures/ticks.hpp"

namespace plumbline::evaluation {

namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

double value_of(const CostPoint& point, CostKind kind) {
  switch (kind) {
    case CostKind::prompt:
      return 1e3 * point.prompt_seconds;
    case CostKind::token:
      return 1e3 * point.token_seconds;
    default:
      return static_cast<double>(point.bytes) / mebibyte;
  }
}

/// Over the first method's at the same length; none where one of them was not measured.
std::optional<double> ratio(const CostPoint& point, const CostPoint& first, CostKind kind) {
  if (!point.refused.empty() || !first.refused.empty()) return std::nullopt;
  return value_of(point, kind) / value_of(first, kind);
}

std::string ratio_text(const CostPoint& point, const CostPoint& first, CostKind kind) {
  const auto value = ratio(point, first, kind);
  return value ? fmt::format("{:.2f}", *value) : "-";
}

nlohmann::ordered_json to_json(const CostPoint& point, const CostPoint& first) {
  nlohmann::ordered_json json{{"length", point.length}};
  if (!point.refused.empty()) {
    json["refused"] = point.refused;
    return json;
  }
  json["prompt_seconds"] = point.prompt_seconds;
  if (const auto value = ratio(point, first, CostKind::prompt)) json["prompt_ratio"] = *value;
  json["token_seconds"] = point.token_seconds;
  if (const auto value = ratio(point, first, CostKind::token)) json["token_ratio"] = *value;
  json["bytes"] = point.bytes;
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<MethodCost>& all) {
  auto methods = nlohmann::ordered_json::array();
  for (const MethodCost& method : all) {
    auto points = nlohmann::ordered_json::array();
    for (std::size_t n = 0; n < method.points.size(); ++n)
      points.push_back(to_json(method.points[n], all.front().points[n]));
    methods.push_back({{"position", method.position}, {"points", points}});
  }
  return {{"format", "plumbline-cost-1"},
          {"compared_with", all.front().position},
          {"methods", methods}};
}

std::string table(const std::vector<MethodCost>& all) {
  const std::string first_name = "/ " + all.front().position;
  std::string text =
      fmt::format("{:>6}  {:>18}  {:>12} {:>9}  {:>11} {:>9}  {:>10}\n", "length", "method",
                  "prompt (ms)", first_name, "token (ms)", first_name, "memory MiB");
  for (std::size_t n = 0; n < all.front().points.size(); ++n) {
    for (const MethodCost& method : all) {
      const CostPoint &point = method.points[n], &first = all.front().points[n];
      text += fmt::format("{:>6}  {:>18}  ", point.length, method.position);
      text += point.refused.empty() ? fmt::format("{:>12.2f} {:>9}  {:>11.2f} {:>9}  {:>10.2f}\n",
                                                  value_of(point, CostKind::prompt),
                                                  ratio_text(point, first, CostKind::prompt),
                                                  value_of(point, CostKind::token),
                                                  ratio_text(point, first, CostKind::token),
                                                  value_of(point, CostKind::memory))
                                    : "not measured: " + point.refused + "\n";
    }
  }
  return text;
}

pictures::Picture picture_of(const std::vector<MethodCost>& all, CostKind kind,
                             const std::string& machine) {
  const char* const names[] = {"prompt", "token", "memory"};
  const char* const titles[] = {"Time to read a sequence", "Time of one more token",
                                "Device memory of inference"};
  const char* const labels[] = {"milliseconds", "milliseconds", "MiB"};
  const auto k = static_cast<std::size_t>(kind);
  pictures::Picture picture;
  picture.name = names[k];
  picture.title = fmt::format("{}, {}", titles[k], machine);
  picture.description = fmt::format("{}, by length.", picture.title);
  std::vector<double> values;
  std::set<double> lengths;
  for (const MethodCost& method : all) {
    pictures::Curve curve{method.position, {}, {}, pictures::Curve::Mark::marked_line};
    for (const CostPoint& point : method.points) {
      if (!point.refused.empty()) continue;
      curve.x.push_back(point.length);
      curve.y.push_back(value_of(point, kind));
      values.push_back(curve.y.back());
      lengths.insert(point.length);
      picture.description +=
          fmt::format(" {} at {}: {:.3g}.", method.position, point.length, curve.y.back());
    }
    if (!curve.x.empty()) picture.curves.push_back(std::move(curve));
  }
  picture.x = pictures::axis_over("length (tokens)", {lengths.begin(), lengths.end()}, true);
  picture.x.at.assign(lengths.begin(), lengths.end());
  picture.y = pictures::axis_over(labels[k], values, true);
  return picture;
}

}  // namespace plumbline::evaluation
