// SPDX-License-Identifier: Apache-2.0
// Contracts of known implementations: docs/contracts.md derives each from how it computes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"
#include "verdict/cases/spec.hpp"

namespace plumbline::cases {

/// The stricter ones first, by and large.
const std::vector<std::string>& named_contracts();

/// @throws BadInput naming `field` and the known names, or a format that the implementation does
/// not have.
plumbline_contract contract_named(std::string_view name, Format format, const std::string& field);

}  // namespace plumbline::cases
