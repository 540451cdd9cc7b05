// SPDX-License-Identifier: Apache-2.0
// What is told of passkeys: JSON and a table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "evaluation/passkey.hpp"

namespace plumbline::evaluation {

/// "format": "plumbline-passkey-1"; docs/evaluating.md has the fields.
nlohmann::ordered_json to_json(const PasskeyResult&);

/// A line a length: accuracy, digits, and a character a depth.
std::string table(const PasskeyResult&);

}  // namespace plumbline::evaluation
