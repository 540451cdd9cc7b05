// SPDX-License-Identifier: Apache-2.0
#include "support/pictures/ticks.hpp"

#include <fmt/format.h>

#include <cmath>

namespace plumbline::pictures {
namespace {

/// The largest of 1, 2, 5 times a power of ten that divides the range into three steps at least.
double step_of(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range)));
  for (const double step : {2.0, 1.0, 0.5, 0.2}) {
    if (range / (step * power) >= 3.0) return step * power;
  }
  return 0.1 * power;
}

/// 1, 2 and 5 times 10^first, ..., 10^last within the axis.
std::vector<double> multiples_of_powers(const Axis& axis, int first, int last) {
  std::vector<double> values;
  for (int k = first; k <= last; ++k) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, k), at = position(value, axis);
      if (at >= -1e-9 && at <= 1 + 1e-9) values.push_back(value);
    }
  }
  return values;
}

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent))) text += digits[c - '0'];
  return text;
}

}  // namespace

double position(double value, const Axis& axis) {
  if (!axis.logarithmic) return (value - axis.from) / (axis.to - axis.from);
  return std::log(value / axis.from) / std::log(axis.to / axis.from);
}

std::vector<double> ticks(const Axis& axis) {
  if (!axis.at.empty()) return axis.at;
  std::vector<double> values;
  const double rounding = 1e-9;  // a tick at the very end of the axis stays in
  if (axis.logarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(axis.from) - rounding));
    const int last = static_cast<int>(std::floor(std::log10(axis.to) + rounding));
    const int stride = 1 + (last - first) / 6;
    for (int k = first; k <= last; ++k) {
      if (k % stride == 0) values.push_back(std::pow(10.0, k));
    }
    if (values.size() >= 3) return values;
    values = multiples_of_powers(axis, first - 1, last);
    if (values.size() >= 3) return values;
    values.clear();
  }
  const double step = step_of(axis.to - axis.from);
  const long first = std::lround(std::ceil(axis.from / step - rounding));
  const long last = std::lround(std::floor(axis.to / step + rounding));
  for (long k = first; k <= last; ++k) values.push_back(static_cast<double>(k) * step);
  return values;
}

Axis axis_over(std::string label, const std::vector<double>& values, bool logarithmic) {
  double lowest = INFINITY, highest = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
    lowest = std::fmin(lowest, value);
    highest = std::fmax(highest, value);
  }
  if (lowest > highest && logarithmic) return axis_over(std::move(label), values);
  if (lowest > highest) return {std::move(label)};
  if (logarithmic) {
    const double margin = std::pow(highest > lowest ? highest / lowest : 2.0, 0.05);
    return {std::move(label), lowest / margin, highest * margin, true};
  }
  const double extent = highest > lowest ? highest - lowest : std::fmax(std::fabs(highest), 1.0);
  return {std::move(label), lowest - extent / 20, highest + extent / 20};
}

std::string tick_text(double value, const Axis& axis) {
  if (!axis.at.empty()) return fmt::format("{:.10g}", value);
  if (axis.logarithmic) {
    const int exponent = static_cast<int>(std::lround(std::log10(value)));
    const bool power = std::fabs(value / std::pow(10.0, exponent) - 1.0) < 1e-9;
    if (!power || (exponent >= 0 && exponent <= 2)) return fmt::format("{:g}", value);
    return "10" + superscript(exponent);
  }
  const double step = step_of(axis.to - axis.from);
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  std::string text = fmt::format("{:.{}f}", std::fabs(value), digits);
  return value < -step / 2 ? "−" + text : text;
}

}  // namespace plumbline::pictures
