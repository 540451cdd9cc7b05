// SPDX-License-Identifier: Apache-2.0
// What is told of passkeys: JSON, a table, a heat map.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/evaluation/passkey.hpp"
#include "support/pictures/picture.hpp"

namespace plumbline::evaluation {

/// "format": "plumbline-passkey-1"; docs/evaluating.md has the fields.
nlohmann::ordered_json to_json(const PasskeyResult&);

/// A line a length: accuracy, digits, and a character a depth.
std::string table(const PasskeyResult&);

/// Lengths across, depths down, with their means in the last column and the bottom row, as BAM's
/// figure 3. @param of whose answers they are, for the title.
pictures::HeatMap heat_map(const PasskeyResult&, const std::string& of);

}  // namespace plumbline::evaluation
