// SPDX-License-Identifier: Apache-2.0
// What is told of needles: JSON, a table, a heat map.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/evaluation/needles.hpp"
#include "support/pictures/picture.hpp"

namespace plumbline::evaluation {

/// "format": "plumbline-needles-1"; docs/evaluating.md has the fields.
nlohmann::ordered_json to_json(const NeedleResult&);

/// A line a task, a column a length, as BAM's tables 4 and 5.
std::string table(const NeedleResult&);

/// Lengths across, tasks down. @param of whose answers they are, for the title.
pictures::HeatMap heat_map(const NeedleResult&, const std::string& of);

}  // namespace plumbline::evaluation
