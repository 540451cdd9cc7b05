// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// b(D) - b(1) = 1 - D^beta in units of e^theta_alpha, less `least`: the far key is favoured.
template <bool mutant>
struct FarKeyIsFavoured {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R least = mutant ? R(0.5) : R(0.0);
    return {R(1.0) - reference::power(in.number("D"), in.number("beta")) - least};
  }
};

std::vector<Sample> at_zero() {
  return {Sample{}.with("beta", {0}).with("D", {512}), Sample{}.with("beta", {0}).with("D", {2})};
}

/// All beta in [-4, -2^-10] and D from 2 to 2^20.
std::vector<Sample> below_zero() {
  std::vector<Sample> samples;
  for (double beta = -4; beta < -0x1p-10; beta /= 2) {
    samples.push_back(Sample{}.within("beta", beta, beta / 2).within("D", 2, 0x1p20));
  }
  return samples;
}

struct FarKeyIsFavouredWithMu {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &mu = in.number("mu"), &beta = in.number("beta");
    return {reference::power(reference::absolute(R(1.0) + mu), beta) -
            reference::power(reference::absolute(in.number("D") + mu), beta)};
  }
};

/// The condition beta < 0 fails.
struct ConditionFailsOfBetaNonpositive {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {in.number("beta")};
  }
};

}  // namespace

Claim beta_nonpositive() {
  Claim claim;
  claim.id = "bam/beta_nonpositive";
  claim.title = "For beta <= 0 the prior suppresses weights near the query";
  claim.source = source("Section 3.2: heading, text after Figure 4 and its caption");
  claim.statement =
      "Theorems 3 and 4 \"show that for beta <= 0, the GGD-BAM prior suppresses attention weights "
      "near the query token\": b_i,i-D > b_i,i-1 for D >= 2.";
  claim.condition = "beta < 0.";
  claim.derivation =
      "In units of e^theta_alpha = alpha^-beta, b(D) - b(1) = 1 - D^beta, which is 0 at beta = 0, "
      "where the prior is uniform (bam/beta_zero_uniform), and positive for beta < 0, D >= 2.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    // At beta = 0 the residual is exactly 0 in every reading: D^0 = exp(0) = 1.
    return together(
        {for_all(Role::statement, "beta = 0: 1 - D^beta > 0", FarKeyIsFavoured<false>{}, at_zero()),
         for_all(Role::condition, "all beta in [-4, -2^-10], D in [2, 2^20]: 1 - D^beta > 0",
                 FarKeyIsFavoured<false>{}, below_zero())});
  };
  claim.mutant = "The far key gains at least half of the penalty at distance 1.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "beta = -1/16: 1 - D^beta - 1/2 > 0", FarKeyIsFavoured<true>{},
                   {Sample{}.with("beta", {-0.0625}).with("D", {2})});
  };
  claim.hypotheses = {
      not_needed("beta <= 0.", "The condition implies it.",
                 [] {
                   return for_all(
                       Role::statement, "beta in [2^-10, 4] fails the condition: beta >= 0",
                       ConditionFailsOfBetaNonpositive{}, {Sample{}.within("beta", 0x1p-10, 4)});
                 })
          .where("beta", at_most(0)),
      definition("alpha > 0.", "It is a scale, the unit of the bias."),
      needed("mu = 0.",
             "With mu = -8 the key at distance 9 is nearer to the pole than the neighbour.",
             [] {
               return for_all(Role::statement, "|1 + mu|^beta - |D + mu|^beta > 0 with mu = -8",
                              FarKeyIsFavouredWithMu{},
                              {Sample{}.with("beta", {-1}).with("D", {9}).with("mu", {-8})});
             })
          .where("mu", exactly(0))};
  claim.implicit = {
      definition("The theorems themselves require beta < 0.", "It says what they are.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
