// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

enum class Root { printed, corrected, mutant };

/// |x/alpha|^beta - m |x|^beta with alpha = m^(-1/m) (printed), m^(-1/beta), or m^(1/beta).
template <Root root>
struct ScaleGivesSlope {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), &beta = in.number("beta"), &x = in.number("x");
    const R one(1.0);
    const R exponent = root == Root::printed     ? -(one / m)
                       : root == Root::corrected ? -(one / beta)
                                                 : one / beta;
    const R alpha = reference::power(m, exponent);
    return {reference::power(x / alpha, beta) - m * reference::power(x, beta)};
  }
};

std::vector<Sample> slopes_of_theorem_2_scale() {
  std::vector<Sample> samples;
  for (double m : {0.25, 0.5, 0.0625}) {
    for (double beta : {0.5, 0.75, 0.125}) {
      for (double x : {1, 2, 100}) {
        samples.push_back(Sample{}.with("m", {m}).with("beta", {beta}).with("x", {x}));
      }
    }
  }
  return samples;
}

}  // namespace

Claim theorem_2_scale() {
  Claim claim;
  claim.id = "bam/theorem_2_scale";
  claim.title = "The scale chosen in the proof of Theorem 2";
  claim.source = source("Appendix B.5, first and second line");
  claim.statement =
      "With mu = 0 and alpha = 1 / (m-th root of m), |(j - i)/alpha|^beta = m |j - i|^beta.";
  claim.hypotheses = {"beta in (0, 1), m > 0."};
  claim.implicit = {
      "The root's index is m, as the text extracted from the manuscript has it; there is one copy "
      "of "
      "the formula, and the extraction may have misread a beta."};
  claim.correction = "alpha = m^(-1/beta), one over the beta-th root of m.";
  claim.derivation =
      "alpha^-beta = m^(beta/m) with the printed alpha, which is m only if beta = m or m = 1. "
      "m = 1/4, beta = 1/2: alpha = 256 and alpha^-beta = 1/16 in place of 1/4. "
      "(m^(-1/beta))^-beta = m for every beta.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together(
        {for_all(Role::statement, "alpha = m^(-1/m): |x/alpha|^beta - m |x|^beta = 0",
                 ScaleGivesSlope<Root::printed>{}, slopes_of_theorem_2_scale()),
         for_all(Role::correction, "alpha = m^(-1/beta): |x/alpha|^beta - m |x|^beta = 0",
                 ScaleGivesSlope<Root::corrected>{}, slopes_of_theorem_2_scale())});
  };
  claim.mutant = "alpha = m^(1/beta).";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "alpha = m^(1/beta): |x/alpha|^beta - m |x|^beta = 0",
                   ScaleGivesSlope<Root::mutant>{}, slopes_of_theorem_2_scale());
  };
  claim.correction_hypotheses = {
      not_needed("beta in (0, 1).", "(m^(-1/beta))^-beta = m for every beta but 0.",
                 [] {
                   return for_all(Role::statement,
                                  "alpha = m^(-1/beta): |x/alpha|^beta - m |x|^beta = 0",
                                  ScaleGivesSlope<Root::corrected>{},
                                  {Sample{}.with("m", {0.25}).with("beta", {-2}).with("x", {3}),
                                   Sample{}.with("m", {0.25}).with("beta", {3}).with("x", {3})});
                 }),
      definition("m > 0.", "A power of a negative number need not be real.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
