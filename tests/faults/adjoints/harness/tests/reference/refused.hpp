// SPDX-License-Identifier: Apache-2.0
// In place of tests/reference/refused.hpp: preconditions have no adjoints.
#pragma once

#include <string>
#include <type_traits>

#include "tests/reference/readings.hpp"

namespace plumbline::reference {

template <class Zero>
using RealOf = std::remove_cvref_t<Zero>;

template <class Equation>
void expect_refused(const std::string&, const Equation&) {}

}  // namespace plumbline::reference
