// SPDX-License-Identifier: Apache-2.0
// Where a kernel's contract is laxer than it has to be, and what that lets through.
#pragma once

#include <string>
#include <vector>

#include "verdict/cases/spec.hpp"
#include "verdict/judge/contract.hpp"

namespace plumbline::verdict {

struct LaxField {
  std::string field, value, strictest;
  std::string lets_through;  ///< "errors of P up to 2^-8 of it"
};

/// What a kernel of this contract may do by that field, unseen.
std::string lets_through(const std::string& field, const Contract&, cases::Format);

/// The fields that differ from those of a kernel that declares nothing, the strictest.
std::vector<LaxField> lax_fields(const Contract&, cases::Format);

/// "probability_format = bf16 (default fp32) lets through errors of P and dS up to 2^-8 of them";
/// empty where there is none.
std::string in_words(const std::vector<LaxField>&);

}  // namespace plumbline::verdict
