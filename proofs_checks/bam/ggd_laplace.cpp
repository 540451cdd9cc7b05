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

std::vector<Sample> slopes_of_ggd_laplace() {
  std::vector<Sample> samples;
  for (double m : {0.5, 1.0, 0x1p-8, 0.75, 3.0}) samples.push_back(Sample{}.with("m", {m}));
  return samples;
}

/// -|(d + mu + epsilon)/alpha|^beta + m d, d = 1..7.
struct GgdIsAlibi {
  static constexpr Relation relation = Relation::equals_zero;
  template <class R>
  std::vector<Placed<R>> operator()(const Inputs<R>& in) const {
    const R &m = in.number("m"), alpha = in.number("alpha m") / m;
    std::vector<Placed<R>> residuals;
    for (int d = 1; d < 8; ++d) {
      const R x = (R(d) + in.number("mu") + in.number("epsilon")) / alpha;
      residuals.push_back({m * R(d) - reference::power(reference::absolute(x), in.number("beta")),
                           "d = " + std::to_string(d)});
    }
    return residuals;
  }
};

}  // namespace

Claim ggd_laplace() {
  Claim claim;
  claim.id = "bam/ggd_laplace";
  claim.title = "mu = 0, beta = 1 and alpha = 1/m give ALiBi";
  claim.source = source("Section 2.3, after the softmax; appendix A, \"when beta = 1\"");
  claim.statement =
      "When mu = 0, beta = 1 and alpha = 1/m, b_ij = -|(j - i - mu)/alpha|^beta is ALiBi's "
      "a_ij = -m |j - i|.";
  claim.derivation = "|d/(1/m)|^1 = m d; at d = 0 both are 0.";
  claim.derived = Verdict::holds;
  claim.checks = [] {
    return for_all(Role::statement, "b_ij - a_ij = 0", LaplaceIsAlibi<false>{},
                   slopes_of_ggd_laplace());
  };
  claim.mutant = "alpha = m.";
  claim.mutant_checks = [] {
    return for_all(Role::statement, "alpha = m: b_ij - a_ij = 0", LaplaceIsAlibi<true>{},
                   slopes_of_ggd_laplace());
  };
  const auto other = [](double alpha_m, double beta, double mu, double m, double epsilon) {
    return [=] {
      return for_all(Role::statement, "b_ij - a_ij = 0 at distances 1..7, alpha = (alpha m)/m",
                     GgdIsAlibi{},
                     {Sample{}
                          .with("alpha m", {alpha_m})
                          .with("beta", {beta})
                          .with("mu", {mu})
                          .with("m", {m})
                          .with("epsilon", {epsilon})});
    };
  };
  claim.hypotheses = {
      needed("mu = 0.", "The bias is shifted.", other(1, 1, 1, 0.5, 0)).where("mu", exactly(0)),
      needed("beta = 1.", "d^2 is not d.", other(1, 2, 0, 0.5, 0)).where("beta", exactly(1)),
      needed("alpha = 1/m.", "The slope is 1/alpha.", other(2, 1, 0, 0.5, 0))
          .where("alpha m", exactly(1)),
      needed("m > 0.", "|d/(1/m)| is not m d for m < 0.", other(1, 1, 0, -0.5, 0))
          .where("m", above(0))};
  claim.implicit = {needed("Without the epsilon of appendix C (bam/alibi_initialisation).",
                           "The bias has -m epsilon more, though the weights are the same.",
                           other(1, 1, 0, 0.5, 0x1p-16))
                        .where("epsilon", exactly(0))};
  return claim;
}

}  // namespace plumbline::proofs_checks::bam
