// SPDX-License-Identifier: Apache-2.0
// --heads, --keys and the other sizes of cases.
#pragma once

#include "cli/command.hpp"
#include "verdict/property/spec_generator.hpp"

namespace plumbline::cli {

/// Options that fill `shapes`; each takes a list of which every case has one.
void add_shape_options(CLI::App& command, verdict::Shapes& shapes);

/// Their names.
const std::vector<std::string>& shape_options();

}  // namespace plumbline::cli
