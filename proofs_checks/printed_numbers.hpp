// SPDX-License-Identifier: Apache-2.0
// Numbers that a paper prints, compared with what they are computed from.
#pragma once

#include <string>
#include <vector>

#include "proofs_checks/claim.hpp"

namespace plumbline::proofs_checks {

/// In every sample the product of `factors` is `product`; all are names of quantities.
std::vector<Check> products(Role, const std::string& what, const std::vector<Sample>&,
                            const std::vector<std::string>& factors, const std::string& product);

/// In every sample the sum of `terms` is `total`.
std::vector<Check> totals(Role, const std::string& what, const std::vector<Sample>&,
                          const std::vector<std::string>& terms, const std::string& total);

}  // namespace plumbline::proofs_checks
