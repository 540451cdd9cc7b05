// SPDX-License-Identifier: Apache-2.0
// What was measured, for a reader and for programs. No dates, no times: the same options give the
// same text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/faults/judge/alarms.hpp"
#include "tests/faults/judge/campaign.hpp"
#include "tests/faults/judge/thresholds.hpp"

namespace plumbline::bench {

struct Measured {
  std::string command;  ///< that makes it again
  Effort effort;
  CampaignResult campaign;
  AlarmResult alarms;
  std::vector<Threshold> thresholds;
};

std::string to_markdown(const Measured& measured);
nlohmann::json to_json(const Measured& measured);

/// Whether the control passed and no correct kernel failed.
bool all_right(const Measured& measured);

}  // namespace plumbline::bench
