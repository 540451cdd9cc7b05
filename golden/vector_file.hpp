// SPDX-License-Identifier: Apache-2.0
// Golden cases as JSON: golden/schema.json, described in docs/golden.md.
#pragma once

#include <string>
#include <vector>

#include "golden/golden_case.hpp"

namespace plumbline::golden {

/// The file of one method. Same cases, same bytes. Every number is a hexadecimal floating-point
/// string, exact in binary.
std::string to_json_text(const std::string& method, const std::vector<GoldenCase>&);

/// The cases of a file. @throws BadInput naming `file` and what is wrong in it.
std::vector<GoldenCase> from_json_text(const std::string& text, const std::string& file);

/// "0x1.8p+1", "-0x1p-4", "0x0p+0", "-inf": as printf's %a writes it. The inverse accepts nothing
/// else. @throws BadInput for text that is not one such number.
std::string hex(double);
double from_hex(const std::string& text);

}  // namespace plumbline::golden
