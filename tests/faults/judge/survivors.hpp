// SPDX-License-Identifier: Apache-2.0
// What the report says of mutants that were not caught.
#pragma once

#include <string>

#include "tests/faults/judge/report.hpp"

namespace plumbline::bench {

/// The sections on survivors, on those that nobody can tell and on those that differ in no bit.
std::string survivors(const Measured& measured);

}  // namespace plumbline::bench
