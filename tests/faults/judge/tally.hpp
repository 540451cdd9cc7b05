// SPDX-License-Identifier: Apache-2.0
// Mutants counted: by stratum, by kind, by gate.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/judge/campaign.hpp"

namespace plumbline::bench {

/// Of the mutants that some case showed: those that changed no bit are set aside.
struct Tally {
  int mutants = 0, equivalent = 0, caught = 0, set_aside = 0;
  std::map<std::string, int> by_gate, by_gate_alone;  ///< of those caught
  int compared = 0;                                   ///< mutants that the other criteria saw
  std::array<int, criterion_count> seen{}, caught_by{};

  int shown() const { return mutants - equivalent; }
  /// Of those that somebody could tell from a correct kernel.
  int told() const { return shown() - set_aside; }
};
Tally tally(const std::vector<const MutantResult*>& results);

/// In a case of the generic stratum, or of the diffuse one.
std::vector<const MutantResult*> of_stratum(const CampaignResult& campaign, bool diffuse);

/// Those of a stratum for which `chosen` holds.
template <class Chosen>
std::vector<const MutantResult*> chosen_of(const CampaignResult& campaign, bool diffuse,
                                           const Chosen& chosen) {
  std::vector<const MutantResult*> results;
  for (const MutantResult* result : of_stratum(campaign, diffuse)) {
    if (chosen(*result->mutant)) results.push_back(result);
  }
  return results;
}

/// Kinds in the order of the list, each with its mutants.
std::vector<std::pair<const FaultInfo*, std::vector<const MutantResult*>>> by_kind(
    const CampaignResult& campaign);

}  // namespace plumbline::bench
