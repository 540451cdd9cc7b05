// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "evaluation/cost.hpp"
#include "pictures/ticks.hpp"

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

/// Over the first method's at the same length; 0 where one of them was not measured.
double ratio(const CostPoint& point, const CostPoint& first, CostKind kind) {
  if (!point.refused.empty() || !first.refused.empty()) return 0.0;
  return value_of(point, kind) / value_of(first, kind);
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<MethodCost>& all) {
  auto methods = nlohmann::ordered_json::array();
  for (const MethodCost& method : all) {
    auto points = nlohmann::ordered_json::array();
    for (std::size_t n = 0; n < method.points.size(); ++n) {
      const CostPoint &point = method.points[n], &first = all.front().points[n];
      if (!point.refused.empty()) {
        points.push_back({{"length", point.length}, {"refused", point.refused}});
        continue;
      }
      points.push_back({{"length", point.length},
                        {"prompt_seconds", point.prompt_seconds},
                        {"prompt_ratio", ratio(point, first, CostKind::prompt)},
                        {"token_seconds", point.token_seconds},
                        {"token_ratio", ratio(point, first, CostKind::token)},
                        {"bytes", point.bytes}});
    }
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
      text +=
          point.refused.empty()
              ? fmt::format("{:>12.2f} {:>9.2f}  {:>11.2f} {:>9.2f}  {:>10.2f}\n",
                            value_of(point, CostKind::prompt),
                            ratio(point, first, CostKind::prompt), value_of(point, CostKind::token),
                            ratio(point, first, CostKind::token), value_of(point, CostKind::memory))
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
