// SPDX-License-Identifier: Apache-2.0
// What the cases of a run were: without it a pass does not say what it is worth.
#pragma once

#include <map>
#include <string>

#include "verdict/cases/spec.hpp"

namespace plumbline::verdict {

struct Cover {
  /// How many cases have which value of a property: "keys" -> 128 -> 7. Of a property that a case
  /// has or has not ("window"), 1 and 0.
  std::map<std::string, std::map<int, long>> cases;
  long unjudged_rows = 0;  ///< of large cases: outside of their samples

  void add(const cases::Spec& spec);
  void add(const Cover& other);
};

/// Multi-head latent attention's widths of keys and values: as it is trained, and as it decodes.
bool has_latent_widths(const cases::Spec& spec);

/// In a line: "heads 1, 2, 3; keys 1 to 65536; window 35 %".
std::string in_words(const Cover&);

}  // namespace plumbline::verdict
