// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/faults/judge/report.hpp"

namespace plumbline::bench {

nlohmann::json to_json(const Measured& m) {
  using json = nlohmann::json;
  json mutants = json::array(), worst = json::array(), smallest = json::array();
  for (const auto& r : m.campaign.mutants) {
    json by = json::array();
    for (int n = 0; n < criterion_count; ++n) {
      if (r.caught_by[n]) by.push_back(info(static_cast<Criterion>(n)).name);
    }
    mutants.push_back({{"fault", r.mutant->name()},
                       {"kernel", r.mutant->cell()},
                       {"caught", r.caught},
                       {"equivalent", r.equivalent()},
                       {"apart", std::isfinite(r.apart) ? json(r.apart) : json("inf")},
                       {"set_aside", r.set_aside()},
                       {"drawn", r.drawn},
                       {"judged", r.judged},
                       {"gates", r.gates},
                       {"kind", r.kind},
                       {"worst", std::isfinite(r.worst) ? json(r.worst) : json("inf")},
                       {"compared", r.compared},
                       {"caught_by", by}});
  }
  for (const auto& [key, value] : m.alarms.worst) {
    worst.push_back({{"output", key.first}, {"format", cases::name(key.second)}, {"worst", value}});
  }
  for (const auto& t : m.thresholds) {
    smallest.push_back({{"what", t.what},
                        {"format", cases::name(t.format)},
                        {"case", t.spec},
                        {"smallest", std::isfinite(t.smallest) ? json(t.smallest) : json()}});
  }
  return {
      {"command", m.command},
      {"seed", m.effort.seed},
      {"mutants", mutants},
      {"control", {{"judged", m.campaign.control.judged}, {"failed", m.campaign.control.failed}}},
      {"correct",
       {{"runs", m.alarms.runs},
        {"strided", m.alarms.strided},
        {"packed", m.alarms.packed},
        {"softcap", m.alarms.capped},
        {"sinks", m.alarms.with_sinks},
        {"more_queries", m.alarms.more_queries},
        {"latent", m.alarms.latent},
        {"custom", m.alarms.custom},
        {"alarms", m.alarms.alarms},
        {"undecided", m.alarms.undecided},
        {"worst", worst}}},
      {"smallest", smallest}};
}

}  // namespace plumbline::bench
