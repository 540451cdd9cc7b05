// SPDX-License-Identifier: Apache-2.0
// How many faults get their right name, only a place, or a wrong name.
#pragma once

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "verdict/property/property.hpp"

namespace plumbline::test {

inline std::string names_of(const verdict::Judgement& judgement) {
  std::string names;
  for (const auto& match : judgement.matches) names += (names.empty() ? "" : " ") + match.name;
  return names;
}

/// Faults that were found, after name_conventions().
struct NamingCount {
  int rightly = 0, located = 0, not_found = 0;
  std::vector<std::string> wrongly;  ///< fault, names and case of each

  /// @param right the names that are true of the fault, with blanks between; none where it follows
  /// no convention. One name that is not among them is wrong.
  void add(const std::string& fault, const verdict::CellResult& cell, const std::string& right) {
    if (cell.outcome != verdict::Outcome::fail) {
      ++not_found;
      return;
    }
    const auto words = [](const std::string& text) {
      std::istringstream in(text);
      return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
    };
    const auto given = words(names_of(cell.counterexample->judgement)), known = words(right);
    const bool all_right = std::all_of(given.begin(), given.end(), [&](const std::string& name) {
      return std::find(known.begin(), known.end(), name) != known.end();
    });
    if (!all_right) {
      wrongly.push_back(fault + ": " + names_of(cell.counterexample->judgement) + " in " +
                        cases::to_line(cell.counterexample->spec));
    } else {
      ++(given.empty() ? located : rightly);
    }
  }
};

}  // namespace plumbline::test
