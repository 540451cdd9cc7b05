// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// |alpha/x|^(s beta) - |x/alpha|^beta, s = 1 as printed, -1 corrected; for the mutant -2.
template <int s>
struct InvertedPowerIsThePower {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &alpha = in.number("alpha"), &beta = in.number("beta"), &x = in.number("x");
    return {reference::power(alpha / x, R(s) * beta) - reference::power(x / alpha, beta)};
  }
};

std::vector<Sample> points_of_inversion_exponent() {
  std::vector<Sample> samples;
  for (double alpha : {1.0, 0.5, 3.0}) {
    for (double beta : {-1.0, -0.25, -2.0}) {
      for (double x : {2.0, 100.0, 0x1p-4}) {
        samples.push_back(Sample{}.with("x", {x}).with("alpha", {alpha}).with("beta", {beta}));
      }
    }
  }
  return samples;
}

}  // namespace

Claim inversion_exponent() {
  Claim claim;
  claim.id = "bam/inversion_exponent";
  claim.title = "Inverting the quotient keeps the exponent";
  claim.source = source("Appendices B.6 and B.7, \"the following manipulation\"");
  claim.statement = "When beta < 0, -|(j - i)/alpha|^beta = -|alpha/(j - i)|^beta.";
  claim.hypotheses = {"beta < 0, alpha > 0, j is not i."};
  claim.implicit = {
      "The exponent is beta in both places, as both copies in the extracted text have it."};
  claim.correction = "-|x/alpha|^beta = -|alpha/x|^(-beta) = -|alpha/x|^|beta|.";
  claim.derivation =
      "x = 2, alpha = 1, beta = -1: 1/2 on the left and 2 on the right. With the printed exponent "
      "the two limits of the proofs would change places: |alpha/x|^beta -> 0 as x -> 0 and -> "
      "infinity as x -> infinity. With -beta the limits are those that the proofs state.";
  claim.derived = Verdict::refuted;
  claim.checks = [] {
    return together({for_all(Role::statement, "|alpha/x|^beta - |x/alpha|^beta = 0",
                             InvertedPowerIsThePower<1>{}, points_of_inversion_exponent()),
                     for_all(Role::correction, "|alpha/x|^(-beta) - |x/alpha|^beta = 0",
                             InvertedPowerIsThePower<-1>{}, points_of_inversion_exponent())});
  };
  claim.mutant = "|alpha/x|^(-2 beta) = |x/alpha|^beta.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "|alpha/x|^(-2 beta) - |x/alpha|^beta = 0",
                   InvertedPowerIsThePower<-2>{}, points_of_inversion_exponent());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
