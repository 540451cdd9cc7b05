// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/pictures/ticks.hpp"

#include <fmt/format.h>

#include <cmath>

namespace plumbline::proofs_checks {
namespace {

/// The largest of 1, 2, 5 times a power of ten that divides the range into three steps at least.
double step_of(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range)));
  for (const double step : {2.0, 1.0, 0.5, 0.2}) {
    if (range / (step * power) >= 3.0) return step * power;
  }
  return 0.1 * power;
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
  std::vector<double> values;
  const double rounding = 1e-9;  // a tick at the very end of the axis stays in
  if (axis.logarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(axis.from) - rounding));
    const int last = static_cast<int>(std::floor(std::log10(axis.to) + rounding));
    const int stride = 1 + (last - first) / 6;
    for (int k = first; k <= last; ++k) {
      if (k % stride == 0) values.push_back(std::pow(10.0, k));
    }
    return values;
  }
  const double step = step_of(axis.to - axis.from);
  const long first = std::lround(std::ceil(axis.from / step - rounding));
  const long last = std::lround(std::floor(axis.to / step + rounding));
  for (long k = first; k <= last; ++k) values.push_back(static_cast<double>(k) * step);
  return values;
}

std::string tick_text(double value, const Axis& axis) {
  if (axis.logarithmic) {
    const int exponent = static_cast<int>(std::lround(std::log10(value)));
    if (exponent >= 0 && exponent <= 2) return fmt::format("{:g}", value);
    return "10" + superscript(exponent);
  }
  const double step = step_of(axis.to - axis.from);
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  std::string text = fmt::format("{:.{}f}", std::fabs(value), digits);
  return value < -step / 2 ? "−" + text : text;
}

}  // namespace plumbline::proofs_checks
