// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/pictures/pictures.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// 1 - y^beta / (m d), where y = |j - i - mu| / alpha can be any positive number.
struct SomeScaleGivesRatioBelowOne {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R ratio =
        reference::power(in.number("y"), in.number("beta")) / (in.number("m") * in.number("d"));
    return {R(1.0) - ratio};
  }
};

/// 1 - (d/alpha)^beta / (m d) with alpha^-beta = m/2 and mu = 0, so 1 - d^(beta - 1) / 2.
struct WitnessGivesRatioBelowOne {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), &beta = in.number("beta"), &d = in.number("d");
    const R alpha = reference::power(m / R(2.0), R(-1.0) / beta);
    return {R(1.0) - reference::power(d / alpha, beta) / (m * d)};
  }
};

/// At beta = 0, every alpha and mu that keep away from j - i - mu = 0: y in [2^-100, 2^100].
std::vector<Sample> beta_zero() {
  return {
      Sample{}.with("m", {0.5}).with("beta", {0}).with("d", {1}).within("y", 0x1p-100, 0x1p100)};
}

/// All real distances from 1 to 2^20 in boxes whose ends are in the ratio 3/2.
std::vector<Sample> distances_of_theorem_2(const std::vector<double>& betas) {
  std::vector<Sample> samples;
  for (double beta : betas) {
    for (double m : {0.5, 0x1p-8}) {
      for (double d = 1; d < 0x1p20; d *= 1.5) {
        samples.push_back(Sample{}.with("m", {m}).with("beta", {beta}).within("d", d, 1.5 * d));
      }
    }
  }
  return samples;
}

struct RatioBelowOneBeyondMeeting {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), &beta = in.number("beta"), &alpha = in.number("alpha");
    const R d =
        R(2.0) * reference::power(m * reference::power(alpha, beta), R(1.0) / (beta - R(1.0)));
    return {R(1.0) - reference::power(d / alpha, beta) / (m * d)};
  }
};

struct RatioWithUnitScale {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R& d = in.number("d");
    return {R(1.0) - reference::power(d, in.number("beta")) / (in.number("m") * d)};
  }
};

std::vector<Sample> beyond_one() {
  std::vector<Sample> samples;
  for (double alpha : {4.0, 1.0, 1024.0}) {
    samples.push_back(Sample{}.with("m", {0.5}).with("beta", {1.5}).with("alpha", {alpha}));
  }
  return samples;
}

}  // namespace

Claim theorem_2() {
  Claim claim;
  claim.id = "bam/theorem_2";
  claim.title = "Some GGD prior has a bias smaller than ALiBi's for every beta < 1";
  claim.source = source("Theorem 2, section 2.3, and appendix B.5");
  claim.statement =
      "B_ij / A_ij = |(j - i - mu)/alpha|^beta / (m |j - i|) < 1 for some mu and alpha, and for "
      "beta < 1.";
  claim.condition = "beta is not 0.";
  claim.derivation =
      "beta = 0: |y|^0 = 1 whatever mu and alpha are, so the ratio is 1/(m d), above 1 for "
      "d < 1/m: 2 for m = 1/2, d = 1, and for ALiBi's slope 1/256 up to d = 255. For any other "
      "beta < 1: mu = 0 and alpha = (m/2)^(-1/beta) give the ratio d^(beta - 1)/2 <= 1/2 for "
      "d >= 1. The criterion is weak: beta = 1 with alpha = 2/m, which is ALiBi with half the "
      "slope, "
      "meets it too (bam/theorem_2_necessarily, bam/theorem_2_weights).";
  claim.derived = Verdict::holds_under_condition;
  claim.checks = [] {
    return together(
        {for_all(Role::statement,
                 "beta = 0, any alpha and mu: 1 - y^beta/(m d) > 0, y = |j - i - mu|/alpha",
                 SomeScaleGivesRatioBelowOne{}, beta_zero()),
         for_all(Role::condition,
                 "mu = 0, alpha = (m/2)^(-1/beta): 1 - ratio > 0 on all d in [1, 2^20]",
                 WitnessGivesRatioBelowOne{},
                 distances_of_theorem_2({-2, -0.5, -0.0625, 0.0625, 0.5, 0.9375}))});
  };
  claim.pictures = {pictures::theorem_2_ratio};
  claim.mutant = "The same alpha serves beta = 3/2.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "beta = 3/2, alpha = (m/2)^(-1/beta): 1 - ratio > 0",
                   WitnessGivesRatioBelowOne{}, distances_of_theorem_2({1.5}));
  };
  claim.hypotheses = {
      needed(
          "beta < 1.",
          "For beta > 1 no scale serves every distance: at d = c d*, d* = (m alpha^beta)^(1/(beta "
          "- 1)), the ratio is c^(beta - 1) > 1 whatever alpha is, and for any mu it grows like "
          "d^(beta - 1). (At beta = 1 one does: alpha = 2/m.)",
          [] {
            return for_all(Role::statement, "1 - (d/alpha)^beta / (m d) > 0 at d = 2 d*",
                           RatioBelowOneBeyondMeeting{}, beyond_one());
          })
          .where("beta", below(1)),
      definition("m > 0.",
                 "For m = 0 the ratio divides by 0; for m < 0 it is negative and the statement "
                 "trivial.")};
  claim.implicit = {
      definition("j is not i, so |j - i| >= 1.",
                 "At distance 0 the ratio divides by 0, and distances are whole numbers."),
      needed("mu and alpha may depend on beta and m, and serve every distance.",
             "alpha = 1 does not serve m = 1/256 and beta = 1/2.", [] {
               return for_all(Role::statement, "mu = 0, alpha = 1: 1 - d^beta / (m d) > 0",
                              RatioWithUnitScale{},
                              {Sample{}.with("m", {0x1p-8}).with("beta", {0.5}).with("d", {512})});
             })};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
