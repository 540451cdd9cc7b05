// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/statement.hpp"

#include <fmt/format.h>

namespace plumbline::proofs_checks {

std::string to_string(const Enclosure& r) {
  return fmt::format("[{:.17g}, {:.17g}]", r.lower, r.upper);
}

std::string to_string(Relation relation) {
  switch (relation) {
    case Relation::equals_zero:
      return "= 0";
    case Relation::at_least_zero:
      return ">= 0";
    case Relation::above_zero:
      return "> 0";
  }
  return "";
}

}  // namespace plumbline::proofs_checks
