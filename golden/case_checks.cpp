// SPDX-License-Identifier: Apache-2.0
#include "golden/case_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "golden/vector_file.hpp"
#include "support/text.hpp"

namespace plumbline::golden {
namespace {

using reference::RunningError;

/// How far the golden number may be from the exact one: half an ulp, as it was rounded once; where
/// it is 0, the width below which solve() writes 0.
double golden_error(double golden) {
  if (golden == 0) return 1e-40;
  const double size = std::fabs(golden);
  const double ulp = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return std::max(ulp / 2, std::numeric_limits<double>::denorm_min());
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// The tensor of the golden case, or nullptr where it is missing or has another shape.
template <class Number>
const Tensor<double>* tensor_of(const GoldenCase& golden, const std::string& name,
                                const Tensor<Number>& like) {
  const auto found = golden.outputs.find(name);
  return found == golden.outputs.end() || found->second.shape != like.shape ? nullptr
                                                                            : &found->second;
}

void keep_worst(FileResult& result, double ratio) {
  if (!(ratio <= result.worst)) result.worst = ratio;
}

}  // namespace

void add_failure(FileResult& result, const std::string& sentence) {
  if (result.failures.size() < 10) result.failures.push_back(showable(sentence));
}

void check_bits(const GoldenCase& golden, FileResult& result) {
  const GoldenCase again = solve(golden.problem);
  for (const auto& [name, tensor] : again.outputs) {
    const Tensor<double>* of_file = tensor_of(golden, name, tensor);
    if (of_file == nullptr) {
      add_failure(result,
                  fmt::format("{}: {} is missing or has another shape", golden.problem.name, name));
      continue;
    }
    for (std::size_t n = 0; n < tensor.data.size(); ++n) {
      ++result.numbers;
      if (!same_bits(tensor.data[n], of_file->data[n])) {
        add_failure(result, fmt::format("{}: {}[{}] is {}, MPFR gives {}", golden.problem.name,
                                        name, n, hex(of_file->data[n]), hex(tensor.data[n])));
      }
    }
  }
  for (const auto& [name, tensor] : golden.outputs) {
    if (!again.outputs.count(name)) {
      add_failure(result,
                  fmt::format("{}: {} is not an output", golden.problem.name, in_quotes(name)));
    }
  }
}

void check_double(const GoldenCase& golden, FileResult& result) {
  const auto results = evaluate<RunningError>(golden.problem);
  const std::vector<std::size_t>& empty = results.empty_rows;
  for (const auto& [name, tensor] : results.tensors) {
    const Tensor<double>* of_file = tensor_of(golden, name, tensor);
    if (of_file == nullptr) continue;  // check_bits reports it
    for (std::size_t n = 0; n < tensor.data.size(); ++n) {
      const double expected = of_file->data[n];
      const bool no_key = name == "lse" && std::count(empty.begin(), empty.end(), n) > 0;
      if (no_key) {
        if (!(expected == -std::numeric_limits<double>::infinity())) {
          add_failure(result, fmt::format("{}: lse[{}] is {}; the row sees no key: -inf",
                                          golden.problem.name, n, hex(expected)));
        }
        continue;
      }
      const double error = std::fabs(tensor.data[n].value() - expected);
      const double bound = tensor.data[n].error() + golden_error(expected);
      if (!(error <= bound)) {
        add_failure(result, fmt::format("{}: {}[{}] is {}, double gives {} within {:.3g}",
                                        golden.problem.name, name, n, hex(expected),
                                        hex(tensor.data[n].value()), bound));
      }
      keep_worst(result, error / bound);
    }
  }
}

void check_value(const GoldenCase& golden, FileResult& result) {
  const auto plain = evaluate<double>(golden.problem).tensors;
  for (const auto& [name, tensor] : evaluate<RunningError>(golden.problem).tensors) {
    for (std::size_t n = 0; n < tensor.data.size(); ++n) {
      ++result.numbers;
      if (same_bits(plain.at(name).data[n], tensor.data[n].value())) continue;
      add_failure(result, fmt::format("{}: {}[{}] is {} in double and {} with its error bound",
                                      golden.problem.name, name, n, hex(plain.at(name).data[n]),
                                      hex(tensor.data[n].value())));
    }
  }
  check_double(golden, result);
}

void check_enclosure(const GoldenCase& golden, FileResult& result) {
  const auto values = evaluate<reference::MpReal>(golden.problem).tensors;
  const auto enclosures = evaluate<reference::Interval>(golden.problem).tensors;
  const auto bounded = evaluate<RunningError>(golden.problem);
  for (const auto& [name, tensor] : values) {
    const Tensor<double>* expected = tensor_of(golden, name, tensor);
    if (expected == nullptr) {
      add_failure(result, fmt::format("{}: {} is not in the file", golden.problem.name, name));
      continue;
    }
    for (std::size_t n = 0; n < tensor.data.size(); ++n) {
      if (std::isinf(expected->data[n])) continue;  // lse of a row that sees no key: no number
      ++result.numbers;
      const reference::Interval& enclosure = enclosures.at(name).data[n];
      const reference::MpReal rounding = golden_error(expected->data[n]);
      const reference::MpReal low = reference::lower(enclosure), high = reference::upper(enclosure);
      if (!(reference::contains(enclosure, tensor.data[n]) && low - rounding <= expected->data[n] &&
            expected->data[n] <= high + rounding)) {
        add_failure(result, fmt::format("{}: {}[{}] is {}, outside of its enclosure",
                                        golden.problem.name, name, n, hex(expected->data[n])));
      }
      const double width = static_cast<double>(reference::MpReal(high - low));
      const double error = bounded.tensors.at(name).data[n].error();
      if (!(width <= error)) {
        add_failure(result, fmt::format("{}: {}[{}]: the enclosure's width {:.3g} is above the "
                                        "rounding error of double, {:.3g}",
                                        golden.problem.name, name, n, width, error));
      }
      if (error > 0) keep_worst(result, width / error);
    }
  }
}

}  // namespace plumbline::golden
