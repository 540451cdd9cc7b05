// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/survivors.hpp"

#include <fmt/format.h>

namespace plumbline::bench {
namespace {

std::string caught_by(const MutantResult& result) {
  std::string by;
  for (int n = 0; n < criterion_count; ++n) {
    if (!result.caught_by[n]) continue;
    by += (by.empty() ? "" : ", ") + std::string(info(static_cast<Criterion>(n)).name);
  }
  return by;
}

std::string cases_of(const MutantResult& result) {
  return result.undecided > 0 ? fmt::format("{}, {} undecided", result.judged, result.undecided)
                              : fmt::format("{}", result.judged);
}

std::string surviving(const Measured& m, bool diffuse) {
  std::string text =
      "| fault | kernel | cases | largest error / bound | (effect / deviation)^2 | others that "
      "catch it | |\n|---|---|---|---|---|---|---|\n";
  for (const auto& result : m.campaign.mutants) {
    if (result.caught || result.equivalent() || result.set_aside()) continue;
    if (result.mutant->diffuse != diffuse) continue;
    text += fmt::format("| {} | {} | {} | {:.3g} | {:.2g} | {} | {} |\n", result.mutant->name(),
                        result.mutant->cell(), cases_of(result), result.worst, result.apart,
                        caught_by(result), result.mutant->info->harmless);
  }
  return text;
}

std::string set_aside(const Measured& m) {
  std::string text =
      "| fault | kernel | cases | (effect / deviation)^2 | |\n|---|---|---|---|---|\n";
  for (const auto& result : m.campaign.mutants) {
    if (!result.set_aside()) continue;
    text += fmt::format("| {} | {} | {} | {:.1e} | {} |\n", result.mutant->name(),
                        result.mutant->cell(), cases_of(result), result.apart,
                        result.mutant->info->harmless);
  }
  return text;
}

std::string equivalents(const Measured& m) {
  std::string text;
  for (const auto& result : m.campaign.mutants) {
    if (!result.equivalent()) continue;
    text += fmt::format("- {}, {} ({} cases)\n", result.mutant->name(), result.mutant->cell(),
                        result.drawn);
  }
  return text;
}

/// Caught, though by the rule nobody could: chance, or a fault in the rule.
int caught_below(const Measured& m) {
  int count = 0;
  for (const auto& result : m.campaign.mutants) {
    count += result.caught && result.apart <= told_apart_from;
  }
  return count;
}

}  // namespace

std::string survivors(const Measured& m) {
  std::string text =
      "\n## Mutants that survive\n\nThey change a bit, somebody could tell them, and no case "
      "failed. The largest error / bound is that of the cases they passed, roundings included: a "
      "survivor's outputs are outputs that a correct kernel of the same contract may have.\n\n" +
      surviving(m, false) +
      "\n### Diffuse attention\n\nP in bf16 is off by up to 2^-8 of each weight, while o has "
      "shrunk to "
      "1/sqrt(n) of its values; one of 8192 keys is worth 1.2e-4 of a row. What moves a weight or "
      "two, or all scores by little, is below the roundings of a row, and these cases have few "
      "rows. Short cases see it.\n\n" +
      surviving(m, true);
  text += fmt::format(
      "\n## Nobody can tell them\n\nThe fault's effect is what it moves the results of the same "
      "plain loops by in double, where nothing else is rounded. A result's deviation is the root "
      "mean square of what correct kernels of the same contract are off by in it: tiles, lanes, "
      "order and exponential drawn, P and tf32's operands off by a random part of half a step, "
      "before the result is stored. The sum of (effect / deviation)^2 over all results of all "
      "cases that the mutant was judged in is the square of its distance from correct kernels, in "
      "standard deviations, to one who knows the fault: roundings taken for independent, no test "
      "does better. Up to {} a mutant is set aside here: a test with one false alarm in 10^6 would "
      "see it with a probability below 10^-5. It is infinite where a result moves that is the same "
      "in all correct kernels, and where the fault is none of arithmetic. Mutants that were caught "
      "have it too: {} of them are below the limit.\n\n",
      told_apart_from, caught_below(m));
  text += set_aside(m);
  const std::string same = equivalents(m);
  if (!same.empty()) text += "\nNo bit differs:\n\n" + same;
  return text;
}

}  // namespace plumbline::bench
