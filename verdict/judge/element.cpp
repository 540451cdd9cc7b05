// SPDX-License-Identifier: Apache-2.0
#include "verdict/judge/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "verdict/bounds/roundoff.hpp"

namespace plumbline::verdict {
namespace {

/// A failing element is worse than an undecided one, whatever its ratio.
bool is_worse(const Element& a, const Element& b) {
  return a.outcome != b.outcome ? a.outcome > b.outcome : a.ratio > b.ratio;
}

void count(OutputJudgement& output, const Element& element) {
  ++output.elements;
  output.ratios.push_back(element.ratio);
  output.failed += element.outcome == Outcome::fail;
  output.undecided += element.outcome == Outcome::undecided;
  output.outcome = worse(output.outcome, element.outcome);
  if (output.elements == 1 || is_worse(element, output.worst)) output.worst = element;
}

}  // namespace

void leave_out(OutputJudgement& output) {
  ++output.elements;
  ++output.not_judged;
  output.ratios.push_back(0);
}

void judge_element(OutputJudgement& output, const OracleNumber& oracle, double got,
                   const std::array<int, 4>& index) {
  if (oracle.not_judged) return leave_out(output);
  const double error = std::abs(got - oracle.value);
  Element element{index, got, oracle.value, oracle.bound};
  element.ratio = error / oracle.bound;
  if (!(element.ratio >= 0)) element.ratio = infinity;
  if (error == 0) element.ratio = 0;
  if (oracle.weight != 0) output.drift.moment += oracle.weight * (got - oracle.value);
  if (oracle.random > 0) {
    const double excess = std::max(0.0, error - oracle.radius - oracle.beside_random);
    output.size.squares += excess * excess / (oracle.random * oracle.random);
  }
  output.nonzero += oracle.value != 0;
  output.blind += oracle.value != 0 && !(oracle.bound < std::abs(oracle.value));
  if (!std::isfinite(oracle.bound) || !std::isfinite(oracle.value)) {
    element.outcome = Outcome::undecided;  // fp32 cannot hold this case, or the oracle not read it
  } else if (std::isnan(got) || error - oracle.radius > oracle.bound) {
    element.outcome = Outcome::fail;
  } else if (!(oracle.radius <= largest_radius * oracle.bound) ||
             !(error + oracle.radius <= oracle.bound)) {
    element.outcome = Outcome::undecided;
  }
  count(output, element);
}

void judge_outside_sample(OutputJudgement& output, double got, const std::array<int, 4>& index,
                          cases::Family family) {
  if (std::isnan(got) && family != cases::Family::huge) {
    judge_element(output, {0, 0, std::numeric_limits<double>::max()}, got, index);
  } else {
    output.ratios.push_back(outside_sample);
  }
}

void judge_exactly(OutputJudgement& output, double expected, double got,
                   const std::array<int, 4>& index) {
  Element element{index, got, expected};
  const bool equal = got == expected;
  element.ratio = equal ? 0.0 : infinity;
  element.outcome = equal ? Outcome::pass : Outcome::fail;
  count(output, element);
}

void add(OutputJudgement& total, const OutputJudgement& part, int head) {
  if (part.elements == 0) return;
  if (total.elements == 0 || is_worse(part.worst, total.worst)) total.worst = part.worst;
  total.elements += part.elements;
  total.ratios.insert(total.ratios.end(), part.ratios.begin(), part.ratios.end());
  total.failed += part.failed;
  total.undecided += part.undecided;
  total.not_judged += part.not_judged;
  total.drift.add(part.drift);
  for (int n = 0; n < trend_count; ++n) total.trends[n].add(part.trends[n]);
  total.size.squares += part.size.squares;
  total.nonzero += part.nonzero;
  total.blind += part.blind;
  total.outcome = worse(total.outcome, part.outcome);
  if (head >= 0) total.failed_by_head.at(static_cast<std::size_t>(head)) += part.failed;
}

void judge_trends(OutputJudgement& output, const OracleNumber& oracle, double got,
                  const std::array<double, trend_count>& along) {
  if (!(oracle.random > 0) || !std::isfinite(oracle.bound)) return;
  for (int n = 0; n < trend_count; ++n) {
    const double weight = along[n] / oracle.bound / oracle.bound;
    Drift& drift = output.trends[n].drift;
    drift.moment += weight * (got - oracle.value);
    drift.allowance += std::abs(weight) * (oracle.beside_random + oracle.radius);
    drift.variance += weight * oracle.random * weight * oracle.random;
    output.trends[n].response += weight * along[n];
  }
}

std::vector<std::string> statistics_that_fail(const OutputJudgement& output) {
  std::vector<std::string> texts;
  if (const double deviations = output.drift.deviations(); deviations > largest_deviation) {
    texts.push_back(
        fmt::format("errors are biased, in proportion to the values: {:.1f} standard deviations of "
                    "correct roundings beyond all other errors, limit {}",
                    deviations, largest_deviation));
  }
  constexpr std::array names{
      "errors of all rows are those of a scale of q.k that is off by a relative {:.2g}",
      "errors of all rows are those of a bias that is off by a relative {:.2g}",
      "errors of all rows are shifted to one side, by {:.2g}"};
  for (int n = 0; n < trend_count; ++n) {
    const TrendSum& trend = output.trends[n];
    const double deviations = trend.drift.deviations();
    if (!(deviations > largest_deviation)) continue;
    texts.push_back(fmt::format(fmt::runtime(names[n]), trend.drift.moment / trend.response) +
                    fmt::format(": {:.1f} standard deviations of correct roundings beyond all "
                                "other errors, limit {}",
                                deviations, largest_deviation));
  }
  if (const double part = output.size.part_of_largest(); part > 1) {
    texts.push_back(
        fmt::format("errors are jointly too large, though each alone may occur: the sum of their "
                    "squares is {:.2g} times the maximum for correct roundings",
                    part));
  }
  return texts;
}

void judge_drift(OutputJudgement& output) {
  if (!statistics_that_fail(output).empty()) output.outcome = Outcome::fail;
}

}  // namespace plumbline::verdict
