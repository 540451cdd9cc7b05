// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// The query's own key, at distance x -> 0 of itself, among other keys at distances 1, 2, ...:
/// e^(2 F + alpha^|beta| - (alpha/x)^|beta|) - p for every content within [-F, F], where delta
/// holds the other keys' content less the own one. For the mutant without alpha^|beta|.
template <bool mutant>
struct OwnWeightBelowRate {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), &F = in.number("F");
    const auto bias = [&](const R& d) { return -reference::power(d / alpha, beta); };
    const R own = bias(in.number("x"));
    R others(0.0);
    const int keys = integer(in, "keys");
    for (int d = 1; d < keys; ++d) {
      others += reference::exp(in["delta"][d - 1] + (bias(R(d)) - own));
    }
    const R spread = F + F - (mutant ? R(0.0) : bias(R(1.0)));
    return {reference::exp(spread + own) - R(1.0) / (R(1.0) + others)};
  }
};

std::vector<Sample> rows_of_theorem_3(const std::vector<double>& counts) {
  std::vector<Sample> samples;
  for (double keys : counts) {
    for (double alpha : {0.5, 1.0, 8.0}) {
      for (double beta : {-0.5, -1.0, -2.0}) {
        for (double x : {0x1p-4, 0x1p-6}) {
          if (std::pow(alpha / x, -beta) > 600) continue;  // its exponential has no double
          for (double F : {0.0, 2.0}) {
            samples.push_back(contents_within(F, std::max(1, static_cast<int>(keys) - 1))
                                  .with("alpha", {alpha})
                                  .with("beta", {beta})
                                  .with("x", {x})
                                  .with("keys", {keys}));
          }
        }
      }
    }
  }
  return samples;
}

/// Bias and content both speak for the own key as far as they can.
std::vector<Sample> opposed() {
  return {Sample{}
              .with("F", {1})
              .with("delta", {-2})
              .with("alpha", {8})
              .with("beta", {-1})
              .with("x", {0.5})
              .with("keys", {2})};
}

/// 1/100 - p_ii of two keys, the own one at x = 2^-20 and one at distance 1.
struct OwnWeightVanishes {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), &mu = in.number("mu"), one(1.0);
    const auto bias = [&](const R& d) { return -reference::power((d + mu) / alpha, beta); };
    const R own = in.number("content of the own key") + bias(in.number("x"));
    return {one / R(100.0) - one / (one + reference::exp(bias(one) - own))};
  }
};

Sample own_key(double alpha, double beta, double mu, double content) {
  return Sample{}
      .with("alpha", {alpha})
      .with("beta", {beta})
      .with("mu", {mu})
      .with("x", {0x1p-20})
      .with("content of the own key", {content});
}

}  // namespace

Claim theorem_3() {
  Claim claim;
  claim.id = "bam/theorem_3";
  claim.title = "With beta < 0 the weight of the query's own key is 0";
  claim.source = source("Theorem 3, section 2.4, and appendix B.6");
  claim.statement =
      "For all beta < 0 and alpha >= 0 (section 2.4; alpha > 0 in B.6), if p_ij = softmax(q_i K^T "
      "+ "
      "M_i + B_i) then lim p_ij = 0 as |j - i| -> 0.";
  claim.condition = "The query sees at least one other key: it is not the first token.";
  claim.correction =
      "Rate: p_ii <= e^(2 F + alpha^|beta| - (alpha/x)^|beta|) if |f| <= F. The first token's "
      "weight "
      "on itself is 1 for every x, and 0/0 where its only score is minus infinity.";
  claim.derivation =
      "The nearest other key has b = -alpha^|beta|, so the denominator is at least e^(-F - "
      "alpha^|beta|) and p_ii at most the rate, which tends to 0 as x -> 0. A softmax over one key "
      "is "
      "1 whatever its score: every text has a first token, and there the theorem fails. The last "
      "manipulation in B.6 prints the wrong exponent (bam/inversion_exponent).";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(
             Role::statement,
             "1, 2 and 3 keys: e^(2 F + alpha^|beta| - (alpha/x)^|beta|) - p_ii >= 0, delta the "
             "other keys' content less the own one's",
             OwnWeightBelowRate<false>{}, rows_of_theorem_3({1, 2, 3})),
         for_all(Role::condition, "2, 5 and 64 keys: the same on all contents in [-F, F]",
                 OwnWeightBelowRate<false>{}, rows_of_theorem_3({2, 5, 64}))});
  };
  claim.mutant = "The rate is e^(2 F - (alpha/x)^|beta|).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "e^(2 F - (alpha/x)^|beta|) - p_ii >= 0",
                   OwnWeightBelowRate<true>{}, opposed());
  };
  claim.hypotheses = {
      needed("beta < 0.", "For beta > 0 the own key has the largest prior.",
             [] {
               return for_all(Role::statement,
                              "2 keys of equal content: 1/100 - p_ii >= 0 at x = 2^-20",
                              OwnWeightVanishes{}, {own_key(1, 0.5, 0, 0)});
             })
          .where("beta", below(0)),
      definition("alpha > 0.",
                 "With alpha = 0 every other key has b = 0 and the own one 0/0 (bam/alpha_zero)."),
      needed("mu = 0 (B.6).", "Otherwise the own key is not the one that the prior removes.", [] {
        return for_all(Role::statement, "2 keys of equal content: 1/100 - p_ii >= 0 at x = 2^-20",
                       OwnWeightVanishes{}, {own_key(1, -1, 1, 0)});
      }).where("mu", exactly(0))};
  claim.implicit = {
      definition(
          "The limit: distances are integers, and the proof says that |j - i| -> 0 means j = i. It "
          "is "
          "read as the bias -|x/alpha|^beta of the own key for x -> 0 (x = epsilon in appendix C).",
          "Integers have no limit at 0."),
      needed("The content scores are finite and do not depend on x.",
             "A content of (alpha/x)^|beta| makes up for the bias at every x.",
             [] {
               return for_all(Role::statement, "own content 2^20: 1/100 - p_ii >= 0 at x = 2^-20",
                              OwnWeightVanishes{}, {own_key(1, -1, 0, 0x1p20)});
             })
          .where("content of the own key", exactly(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
