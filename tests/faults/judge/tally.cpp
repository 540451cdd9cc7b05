// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/judge/tally.hpp"

#include <algorithm>

namespace plumbline::bench {

Tally tally(const std::vector<const MutantResult*>& results) {
  Tally total;
  for (const MutantResult* result : results) {
    ++total.mutants;
    total.equivalent += result->equivalent();
    if (result->equivalent()) continue;
    total.caught += result->caught;
    total.set_aside += result->set_aside();
    for (const auto& gate : result->gates) ++total.by_gate[gate];
    if (result->gates.size() == 1) ++total.by_gate_alone[*result->gates.begin()];
    if (result->compared == 0) continue;
    ++total.compared;
    for (int n = 0; n < criterion_count; ++n) {
      const auto criterion = static_cast<Criterion>(n);
      if (!applies(criterion, result->mutant->bias, result->mutant->format)) continue;
      if (result->mutant->info->place == Place::parameter && !looks_at_parameters(criterion)) {
        continue;
      }
      ++total.seen[n];
      total.caught_by[n] += result->caught_by[n];
    }
  }
  return total;
}

std::vector<const MutantResult*> of_stratum(const CampaignResult& campaign, bool diffuse) {
  std::vector<const MutantResult*> results;
  for (const auto& result : campaign.mutants) {
    if (result.mutant->diffuse == diffuse) results.push_back(&result);
  }
  return results;
}

std::vector<std::pair<const FaultInfo*, std::vector<const MutantResult*>>> by_kind(
    const CampaignResult& campaign) {
  std::vector<std::pair<const FaultInfo*, std::vector<const MutantResult*>>> kinds;
  for (const auto& result : campaign.mutants) {
    if (kinds.empty() || kinds.back().first != result.mutant->info) {
      kinds.push_back({result.mutant->info, {}});
    }
    kinds.back().second.push_back(&result);
  }
  return kinds;
}

}  // namespace plumbline::bench
