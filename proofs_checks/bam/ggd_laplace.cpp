// SPDX-License-Identifier: Apache-2.0
#include "proofs_checks/bam/claims.hpp"
#include "proofs_checks/bam/priors.hpp"
#include "reference/bias/alibi.hpp"

namespace plumbline::proofs_checks::bam {
namespace {

/// b_ij - a_ij for j <= i < 8, with alpha = 1/m (the mutant: alpha = m).
template <bool mutant>
struct LaplaceIsAlibi {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<R> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), one(1.0);
    const GgdBias<R> ggd{mutant ? m : one / m, one};
    const reference::Alibi<R> alibi{m};
    std::vector<R> residuals;
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j <= i; ++j) residuals.push_back(ggd(i - j) - alibi(i, j));
    }
    return residuals;
  }
};

std::vector<Sample> slopes() {
  std::vector<Sample> samples;
  for (double m : {0.5, 1.0, 0x1p-8, 0.75, 3.0}) samples.push_back(Sample{}.with("m", {m}));
  return samples;
}

}  // namespace

Claim ggd_laplace() {
  Claim claim;
  claim.id = "bam/ggd_laplace";
  claim.title = "mu = 0, beta = 1 and alpha = 1/m give ALiBi";
  claim.source = source("Section 2.3, after the softmax; appendix A, \"when beta = 1\"");
  claim.statement =
      "When mu = 0, beta = 1 and alpha = 1/m, b_ij = -|(j - i - mu)/alpha|^beta is ALiBi's "
      "a_ij = -m |j - i|.";
  claim.hypotheses = {"m > 0."};
  claim.implicit = {"Without the epsilon of appendix C (bam/alibi_initialisation)."};
  claim.derivation = "|d/(1/m)|^1 = m d; at d = 0 both are 0.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "b_ij - a_ij = 0", LaplaceIsAlibi<false>{}, slopes());
  };
  claim.mutant = "alpha = m.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "alpha = m: b_ij - a_ij = 0", LaplaceIsAlibi<true>{}, slopes());
  };
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
