// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// ln of the ratio of the priors, B - A = m d - (d/alpha)^beta, less m d/2, at the distance
/// d = c (2 alpha^-beta / m)^(1/|1 - beta|), mu = 0.
struct TailRatioGrows {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), &m = in.number("m");
    const R one(1.0), two(2.0);
    const R d = in.number("c") * reference::power(two * reference::power(alpha, -beta) / m,
                                                  one / reference::absolute(one - beta));
    return {m * d / two - reference::power(d / alpha, beta)};
  }
};

std::vector<Sample> shapes_of_heavier_tail(const std::vector<double>& betas) {
  std::vector<Sample> samples;
  for (double alpha : {0.25, 1.0, 64.0}) {
    for (double beta : betas) {
      for (double m : {1.0, 0.5, 0x1p-8}) {
        for (double c : {1.0625, 2.0, 100.0}) {
          samples.push_back(
              Sample{}.with("alpha", {alpha}).with("beta", {beta}).with("m", {m}).with("c", {c}));
        }
      }
    }
  }
  return samples;
}

struct TailRatioGrowsWithMu {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), &m = in.number("m");
    const R one(1.0), two(2.0);
    const R d = R(100.0) * (one + reference::power(two * reference::power(alpha, -beta) / m,
                                                   one / (one - beta)));
    return {m * d / two - reference::power((d + in.number("mu")) / alpha, beta)};
  }
};

}  // namespace

Claim heavier_tail() {
  Claim claim;
  claim.id = "bam/heavier_tail";
  claim.title = "A fractional exponent gives a heavier tail than Laplace";
  claim.source = source("Section 2.5, \"GGD-BAM with beta in (0, 1)\"; appendix A, last sentence");
  claim.statement =
      "The generalized Gaussian prior with beta in (0, 1) has a heavier tail than the Laplace "
      "prior: "
      "exp(B_ij) / exp(A_ij) -> infinity as |j - i| -> infinity.";
  claim.derivation =
      "B - A = m d - (d/alpha)^beta. For d >= (2 alpha^-beta / m)^(1/(1 - beta)) the second term "
      "is "
      "at most m d/2, so the ratio is at least e^(m d/2): an explicit rate, for every alpha and m.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "B - A - m d/2 > 0 beyond the distance of the rate",
                   TailRatioGrows{}, shapes_of_heavier_tail({0.125, 0.5, 0.875}));
  };
  claim.mutant = "The same with beta = 3/2.";
  claim.mutant_checks = [] {
    return for_all(Role::statement,
                   "beta = 3/2: B - A - m d/2 > 0 at d = c (2 alpha^-beta / m)^(1/|1 - beta|)",
                   TailRatioGrows{}, shapes_of_heavier_tail({1.5}));
  };
  claim.hypotheses = {
      needed("beta < 1.", "For beta > 1 the tail is the lighter one; the witness is at d = 272.",
             claim.mutant_checks)
          .where("beta", below(1)),
      not_needed("beta > 0.", "For beta <= 0 the prior does not even fall to 0.", [] {
        return for_all(Role::statement, "beta = 0, -1/2: B - A - m d/2 > 0", TailRatioGrows{},
                       shapes_of_heavier_tail({0, -0.5}));
      }).where("beta", above(0))};
  claim.implicit = {
      definition("alpha > 0 and m > 0 are any.",
                 "They are scales: x/0 has no value, and for m <= 0 "
                 "there is no Laplace prior."),
      not_needed(
          "mu = 0.",
          "Another mu shifts d by a constant, and the rate holds from some distance on; for mu = "
          "5/2 from 100 (1 + (2 alpha^-beta / m)^(1/(1 - beta))).",
          [] {
            return for_all(
                Role::statement, "m d/2 - ((d + mu)/alpha)^beta > 0 with mu = 5/2",
                TailRatioGrowsWithMu{},
                {Sample{}.with("alpha", {1}).with("beta", {0.5}).with("m", {0.5}).with("mu", {2.5}),
                 Sample{}
                     .with("alpha", {64})
                     .with("beta", {0.125})
                     .with("m", {0x1p-8})
                     .with("mu", {2.5})});
          })
          .where("mu", exactly(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
