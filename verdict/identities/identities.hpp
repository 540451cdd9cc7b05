// SPDX-License-Identifier: Apache-2.0
// What a kernel's runs must have in common with each other, at any length and without an oracle:
// docs/identities.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verdict/judge/judge.hpp"
#include "verdict/process/kernel_library.hpp"

namespace plumbline::verdict {

/// One identity, and what became of it.
struct Identity {
  std::string name;         ///< values_doubled, ...
  std::string says;         ///< in words
  std::string not_asked{};  ///< why it was not asked, or empty
  Outcome outcome = Outcome::pass;
  /// The largest |difference| / bound; for equal bits the number of elements that differ.
  double worst = 0;
  std::string where{};  ///< of the first or the worst that fails, or how a run failed
};

/// Called before every run of the kernel.
using RunStarts = std::function<void(const std::string& identity)>;

struct ContractField {
  const char* name;
  std::int32_t value;
};

/// A field for which there are no identities: differences of two runs are bounded for what is kept
/// in float, and most of them read a natural lse.
std::optional<ContractField> field_without_identities(const Contract&);

/// Runs the kernel on the spec's case and on cases made of it, and compares. A forward spec has the
/// identities of o and lse, a backward one those of the gradients.
/// @param spec generic, at the end of its keys (query_offset + queries = keys), without window,
/// lengths, documents or SSMax, in fp32, tf32, fp16 or bf16; the kernel supports it.
/// @throws BadInput naming the field of the spec that is not so.
std::vector<Identity> check_identities(const Kernel& kernel, const cases::Spec& spec,
                                       const RunStarts& starts = {});

}  // namespace plumbline::verdict
