// SPDX-License-Identifier: Apache-2.0
// Outputs that fail by the contract alone: which laxer one they pass, and what it lets through.
#pragma once

#include <optional>
#include <span>

#include "verdict/judge/judge.hpp"

namespace plumbline::verdict {

/// A failing case with its outputs.
struct FailingOutputs {
  const cases::Case& the_case;
  const cases::Outputs& outputs;
};

/// Whether a failure is one of numbers that no remark explains; NaN may be a convention.
inline bool may_pass_another_contract(const Judgement& judgement) {
  return judgement.outcome == Outcome::fail && judgement.matches.empty() &&
         (judgement.kind == "nan" ||
          (judgement.kind == "outside_bound" && judgement.remark.empty()));
}

/// Whether a case is more than may be judged by some forty contracts.
bool is_too_large_for_contracts(const cases::Spec&);

struct NearestContract {
  Match match;
  Contract contract;
};

/// The first of some other contracts that all of these pass, but for those that are too large: one
/// field of the declared one changed, conventions first, then bounds, the finest first; then the
/// contracts of known implementations. Fields that leave something out are not tried: they would
/// explain any fault.
std::optional<NearestContract> nearest_contract(const Contract& declared,
                                                std::span<const FailingOutputs> failing,
                                                int threads);

}  // namespace plumbline::verdict
