// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/source.hpp"
#include "proofs_checks/statement.hpp"
#include "reference/core/primitives.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// b(x) = -|x - mu|^beta / alpha^beta for x = j - i; the sign of a difference does not depend on
/// alpha. The peak, x = mu for an integer mu <= 0 and x = 0 for mu > 0, less every other x from 0
/// to -15; for the mutant the peak is said to be at x = 0 always.
template <bool mutant>
struct PeakIsAtMu {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R &mu = in.number("mu"), &beta = in.number("beta");
    const double centre = reference::representative(mu);
    const auto height = [&](int x) {
      if (x == centre) return R(0.0);
      return -reference::power(reference::absolute(R(x) - mu), beta);
    };
    const int peak = mutant || centre > 0 ? 0 : static_cast<int>(centre);
    std::vector<Placed<R>> residuals;
    for (int x = 0; x > -16; --x) {
      if (x == peak) continue;
      // beta may be a box: for mu > 0 and the peak at 0, compare by the quotient of the two bases.
      if (peak == 0 && centre > 0) {
        residuals.push_back({reference::power(reference::absolute(R(x) - mu) / mu, beta) - R(1.0),
                             "j - i = " + std::to_string(x)});
      } else {
        residuals.push_back({height(peak) - height(x), "j - i = " + std::to_string(x)});
      }
    }
    return residuals;
  }
};

std::vector<Sample> locations() {
  std::vector<Sample> samples;
  for (double mu : {0.0, -1.0, -7.0, 0.5, 1.0, 40.0}) {
    samples.push_back(Sample{}.with("mu", {mu}).within("beta", 0.0625, 0.9375));
  }
  return samples;
}

/// b(0) - b(mu) for a key that stands at mu, where b is 0.
struct PeakBeforeLaterKeys {
  static constexpr Relation relation = Relation::above_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    return {-reference::power(in.number("mu"), in.number("beta"))};
  }
};

}  // namespace

Claim mu_peak() {
  Claim claim;
  claim.id = "bam/mu_peak";
  claim.title = "mu moves the peak of the prior, and beyond the mask if mu > 0";
  claim.source = source("Section 2.5, \"GGD-BAM with beta in (0, 1)\"");
  claim.statement =
      "For beta in (0, 1) the location mu moves the peak along the distribution; mu > 0 moves it "
      "beyond the causal mask: the largest prior is at j - i = mu for an integer mu <= 0, and "
      "among "
      "visible keys at j = i for mu > 0.";
  claim.derivation =
      "-|x - mu|^beta is 0 at x = mu and negative elsewhere. For mu > 0 and x <= 0, |x - mu| = "
      "mu + |x| grows with the distance. alpha scales all of it by a positive factor.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "b at the peak - b elsewhere > 0 for all beta in [1/16, 15/16]",
                   PeakIsAtMu<false>{}, locations());
  };
  claim.mutant = "The peak is always at the query's own key.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "b(0) - b elsewhere > 0", PeakIsAtMu<true>{}, locations());
  };
  claim.hypotheses = {
      not_needed("beta < 1.", "The peak is at mu for every beta > 0.",
                 [] {
                   return for_all(Role::statement,
                                  "b at the peak - b elsewhere > 0 for all beta in [1, 3]",
                                  PeakIsAtMu<false>{},
                                  {Sample{}.with("mu", {-7}).within("beta", 1, 3),
                                   Sample{}.with("mu", {0.5}).within("beta", 1, 3)});
                 })
          .where("beta", below(1)),
      needed("beta > 0.", "For beta < 0 mu is where the prior is smallest, not largest.",
             [] {
               return for_all(Role::statement, "beta = -1: b at j = i - b elsewhere > 0",
                              PeakIsAtMu<false>{}, {Sample{}.with("mu", {0.5}).with("beta", {-1})});
             })
          .where("beta", above(0)),
      definition("alpha > 0.", "It is a scale: x/0 has no value."),
      needed("The causal mask.", "Without it the key at mu > 0 is visible and has the peak.", [] {
        return for_all(Role::statement, "mu = 1: b(0) - b(1) > 0, a key after the query",
                       PeakBeforeLaterKeys{}, {Sample{}.with("mu", {1}).with("beta", {0.5})});
      })};
  claim.implicit = {definition("The sign: positions are j - i, so mu = -7 is seven tokens back.",
                               "It says what mu counts.")};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
