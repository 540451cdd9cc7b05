// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// |x/alpha|^beta on the way x = 2 alpha less that on the way x = alpha, both to x = alpha = 0.
struct OwnBiasIsDetermined {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta");
    return {reference::power(R(2.0) * alpha / alpha, beta) - reference::power(alpha / alpha, beta)};
  }
};

/// b(x) for alpha > 0, x in [1, 2^20], stays within the ends |x/alpha|^beta takes at 1 and 2^20;
/// the mutant: below 1.
template <bool mutant>
struct BiasIsFinite {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R size = reference::power(in.number("x") / in.number("alpha"), in.number("beta"));
    return {size, R(mutant ? 1.0 : 0x1p80) - size};
  }
};

std::vector<Sample> shrinking() {
  std::vector<Sample> samples;
  for (double alpha : {0x1p-10, 0x1p-100, 0x1p-1000}) {
    for (double beta : {1.0, -1.0, 0.5}) {
      samples.push_back(Sample{}.with("alpha", {alpha}).with("beta", {beta}));
    }
  }
  return samples;
}

std::vector<Sample> positive() {
  std::vector<Sample> samples;
  for (double alpha = 0x1p-10; alpha < 0x1p10; alpha *= 4) {
    for (double beta = -2; beta < 1.5; beta += 0.5) {
      samples.push_back(Sample{}
                            .within("x", 1, 0x1p20)
                            .within("alpha", alpha, 4 * alpha)
                            .within("beta", beta, beta + 0.5));
    }
  }
  return samples;
}

}  // namespace

Claim alpha_zero() {
  Claim claim;
  claim.id = "bam/alpha_zero";
  claim.title = "The statements on GGD-BAM include alpha = 0";
  claim.source = source(
      "Sections 2.3 and 2.4: Lemma 4, Theorems 3 and 4, \"alpha >= 0\"; appendices B.4, B.6 and "
      "B.7 "
      "have alpha > 0");
  claim.statement =
      "Lemma 4 and Theorems 3 and 4 hold for any alpha >= 0, so b_ij = -|(j - i)/alpha|^beta is a "
      "function at alpha = 0 too, also for the own key.";
  claim.condition = "alpha > 0, as the appendix states.";
  claim.derivation =
      "|x/alpha|^beta has no limit as x and alpha tend to 0: it is 1 on the way x = alpha and "
      "2^beta "
      "on the way x = 2 alpha. For other keys the limits alpha -> 0 exist (b -> minus infinity for "
      "beta > 0, b -> 0 for beta < 0) but that of the own key decides between weight 1, 0 and any "
      "other. Section 2.3 itself defines the GGD for alpha > 0 only.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "|x/alpha|^beta at x = 2 alpha less that at x = alpha = 0",
                 OwnBiasIsDetermined{}, shrinking()),
         for_all(
             Role::condition,
             "0 < |x/alpha|^beta < 2^80 for all alpha in [2^-10, 2^10], x in [1, 2^20], beta in "
             "[-2, 1.5]",
             BiasIsFinite<false>{}, positive())});
  };
  claim.mutant = "|x/alpha|^beta < 1.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "x = 4, alpha = 1, beta = 1: 1 - |x/alpha|^beta > 0",
                   BiasIsFinite<true>{},
                   {Sample{}.with("x", {4}).with("alpha", {1}).with("beta", {1})});
  };
  claim.hypotheses = {definition("mu = 0.",
                                 "The own key then stands at the peak; for another mu the "
                                 "key at mu takes its part.")};
  claim.implicit = {
      definition("At alpha = 0 the bias is meant as a limit: the quotient itself divides by 0.",
                 "Without a limit there is no value at all.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
