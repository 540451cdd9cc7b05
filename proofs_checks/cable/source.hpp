// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "proofs_checks/claims.hpp"

namespace plumbline::proofs_checks::cable {

/// The manuscript that every claim in this folder is from, unless it says otherwise.
inline Source source(const std::string& place) {
  return {"Context-aware Biases for Length Extrapolation (CABLE), Veisi, Amirzadeh, Mansourian",
          "second version", place};
}

/// A place in the first version, where the two differ.
inline Source first_version(const std::string& place) {
  Source of_first = source(place);
  of_first.version = "first version";
  return of_first;
}

}  // namespace plumbline::proofs_checks::cable
