// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace plumbline::proofs_checks {

std::string to_string(const Sample& sample) {
  std::string text;
  for (Quantity quantity : sample.quantities) {
    // + 0.0 turns a negative zero, which the bounds of -2 F at F = 0 are, into 0.
    for (double& x : quantity.lower) x += 0.0;
    for (double& x : quantity.upper) x += 0.0;
    if (!text.empty()) text += ", ";
    if (quantity.lower != quantity.upper) {
      text += fmt::format("{} in [{:.17g}, {:.17g}]", quantity.name, quantity.lower.front(),
                          quantity.upper.front());
      if (quantity.lower.size() > 1) text += fmt::format("^{}", quantity.lower.size());
    } else if (quantity.lower.size() == 1) {
      text += fmt::format("{} = {:.17g}", quantity.name, quantity.lower.front());
    } else if (quantity.lower.size() > 8 &&
               std::adjacent_find(quantity.lower.begin(), quantity.lower.end(),
                                  std::not_equal_to<>()) == quantity.lower.end()) {
      text += fmt::format("{} = {} times {:.17g}", quantity.name, quantity.lower.size(),
                          quantity.lower.front());
    } else {
      text += fmt::format("{} = ({:.17g})", quantity.name, fmt::join(quantity.lower, ", "));
    }
  }
  return text;
}

std::string to_string(const Enclosure& r) {
  // + 0.0 turns the negative zero of an outward rounding into 0.
  return fmt::format("[{:.17g}, {:.17g}]", r.lower + 0.0, r.upper + 0.0);
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
