// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/cable/claims.hpp"
#include "proofs_checks/cable/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::cable {
namespace {

struct GateIsBinary {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::logistic(in.number("score")) * reference::logistic(-in.number("score"))};
  }
};

template <int quarters>
struct GateIsBetween {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::logistic(in.number("score")) - R(quarters / 4.0),
            reference::logistic(-in.number("score"))};
  }
};

std::vector<Sample> scores_of_keys() {
  return {Sample{}.with("score", {0}), Sample{}.within("score", -30, -1),
          Sample{}.within("score", -1, 1), Sample{}.within("score", 1, 30)};
}

}  // namespace

Claim cope_binary_gate() {
  Claim claim;
  claim.id = "cable/cope_binary_gate";
  claim.title = "CoPE has a binary gate";
  claim.source = source("Section 2, data-dependent encodings");
  claim.statement =
      "CoPE applies fixed ALiBi-style biases with a learned binary gate; CABLE avoids "
      "binarization. A gate is 0 or 1: gate (1 - gate) = 0.";
  claim.implicit = {
      "CoPE as its authors define it (Golovneva et al., 2024, section 4): g_ij = logistic(q_i . "
      "k_j)."};
  claim.correction = "The gate of CoPE is continuous, strictly between 0 and 1.";
  claim.derivation =
      "CoPE's gate is the logistic of q_i . k_j, strictly between 0 and 1 for every finite score: "
      "at score 0 it is 1/2, and gate (1 - gate) = 1/4. Positions are sums of such gates, "
      "fractional, and interpolated. Nor are its biases fixed or ALiBi-style: the term added is "
      "q_i . e[p_ij] with learned embeddings e, not -r p_ij.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement,
                             "gate (1 - gate) = 0 for scores in [-30, 30], gate = 1/(1 + e^-score)",
                             GateIsBinary{}, scores_of_keys()),
                     for_all(Role::correction, "gate > 0 and 1 - gate > 0 for scores in [-30, 30]",
                             GateIsBetween<0>{}, scores_of_keys())});
  };
  claim.mutant = "The gate is at least 1/4.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "gate - 1/4 > 0 and 1 - gate > 0", GateIsBetween<1>{},
                   {Sample{}.with("score", {-2})});
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::cable
