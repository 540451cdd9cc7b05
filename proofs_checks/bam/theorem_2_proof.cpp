// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// 1 - d^(beta - 1); for the mutant 1/2 in place of 1.
template <bool mutant>
struct PowerBelowOne {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {R(mutant ? 0.5 : 1.0) - reference::power(in.number("d"), in.number("beta") - R(1.0))};
  }
};

/// All beta in [0, 1 - 2^-10] at the distances given.
std::vector<Sample> distances_of_theorem_2_proof(const std::vector<double>& ds) {
  std::vector<Sample> samples;
  for (double d : ds) {
    for (int k = 0; k < 1023; k += 93) {
      samples.push_back(Sample{}.with("d", {d}).within("beta", k * 0x1p-10, (k + 93) * 0x1p-10));
    }
  }
  return samples;
}

struct PowerOverSlope {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {R(1.0) - reference::power(in.number("d"), in.number("beta") - R(1.0)) / in.number("m")};
  }
};

}  // namespace

Claim theorem_2_proof() {
  Claim claim;
  claim.id = "bam/theorem_2_proof";
  claim.title = "The ratio of Theorem 2's proof is |j - i|^(beta - 1) and below 1";
  claim.source = source("Appendix B.5, the displayed chain");
  claim.statement =
      "For mu = 0, |(j - i)/alpha|^beta = m |j - i|^beta and beta in (0, 1): "
      "B_ij / A_ij = |j - i|^(beta - 1) < 1.";
  claim.condition = "|j - i| >= 2.";
  claim.correction =
      "At distance 1 the ratio is 1: the neighbours' biases agree. (alpha slightly larger makes it "
      "less than 1 there too: bam/theorem_2.)";
  claim.derivation =
      "1^(beta - 1) = 1 for every beta. For d >= 2 and beta < 1, ln d^(beta - 1) = "
      "(beta - 1) ln d < 0.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "1 - d^(beta - 1) > 0 for d = 1, 2, 3", PowerBelowOne<false>{},
                 distances_of_theorem_2_proof({1, 2, 3})),
         for_all(Role::condition,
                 "1 - d^(beta - 1) > 0 for d >= 2, all beta in "
                 "[0, 1 - 2^-10]",
                 PowerBelowOne<false>{}, distances_of_theorem_2_proof({2, 3, 512, 0x1p30}))});
  };
  claim.pictures = {pictures::theorem_2_ratio};
  claim.mutant = "The ratio is below 1/2.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "1/2 - d^(beta - 1) > 0", PowerBelowOne<true>{},
                   distances_of_theorem_2_proof({2, 3, 512}));
  };
  claim.hypotheses = {
      needed("beta < 1.", "For beta > 1 the power grows with the distance.",
             [] {
               return for_all(Role::statement, "1 - d^(beta - 1) > 0 with beta = 3/2",
                              PowerBelowOne<false>{},
                              {Sample{}.with("d", {2}).with("beta", {1.5})});
             })
          .where("beta", below(1)),
      not_needed("beta > 0.", "The power is below 1 for every beta < 1.",
                 [] {
                   return for_all(Role::statement, "1 - d^(beta - 1) > 0 for beta in [-2, 0]",
                                  PowerBelowOne<false>{},
                                  {Sample{}.with("d", {2}).within("beta", -2, 0),
                                   Sample{}.with("d", {512}).within("beta", -2, 0)});
                 }),
      needed(
          "mu = 0, alpha^-beta = m.", "With alpha = 1 and mu = 0 the ratio is d^(beta - 1)/m.", [] {
            return for_all(Role::statement, "1 - d^(beta - 1)/m > 0: alpha = 1", PowerOverSlope{},
                           {Sample{}.with("m", {0x1p-8}).with("d", {2}).with("beta", {0.5})});
          })};
  claim.implicit = {definition("j is not i: at distance 0 the ratio is 0/0.", "It has no value.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
