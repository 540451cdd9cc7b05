// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// Equal contents of n keys: the own key's weight under ALiBi less that under the GGD with b = -m
/// d^beta; for the mutant the other way round.
template <bool mutant>
struct OwnWeightIsSmaller {
  static constexpr Relation relation = Relation::at_least_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), one(1.0);
    const int n = integer(in, "n");
    const LaplaceBias<R> alibi{m};
    const PowerBias<R> ggd{m, in.number("beta")};
    R others_alibi(0.0), others_ggd(0.0);
    for (int d = 1; d < n; ++d) {
      others_alibi += reference::exp(alibi(d));
      others_ggd += reference::exp(ggd(d));
    }
    const R difference = one / (one + others_alibi) - one / (one + others_ggd);
    return {mutant ? -difference : difference};
  }
};

std::vector<Sample> rows() {
  std::vector<Sample> samples;
  for (double m : {1.0, 0.25, 0x1p-8}) {
    for (double n : {3, 16, 512}) {
      samples.push_back(Sample{}.with("m", {m}).with("n", {n}).within("beta", 0.0625, 0.5));
      samples.push_back(Sample{}.with("m", {m}).with("n", {n}).within("beta", 0.5, 0.9375));
    }
  }
  return samples;
}

}  // namespace

Claim fades_more_than_alibi() {
  Claim claim;
  claim.id = "bam/fades_more_than_alibi";
  claim.title = "BAM is more susceptible to fading attention than ALiBi";
  claim.source = source("Section 2.5, last paragraph");
  claim.statement =
      "BAM \"becomes more susceptible to fading attention as it increases the context length that "
      "the LM can attend to\": with the prior of Theorem 2's proof the peak of the positional "
      "prior, "
      "at the query's own key, is at most ALiBi's.";
  claim.hypotheses = {"beta in (0, 1), mu = 0, alpha = m^(-1/beta)."};
  claim.implicit = {"Equal contents; the peak stands for the sharpness of attention."};
  claim.derivation =
      "d^beta <= d for d >= 1 and beta <= 1, so every term of the GGD's denominator is at least "
      "that "
      "of ALiBi's, while the own key's numerator is 1 in both.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement,
                   "p_own under ALiBi - p_own under the GGD >= 0, all beta in "
                   "[1/16, 15/16]",
                   OwnWeightIsSmaller<false>{}, rows());
  };
  claim.mutant = "The GGD's peak is at least ALiBi's.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "p_own under the GGD - p_own under ALiBi >= 0",
                   OwnWeightIsSmaller<true>{}, rows());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
