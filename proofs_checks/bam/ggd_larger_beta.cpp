// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// With y = |x - mu| / alpha and beta < beta': y^beta' - y^beta, the fall of ln p(x)/p(mu). For the
/// correction y is below 1 and the sign the other one.
template <int sign>
struct LargerBetaFallsFaster {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &y = in.number("y"), &beta = in.number("beta"), &larger = in.number("beta'");
    // y^beta (y^(beta' - beta) - 1): the sign is that of the second factor, also on a box.
    const R factor = reference::power(y, larger - beta) - R(1.0);
    return {R(sign) * reference::power(y, beta) * factor};
  }
};

std::vector<Sample> points_of_ggd_larger_beta(const std::vector<double>& ys) {
  std::vector<Sample> samples;
  for (double y : ys) {
    samples.push_back(Sample{}.with("y", {y}).with("beta", {1}).with("beta'", {2}));
    samples.push_back(Sample{}.with("y", {y}).with("beta", {0.25}).with("beta'", {0.5}));
  }
  return samples;
}

std::vector<Sample> boxes(double lower, double upper) {
  return {Sample{}.within("y", lower, upper).within("beta", 0.125, 1).within("beta'", 1.0625, 2),
          Sample{}.within("y", lower, upper).within("beta", 1, 2).within("beta'", 2.5, 4)};
}

struct LargerBetaAndScale {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {reference::power(in.number("y'"), in.number("beta'")) -
            reference::power(in.number("y"), in.number("beta"))};
  }
};

}  // namespace

Claim ggd_larger_beta() {
  Claim claim;
  claim.id = "bam/ggd_larger_beta";
  claim.title = "A larger beta gives a sharper, more localized prior";
  claim.source = source("Appendix A, last sentence before appendix B");
  claim.statement =
      "Larger values of beta yield sharper, more localized priors; lower values yield large tailed "
      "distributions: for the same mu and alpha, p(x)/p(mu) falls as beta grows.";
  claim.condition = "|x - mu| > alpha: the position lies in the tail.";
  claim.correction =
      "Within |x - mu| < alpha a larger beta makes the prior flatter, and at |x - mu| = alpha it "
      "is "
      "e^-1 for every beta. As beta grows the prior tends to a uniform one on [mu - alpha, mu + "
      "alpha], whose top is not sharp.";
  claim.derivation =
      "ln p(x)/p(mu) = -y^beta with y = |x - mu|/alpha, and y^beta grows with beta for y > 1, "
      "falls "
      "for y < 1. y = 1/2: e^-0.5 = 0.61 for beta = 1, e^-0.25 = 0.78 for beta = 2.";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together({for_all(Role::statement, "y = 1/2, 2: y^beta' - y^beta > 0",
                             LargerBetaFallsFaster<1>{}, points_of_ggd_larger_beta({0.5, 2})),
                     for_all(Role::condition, "all y in [1.01, 1000]: y^beta' - y^beta > 0",
                             LargerBetaFallsFaster<1>{}, boxes(1.01, 1000)),
                     for_all(Role::correction, "all y in [0.001, 0.99]: y^beta - y^beta' > 0",
                             LargerBetaFallsFaster<-1>{}, boxes(0.001, 0.99))});
  };
  claim.pictures = {pictures::ggd_shapes};
  claim.mutant = "|x - mu| > alpha/2 is enough.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "y = 3/4: y^beta' - y^beta > 0", LargerBetaFallsFaster<1>{},
                   points_of_ggd_larger_beta({0.75}));
  };
  claim.hypotheses = {
      needed("beta < beta'.", "The other way round it is false.",
             [] {
               return for_all(Role::statement, "beta = 2, beta' = 1: y^beta' - y^beta > 0",
                              LargerBetaFallsFaster<1>{},
                              {Sample{}.with("y", {2}).with("beta", {2}).with("beta'", {1})});
             }),
      definition("beta > 0.",
                 "The statement is about p(x)/p(mu), and p(mu) = 0 for beta < 0. (y^beta itself "
                 "grows with every real beta for y > 1.)")
          .where("beta", above(0)),
      needed("The same alpha and mu.", "A larger scale makes up for the larger power.", [] {
        return for_all(
            Role::statement, "y'^beta' - y^beta > 0 with y' = |x - mu|/alpha' = 1.125",
            LargerBetaAndScale{},
            {Sample{}.with("y", {2}).with("beta", {1}).with("y'", {1.125}).with("beta'", {2})});
      })};
  claim.implicit = {
      definition("Read at single positions. (The variance over the reals, alpha^2 "
                 "Gamma(3/beta)/Gamma(1/beta), falls up to beta of about 9, to 0.3143 alpha^2, "
                 "and rises again towards alpha^2/3.)",
                 "It says what \"sharper\" means.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
