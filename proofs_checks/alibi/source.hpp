// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proofs_checks/claims.hpp"

namespace plumbline::proofs_checks::alibi {

/// The article that every claim in this folder is from.
inline Source source(const std::string& place) {
  return {"ALiBi: Attention with Linear Biases", "an article with a code example", place};
}

}  // namespace plumbline::proofs_checks::alibi
