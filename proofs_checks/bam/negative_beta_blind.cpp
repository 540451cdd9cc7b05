// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The weight of the key at distance 1 whose content exceeds that of n - 1 others, at distances 2,
/// 3, ..., n, by `gap`; the own key has weight 0 (beta < 0).
template <class R>
R neighbour_weight(const Inputs<R>& in) {
  const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
  R others(0.0);
  for (int d = 2; d <= integer(in, "n"); ++d) {
    others += reference::exp(bias(d) - bias(1) - in.number("gap"));
  }
  return R(1.0) / (R(1.0) + others);
}

struct NeighbourGetsLessThanHalf {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {R(0.5) - neighbour_weight(in)};
  }
};

/// p - 1/(1 + (n - 1) e^(alpha^|beta| - gap)); for the mutant without alpha^|beta|.
template <bool mutant>
struct NeighbourGetsAtLeast {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const GgdBias<R> bias{in.number("alpha"), in.number("beta")};
    const R penalty = mutant ? R(0.0) : -bias(1), one(1.0);
    const R others = (in.number("n") - one) * reference::exp(penalty - in.number("gap"));
    return {neighbour_weight(in) - one / (one + others)};
  }
};

std::vector<Sample> rows_of_negative_beta_blind(const std::vector<double>& gaps) {
  std::vector<Sample> samples;
  for (double gap : gaps) {
    for (double beta : {-0.5, -1.0, -2.0}) {
      for (double alpha : {1.0, 2.0}) {
        for (double n : {64, 512}) {
          samples.push_back(Sample{}
                                .with("gap", {gap})
                                .with("alpha", {alpha})
                                .with("beta", {beta})
                                .with("n", {n}));
        }
      }
    }
  }
  return samples;
}

}  // namespace

Claim negative_beta_blind() {
  Claim claim;
  claim.id = "bam/negative_beta_blind";
  claim.title = "A head with beta < 0 is unable to attend to local context";
  claim.source = source("Section 2.5, \"GGD-BAM with beta < 0\", second paragraph");
  claim.statement =
      "\"The parametrization beta < 0 renders the model to be unable to attend to local context.\" "
      "Checked at the nearest neighbour: whatever the content is, it gets less than half of the "
      "mass.";
  claim.hypotheses = {"beta < 0, alpha > 0, mu = 0."};
  claim.implicit = {"Local context is more than the token itself."};
  claim.correction =
      "Only the own key is out of reach. The neighbour pays alpha^|beta|, and content can outweigh "
      "it: with a gap g over n - 1 other keys p_i,i-1 > 1/(1 + (n - 1) e^(alpha^|beta| - g)).";
  claim.derivation =
      "b(1) = -alpha^|beta| is finite and b(d) < 0, so the others sum to less than (n - 1) "
      "e^(alpha^|beta| - g) in units of the neighbour. alpha = 1, beta = -1/2, n = 64, g = 20: p "
      "is "
      "above 1 - 4e-7.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "content gap 20: 1/2 - p > 0, p = p_i,i-1 = 1/(1 + sum_{d=2..n} "
                 "e^(b(d) - b(1) - gap)), b(d) = -(d/alpha)^beta",
                 NeighbourGetsLessThanHalf{}, rows_of_negative_beta_blind({20})),
         for_all(Role::correction, "p_i,i-1 - 1/(1 + (n - 1) e^(alpha^|beta| - g)) > 0",
                 NeighbourGetsAtLeast<false>{}, rows_of_negative_beta_blind({0, 4, 20}))});
  };
  claim.mutant = "p_i,i-1 > 1/(1 + (n - 1) e^-g).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p_i,i-1 - 1/(1 + (n - 1) e^-g) > 0",
                   NeighbourGetsAtLeast<true>{}, rows_of_negative_beta_blind({0, 4}));
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
